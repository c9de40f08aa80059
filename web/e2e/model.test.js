// Turns with model servers behind the relay: streams, calls, Stop, and everything that a model server can do wrong.
import assert from 'node:assert/strict';
import { AnthropicStub, gate, OpenAIStub } from './models.js';
import { has, processes, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'secret.txt': 'the secret\n' };
const key = 'sk-e2e-0123456789abcdefghijABCDEFGHIJ';

/**
 * A page whose chat uses a stub. @param {import('./rig.js').Stage} stage @param {'openai'|'anthropic'} kind @param {any[]} answers
 */
async function withModel(stage, kind, answers) {
  const stub = await (kind === 'openai' ? OpenAIStub : AnthropicStub).start(answers);
  await stage.companion.provider('stub', { kind, base_url: kind === 'openai' ? `${stub.origin}/v1` : stub.origin, model: 'stub-1', api_key: key });
  const me = await stage.page();
  await pick(me, /stub-1/);
  return { stub, me };
}

/** Takes a model for the chat that is open. @param {import('./rig.js').Person} me @param {RegExp} name */
async function pick(me, name) {
  await me.button(/^Model:/, false).click();
  await me.page.getByRole('menuitemradio', { name }).click();
  await me.button(/^Model: stub-1/, false).waitFor();
}

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

scenario('every model of a provider can be chosen in the chat, few in the menu and many with a filter', { files }, async (stage) => {
  const models = ['stub-1', 'stub-2', ...Array.from({ length: 30 }, (_, n) => `big-${n}`)];
  const few = await OpenAIStub.start([{ parts: [{ text: 'from the second' }] }]);
  const many = await OpenAIStub.start([{ parts: [{ text: 'from the big one' }] }]);
  few.models = models.slice(0, 2);
  many.models = models;
  await stage.companion.provider('few', { kind: 'openai', base_url: `${few.origin}/v1`, model: 'stub-1' });
  await stage.companion.provider('many', { kind: 'openai', base_url: `${many.origin}/v1`, model: 'stub-1' });
  const me = await stage.page();
  await me.button(/^Model:/, false).click();
  await me.page.getByRole('menuitemradio', { name: /^stub-2 ?few/ }).click();
  await me.button(/^Model: stub-2/, false).waitFor();
  await me.say('hello');
  await me.sees('from the second');
  assert.equal(few.requests[0].body.model, 'stub-2');
  await me.idle();
  await me.button(/^Model:/, false).click();
  await me.page.getByRole('menuitem', { name: '31 more models of many…' }).click();
  await me.page.locator('dialog').getByLabel('Filter').fill('big 17');
  await me.page.keyboard.press('Enter');
  await me.button(/^Model: big-17/, false).waitFor();
  await me.say('hello again');
  await me.sees('from the big one');
  assert.equal(many.requests[0].body.model, 'big-17');
  await me.idle();
  await me.page.reload();
  await me.button(/^Model: big-17/, false).click();
  await me.page.getByRole('menuitemradio', { name: /big-17/, checked: true }).waitFor();
});

scenario('a provider without a model offers those it lists; nothing is sent until one is chosen', { files, timeout: 120_000 }, async (stage) => {
  const { companion } = stage;
  const bare = await OpenAIStub.start([{ parts: [{ text: 'from the listed one' }] }]);
  bare.models = ['listed-1', 'listed-2'];
  const dumb = await OpenAIStub.start();
  dumb.models = [];
  const first = await stage.page({ start: false });
  await companion.provider('bare', { kind: 'openai', base_url: `${bare.origin}/v1` });
  await companion.provider('dumb', { kind: 'openai', base_url: `${dumb.origin}/v1` });
  await first.page.locator('.choice', { hasText: 'bare' }).getByText('No model chosen yet').waitFor();
  assert.equal(await first.page.getByRole('radio').count(), 1, 'only Mirror can be taken in the first steps');
  await first.button('Start').click();
  // A chat that remembers the provider alone, as one may from before.
  const route = await companion.conversation('From before', [{ role: 'user', data: { text: 'x' } }, { role: 'assistant', data: { text: 'y' } }]);
  await companion.api('PATCH', `/api/conversations/${route.split('/')[1]}`, { meta: { profile: 'bare', model: '' } });
  await first.go(route);
  await first.button('Model: Choose a model', false).waitFor();
  await first.say('hello');
  const refusal = first.page.locator('.composer-error').getByRole('alert');
  await has(refusal, /No model of bare is chosen, so nothing was sent/);
  await refusal.getByRole('link', { name: 'Providers' }).waitFor();
  assert.equal(await first.composer.inputValue(), 'hello', 'what was written is still there');
  assert.equal(bare.requests.length, 0);
  await first.button('New chat').click();
  await first.button('Model: Mirror', false).waitFor();
  await first.go(route);
  await first.button('Model: Choose a model', false).click();
  await first.page.getByRole('menuitem', { name: /^dumb ?No model chosen, and it lists none/ }).waitFor();
  assert.equal(await first.page.getByRole('menuitemradio', { name: /^(bare|dumb)/ }).count(), 0, 'no entry without a model');
  await first.page.getByRole('menuitemradio', { name: /^listed-2 ?bare/ }).click();
  await first.button('Model: listed-2', false).waitFor();
  await until(async () => (await refusal.count()) === 0, 'the refusal goes once a model is chosen');
  await first.say('hello');
  await first.sees('from the listed one');
  assert.equal(bare.requests[0].body.model, 'listed-2');
  await first.idle();
  // What was chosen holds for the next chat, until its provider is gone.
  await first.button('New chat').click();
  await first.button('Model: Mirror', false).click();
  await first.page.getByRole('menuitemradio', { name: /^listed-1 ?bare/ }).click();
  await first.say('/list_directory');
  await first.deny(await first.question());
  await first.idle();
  await first.button('New chat').click();
  await first.button('Model: listed-1', false).waitFor();
  await companion.api('DELETE', '/api/config/map-key?path=providers&key=bare');
  await first.button('Model: Mirror', false).waitFor();
});

scenario('a conversation that grew too long is summarised on request, from the meter and from the refusal', { files, timeout: 120_000 }, async (stage) => {
  const long = 'words that fill the conversation '.repeat(40);
  const { stub, me } = await withModel(stage, 'openai', [
    { parts: [{ text: `one ${long}` }] }, { parts: [{ text: `two ${long}` }] },
    { parts: [{ text: 'SUMMARY of both' }] },
    { parts: [{ text: `three ${long}` }] },
    { status: 400, message: 'This model\'s maximum context length is 8192 tokens, however you requested 9000' },
    { parts: [{ text: 'SUMMARY of all' }] }, { parts: [{ text: 'There is room again.' }] },
  ]);
  for (const word of ['one', 'two']) {
    await me.say(`${word}? ${long}`);
    await me.sees(new RegExp(`^${word} words`));
    await me.idle();
  }
  await me.button(/^Context used/, false).click();
  await me.page.getByRole('menuitem', { name: /^Summarise what came before/ }).click();
  await me.page.getByText('Summary of what came before').first().waitFor();
  await me.idle();
  await me.say(`three? ${long}`);
  await me.sees(/^three words/);
  await me.idle();
  const asked = stub.requests[3].body.messages.map((/** @type {any} */ one) => one.content).join(' ');
  assert.match(asked, /SUMMARY of both/);
  assert.doesNotMatch(asked, /one\? words/, 'what was summarised is not sent again');
  await me.say('four?');
  await me.page.getByRole('button', { name: 'Summarise and try again' }).click();
  await me.sees('There is room again.');
  await me.idle();
  const last = stub.requests.at(-1)?.body.messages;
  assert.match(JSON.stringify(last), /SUMMARY of all/);
  assert.match(last.at(-1).content, /four\?/);
  assert.ok(await me.log.getByText('one?').first().isVisible() || (await me.log.textContent())?.includes('one?'), 'the messages stay for the person');
});
