// Writes a configuration for cclsp with the language servers that are there, and
// runs it for the folder that is its argument.
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, renameSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = process.argv[2] ?? process.cwd();
const say = (text) => process.stderr.write(text + "\n");
const fail = (text) => {
  say(text);
  process.exit(1);
};

// Only this folder counts: Node itself would go on to look in those above it.
function installed(name, ...file) {
  const program = path.join(here, "node_modules", name, ...file);
  return existsSync(program) ? program : fail(`${name} is not in this service's folder: install the service again.`);
}

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

// The PATH, and where the installers of Go and Rust put programs that many
// people's PATH does not have.
const folders = [
  ...(process.env.PATH ?? "").split(path.delimiter),
  path.join(os.homedir(), "go", "bin"),
  path.join(os.homedir(), ".cargo", "bin"),
].filter((folder) => path.isAbsolute(folder));

function find(name) {
  const ends = process.platform === "win32" ? [".exe"] : [""];
  return folders.flatMap((folder) => ends.map((end) => path.join(folder, name + end))).find(isProgram);
}

// A stand-in of a version manager may be there without the program behind it.
function runs(program, check) {
  return !check || spawnSync(program, check, { timeout: 5000, stdio: "ignore" }).status === 0;
}

const others = [
  { name: "gopls", extensions: ["go"], args: [], check: ["version"] },
  { name: "pyright-langserver", extensions: ["py", "pyi"], args: ["--stdio"] },
  { name: "basedpyright-langserver", extensions: ["py", "pyi"], args: ["--stdio"] },
  { name: "pylsp", extensions: ["py", "pyi"], args: [] },
  { name: "rust-analyzer", extensions: ["rs"], args: [], check: ["--version"] },
  { name: "clangd", extensions: ["c", "h", "cc", "cpp", "cxx", "hh", "hpp"], args: [], check: ["--version"] },
];

function configuration() {
  const servers = [{
    extensions: ["ts", "tsx", "mts", "cts", "js", "jsx", "mjs", "cjs"],
    command: [process.execPath, installed("typescript-language-server", "lib", "cli.mjs"), "--stdio"],
    rootDir: root,
    // Types of a project's packages would be fetched without a word.
    initializationOptions: { disableAutomaticTypingAcquisition: true, tsserver: { path: installed("typescript", "lib", "tsserver.js") } },
  }];
  say("ts, js: typescript-language-server of this service");
  const served = new Set();
  for (const { name, extensions, args, check } of others) {
    if (served.has(extensions[0])) continue;
    const program = find(name);
    if (!program) continue;
    if (!runs(program, check)) {
      say(`${extensions.join(", ")}: ${program} is there but does not run`);
      continue;
    }
    served.add(extensions[0]);
    say(`${extensions.join(", ")}: ${program}`);
    servers.push({ extensions, command: [program, ...args], rootDir: root });
  }
  return { servers };
}

const program = installed("cclsp", "dist", "index.js");
if (!process.env.CCLSP_CONFIG_PATH) {
  const file = path.join(here, "cclsp.generated.json");
  writeFileSync(file + ".new", JSON.stringify(configuration(), null, 2) + "\n", { mode: 0o600 });
  renameSync(file + ".new", file);
  process.env.CCLSP_CONFIG_PATH = file;
}

// cclsp goes on when its input ends, and dies of a language server that does
// not read.
process.stdin.on("end", () => process.kill(process.pid, "SIGTERM"));
process.on("uncaughtException", (err) => {
  say(`${err?.stack ?? err}`);
  if (err?.code !== "EPIPE" && err?.code !== "ERR_STREAM_DESTROYED") process.exit(1);
});

process.argv = [process.argv[0], program];
await import(pathToFileURL(program).href);
