// The main job, end to end: Mirror asks for tools, the gate asks the person, the person answers in the page.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { GUARD_MS, has, scenario, until, useBrowser } from './rig.js';

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
  await has(question, /no (R )?rule (covers|lets)/i);
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
  // What was taken back stays so, after a reload and in another tab.
  await me.page.reload();
  await (await me.finished('edit_file')).getByText('Undone').waitFor();
  assert.equal(await me.page.getByRole('button', { name: /^Undo/ }).count(), 0);
});

scenario('an edit that is taken back shows as undone in every tab', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  await me.say('/edit_file path=notes.txt mode=append content="four"');
  await me.answer(await me.question('notes.txt'), 'Allow once');
  const card = await me.finished('edit_file');
  await me.idle();
  const other = await stage.page({ path: await me.page.evaluate(() => location.hash.slice(2)) });
  const theirs = await other.finished('edit_file');
  await theirs.getByRole('button', { name: /^Undo/ }).waitFor();
  await me.front();
  await card.getByRole('button', { name: /^Undo/ }).click();
  await card.getByText('Undone').waitFor();
  await theirs.getByText('Undone').waitFor();
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

scenario('a tool that is set to Deny, switched off or stopped: Mirror says which, and the composer counts what a model gets', { files }, async (stage) => {
  const { companion } = stage;
  const me = await stage.page();
  const counted = async () => Number(/\d+/.exec((await me.page.locator('.composer a.btn').textContent()) ?? '')?.[0]);
  const set = async (/** @type {string} */ tool, /** @type {any} */ setting) => {
    const permissions = await companion.api('GET', '/api/permissions');
    await companion.api('PUT', '/api/permissions', { ...permissions, tools: { ...permissions.tools, [tool]: setting } });
  };
  const before = await counted();
  await set('read_file', { mode: 'deny', enabled: true });
  await until(async () => (await counted()) === before - 1, 'a denied tool is not counted');
  await me.say('/read_file path=README.md');
  await me.sees(/set to Deny in Settings → Tools/);
  await me.idle();
  await set('list_directory', { mode: 'ask', enabled: false });
  await until(async () => (await counted()) === before - 2, 'one that is off is not counted');
  await me.say('/list_directory path=.');
  await me.sees(/switched off in Settings → Tools/);
  await me.idle();
  assert.equal(await me.log.getByText(/Did you mean|There is no tool/).count(), 0);
  const id = (await me.page.evaluate(() => location.hash)).split('/').at(-1);
  const session = (await companion.api('GET', '/api/sessions')).sessions.find((/** @type {any} */ one) => one.conversation === id);
  assert.equal((await companion.api('POST', `/api/sessions/${session.id}/turns`, { message: 'x' })).tools.length, await counted(), 'as many as the model gets');
});

scenario('chats that began with a tool line are told apart; Enter during a turn says that it waits', { files }, async (stage) => {
  const me = await stage.page();
  await until(async () => (await me.focused()).name === 'Message', 'after the first steps one can write');
  await me.say('/execute_command command="ls -la | wc"');
  await me.page.locator('.conv', { hasText: 'execute_command · ls -la | wc' }).waitFor();
  await me.question('wc');
  await me.composer.fill('and then');
  await me.composer.press('Enter');
  await me.page.locator('.composer').getByText('Still at work on the last message').waitFor();
  assert.equal(await me.composer.inputValue(), 'and then');
  assert.equal(await me.log.getByText('and then', { exact: true }).count(), 0);
  await me.deny(await me.question('wc'));
  await me.idle();
  await until(async () => (await me.page.locator('.composer').getByText('Still at work').count()) === 0, 'with the turn it goes');
  await me.composer.press('Enter');
  await me.log.getByText('and then', { exact: true }).waitFor();
  // What was announced does not stay in a language that is no longer shown.
  const said = me.page.locator('.sr[role=status]');
  await has(said, /^Reply finished$/);
  await me.go('settings/appearance');
  await me.page.getByText('Español').click();
  await me.page.getByRole('heading', { name: 'Apariencia' }).waitFor();
  assert.equal(await said.textContent(), '');
});

scenario('signs over the conversation move nothing, and hide while the question can be seen', { files, timeout: 120_000 }, async (stage) => {
  const me = await stage.page();
  const size = () => me.page.locator('.log').evaluate((box) => [box.clientWidth, box.clientHeight]);
  const atEnd = () => me.page.locator('.log').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 40);
  const column = () => me.page.locator('.log-inner').evaluate((inner) => inner.getBoundingClientRect().left - /** @type {HTMLElement} */ (document.querySelector('.composer')).getBoundingClientRect().left);
  const room = await size();
  assert.equal(await column(), 0, 'the conversation and the composer stand on one line');
  for (let n = 0; n < 5; n++) {
    await me.say('/list_directory path=.');
    await me.answer(await me.question(), 'Allow once');
    await me.idle();
    await until(atEnd, 'the end is followed');
  }
  await me.say('/read_file path=README.md');
  const question = await me.question('README.md');
  await until(async () => /\bseen\b/.test((await me.bar.getAttribute('class')) ?? ''), 'no sign for what can be seen');
  assert.ok(await question.evaluate((card) => card.getBoundingClientRect().bottom <= /** @type {HTMLElement} */ (document.querySelector('.log')).getBoundingClientRect().bottom), 'the whole question is in view');
  assert.deepEqual(await size(), room);
  assert.equal(await column(), 0, 'with a scrollbar, too');
  await me.log.hover();
  await me.page.mouse.wheel(0, -2_000);
  await until(async () => !/\bseen\b/.test((await me.bar.getAttribute('class')) ?? ''), 'the sign is back');
  await me.button('Jump to the end').waitFor();
  assert.deepEqual(await size(), room);
  await me.bar.click();
  await until(async () => /\bask\b/.test((await me.focused()).class), 'the card has the focus');
  await until(async () => /\bseen\b/.test((await me.bar.getAttribute('class')) ?? ''), 'it is seen again');
});

scenario('the end is followed while things shrink and grow around an answer', { files, timeout: 120_000 }, async (stage) => {
  const me = await stage.page();
  const away = async () => me.button('Jump to the end').count();
  for (let n = 0; n < 4; n++) {
    await me.say('/list_directory path=.');
    const question = await me.question();
    await me.page.waitForTimeout(GUARD_MS);
    // In one go, as it happens when the machine is busy: the card shrinks to a line, the view is measured, and more is drawn below.
    await question.evaluate((card) => {
      const box = /** @type {HTMLElement} */ (document.querySelector('.log'));
      const inner = /** @type {HTMLElement} */ (document.querySelector('.log-inner'));
      /** @type {HTMLElement} */ (card.querySelector('.choices button')).click();
      /** @type {HTMLElement} */ (card).hidden = true;
      void box.scrollTop;
      const more = document.createElement('div');
      more.style.height = '300px';
      inner.append(more);
      setTimeout(() => more.remove(), 400);
    });
    await me.idle();
    await me.page.waitForTimeout(500);
    assert.equal(await away(), 0, `lost the end in round ${n}`);
  }
});

scenario('the folder picker: a path that does not work is said beside the line, and the list is that of the line', { files: { ...files, 'docs/deep/a.md': 'A' }, context: { viewport: { width: 1280, height: 657 } } }, async (stage) => {
  const { companion } = stage;
  const me = await stage.page();
  await me.button(/^Folder:/, false).click();
  const dialog = me.page.locator('dialog');
  const line = dialog.getByLabel('Folder', { exact: true });
  const entries = () => dialog.locator('.folder-list').innerText();
  await until(async () => /docs/.test(await entries()), 'the list of the folder');
  await line.fill('/nonexistent/x');
  assert.doesNotMatch(await entries(), /docs/, 'no list of another folder than that in the line');
  await line.press('Enter');
  const fault = dialog.getByRole('alert');
  await has(fault, /^There is no folder \/nonexistent\/x\.$/);
  assert.ok(await fault.evaluate((element) => element.getBoundingClientRect().bottom < innerHeight), 'on the screen');
  assert.equal(await line.getAttribute('aria-invalid'), 'true');
  await line.fill(path.join(companion.root, 'notes.txt'));
  await dialog.getByRole('button', { name: 'Use this folder' }).click();
  await has(fault, /notes\.txt is a file, not a folder/);
  await line.fill(path.join(companion.home, '.zeroclaw'));
  await dialog.getByRole('button', { name: 'Use this folder' }).click();
  await has(fault, /belongs to ZeroClaw itself/);
  await line.fill('relative');
  await line.press('Enter');
  await has(fault, /whole path/);
  await line.fill(companion.root);
  await dialog.getByRole('button', { name: 'docs', exact: true }).press('Enter');
  await until(async () => /^↑/.test((await me.focused()).text), 'walking goes on in the new list');
  await dialog.getByRole('button', { name: 'deep', exact: true }).press('Enter');
  await until(async () => (await line.inputValue()).endsWith('deep'), 'the line follows the list');
  await dialog.getByRole('button', { name: 'Use this folder' }).click();
  await me.button(/Folder: .*deep/, false).waitFor();
});
