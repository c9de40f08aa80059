// A page that is reloaded, closed or opened in the middle of a model's turn.
import assert from 'node:assert/strict';
import { gate, pick, withModel } from './models.js';
import { has, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'secret.txt': 'the secret\n' };

scenario('a reload in the middle of an answer keeps what came; Continue goes on from there', { files, timeout: 120_000 }, async (stage) => {
  const wall = gate();
  const { stub, me } = await withModel(stage, 'openai', [
    { parts: [{ text: 'The beginning of a long answer. ' }, { wait: wall.promise }, { text: 'never seen' }] },
    { parts: [{ text: 'And this is its end.' }] },
  ]);
  await me.say('go');
  await me.sees('The beginning of a long answer.');
  await me.page.reload();
  await me.sees(/^Interrupted: the page or the companion was closed/);
  await me.sees('The beginning of a long answer.');
  await me.page.waitForTimeout(500);
  assert.equal(stub.requests.length, 1, 'the model is not asked again by itself');
  assert.equal(await me.log.getByText('Stopped by you').count(), 0);
  await me.page.getByRole('button', { name: 'Continue' }).click();
  await me.sees('And this is its end.');
  await me.idle();
  const { messages } = stub.requests[1].body;
  assert.match(messages.at(-2).content, /The beginning of a long answer/, 'the model sees what it said');
  assert.equal(messages.at(-1).role, 'user');
  await me.page.reload();
  await me.sees('And this is its end.');
  assert.equal(await me.log.getByText('The beginning of a long answer.').count(), 1);
  assert.equal(await me.button('Continue').count(), 0);
});

scenario('a tab that closes in the middle of an answer hands it to one that watched', { files, timeout: 120_000 }, async (stage) => {
  const wall = gate();
  const { stub, me: other } = await withModel(stage, 'openai', [
    { parts: [{ text: 'Said before the tab closed. ' }, { wait: wall.promise }, { text: 'never seen' }] },
    { parts: [{ text: 'Said after it.' }] },
  ]);
  const one = await stage.page();
  await pick(one, /stub-1/);
  await one.say('go');
  await one.sees('Said before the tab closed.');
  await other.go(await one.page.evaluate(() => location.hash.slice(2)));
  await other.page.getByText('This chat is running in another tab.').waitFor();
  // Kept while it streams, so that not even a crash takes it along.
  const chat = (await one.page.evaluate(() => location.hash)).split('/').at(-1);
  await until(async () => JSON.stringify(await stage.companion.api('GET', `/api/conversations/${chat}/messages`)).includes('Said before the tab closed'), 'the companion has it, whatever becomes of the tab');
  await one.page.close();
  await other.sees('Said after it.');
  await other.sees('Said before the tab closed.');
  await other.idle();
  assert.equal(stub.requests.length, 2);
  assert.equal(await other.log.getByText('Said before the tab closed.').count(), 1);
});

for (const left of /** @type {const} */ (['open', 'closed'])) {
  scenario(`kill -9 under a waiting question, the page ${left}: the new link asks no model, shows what was interrupted, and Continue goes on`, { files, timeout: 120_000 }, async (stage) => {
    stage.watch.expected.push(/Failed to fetch|ERR_/);
    const { companion } = stage;
    const { stub, me } = await withModel(stage, 'openai', [
      { parts: [{ text: 'I will read it.' }, { call: { id: 'one', name: 'read_file', arguments: { path: 'README.md' } } }] },
      { parts: [{ text: 'I go on without it.' }] },
    ]);
    await me.say('read the file');
    await me.question('README.md');
    const chat = await me.page.evaluate(() => location.hash.slice(2));
    if (left === 'closed') await me.page.close();
    const { port } = companion;
    await companion.end('SIGKILL');
    await companion.run({ port });
    if (left === 'open') await me.page.getByText('The companion was restarted').waitFor({ timeout: 30_000 });
    const again = await stage.page({ path: chat });
    for (const person of left === 'open' ? [me, again] : [again]) {
      const card = person.page.locator('section.card', { hasText: 'read_file' });
      await card.getByText(/Interrupted/).waitFor();
      await person.page.getByRole('button', { name: 'Continue' }).waitFor();
      const first = await card.innerText();
      assert.match(first, /waiting for your answer when the companion ended/);
      assert.equal(first.match(/interrupted/gi)?.length, 1, first);
      await person.page.waitForTimeout(1_000);
      assert.equal(await card.innerText(), first, 'the card says one thing from the beginning');
      await person.sees(/^Interrupted: the page or the companion was closed/);
      assert.equal(await person.log.locator('.divider').count(), 1);
      assert.equal(await person.questions.count(), 0);
    }
    assert.equal(stub.requests.length, 1, 'nothing went to the model');
    await again.front();
    await again.page.reload();
    await again.button('Continue').waitFor();
    await again.page.waitForTimeout(500);
    assert.equal(stub.requests.length, 1, 'nor after a reload');
    assert.equal(await again.log.locator('.divider').count(), 1);
    await again.button('Continue').click();
    await again.sees('I go on without it.');
    await again.idle();
    assert.equal(stub.requests.length, 2);
    const result = stub.requests[1].body.messages.at(-1);
    assert.equal(result.role, 'tool');
    assert.match(result.content, /interrupted: the companion ended/);
    assert.equal((await companion.api('GET', '/api/approvals')).approvals.length, 0);
  });
}

scenario('a page that is opened sends no unanswered message, and goes on with a question that still waits', { files, timeout: 120_000 }, async (stage) => {
  const { companion } = stage;
  const { stub, me } = await withModel(stage, 'openai', [
    { parts: [{ call: { id: 'one', name: 'read_file', arguments: { path: 'README.md' } } }] }, { parts: [{ text: 'Read and done.' }] }, { parts: [{ text: 'Asked at last.' }] },
  ]);
  await me.say('read it');
  await me.question('README.md');
  await me.page.reload();
  await me.answer(await me.question('README.md'), 'Allow once');
  await me.sees('Read and done.');
  await me.idle();
  assert.equal(stub.requests.length, 2);
  // Stored, and the page went away before anybody was asked.
  const route = await companion.conversation('Unanswered', [{ role: 'user', data: { text: 'never answered' } }]);
  await companion.api('PATCH', `/api/conversations/${route.split('/')[1]}`, { meta: { profile: 'stub', model: 'stub-1' } });
  await me.go(route);
  await me.sees('never answered');
  await me.sees(/^Interrupted: the page or the companion was closed/);
  await me.page.waitForTimeout(700);
  assert.equal(stub.requests.length, 2, 'opening it asks nobody');
  // A branch behind one's own message waits for a person, too.
  await me.page.locator('.turn', { hasText: 'never answered' }).getByRole('button', { name: 'Branch' }).click();
  await me.sees('The branch begins here');
  await me.page.waitForTimeout(500);
  assert.equal(stub.requests.length, 2);
  await me.button('Continue').click();
  await me.sees('Asked at last.');
  assert.match(stub.requests[2].body.messages.at(-1).content, /never answered/);
});
