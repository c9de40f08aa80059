// The main job, end to end: Mirror asks for tools, the gate asks the person, the person answers in the page.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { GUARD_MS, has, scenario, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'notes.txt': 'one\ntwo\nthree\n' };

scenario('first run: pick a folder, a model, see the tools', { files }, async (stage) => {
  const me = await stage.page({ start: false });
  await me.welcome.waitFor();
  assert.match(await me.page.locator('.steps').innerText(), /project/);
  await me.page.getByRole('radio', { name: /Mirror/ }).waitFor();
  assert.ok(await me.page.getByRole('radio', { name: /Mirror/ }).isChecked());
  for (const tool of ['read_file', 'edit_file', 'list_directory', 'search_files', 'execute_command']) await me.page.locator('.tool-chips').getByText(tool, { exact: true }).waitFor();
  stage.companion.write('inner/deep/x.txt', 'x');
  await me.button('Change…').click();
  await me.button('inner').click();
  await me.button('deep').waitFor();
  await me.button('Use this folder').click();
  await me.page.locator('.steps code').filter({ hasText: 'project/inner' }).waitFor();
  await me.button('Start').click();
  await me.composer.waitFor();
  await me.button(/Folder: .*inner/, false).waitFor();
  assert.equal((await stage.companion.api('GET', '/api/status')).root, path.join(stage.companion.root, 'inner'));
});

scenario('a message to Mirror shows what a model would get', { files }, async (stage) => {
  const me = await stage.page();
  await me.say('hello there');
  await me.sees(/hello there/);
  await me.sees(/read_file/);
  await me.idle();
});

scenario('read: asks, allow once shows it, a rule of Permissions lets it through', { files }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  const question = await me.question('README.md');
  assert.equal(await me.page.title().then((title) => title.startsWith('(1) ')), true);
  assert.equal(await me.page.locator('#icon').getAttribute('href'), 'icon-ask.svg');
  await has(question, /Read .*README\.md\?/);
  await has(question, /no (R )?rule covers/i);
  assert.ok(!(await me.log.textContent()).includes('This is the readme'), 'nothing is read before the answer');
  await me.answer(question, 'Allow once');
  await me.sees('This is the readme.');
  await me.idle();
  await has(await me.finished('read_file'), /allowed by you/);

  await me.go('settings/permissions');
  const lines = me.page.getByRole('textbox', { name: /Directories|Rules/i });
  await lines.fill('R:./**');
  await me.button(/^Save/, false).click();
  await me.saved();
  assert.deepEqual((await stage.companion.api('GET', '/api/permissions')).directories, ['R:./**']);
  await me.page.goBack();
  await me.say('/read_file path=README.md');
  const second = await me.finished('read_file', 2);
  await has(second, /rule R:\.\/\*\*/);
  assert.equal(await me.questions.count(), 0);
});

scenario('a pipe asks and says why; deny with a reason reaches the chat', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  await me.say('/execute_command command="ls | wc -l"');
  const question = await me.question('wc -l');
  const text = await question.innerText();
  assert.match(text, /Run a command in/);
  assert.match(await question.locator('.why').first().innerText(), /\|/, 'the reason names what could not be read');
  assert.match((await question.locator('mark').allInnerTexts()).join(''), /\|/, 'the pipe is marked in the command');
  await me.deny(question, 'not in this folder please');
  const card = await me.finished('execute_command');
  await has(card, /Denied/);
  await me.sees(/not in this folder please/);
  await me.idle();

  await me.say('/execute_command command="ls | wc -l"');
  await me.answer(await me.question('wc -l'), 'Allow once');
  const done = await me.finished('execute_command', 2);
  await has(done, /exit 0/);
  await done.getByRole('button').first().click();
  await me.page.getByRole('group', { name: 'Output', exact: true }).getByText('2').waitFor();
});

scenario('an edit shows its difference before, and can be undone after', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  await me.say('/edit_file path=notes.txt mode=replace old_text=two new_text=TWO');
  const question = await me.question('notes.txt');
  const diff = question.getByRole('group', { name: 'Changes' });
  assert.match(await diff.innerText(), /-two\n\+TWO/);
  assert.equal(stage.companion.read('notes.txt'), files['notes.txt'], 'nothing is written before the answer');
  await me.answer(question, 'Allow once');
  const card = await me.finished('edit_file');
  assert.equal(stage.companion.read('notes.txt'), 'one\nTWO\nthree\n');
  await has(card, /\+1 −1/);
  await card.getByRole('button', { name: /^Undo/ }).click();
  await card.getByText('Undone').waitFor();
  assert.equal(stage.companion.read('notes.txt'), files['notes.txt']);
});

scenario('undo refuses when the file changed since, and says so', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  await me.say('/edit_file path=notes.txt mode=append content="four"');
  await me.answer(await me.question('notes.txt'), 'Allow once');
  const card = await me.finished('edit_file');
  stage.companion.write('notes.txt', 'mine\n');
  await card.getByRole('button', { name: /^Undo/ }).click();
  await card.getByRole('alert').getByText(/changed/).waitFor();
  assert.equal(stage.companion.read('notes.txt'), 'mine\n');
});

scenario('for this session, and always with a rule that is read before it is saved', { files: { ...files, 'docs/a.md': 'AAA', 'docs/b.md': 'BBB' } }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  await me.answer(await me.question('README.md'), 'Allow for this session');
  await me.sees('This is the readme.');
  await me.idle();
  await me.say('/read_file path=README.md');
  await me.finished('read_file', 2);
  assert.equal(await me.questions.count(), 0);
  await me.idle();

  await me.say('/list_directory path=docs');
  const question = await me.question('docs');
  await me.answer(question, 'Always…');
  await question.getByRole('radio', { name: /Add the rule/ }).first().check();
  assert.match(await question.locator('.rules').innerText(), /R:/);
  await me.answer(question, 'Allow and remember');
  await me.finished('list_directory');
  const { directories } = await stage.companion.api('GET', '/api/permissions');
  assert.equal(directories.length, 1);
  assert.match(directories[0], /^R:.*docs/);
  await me.idle();
  await me.say('/read_file path=docs/b.md');
  await me.sees('BBB');
  assert.equal(await me.questions.count(), 0);
});

scenario('the main job with the keyboard alone', { files, timeout: 150_000 }, async (stage) => {
  const me = await stage.page({ start: false });
  const { keyboard } = me.page;
  await me.welcome.waitFor();
  await me.tabTo({ name: 'Start', tag: 'button' });
  await keyboard.press('Enter');
  await me.tabTo({ name: 'Message' });
  await keyboard.type('/read_file path=README.md');
  await keyboard.press('Enter');
  await me.question('README.md');
  assert.equal((await me.focused()).name, 'Message', 'a question never takes the focus away');
  // Typing goes on: none of this may answer.
  await keyboard.type('1');
  await keyboard.press('Backspace');
  await me.page.waitForTimeout(GUARD_MS);
  assert.equal(await me.questions.count(), 1);
  await me.tabTo({ name: /question waiting/ }, { back: true });
  await keyboard.press('Enter');
  assert.match((await me.focused()).class, /ask/, 'the card itself has the focus, no button of it');
  await keyboard.press('1');
  await me.sees('This is the readme.');
  await me.idle();
  assert.equal((await me.focused()).name, 'Message', 'after the answer the focus is back where one writes');

  await me.tabTo({ name: 'Settings', tag: 'a' }, { back: true });
  await keyboard.press('Enter');
  await me.page.waitForFunction(() => location.hash.startsWith('#/settings'));
  await me.tabTo({ name: 'Permissions', tag: 'a' });
  await keyboard.press('Enter');
  await me.page.getByRole('textbox', { name: /Directories|Rules/i }).waitFor();
  await me.tabTo({ name: /Directories|Rules/i, tag: 'textarea' });
  await keyboard.type('R:./**');
  await me.tabTo({ name: /^Save/, tag: 'button' });
  await keyboard.press('Enter');
  await me.saved();
  await keyboard.press('Alt+ArrowLeft');
  await me.page.waitForFunction(() => location.hash.startsWith('#/settings'));
  await me.tabTo({ name: /Back to the chat|Chat/i, tag: 'a' });
  await keyboard.press('Enter');

  await me.composer.waitFor();
  await me.tabTo({ name: 'Message' });
  await keyboard.type('/read_file path=README.md');
  await keyboard.press('Enter');
  await me.sees('This is the readme.');
  await me.idle();
  assert.equal(await me.questions.count(), 0);

  await me.tabTo({ name: 'Message' });
  await keyboard.type('/execute_command command="ls | wc -l"');
  await keyboard.press('Enter');
  await me.question('wc -l');
  await me.tabTo({ name: /question waiting/ }, { back: true });
  await keyboard.press('Enter');
  await keyboard.press('4');
  await me.tabTo({ name: 'Reason for the model (optional)' });
  await keyboard.type('no thanks, 1234');
  await keyboard.press('Enter');
  await me.sees(/no thanks, 1234/);
  await me.idle();

  await me.tabTo({ name: 'Message' });
  await keyboard.type('/edit_file path=notes.txt mode=replace old_text=two new_text=TWO');
  await keyboard.press('Enter');
  await me.question('notes.txt');
  await me.tabTo({ name: /question waiting/ }, { back: true });
  await keyboard.press('Enter');
  // Enter on the card goes to Deny, never to an allow.
  await keyboard.press('Enter');
  assert.equal((await me.focused()).name, 'Deny…');
  assert.equal(await me.questions.count(), 1);
  await me.tabTo({ name: 'Allow once', tag: 'button' }, { back: true });
  await me.page.waitForTimeout(GUARD_MS);
  await keyboard.press('Enter');
  await me.finished('edit_file');
  assert.equal(stage.companion.read('notes.txt'), 'one\nTWO\nthree\n');
  await me.idle();
  await me.tabTo({ name: /^Undo the change of notes\.txt/ }, { back: true });
  await keyboard.press('Enter');
  await me.page.getByText('Undone').waitFor();
  assert.equal(stage.companion.read('notes.txt'), files['notes.txt']);
});

scenario('starting in a folder that the page chose before', { files }, async (stage) => {
  const { companion } = stage;
  companion.write('chosen/here.txt', 'found me');
  const me = await stage.page();
  await companion.api('PUT', '/api/root', { path: path.join(companion.root, 'chosen') });
  await me.button(/Folder: .*chosen/, false).waitFor();
  await me.say('/read_file path=here.txt');
  await me.answer(await me.question('here.txt'), 'Allow once');
  await me.sees('found me');
  assert.ok(existsSync(path.join(companion.home, '.zeroclaw')));
});
