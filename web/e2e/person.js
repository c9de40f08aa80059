// A person's hands in one tab: write, ask, answer, look.
import assert from 'node:assert/strict';
import { GUARD_MS, has, until } from './wait.js';

/** One tab and what a person does in it. */
export class Person {
  /** @param {import('playwright-core').Page} page @param {import('./rig.js').Stage} stage */
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
