// Which model a chat uses, and what becomes of a conversation that is too long for it.
import assert from 'node:assert/strict';
import { key, OpenAIStub, withModel } from './models.js';
import { has, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'secret.txt': 'the secret\n' };

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
