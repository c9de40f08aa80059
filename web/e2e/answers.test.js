// Questions are answered by a person's own act and in time, never by accident.
import assert from 'node:assert/strict';
import path from 'node:path';
import { GUARD_MS, has, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'f1.txt': 'content 1\n' };
const chatOf = (/** @type {import('./rig.js').Person} */ person) => person.page.evaluate(() => location.hash.slice(2));

scenario('K3: a question whose choices are open stays until its deadline, then says so', { files, config: '[server]\napproval_timeout_secs = 6\n' }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  const question = await me.question('README.md');
  await question.getByText(/waits until/).waitFor();
  await question.getByRole('button', { name: 'Always…' }).click();
  await question.getByRole('radio').first().waitFor();
  await me.page.waitForTimeout(2_500);
  assert.ok(await question.getByRole('radio').first().isVisible(), 'the choices stay open');
  const card = await me.finished('read_file');
  await has(card, /Denied/);
  await me.sees(/nobody|No answer|in time|expired|not answered/i);
  await me.idle();
  assert.ok(!(await me.log.textContent()).includes('This is the readme'));
});

scenario('a late answer says why it was not used', { files }, async (stage) => {
  const one = await stage.page();
  const two = await stage.page();
  await one.say('/read_file path=README.md');
  const question = await one.question('README.md');
  await two.go(await chatOf(one));
  const theirs = await two.question('README.md');
  // The second tab's answer is slow on its way.
  await two.page.route('**/api/approvals/*', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await route.continue();
  });
  await two.page.waitForTimeout(GUARD_MS);
  await theirs.getByRole('button', { name: 'Allow once' }).click();
  await one.deny(question, 'faster');
  await two.page.getByText(/your answer was not used/).waitFor();
  await one.sees(/faster/);
  assert.ok(!(await two.log.textContent()).includes('This is the readme'));
});

scenario('K6, U030: a question is announced and never answered by accident', { files, timeout: 120_000 }, async (stage) => {
  const me = await stage.page();
  const other = await stage.page();
  await me.composer.fill('I am writing');
  await other.say('/read_file path=README.md');
  await me.bar.waitFor();
  await me.page.locator('.sr[role=status]').getByText(/1 question waiting: read_file/).waitFor({ state: 'attached' });
  assert.equal((await me.focused()).name, 'Message');
  // Enter in the chat, digits, Escape: the question stays. The chat's own message goes out.
  await me.composer.press('1');
  await me.composer.press('4');
  await me.composer.press('Enter');
  await me.idle();
  assert.equal(await me.page.getByText('1 question waiting').first().isVisible(), true);
  await me.bar.click();
  const question = await me.question('README.md');
  await until(async () => /\bask\b/.test((await me.focused()).class), 'the card has the focus');
  await me.page.keyboard.press('Escape');
  assert.equal((await me.focused()).name, 'Message');
  assert.equal(await me.questions.count(), 1);
  // Clicks in the first half second are accidents: here another question moves this one while the button is pressed.
  const third = await stage.page();
  await third.say('/read_file path=f1.txt');
  await third.question('f1.txt');
  await third.question('f1.txt').then((fresh) => fresh.getByRole('button', { name: 'Allow once' }).dblclick({ force: true, delay: 0 }).catch(() => {}));
  await third.page.waitForTimeout(300);
  const open = (await stage.companion.api('GET', '/api/approvals')).approvals.map((/** @type {any} */ one) => one.arguments.path);
  assert.ok(open.includes('README.md'), 'the older question is untouched');
  await me.answer(question, 'Allow once');
  await other.sees('This is the readme.');
});

scenario('a double click that begins the moment a question appears allows nothing', { files }, async (stage) => {
  const me = await stage.page();
  await me.page.evaluate(() => {
    const clicks = /** @type {any} */ (globalThis).clicks = [];
    new MutationObserver(() => {
      const button = /** @type {HTMLElement|null} */ (document.querySelector('section.card.ask .choices button'));
      if (!button || clicks.length) return;
      for (const wait of [0, 30, 120, 300]) setTimeout(() => button.click(), wait);
      clicks.push(1);
    }).observe(document.body, { childList: true, subtree: true });
  });
  await me.say('/read_file path=README.md');
  await me.question('README.md');
  await me.page.waitForTimeout(450);
  assert.equal(await me.questions.count(), 1, 'still asking');
  assert.ok(!(await me.log.textContent()).includes('This is the readme'));
});
