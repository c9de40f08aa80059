// Starts @playwright/mcp with a browser that is installed already, so that none
// is downloaded. What it decides it says on the standard error stream.
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const args = process.argv.slice(2);
const say = (text) => process.stderr.write(text + "\n");
const fail = (text) => {
  say(text);
  process.exit(1);
};

function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

// Programs of the browsers on this system, in the order in which they are taken.
function candidates() {
  const env = process.env;
  if (process.platform === "darwin") {
    const folders = ["/Applications"];
    if (env.HOME) folders.push(path.join(env.HOME, "Applications"));
    return ["Google Chrome", "Chromium", "Microsoft Edge"].flatMap((name) =>
      folders.map((folder) => path.join(folder, `${name}.app`, "Contents", "MacOS", name)));
  }
  if (process.platform === "win32") {
    const folders = [env.PROGRAMFILES, env["PROGRAMFILES(X86)"], env.LOCALAPPDATA].filter(Boolean);
    return ["Google\\Chrome\\Application\\chrome.exe", "Chromium\\Application\\chrome.exe", "Microsoft\\Edge\\Application\\msedge.exe"].flatMap((name) =>
      folders.map((folder) => path.win32.join(folder, name)));
  }
  const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge-stable", "microsoft-edge"];
  const folders = (env.PATH ?? "").split(":").filter((folder) => path.isAbsolute(folder));
  return [
    ...names.flatMap((name) => folders.map((folder) => path.join(folder, name))),
    "/usr/bin/chromium", "/snap/bin/chromium", "/opt/google/chrome/chrome", "/opt/microsoft/msedge/msedge",
  ];
}

const given = args.indexOf("--executable-path");
if (given >= 0) {
  if (!isProgram(args[given + 1])) fail(`The option Browser names ${args[given + 1]}, which is no program. Change it, or clear it to have an installed browser found.`);
} else {
  const found = candidates().find(isProgram);
  if (!found) fail("No Chromium, Chrome or Edge was found on this computer. Install one, or name its program in the option Browser.");
  say(`Browser: ${found}`);
  args.push("--executable-path", found);
}

// Chromium does not start as root with its sandbox on.
if (process.getuid?.() === 0 && !args.includes("--no-sandbox")) {
  say("The companion runs as root: the browser's sandbox is off.");
  args.push("--no-sandbox");
}
if (process.platform === "linux" && !args.includes("--headless") && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) {
  say("There is no display for a window: the browser runs headless.");
  args.push("--headless");
}

const program = fileURLToPath(new URL("node_modules/@playwright/mcp/cli.js", import.meta.url));
if (!existsSync(program)) fail("@playwright/mcp is not in this service's folder: install the service again.");
process.argv = [process.argv[0], program, ...args];
createRequire(import.meta.url)(program);
