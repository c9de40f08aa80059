// Starts the real binary and a real browser, and gives tests a person's hands: ask, answer, look.
// Every companion has a HOME and a folder of its own and is ended by its process id.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const repo = path.resolve(here, '../..');

/** How long a step may take on a busy machine before the test fails. */
export const PATIENCE = 20_000;
/** Answers given this soon after a question came are taken for accidents by the page. */
export const GUARD_MS = 600;

const playwright = await import('playwright-core').catch(() => null);
const chromiumPath = process.env.CHROMIUM || ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync) || '';

/** Why nothing here can run, '' when it can. */
export const skipReason = !playwright ? 'playwright-core is not installed: run npm ci in web/' : !chromiumPath || !existsSync(chromiumPath) ? 'no chromium: install it or name it in CHROMIUM' : '';

/** The program under test: ZEROCLAW, else built once for this run. @returns {string} */
function binary() {
  if (process.env.ZEROCLAW) return process.env.ZEROCLAW;
  const dir = path.join(tmpdir(), `zeroclaw-e2e-${process.getuid?.() ?? 0}-${process.ppid}`);
  const file = path.join(dir, process.platform === 'win32' ? 'zeroclaw.exe' : 'zeroclaw');
  if (!existsSync(file)) {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    execFileSync('go', ['build', '-o', file, './cmd/zeroclaw'], { cwd: repo, stdio: ['ignore', 'inherit', 'inherit'] });
  }
  return file;
}

/** A temporary folder that is removed when the file's tests are over. @param {string} name */
export function tempDir(name) {
  const dir = mkdtempSync(path.join(tmpdir(), `zc-e2e-${name}-`));
  temps.push(dir);
  return dir;
}
/** @type {string[]} */
const temps = [];
/** @type {import('playwright-core').Browser | null} */
let browser = null;
let program = '';

/** Opens the one browser of a test file; call it once, at the top. */
export function useBrowser() {
  if (skipReason) return;
  before(async () => {
    program = binary();
    browser = await playwright.chromium.launch({
      executablePath: chromiumPath, headless: true,
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
  });
  after(async () => {
    await browser?.close();
    for (const dir of temps) rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
}

/** The browser, for tests that need a window of their own. @returns {import('playwright-core').Browser} */
export const theBrowser = () => /** @type {any} */ (browser);

/** @param {Record<string, string|Buffer>} files @param {string} root */
export function layOut(files, root) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(root, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}

/**
 * One running companion.
 * @typedef {object} Options
 * @property {Record<string, string|Buffer>} [files] laid out in its folder
 * @property {Record<string, string|Buffer>} [home] laid out in its HOME
 * @property {string} [config] text of config.toml
 * @property {string[]} [rules] permission rules, written to the configuration
 * @property {string[]} [args] more flags
 * @property {Record<string, string>} [env]
 */
export class Companion {
  /** @param {Options} [options] */
  static async start(options = {}) {
    const one = new Companion();
    one.home = tempDir('home');
    one.root = path.join(one.home, 'project');
    mkdirSync(one.root);
    one.options = options;
    layOut(options.files ?? { 'README.md': '# Hello\n\nThis is the readme.\n' }, one.root);
    layOut(options.home ?? {}, one.home);
    const rules = options.rules ? `[permissions]\ndirectories = ${JSON.stringify(options.rules)}\n` : '';
    if (options.config || rules) layOut({ '.zeroclaw/config.toml': (options.config ?? '') + rules }, one.home);
    await one.run();
    return one;
  }

  /** @param {{port?: number}} [more] */
  async run({ port } = {}) {
    const { options } = this;
    const args = ['--root', this.root, '--port', String(port ?? 0), '--no-browser', ...(options.args ?? [])];
    this.child = spawn(program, args, {
      cwd: this.root, stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8', HOME: this.home, USERPROFILE: this.home, TMPDIR: process.env.TMPDIR ?? '/tmp', ...(process.env.ZEROCLAW_WEB_DIR ? { ZEROCLAW_WEB_DIR: process.env.ZEROCLAW_WEB_DIR } : {}), ...options.env },
    });
    this.ended = new Promise((resolve) => {
      this.child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.stderr = '';
    this.launch = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no launch address within ${PATIENCE} ms: ${this.stderr}`)), PATIENCE);
      this.child.stderr.on('data', (data) => {
        this.stderr += data;
        const found = /(https?:\/\/\S+#code=\S+)/.exec(this.stderr);
        if (found) {
          clearTimeout(timer);
          resolve(found[1]);
        }
      });
      this.child.once('exit', (code) => reject(new Error(`the companion ended with ${code}: ${this.stderr}`)));
    });
    this.pid = this.child.pid;
    const instance = JSON.parse(readFileSync(path.join(this.home, '.zeroclaw/run/server.json'), 'utf8'));
    this.port = instance.port;
    this.url = `http://127.0.0.1:${this.port}`;
    this.token = instance.token;
  }

  /** The API, as the command line of the same user. @param {string} method @param {string} where @param {any} [body] @param {Record<string, string>} [headers] @returns {Promise<any>} */
  async api(method, where, body, headers = {}) {
    const answer = await fetch(this.url + where, {
      method, headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${where}: ${answer.status} ${text}`);
    return text ? JSON.parse(text) : null;
  }

  /** A fresh one-use address of the page. @returns {Promise<string>} */
  async address() {
    return (await this.api('POST', '/api/launch', { printed: true })).url;
  }

  /** Adds a provider. @param {string} name @param {{kind: string, base_url: string, model: string, api_key?: string}} values */
  async provider(name, values) {
    await this.api('POST', `/api/config/map-key?path=providers&key=${name}`, {});
    for (const [key, value] of Object.entries(values)) {
      const { version } = await this.api('GET', `/api/config/list?prefix=providers.${name}`);
      await this.api('PUT', `/api/config/prop?path=providers.${name}.${key}`, { value, version });
    }
  }

  /** Stores a conversation. @param {string} title @param {{role: string, data: any}[]} messages @returns {Promise<string>} its route */
  async conversation(title, messages) {
    const made = await this.api('POST', '/api/conversations', { title });
    const { id } = made.conversation ?? made;
    let { version } = await this.api('GET', `/api/conversations/${id}`);
    let after = 0;
    for (let at = 0; at < messages.length; at += 500) {
      const page = messages.slice(at, at + 500).map((message, n) => ({ id: `m${at + n}`, ...message }));
      const saved = await this.api('POST', `/api/conversations/${id}/messages`, { version: version ?? 0, after, messages: page });
      version = saved.version;
      after = saved.seq.at(-1);
    }
    return `chat/${id}`;
  }

  /** Writes a file into the folder. @param {string} name @param {string} text */
  write(name, text) {
    layOut({ [name]: text }, this.root);
  }

  /** @param {string} name */
  read(name) {
    return readFileSync(path.join(this.root, name), 'utf8');
  }

  /** @param {NodeJS.Signals} [signal] */
  async end(signal = 'SIGTERM') {
    if (!this.child || this.child.exitCode !== null || this.child.signalCode !== null) return;
    this.child.kill(signal);
    const late = setTimeout(() => this.child.kill('SIGKILL'), 8_000);
    await this.ended;
    clearTimeout(late);
  }
}

/** Processes whose command line holds a text (Linux). @param {string} text @returns {number[]} */
export function processes(text) {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').includes(text) && !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  }).map(Number);
}

/** What must never happen in a page, whatever a test does. */
class Watch {
  /** @param {import('playwright-core').BrowserContext} context @param {string[]} origins that the page may ask */
  constructor(context, origins) {
    this.faults = /** @type {string[]} */ ([]);
    this.requests = /** @type {string[]} */ ([]);
    this.expected = /** @type {RegExp[]} */ ([]);
    context.on('request', (request) => {
      const address = request.url();
      this.requests.push(address);
      if (/^(data|blob|about|chrome):/.test(address)) return;
      if (!origins.some((origin) => address.startsWith(`${origin}/`)) && !request.isNavigationRequest()) this.faults.push(`the page asked ${address}`);
    });
    context.on('weberror', (error) => this.faults.push(`error in the page: ${error.error().stack ?? error.error().message}`));
    context.on('console', (message) => {
      // The browser itself reports refused requests; what the page does about them is what tests look at.
      if (message.type() === 'error' && !/Failed to load resource|net::ERR_/.test(message.text())) this.faults.push(`console: ${message.text()}`);
    });
  }

  /** @param {string} fault */
  add(fault) {
    this.faults.push(fault);
  }

  check() {
    assert.deepEqual(this.faults.filter((fault) => !this.expected.some((pattern) => pattern.test(fault))), []);
  }
}

/** A companion, a browser context that its tabs share, and what went wrong in them. */
export class Stage {
  /** @param {Options & {context?: import('playwright-core').BrowserContextOptions, origins?: string[], welcome?: boolean}} options */
  static async open(options = {}) {
    const stage = new Stage();
    stage.companion = await Companion.start(options);
    stage.options = options;
    stage.context = await theBrowser().newContext({ locale: 'en-US', viewport: { width: 1280, height: 900 }, ...options.context });
    stage.context.setDefaultTimeout(PATIENCE);
    stage.watch = new Watch(stage.context, [stage.companion.url, ...(options.origins ?? [])]);
    await stage.context.exposeBinding('__report', (_, fault) => stage.watch.add(fault));
    await stage.context.addInitScript(() => {
      addEventListener('securitypolicyviolation', (event) => {
        /** @type {any} */ (globalThis).__report(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
    return stage;
  }

  /** Opens the page in a new tab and waits until it can be used. @param {{start?: boolean, path?: string}} [options] `start`: leave the first steps; `path`: a route */
  async page({ start = true, path: where = '' } = {}) {
    const page = await this.context.newPage();
    this.pages.push(page);
    await page.goto(await this.companion.address());
    const person = new Person(page, this);
    await person.ready();
    if (start && (await person.welcome.count())) await person.button('Start').click();
    if (where) await person.go(where);
    return person;
  }

  /** @type {import('playwright-core').Page[]} */
  pages = [];

  async end() {
    const left = await Promise.all(this.pages.filter((page) => !page.isClosed()).map((page) => page.evaluate(() => /** @type {any} */ (globalThis).__pwned).catch(() => undefined)));
    await this.context.close().catch(() => {});
    await this.companion.end();
    assert.ok(left.every((one) => one === undefined), 'text from outside ran as a script');
  }
}

/** One tab and what a person does in it. */
export class Person {
  /** @param {import('playwright-core').Page} page @param {Stage} stage */
  constructor(page, stage) {
    this.page = page;
    this.stage = stage;
    this.welcome = page.getByRole('heading', { name: 'Welcome to ZeroClaw' });
    this.composer = page.locator('.composer').getByLabel('Message', { exact: true });
    this.questions = page.locator('section.card.ask');
    this.bar = page.locator('button.waiting');
    this.log = page.getByRole('log');
  }

  async ready() {
    await this.page.locator('.app').waitFor();
    // Without the tools a message could not be sent; the events of a further tab come by the first one's stream.
    await this.page.waitForFunction(() => document.querySelector('.welcome .tool-chips li, main.gate') || /[1-9]/.test(document.querySelector('.composer a.btn')?.textContent ?? '') || document.querySelector('.set-nav'));
    if (this.stage.pages.length < 2) await this.page.getByText('Connected ·').first().waitFor({ state: 'attached' });
  }

  /** @param {string} name @param {boolean} [exact] */
  button(name, exact = true) {
    return this.page.getByRole('button', { name, exact });
  }

  /** @param {string} where a route such as settings/permissions */
  async go(where) {
    await this.page.evaluate((hash) => {
      location.hash = hash;
    }, `#/${where}`);
  }

  /** The browser draws tabs behind others once a second only; nobody writes into those. */
  async front() {
    if (this.stage.pages.length > 1) await this.page.bringToFront();
  }

  /** Sends a message. @param {string} text */
  async say(text) {
    await this.front();
    await this.composer.fill(text);
    await this.composer.press('Enter');
  }

  /** The question that shows a text, once it is there. @param {string|RegExp} [text] */
  async question(text) {
    const found = text === undefined ? this.questions.first() : this.questions.filter({ hasText: text }).first();
    await found.waitFor();
    return found;
  }

  /** Answers a question as soon as the page takes answers. @param {import('playwright-core').Locator} question @param {string} button */
  async answer(question, button) {
    await this.front();
    await this.page.waitForTimeout(GUARD_MS);
    await question.getByRole('button', { name: button, exact: true }).click();
  }

  /** @param {import('playwright-core').Locator} question @param {string} reason */
  async deny(question, reason = '') {
    await this.front();
    await question.getByRole('button', { name: 'Deny…', exact: true }).click();
    if (reason) await question.getByRole('textbox').fill(reason);
    await question.getByRole('button', { name: 'Deny', exact: true }).click();
  }

  /** The finished card of a tool, the n-th of the chat that is open. @param {string} tool @param {number} [n] */
  async finished(tool, n = 1) {
    const card = this.page.locator('section.card.done, section.card.open').filter({ has: this.page.locator('.line b', { hasText: tool }) }).nth(n - 1);
    await card.waitFor();
    return card;
  }

  /** Waits until Settings say that something was saved. */
  saved() {
    return this.page.getByRole('status').getByText('Saved', { exact: true }).first().waitFor();
  }

  /** Waits until no turn runs in this tab. */
  async idle() {
    await this.page.locator('.composer').getByRole('button', { name: 'Send' }).waitFor();
  }

  /** Waits until a text stands in the conversation. @param {string|RegExp} text */
  async sees(text) {
    await this.log.getByText(text).last().waitFor();
  }

  /** Presses Tab until what has the focus fits. @param {{role?: string, name: string|RegExp, tag?: string}} wanted @param {{back?: boolean, most?: number}} [how] */
  async tabTo({ name, tag }, { back = false, most = 120 } = {}) {
    const seen = [];
    for (let i = 0; i < most; i++) {
      const at = await this.focused();
      seen.push(`${at.tag} ${at.name}`);
      const fits = typeof name === 'string' ? at.name === name : name.test(at.name);
      if (fits && (!tag || at.tag === tag)) return;
      await this.page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
    }
    assert.fail(`Tab does not reach ${name}; it went through ${[...new Set(seen)].join(', ')}`);
  }

  /** The element with the focus. @returns {Promise<{tag: string, name: string, text: string, class: string}>} */
  focused() {
    return this.page.evaluate(() => {
      const element = document.activeElement ?? document.body;
      const labels = /** @type {any} */ (element).labels;
      const shown = (/** @type {Element} */ one) => [...one.childNodes].map((node) => (node.nodeType === 3 ? node.textContent : /** @type {Element} */ (node).getAttribute?.('aria-hidden') === 'true' ? '' : shown(/** @type {Element} */ (node)))).join('');
      const name = element.getAttribute('aria-label') || (element.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '').join(' ').trim() || (labels?.length ? shown(labels[0]) : shown(element));
      return { tag: element.tagName.toLowerCase(), name: name.replace(/\s+/g, ' ').trim(), text: (element.textContent ?? '').slice(0, 200), class: element.className };
    });
  }
}

/**
 * A test with a companion and its page; afterwards nothing may have gone wrong in any tab.
 * @param {string} name @param {Parameters<typeof Stage.open>[0] & {timeout?: number}} options @param {(stage: Stage) => Promise<void>} work
 */
export function scenario(name, options, work) {
  test(name, { skip: skipReason || false, timeout: options.timeout ?? 90_000 }, async () => {
    const stage = await Stage.open(options);
    try {
      await work(stage);
      stage.watch.check();
    } catch (error) {
      await picture(stage, name);
      throw error;
    } finally {
      await stage.end();
    }
  });
}

/** Keeps a picture of every tab of a failed test when E2E_PICTURES names a folder. @param {Stage} stage @param {string} name */
async function picture(stage, name) {
  const dir = process.env.E2E_PICTURES;
  if (!dir) return;
  for (const [at, page] of stage.pages.entries()) {
    await page.screenshot({ path: path.join(dir, `${name.replace(/\W+/g, '-').slice(0, 60)}-${at}.png`), timeout: 5_000 }).catch(() => {});
  }
}

/** Asks again and again until it holds. @template T @param {() => T|Promise<T>} probe @param {string} what @param {number} [patience] @returns {Promise<T>} */
export async function until(probe, what, patience = PATIENCE) {
  for (const end = Date.now() + patience; ;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) assert.fail(`not within ${patience} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until an element's text fits; what is off the screen counts, too. @param {import('playwright-core').Locator} element @param {RegExp} pattern */
export async function has(element, pattern) {
  let text = '';
  await until(async () => {
    text = (await element.textContent()) ?? '';
    return pattern.test(text);
  }, `${pattern} in the text of the element`).catch((error) => {
    throw new assert.AssertionError({ message: `${error.message}; it was: ${text}`, stackStartFn: has });
  });
}
