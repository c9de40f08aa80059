// A program that knows only standard input and output, in front of mcp-remote:
// node bridge.mjs PROXY URL TOKEN legacy|auto list|call [TOOL ARGUMENTS]
// prints the result as JSON and to standard error what mcp-remote says; exit 1
// when there is no result.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [proxy, url, token, protocol, what, tool, args] = process.argv.slice(2);
const remote = spawn(process.execPath, [proxy, url, "--protocol", protocol, "--transport", "http-only", "--header", `Authorization:Bearer ${token}`], {
  stdio: ["pipe", "pipe", "inherit"],
});
const waiting = new Map();
let last = 0;
let done = false;
const send = (message) => remote.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const ask = (method, params = {}) =>
  new Promise((resolve, reject) => {
    waiting.set(++last, (m) => (m.error ? reject(new Error(m.error.message)) : resolve(m.result)));
    send({ id: last, method, params });
  });
createInterface({ input: remote.stdout }).on("line", (line) => {
  const message = JSON.parse(line);
  if (!message.method) waiting.get(message.id)?.(message);
});
const ended = new Promise((resolve) => remote.once("exit", resolve));
const end = async (code) => {
  done = true;
  remote.stdin.end(); // then it takes leave of the server, too
  const late = setTimeout(() => remote.kill("SIGKILL"), 5000);
  await ended;
  clearTimeout(late);
  process.exit(code);
};
remote.once("exit", (code) => {
  if (!done) {
    console.error(`mcp-remote ended by itself, with code ${code}`);
    process.exit(1);
  }
});
setTimeout(() => {
  console.error("no answer within 60 s");
  end(1);
}, 60_000).unref();

try {
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "bridge", version: "1" } });
  send({ method: "notifications/initialized" });
  const result = what === "list" ? await ask("tools/list") : await ask("tools/call", { name: tool, arguments: JSON.parse(args) });
  console.log(JSON.stringify(result));
  await end(0);
} catch (error) {
  console.error(error.message);
  await end(1);
}
