// A test with the real program (companion.js) and a real browser, in which a person (person.js) does things.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { binary, Companion, removeTemps } from './companion.js';
import { Person } from './person.js';
import { PATIENCE } from './wait.js';

export { Companion, layOut, processes, tempDir } from './companion.js';
export { Person } from './person.js';
export { busy, GUARD_MS, has, PATIENCE, until } from './wait.js';

const playwright = await import('playwright-core').catch(() => null);
const chromiumPath = process.env.CHROMIUM || ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync) || '';

/** Why nothing here can run, '' when it can. */
export const skipReason = !playwright ? 'playwright-core is not installed: run npm ci in web/' : !chromiumPath || !existsSync(chromiumPath) ? 'no chromium: install it or name it in CHROMIUM' : '';

/** @type {import('playwright-core').Browser | null} */
let browser = null;

/** Opens the one browser of a test file; call it once, at the top. */
export function useBrowser() {
  if (skipReason) return;
  before(async () => {
    binary(); // built before the first test's time begins
    browser = await playwright.chromium.launch({
      executablePath: chromiumPath, headless: true,
      args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
  });
  after(async () => {
    await browser?.close();
    removeTemps();
  });
}

/** The browser, for tests that need a window of their own. @returns {import('playwright-core').Browser} */
export const theBrowser = () => /** @type {any} */ (browser);

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
  /** @param {import('./companion.js').Options & {context?: import('playwright-core').BrowserContextOptions, origins?: string[], welcome?: boolean}} options */
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
