// Starts the real companion in a temporary home and drives its page in Chromium.
// ZEROCLAW_BIN names a built binary; without it one is built. Tests skip, saying why, when Chromium or Go is missing.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const project = join(here, '..', '..');
const browserPath = process.env.ZEROCLAW_CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync) ?? '';

/** Why these tests cannot run here, '' when they can. */
export function missing() {
  if (!browserPath) return 'no Chromium found';
  if (!existsSync(join(here, '..', 'node_modules', 'playwright-core'))) return 'web/node_modules is not installed (npm ci)';
  if (!process.env.ZEROCLAW_BIN && spawnSync('go', ['version']).status !== 0) return 'no Go to build the companion';
  return '';
}

let built = process.env.ZEROCLAW_BIN ?? '';
function binary() {
  if (!built) {
    built = join(mkdtempSync(join(tmpdir(), 'zeroclaw-bin-')), 'zeroclaw');
    const result = spawnSync('go', ['build', '-o', built, './cmd/zeroclaw'], { cwd: project, stdio: 'inherit' });
    if (result.status !== 0) throw new Error('building the companion failed');
  }
  return built;
}

/**
 * A companion with its own home and folder. `env` is added to a small environment.
 * @param {{files?: Record<string, string>, config?: string, args?: string[], env?: Record<string, string>, home?: string, root?: string}} [options]
 */
export async function startCompanion(options = {}) {
  const base = mkdtempSync(join(tmpdir(), 'zeroclaw-e2e-'));
  const home = options.home ?? join(base, 'home');
  const root = options.root ?? join(base, 'project');
  mkdirSync(join(home, '.zeroclaw'), { recursive: true, mode: 0o700 });
  mkdirSync(root, { recursive: true });
  for (const [name, text] of Object.entries(options.files ?? { 'README.md': '# Read me\n\nhello from the folder\n' })) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  if (options.config) writeFileSync(join(home, '.zeroclaw', 'config.toml'), options.config, { mode: 0o600 });
  const start = async (port = 0) => {
    const wanted = port || 20_000 + Math.floor(Math.random() * 20_000);
    const child = spawn(binary(), ['--no-browser', '--root', root, '--port', String(wanted), ...(options.args ?? [])], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], env: { HOME: home, PATH: process.env.PATH, LANG: 'C.UTF-8', ZEROCLAW_WEB_DIR: process.env.ZEROCLAW_WEB_DIR ?? '', ...options.env } });
    let output = '';
    const address = await new Promise((resolve, reject) => {
      const read = (/** @type {Buffer} */ bytes) => {
        output += bytes;
        const found = /https?:\/\/127\.0\.0\.1:\d+\/?\S*#\S*code=\S+/.exec(output);
        if (found) resolve(found[0]);
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
      child.on('exit', (code) => reject(new Error(`the companion ended with ${code}: ${output}`)));
      setTimeout(() => reject(new Error(`no address within 20 s: ${output}`)), 20_000);
    });
    return { child, address: String(address), port: Number(new URL(String(address)).port), output: () => output };
  };
  let running = await start();
  return {
    home, root,
    get address() { return running.address; },
    get port() { return running.port; },
    get origin() { return `http://127.0.0.1:${running.port}`; },
    get child() { return running.child; },
    output: () => running.output(),
    /** A fresh launch link, as `zeroclaw open` prints it. */
    link() {
      const result = spawnSync(binary(), ['open', '--no-browser'], { env: { HOME: home, PATH: process.env.PATH } });
      return /https?:\/\/\S+code=\S+/.exec(`${result.stdout}${result.stderr}`)?.[0] ?? '';
    },
    /** @param {NodeJS.Signals} [signal] */
    async end(signal = 'SIGTERM') {
      if (running.child.exitCode !== null || running.child.signalCode) return;
      const gone = new Promise((resolve) => running.child.once('exit', resolve));
      running.child.kill(signal);
      await gone;
    },
    async restart() {
      await this.end();
      running = await start(running.port);
    },
    async clean() {
      await this.end();
      rmSync(base, { recursive: true, force: true });
    },
  };
}

/** @type {any} */
let browser;
/** @param {{width?: number, height?: number, theme?: 'light'|'dark', lang?: string, reducedMotion?: 'reduce'|null}} [options] */
export async function newContext({ width = 1280, height = 900, theme = 'light', lang = 'en', reducedMotion = null } = {}) {
  const { chromium } = await import('playwright-core');
  browser ??= await chromium.launch({ executablePath: browserPath, args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'] });
  return browser.newContext({ viewport: { width, height }, colorScheme: theme, locale: lang === 'es' ? 'es-ES' : 'en-GB', reducedMotion });
}

/** Opens a page and collects what must not happen: script errors, CSP violations, requests to elsewhere. @param {any} context @param {string} address */
export async function openPage(context, address) {
  const page = await context.newPage();
  /** @type {string[]} */
  const faults = [];
  page.on('pageerror', (/** @type {Error} */ error) => faults.push(`error: ${error.message}`));
  page.on('console', (/** @type {any} */ message) => {
    if (message.type() === 'error' && !/Failed to load resource|net::ERR/.test(message.text())) faults.push(`console: ${message.text()}`);
  });
  page.on('request', (/** @type {any} */ request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith('http') && url.origin !== new URL(address).origin) faults.push(`request: ${request.url()}`);
  });
  page.faults = faults;
  await page.goto(address);
  return page;
}

export async function closeBrowser() {
  await browser?.close();
  browser = undefined;
}

/** Past the first-run screen, when it is there. @param {any} page */
export async function passWelcome(page) {
  await page.locator('.composer textarea, .welcome-go button').first().waitFor();
  if (await page.locator('.welcome-go button').count()) await page.locator('.welcome-go button').click();
  await page.locator('.composer textarea').waitFor();
}

/** Sends a message by keyboard alone. @param {any} page @param {string} text */
export async function say(page, text) {
  await page.locator('.composer button[type=submit]').waitFor();
  await page.locator('.composer textarea').focus();
  await page.keyboard.insertText(text);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
}
