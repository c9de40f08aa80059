import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { closeBrowser, missing, newContext, openPage, passWelcome, say, startCompanion } from './harness.js';

const axe = new URL('../node_modules/axe-core/axe.min.js', import.meta.url);
const skip = missing() || (existsSync(axe) ? false : 'axe-core is not installed (npm ci)');
/** @type {any} */
let companion;
before(async () => {
  if (!skip) companion = await startCompanion();
});
after(async () => {
  await closeBrowser();
  await companion?.clean();
});

/** @param {any} page @param {string} screen */
async function check(page, screen) {
  await page.evaluate(readFileSync(axe, 'utf8'));
  const found = await page.evaluate(async () => {
    const { violations } = await /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ['violations'] });
    return violations.map((/** @type {any} */ one) => `${one.id}: ${one.nodes.slice(0, 3).map((/** @type {any} */ node) => node.html.slice(0, 160)).join(' | ')}`);
  });
  assert.deepEqual(found, [], screen);
}

/** @param {any} page @param {string} screen */
async function fits(page, screen) {
  const wide = await page.evaluate(() => [...document.querySelectorAll('body *')].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 1 && getComputedStyle(one).visibility !== 'hidden' && !one.closest('pre, .side, .entries, table, .chips, .sr, .skip');
  }).slice(0, 3).map((one) => one.outerHTML.slice(0, 120)));
  assert.deepEqual(wide, [], `${screen}: wider than the window`);
}

for (const theme of /** @type {const} */ (['light', 'dark'])) {
  for (const lang of ['en', 'es']) {
    for (const width of [320, 1280]) {
      test(`${theme}, ${lang}, ${width} px`, { skip, timeout: 120_000 }, async () => {
        // axe runs as a script that the page's own policy would not allow.
        const context = await newContext({ theme, lang, width, height: 800, reducedMotion: 'reduce' });
        const page = await openPage(context, companion.link());
        const both = async (/** @type {string} */ screen) => {
          await check(page, screen);
          await fits(page, screen);
        };
        await page.locator('.welcome, .composer').first().waitFor();
        if (await page.locator('.welcome').count()) await both('first run');
        await passWelcome(page);
        await both('empty chat');
        await page.locator('.composer textarea').fill('/re');
        await page.locator('.suggest').waitFor();
        await both('completion');
        await page.locator('.composer textarea').fill('');
        await say(page, '/execute_command command="ls | wc -l; echo a-long-word-without-any-break-in-it-that-must-not-push-the-page-wider-than-its-window"');
        await page.locator('.card.ask').waitFor();
        await both('question');
        await page.waitForTimeout(600);
        await page.locator('.card.ask').focus();
        await page.keyboard.press('4');
        await page.locator('.deny-form input').waitFor();
        await both('deny');
        await page.keyboard.press('Escape');
        await page.keyboard.press('1');
        await page.locator('.msg-tools').last().waitFor();
        await page.locator('.line').first().click();
        await both('finished call');
        await page.locator('.chip').nth(1).click();
        await page.locator('.menu').waitFor();
        await both('menu');
        await page.keyboard.press('Escape');
        await page.locator('.chip').nth(2).click();
        await page.locator('dialog').waitFor();
        await both('folder dialog');
        await page.keyboard.press('Escape');
        if (width < 720) {
          await page.locator('.menu-btn').click();
          await both('drawer');
        }
        assert.deepEqual(page.faults, []);
        await context.close();
      });
    }
  }
}

test('the screen without a key', { skip, timeout: 60_000 }, async () => {
  const page = await openPage(await newContext(), companion.origin);
  await page.locator('h1').waitFor();
  await check(page, 'gate');
});
