import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { closeBrowser, missing, newContext, openPage, passWelcome, say, startCompanion } from './harness.js';

const skip = missing() || false;
/** @type {any} */
let companion;
before(async () => {
  if (!skip) companion = await startCompanion({ files: { 'README.md': '# Read me\n\nNames come from the scanner.\n', 'a.txt': 'x\n' } });
});
after(async () => {
  await closeBrowser();
  await companion?.clean();
});

/** Focuses the first question as the waiting bar does, past the guard, and presses a key. @param {any} page @param {string} key */
async function press(page, key) {
  await page.locator('.card.ask').first().waitFor();
  await page.waitForTimeout(600);
  await page.locator('.waiting').focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press(key);
}
/** @param {any} page @param {string} text */
const shows = (page, text) => page.locator('.log', { hasText: text }).waitFor({ timeout: 10_000 });

test('the main job, keyboard only', { skip, timeout: 120_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.address);
  assert.equal(new URL(page.url()).hash.includes('code'), false, 'the code left the address bar');
  await page.locator('.welcome-go button').waitFor();
  await page.locator('.welcome-go button').focus();
  await page.keyboard.press('Enter');

  await say(page, '/read_file path=README.md');
  await page.locator('.card.ask').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'TEXTAREA', 'focus was not taken');
  assert.match(await page.title(), /^\(1\)/);
  await press(page, '1');
  await shows(page, 'Names come from the scanner.');
  assert.equal(await page.locator('.card.ask').count(), 0);
  assert.doesNotMatch(await page.title(), /^\(/);

  await say(page, '/execute_command command="ls | wc -l"');
  await page.locator('.card.ask mark').waitFor();
  assert.equal(await page.locator('.card.ask mark').first().textContent(), '|');
  await press(page, '4');
  await page.keyboard.insertText('not that one');
  await page.keyboard.press('Enter');
  await shows(page, 'Denied by you: “not that one”');

  await say(page, '/edit_file path=README.md mode=replace old_text="Names come from the scanner." new_text="Names are numbers."');
  await page.locator('.card.ask .diff .add').waitFor();
  assert.match(await page.locator('.card.ask .diff').textContent(), /-Names come from the scanner\.\s*\+Names are numbers\./);
  assert.match(readFileSync(join(companion.root, 'README.md'), 'utf8'), /scanner/, 'nothing is written before the answer');
  await press(page, '1');
  const undo = page.locator('.card button', { hasText: 'Undo' });
  await undo.waitFor();
  assert.match(readFileSync(join(companion.root, 'README.md'), 'utf8'), /numbers/);
  await undo.focus();
  await page.keyboard.press('Enter');
  await page.locator('.saved').waitFor();
  assert.match(readFileSync(join(companion.root, 'README.md'), 'utf8'), /scanner/);

  await say(page, '/read_file path=a.txt');
  await press(page, '3');
  await page.locator('.rules').waitFor();
  await page.keyboard.press('Enter');
  await page.locator('.card.ask').waitFor({ state: 'detached' });
  await say(page, '/read_file path=a.txt');
  await page.locator('.card.done code', { hasText: 'R:' }).last().waitFor();
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('accidents do not allow: just appeared, Enter in the chat, keys while typing, a double click', { skip, timeout: 60_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await say(page, '/read_file path=README.md\n/read_file {"path": "./README.md"}');
  await page.locator('.card.ask').nth(1).waitFor();
  await page.locator('.card.ask').first().evaluate((card) => card.querySelector('.choices button').click());
  await page.keyboard.press('Enter');
  await page.keyboard.type('1 2 3');
  await page.waitForTimeout(400);
  assert.equal(await page.locator('.card.ask').count(), 2);
  await page.locator('.composer textarea').fill('');
  await page.waitForTimeout(600);
  await page.locator('.card.ask').first().locator('.choices button').first().dblclick();
  await page.waitForTimeout(500);
  assert.equal(await page.locator('.card.ask').count(), 1, 'the second click of a double click answers nothing else');
  await page.locator('.card.ask').first().getByRole('button', { name: 'Stop', exact: true }).click();
  await page.locator('.card.ask').waitFor({ state: 'detached' });
  await page.locator('.divider').waitFor();
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('reload and a second tab keep the question; answered in one, gone in the other', { skip, timeout: 60_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await say(page, '/list_directory path=.');
  await page.locator('.card.ask').waitFor();
  await page.reload();
  await page.locator('.card.ask').waitFor();
  const second = await openPage(context, page.url());
  await second.locator('.card.ask').waitFor();
  await second.waitForTimeout(600);
  await second.locator('.card.ask').focus();
  await second.keyboard.press('1');
  await page.locator('.card.ask').waitFor({ state: 'detached' });
  await shows(page, 'entries');
  await shows(page, 'The tool answered');
  await shows(second, 'The tool answered');
  await page.getByText('Answered in another tab.').waitFor();
  assert.deepEqual([page.faults, second.faults], [[], []]);
  await context.close();
});

test('eight tabs and six questions at once can each be answered, each within a moment', { skip, timeout: 120_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  const others = [];
  for (let i = 0; i < 7; i++) others.push(await openPage(context, page.url()));
  await say(page, Array.from({ length: 6 }, (_, i) => `/execute_command command="echo ${i} | cat"`).join('\n'));
  await page.locator('.card.ask').nth(5).waitFor();
  const last = others[6];
  await last.getByText('6 questions waiting').first().waitFor({ state: 'attached' });
  for (let left = 5; left >= 0; left--) {
    await page.waitForTimeout(550);
    const took = await page.evaluate(async () => {
      const before = document.querySelectorAll('.card.ask').length;
      const start = performance.now();
      /** @type {HTMLElement} */ (document.querySelector('.card.ask .choices button')).click();
      while (document.querySelectorAll('.card.ask').length === before) await new Promise(requestAnimationFrame);
      return performance.now() - start;
    });
    assert.ok(took < 1_000, `${took} ms`);
    assert.equal(await page.locator('.card.ask').count(), left);
  }
  await shows(page, '6 tools answered');
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('Stop kills what runs', { skip, timeout: 60_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await say(page, '/execute_command command="echo begun; touch started; sleep 300; touch finished"');
  await press(page, '1');
  await page.locator('.card.run pre', { hasText: 'begun' }).waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).last().click();
  await page.locator('.card.done').waitFor();
  assert.match(await page.locator('.card.done').textContent(), /Stopped/);
  assert.equal(existsSync(join(companion.root, 'started')), true);
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('the token stays in sessionStorage, and nothing else is kept', { skip, timeout: 60_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  const kept = await page.evaluate(() => ({ local: Object.keys(localStorage), session: Object.keys(sessionStorage), cookie: document.cookie }));
  assert.deepEqual(kept, { local: [], session: ['zc.pairing'], cookie: '' });
  await page.evaluate(() => window.postMessage({ approve: true, type: 'offer' }, '*'));
  const fresh = await newContext();
  const stranger = await openPage(fresh, companion.origin);
  await stranger.getByText('zeroclaw open', { exact: false }).first().waitFor();
  await context.close();
  await fresh.close();
});

test('a restarted companion: the page says how to go on, and nothing that waited runs', { skip, timeout: 90_000 }, async () => {
  const own = await startCompanion({});
  const context = await newContext();
  const page = await openPage(context, own.address);
  await passWelcome(page);
  await say(page, '/execute_command command="touch ran | cat"');
  await page.locator('.card.ask').waitFor();
  await own.restart();
  await page.getByText('The companion was restarted', { exact: false }).waitFor({ timeout: 30_000 });
  assert.equal(existsSync(join(own.root, 'ran')), false);
  const again = await openPage(context, own.link());
  await again.locator('.composer textarea').waitFor();
  await page.locator('.composer textarea').waitFor({ timeout: 10_000 });
  assert.equal(existsSync(join(own.root, 'ran')), false);
  await context.close();
  await own.clean();
});
