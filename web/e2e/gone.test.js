// The companion dies or is killed under an open page: it is shown, nothing runs later, nothing is left.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { processes, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'f1.txt': 'content 1\n' };
const chatOf = (/** @type {import('./rig.js').Person} */ person) => person.page.evaluate(() => location.hash.slice(2));

scenario('U043: the companion dies under a question: shown at once, and nothing runs later', { files, timeout: 120_000 }, async (stage) => {
  stage.watch.expected.push(/Failed to fetch|ERR_/);
  const { companion } = stage;
  const me = await stage.page();
  await me.say(`/execute_command command="touch ran; echo ${process.pid}"`);
  const question = await me.question('touch ran');
  const { port } = companion;
  await companion.end('SIGKILL');
  await me.page.getByText(/No connection to the companion/).waitFor();
  // What nobody can be told now cannot be pressed.
  await question.getByRole('status').getByText(/Not connected to the companion/).waitFor();
  assert.ok(await question.getByRole('button', { name: 'Allow once' }).isDisabled());
  await companion.run({ port });
  // The old token is worth nothing now; the page says how to go on.
  await me.page.getByText('The companion was restarted').waitFor({ timeout: 30_000 });
  await me.page.getByText('zeroclaw open').first().waitFor();
  const chat = await chatOf(me);
  const two = await stage.context.newPage();
  await two.goto(companion.launch);
  await two.locator('.composer').waitFor();
  // The tab that was left behind is paired by the new one.
  await me.page.locator('.composer').waitFor();
  assert.equal(await chatOf(me), chat);
  await me.page.locator('section.card').getByText(/Interrupted/).waitFor();
  assert.equal(await me.questions.count(), 0);
  assert.equal((await companion.api('GET', '/api/approvals')).approvals.length, 0);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(existsSync(path.join(companion.root, 'ran')), false, 'nothing ran');
  await me.say('/read_file path=f1.txt');
  await me.answer(await me.question('f1.txt'), 'Allow once');
  await me.sees('content 1');
});

scenario('kill -9 while a command runs: after the restart nothing is left of it, and the chat says interrupted', { files, rules: ['R:./**'], timeout: 120_000 }, async (stage) => {
  stage.watch.expected.push(/Failed to fetch|ERR_/);
  const { companion } = stage;
  const seconds = `300.${process.pid}7`;
  const me = await stage.page();
  await me.say(`/execute_command command="sleep ${seconds}" timeout_seconds=600`);
  await me.answer(await me.question(`sleep ${seconds}`), 'Allow once');
  await until(() => processes(`sleep ${seconds}`).length > 0, 'the command runs');
  const { port } = companion;
  await companion.end('SIGKILL');
  await companion.run({ port });
  await until(() => processes(`sleep ${seconds}`).length === 0, 'nothing is left of the command', 5_000);
  const chat = await chatOf(me);
  await me.page.getByText('The companion was restarted').waitFor({ timeout: 30_000 });
  // A launch address that is typed into the open tab pairs it again.
  await me.page.goto(await companion.address());
  await me.page.locator('.composer').waitFor();
  await me.go(chat);
  await me.page.locator('section.card').getByText(/Interrupted/).waitFor();
});
