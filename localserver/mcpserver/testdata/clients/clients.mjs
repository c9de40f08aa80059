// Lists and calls the tools of a companion with MCP clients by others, and prints
// a table: node clients.mjs ADDRESS TOKEN OWN
// TOKEN is a named one; OWN is the page's, as which this program answers what the
// calls ask. Exit 1 when a client gets anything else than it should.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const [address, token, own] = process.argv.slice(2);
const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const inspector = at("node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const remote = at("node_modules/mcp-remote/dist/proxy.js");

/** Runs Node.js: {code, out, err}. */
const run = (...args) =>
  new Promise((resolve) => {
    const program = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"], timeout: 90_000, killSignal: "SIGKILL" });
    let out = "";
    let err = "";
    program.stdout.on("data", (text) => (out += text));
    program.stderr.on("data", (text) => (err += text));
    program.once("close", (code) => resolve({ code, out, err }));
  });

// A way to ask: a list without a tool. It gives {result, wrong}, of which one is
// undefined: what the client printed as result, or what it said instead.
const inspect = (era) => async (url, bearer, tool, args) => {
  const method = tool ? ["tools/call", "--tool-name", tool, "--tool-args-json", JSON.stringify(args)] : ["tools/list"];
  const { code, out, err } = await run(
    inspector, "--cli", "--server-url", url, "--transport", "http", "--header", `Authorization: Bearer ${bearer}`,
    "--stored-auth-only", "--protocol-era", era, "--format", "json", "--method", ...method,
  );
  // A tool that says that it failed has a result and a code of its own.
  return code === 0 || (code === 5 && out) ? { result: JSON.parse(out).result } : { wrong: `exit ${code}: ${err}` };
};
const bridge = (protocol) => async (url, bearer, tool, args) => {
  const { code, out, err } = await run(at("bridge.mjs"), remote, url, bearer, protocol, ...(tool ? ["call", tool, JSON.stringify(args)] : ["list"]));
  if (code !== 0) return { wrong: `exit ${code}: ${err}` };
  if (protocol === "auto" && !err.includes("speaks MCP 2026-07-28")) return { wrong: `it does not say that it speaks 2026-07-28: ${err}` };
  return { result: JSON.parse(out) };
};

const clients = [
  ["inspector --cli", "2025-11-25", inspect("legacy"), /auth_required/],
  ["inspector --cli", "2026-07-28", inspect("modern"), /auth_required.*HTTP 401/],
  // It takes 401 as the wish for a login, and finds that there is none.
  ["mcp-remote", "2025-11-25", bridge("legacy"), /RegistrationRejectedError/],
  ["mcp-remote", "2026-07-28", bridge("auto"), /RegistrationRejectedError/],
];

/** Answers as the page does: a sum that begins with 1 is allowed, others are not. Settles once it is there. */
async function page() {
  const headers = { authorization: `Bearer ${own}`, "content-type": "application/json" };
  const events = await fetch(`${address}/api/events`, { headers });
  if (!events.ok) throw new Error(`the event stream answers ${events.status}`);
  const answer = async ({ id, arguments: args }) => {
    const body = JSON.stringify(args.a === 1 ? { decision: "once" } : { decision: "deny", reason: "not today" });
    const answered = await fetch(`${address}/api/approvals/${id}`, { method: "POST", headers, body });
    if (!answered.ok) console.error(`the answer to a question comes to nothing: ${await answered.text()}`);
  };
  (async () => {
    let text = "";
    for await (const some of events.body.pipeThrough(new TextDecoderStream())) {
      const all = (text + some).split("\n\n");
      text = all.pop();
      for (const one of all) if (/^event: question\.asked$/m.test(one)) await answer(JSON.parse(/^data: (.*)$/m.exec(one)[1]).approval);
    }
    console.error("the event stream ended");
    process.exit(1);
  })();
}

const words = (result) => result?.content?.[0]?.text ?? "";
const checks = [
  ["list", (ask, name) => ask(token), ({ result }, name) => ["echo", "add"].every((tool) => result?.tools.some((one) => one.name === name(tool)))],
  ["allowed", (ask, name) => ask(token, name("echo"), { message: "hé" }), ({ result }) => words(result) === "hé" && !result.isError],
  ["asked, yes", (ask, name) => ask(token, name("add"), { a: 1, b: 2 }), ({ result }) => words(result) === "3" && !result.isError],
  ["asked, no", (ask, name) => ask(token, name("add"), { a: 2, b: 2 }), ({ result }) => /not today/.test(words(result)) && result.isError],
  ["wrong token", (ask, name) => ask(`${token}x`, name("echo"), { message: "hé" }), ({ wrong }, name, refused) => refused.test(wrong)],
];

await page();
const line = (cells) => console.log(cells.map((cell, i) => cell.padEnd([16, 11, 11][i] ?? 11)).join(" ").trimEnd());
line(["client", "revision", "address", ...checks.map(([title]) => title)]);
const failed = [];
for (const [client, revision, way, refused] of clients) {
  for (const path of ["/mcp", "/mcp/dummy"]) {
    const name = (tool) => (path === "/mcp" ? `dummy__${tool}` : tool);
    const cells = [client, revision, path];
    for (const [title, ask, right] of checks) {
      const got = await ask((...args) => way(address + path, ...args), name);
      const ok = Boolean(right(got, name, refused));
      cells.push(ok ? "ok" : "FAILED");
      if (!ok) failed.push(`${client} ${revision} ${path} ${title}: ${got.wrong ?? JSON.stringify(got.result).slice(0, 1000)}`);
    }
    line(cells);
  }
}
for (const one of failed) console.log(`\n${one}`);
console.log(`${failed.length} of ${clients.length * 2 * checks.length} failed`);
process.exit(failed.length ? 1 : 0);
