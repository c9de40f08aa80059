// Turns with model servers behind the relay: streams, calls, Stop, and everything that a model server can do wrong.
import assert from 'node:assert/strict';
import { gate, key, pick, withModel } from './models.js';
import { has, processes, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'secret.txt': 'the secret\n' };

for (const kind of /** @type {const} */ (['openai', 'anthropic'])) {
  scenario(`${kind}: a streamed turn with two calls, one allowed, one denied`, { files, timeout: 120_000 }, async (stage) => {
    const { stub, me } = await withModel(stage, kind, [
      { parts: [{ text: 'I will look at **both** files.' }, { call: { id: 'one', name: 'read_file', arguments: { path: 'README.md' } } }, { call: { id: 'two', name: 'read_file', arguments: { path: 'secret.txt' } } }] },
      (/** @type {any} */ body) => ({ parts: [{ text: `Seen: ${JSON.stringify(body).includes('This is the readme') ? 'readme' : 'nothing'}, secret ${JSON.stringify(body).includes('the secret') ? 'leaked' : 'kept'}.` }] }),
    ]);
    await me.say('compare the files');
    await me.page.locator('strong', { hasText: 'both' }).first().waitFor();
    const first = await me.question('README.md');
    const second = await me.question('secret.txt');
    assert.equal(await me.bar.innerText().then((text) => /2 questions waiting/.test(text)), true);
    await me.answer(first, 'Allow once');
    await me.page.waitForFunction(() => document.querySelectorAll('section.card.ask').length === 1);
    await me.deny(second, 'that one is private');
    await me.sees('Seen: readme, secret kept.');
    await me.idle();
    assert.equal(stub.requests.length, 2);
    const sent = JSON.stringify(stub.requests[1].body);
    assert.match(sent, /that one is private/, 'the model reads why it was denied');
    assert.match(sent, /"(tool_call_id|tool_use_id)":"one"/);
    // The key is put on by the companion and is nowhere in the page.
    assert.equal(stub.requests[0].headers[kind === 'openai' ? 'authorization' : 'x-api-key'], kind === 'openai' ? `Bearer ${key}` : key);
    assert.ok(!(await me.page.content()).includes(key));
    assert.ok(!JSON.stringify(stub.requests.map(({ headers }) => headers)).includes(stage.companion.token));
    // Everything is stored: a reload shows the same.
    await me.page.reload();
    await me.sees('Seen: readme, secret kept.');
    assert.equal(await me.page.locator('section.card.done').count(), 2);
    await me.page.waitForTimeout(500);
    assert.equal(stub.requests.length, 2, 'a finished turn is not asked again');
  });

  scenario(`${kind}: what breaks in the middle of an answer becomes a sentence, and nothing is lost`, { files, rules: ['R:./**'], timeout: 150_000 }, async (stage) => {
    const { stub, me } = await withModel(stage, kind, [
      { parts: [{ text: 'Half an answer with a call ' }, { call: { name: 'read_file', arguments: '{"path":"READ' } }], end: 'cut' },
      { parts: [{ text: 'Now whole.' }] },
      { parts: [{ text: 'Some text' }], end: 'error', message: 'Overloaded, come back later' },
      { parts: [{ text: 'Calling ' }, { call: { id: 'bad', name: 'read_file', arguments: '{"path": "README.md", ' } }, { call: { id: 'good', name: 'read_file', arguments: { path: 'README.md' } } }] },
      (/** @type {any} */ body) => ({ parts: [{ text: /not a JSON object/.test(JSON.stringify(body)) ? 'I was told about the JSON.' : 'I was told nothing.' }] }),
      { status: 401, message: 'Incorrect API key provided' },
      { status: 429, message: 'Rate limit reached' },
      { status: 500, message: 'internal' },
      { status: 400, message: 'This model\'s maximum context length is 8192 tokens' },
      { status: 502, body: '<html>bad gateway <img src=x onerror="window.__pwned=1"></html>' },
      { parts: [] },
    ]);
    const alert = () => me.log.getByRole('alert').last();
    await me.say('first');
    await alert().waitFor();
    await has(alert(), /ended in the middle|broke off/);
    await me.sees(/Half an answer with a call/);
    assert.equal(await me.page.locator('section.card').count(), 0, 'nothing ran from half an answer');
    await alert().getByRole('button', { name: 'Try again' }).click();
    await me.sees('Now whole.');
    await me.idle();
    assert.equal(await me.log.getByText('first', { exact: true }).count(), 1, 'the message was asked again, not doubled');

    await me.say('second');
    await alert().getByText(/Overloaded, come back later/).waitFor();
    await me.sees('Some text');
    await me.idle();

    await me.say('third');
    await me.sees('I was told about the JSON.');
    const cards = me.page.locator('section.card.done');
    assert.equal(await cards.count(), 2);
    await has(cards.first(), /Failed/);
    await cards.first().getByRole('button').first().click();
    await me.page.getByRole('group', { name: 'Arguments as they came' }).getByText('{"path": "README.md",').waitFor();
    await me.idle();

    for (const [message, words] of /** @type {[string, RegExp][]} */ ([['fourth', /key was refused/], ['fifth', /Too many requests/], ['sixth', /server cannot be reached or failed/], ['seventh', /longer than the model can take/], ['eighth', /failed|reached/], ['ninth', /answered with nothing/]])) {
      await me.say(message);
      await me.log.getByText(message, { exact: true }).waitFor();
      await until(async () => words.test((await alert().textContent()) ?? ''), `${message}: ${words}`);
      await me.idle();
      assert.ok(await me.log.getByText(message, { exact: true }).isVisible(), `the message ${message} is kept`);
    }
    await stub.close();
    await me.say('tenth');
    await me.log.getByRole('alert').filter({ hasText: /cannot be reached/ }).last().waitFor();
    await me.idle();
    await me.page.reload();
    for (const text of ['Half an answer with a call', 'Now whole.', 'Some text', 'I was told about the JSON.', 'tenth']) {
      if (text !== 'Half an answer with a call') await me.sees(text);
    }
  });
}

scenario('Stop in the middle kills a running sleep, and no process is left', { files, rules: ['R:./**'] }, async (stage) => {
  const seconds = `300.${process.pid}1`;
  const { stub, me } = await withModel(stage, 'openai', [
    { parts: [{ text: 'Sleeping now.' }, { call: { name: 'execute_command', arguments: { command: `sleep ${seconds}`, timeout_seconds: 600 } } }] },
  ]);
  await me.say('sleep');
  await me.answer(await me.question(`sleep ${seconds}`), 'Allow once');
  await until(() => processes(`sleep ${seconds}`).length > 0, 'the sleep runs');
  await me.page.locator('section.card.run').getByText(/running/).waitFor();
  const began = Date.now();
  await me.page.locator('.composer').getByRole('button', { name: 'Stop' }).click();
  await until(() => processes(`sleep ${seconds}`).length === 0, 'the sleep is gone', 5_000);
  assert.ok(Date.now() - began < 5_000);
  await (await me.finished('execute_command')).getByText(/Stopped/).waitFor();
  await me.sees('Stopped by you');
  await me.idle();
  assert.equal(stub.requests.length, 1, 'the model is not asked to go on');
});

scenario('Stop on a card ends one call and the turn goes on; Stop on a question ends the turn', { files, rules: ['R:./**'] }, async (stage) => {
  const seconds = `300.${process.pid}2`;
  const { stub, me } = await withModel(stage, 'openai', [
    { parts: [{ call: { name: 'execute_command', arguments: { command: `sleep ${seconds}` } } }] },
    (/** @type {any} */ body) => ({ parts: [{ text: /cancel/i.test(JSON.stringify(body.messages.at(-1))) ? 'It was cancelled, I see.' : 'It ran.' }] }),
    { parts: [{ call: { name: 'execute_command', arguments: { command: 'sleep 1' } } }] },
  ]);
  await me.say('sleep');
  await me.answer(await me.question(`sleep ${seconds}`), 'Allow once');
  await until(() => processes(`sleep ${seconds}`).length > 0, 'the sleep runs');
  await me.page.getByRole('button', { name: 'Stop execute_command' }).click();
  await me.sees('It was cancelled, I see.');
  await me.idle();
  assert.equal(processes(`sleep ${seconds}`).length, 0);
  await me.say('again');
  await (await me.question('sleep 1')).getByRole('button', { name: 'Stop', exact: true }).click();
  await me.sees('Stopped by you');
  await me.idle();
  assert.equal(stub.requests.length, 3);
});

scenario('Stop in the middle of a stream keeps what came and closes the connection to the model', { files }, async (stage) => {
  const wall = gate();
  const { stub, me } = await withModel(stage, 'openai', [{ parts: [{ text: 'The beginning of a long answer. ' }, { wait: wall.promise }, { text: 'never seen' }] }]);
  await me.say('go');
  await me.sees('The beginning of a long answer.');
  await me.page.locator('.composer').getByRole('button', { name: 'Stop' }).click();
  await me.sees('Stopped by you');
  await me.idle();
  await until(() => stub.closedEarly === 1, 'the relay lets go of the model');
  wall.open();
  await me.page.reload();
  await me.sees('The beginning of a long answer.');
  assert.equal(await me.log.getByText('never seen').count(), 0);
});

scenario('the same failing call three times ends the turn; Continue goes on', { files, rules: ['R:./**'] }, async (stage) => {
  const failing = { parts: [{ call: { name: 'read_file', arguments: { path: 'nothere.txt' } } }] };
  const { stub, me } = await withModel(stage, 'openai', [failing, failing, failing, { parts: [{ text: 'I go on.' }] }]);
  await me.say('read it');
  await me.sees(/same calls failed three times/);
  await me.idle();
  assert.equal(stub.requests.length, 3);
  await me.button('Continue').click();
  await me.sees('I go on.');
});

scenario('five chats at once: four streams, the fifth waits and says so; questions get through', { files, timeout: 150_000 }, async (stage) => {
  const wall = gate();
  const slow = { parts: [{ text: 'Streaming…' }, { wait: wall.promise }, { text: ' done.' }] };
  const { me } = await withModel(stage, 'openai', [slow, slow, slow, slow, slow]);
  const people = [me];
  for (let at = 1; at < 5; at++) {
    const next = await stage.page();
    await pick(next, /stub-1/);
    people.push(next);
  }
  for (const person of people.slice(0, 4)) {
    await person.say('go');
    await person.sees('Streaming…');
  }
  await people[4].say('go');
  await people[4].page.getByText(/Waiting: four other replies/).waitFor();
  const began = Date.now();
  const other = await stage.page();
  const opened = Date.now() - began;
  await other.say('/read_file path=README.md');
  await other.answer(await other.question('README.md'), 'Allow once');
  await other.sees('This is the readme.');
  console.log(`# beside four streams a sixth tab opened in ${opened} ms and had its call answered after ${Date.now() - began} ms`);
  wall.open();
  for (const person of people) await person.sees('Streaming… done.');
});
