// What servers ask a person: forms, pages to open, replies of a model; in the card of their call, else where it cannot be overlooked.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { OpenAIStub } from './models.js';
import { GUARD_MS, scenario, until, useBrowser } from './rig.js';

useBrowser();

const server = readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'testdata/asking-mcp.mjs'));
const home = {
  '.zeroclaw/services/asking/service.json': JSON.stringify({ schemaVersion: 1, displayName: 'Asking', launch: { executable: process.execPath, args: ['${serviceDir}/server.mjs'] } }),
  '.zeroclaw/services/asking/server.mjs': server,
};

/** A page with the server started, whose tools need no question of their own. @param {import('./rig.js').Stage} stage */
async function start(stage) {
  const { companion } = stage;
  await companion.api('POST', '/api/services/asking/start', {});
  await until(async () => (await companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === 'asking').state === 'running', 'the server runs');
  for (const tool of ['form', 'page', 'model', 'later']) await companion.api('PUT', `/api/config/prop?path=permissions.tools.mcp_asking_${tool}.mode`, { value: 'allow' });
  return stage.page();
}

/** The text of the last result in the chat. @param {import('./rig.js').Person} me @param {string} tool */
async function result(me, tool) {
  const card = await me.finished(`Asking · ${tool}`);
  await me.idle();
  if (!(await card.locator('.card-body').count())) await card.locator('.line').click();
  return JSON.parse((await card.locator('.card-body pre').last().textContent()) ?? '');
}

scenario('a form is made from the schema, with its defaults; what is wrong stands beside its field; the server gets the values', { home, timeout: 120_000 }, async (stage) => {
  const me = await start(stage);
  await me.say('/mcp_asking_form');
  const question = await me.question('“Asking” asks you for something');
  // The words of the server are a quotation, and nothing in them is markup.
  assert.equal(await question.locator('.quoted blockquote').textContent(), 'Who gets the parcel?\nPlease be quick. <b>Really</b>');
  await question.getByText('Only “Asking” gets what you enter here.').waitFor();
  assert.equal(await question.getByRole('textbox', { name: 'count' }).inputValue(), '3');
  await me.page.waitForTimeout(GUARD_MS);
  await question.getByRole('textbox', { name: 'email' }).fill('no address');
  await question.getByRole('button', { name: 'Send' }).click();
  assert.equal(await question.locator('.schema .bad').count(), 3, 'name and size are missing, the address is none');
  await question.getByText('Is no e-mail address.').waitFor();
  await question.getByRole('textbox', { name: 'Your name' }).fill('Ann');
  await question.getByRole('textbox', { name: 'email' }).fill('ann@example.org');
  await question.getByRole('combobox', { name: 'size' }).selectOption({ label: 'Large' });
  await question.locator('[data-path=colours]').getByRole('button', { name: /^Add/ }).click();
  await question.getByLabel('Green').check();
  await question.getByRole('button', { name: 'Send' }).click();
  assert.deepEqual(await result(me, 'form'), { action: 'accept', content: { name: 'Ann', email: 'ann@example.org', size: 'l', count: 3, gift: true, colours: ['g'] } });
});

scenario('a form that is higher than the view opens at its top, and stays where a person scrolls to', { home, context: { viewport: { width: 1280, height: 560 } }, timeout: 120_000 }, async (stage) => {
  const me = await start(stage);
  await me.say('/mcp_asking_form');
  const question = await me.question('“Asking” asks you for something');
  const room = await me.log.evaluate((box) => box.getBoundingClientRect().top);
  const top = () => question.evaluate((card) => card.getBoundingClientRect().top);
  assert.ok(await question.evaluate((card) => card.offsetHeight > /** @type {HTMLElement} */ (document.querySelector('.log')).clientHeight), 'it is higher');
  await until(async () => {
    const at = await top();
    return at >= room && at < room + 80;
  }, 'its top is in view');
  await me.page.waitForTimeout(800);
  assert.ok((await top()) >= room);
  await question.getByRole('button', { name: 'Send' }).scrollIntoViewIfNeeded();
  const there = await top();
  assert.ok(there < room);
  // The card is drawn anew; what is typed into would be moved by the browser itself.
  const no = question.locator('[data-path=gift]').getByRole('radio').last();
  await no.evaluate((/** @type {HTMLElement} */ one) => one.click());
  await until(() => no.isChecked(), 'it is chosen');
  await me.page.waitForTimeout(500);
  assert.ok(Math.abs((await top()) - there) < 60, 'it is not moved back');
  await me.answer(question, 'Decline');
  await me.finished('Asking · form');
  await me.idle();
  await until(() => me.log.evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 40), 'the end is followed again');
});

scenario('a form can be declined or closed, by keyboard alone', { home, timeout: 120_000 }, async (stage) => {
  const me = await start(stage);
  for (const [button, action] of [['Decline', 'decline'], ['Not now', 'cancel']]) {
    await me.say('/mcp_asking_form');
    const question = await me.question('“Asking” asks you for something');
    await question.focus();
    await me.tabTo({ name: button, tag: 'button' });
    await me.page.keyboard.press('Enter');
    const card = await me.finished('Asking · form', action === 'decline' ? 1 : 2);
    await me.idle();
    await card.locator('.line').click();
    assert.deepEqual(JSON.parse((await card.locator('.card-body pre').last().textContent()) ?? ''), { action });
  }
});

scenario('a page is opened only by a click, its host stands out, and what is no web address cannot be opened', { home, timeout: 120_000 }, async (stage) => {
  const me = await start(stage);
  await me.say('/mcp_asking_page url=https://bank.example@evil.example/login?next=https://bank.example');
  let question = await me.question('“Asking” asks you for something');
  assert.equal(await question.locator('.address b').textContent(), 'evil.example');
  assert.equal(await question.getByText('gets what you enter').count(), 0, 'nothing is entered here');
  await question.getByText('looks like an address and is none').waitFor();
  const link = question.getByRole('link', { name: 'Open in a new tab' });
  assert.deepEqual([await link.getAttribute('target'), await link.getAttribute('rel')], ['_blank', 'noopener noreferrer']);
  assert.ok(await question.getByRole('button', { name: 'I have done it' }).isDisabled());
  assert.equal(stage.context.pages().length, 1, 'nothing opens by itself');
  await me.answer(question, 'Decline');
  await me.idle();
  await me.say(`/mcp_asking_page url=${stage.companion.url}/icon.svg`);
  question = await me.question('“Asking” asks you for something');
  await me.page.waitForTimeout(GUARD_MS);
  const [opened] = await Promise.all([stage.context.waitForEvent('page'), question.getByRole('link', { name: 'Open in a new tab' }).click()]);
  assert.equal(await opened.evaluate(() => globalThis.opener), null);
  await opened.close();
  await question.getByRole('button', { name: 'I have done it' }).click();
  const card = await me.finished('Asking · page', 2);
  await me.idle();
  await card.locator('.line').click();
  assert.deepEqual(JSON.parse((await card.locator('.card-body pre').last().textContent()) ?? ''), { action: 'accept' });
  await me.say('/mcp_asking_page url=javascript:globalThis.__pwned=1');
  question = await me.question('“Asking” asks you for something');
  await question.getByText('cannot be opened from here').waitFor();
  assert.equal(await question.getByRole('link').count(), 0);
  await me.answer(question, 'Decline');
});

scenario('without a model a person writes the reply themselves', { home, timeout: 120_000 }, async (stage) => {
  const me = await start(stage);
  await me.say('/mcp_asking_model');
  const question = await me.question('“Asking” wants to use your model');
  await question.getByText('You count words.').waitFor();
  await question.getByText('How many words has “a b c”?').waitFor();
  assert.equal(await question.getByRole('button', { name: /^Let / }).count(), 0);
  assert.ok(await question.getByRole('button', { name: 'Send' }).isDisabled());
  assert.equal(await question.getByText('Read it before you send it').count(), 0, 'there is nothing to read');
  await question.getByLabel('Reply to “Asking”').fill('Three.');
  await question.getByText('Read it before you send it').waitFor();
  await me.answer(question, 'Send');
  const { result: sent } = await result(me, 'model');
  assert.deepEqual(sent, { role: 'assistant', model: 'human', content: { type: 'text', text: 'Three.' }, stopReason: 'endTurn' });
});

scenario('the model gets exactly what the server sent; its reply is read and changed before it goes, or declined', { home, timeout: 120_000 }, async (stage) => {
  const stub = await OpenAIStub.start([
    { parts: [{ call: { name: 'mcp_asking_model', arguments: {} } }] }, { parts: [{ text: 'It has ' }, { text: 'three.' }] }, { parts: [{ text: 'All is done.' }] },
    { parts: [{ call: { name: 'mcp_asking_model', arguments: {} } }] }, { parts: [{ text: 'I see.' }] },
  ]);
  await stage.companion.provider('stub', { kind: 'openai', base_url: `${stub.origin}/v1`, model: 'stub-1', api_key: 'sk-abcdefghijklmnopqrst0123' });
  const me = await start(stage);
  await me.page.getByRole('button', { name: /^Model/ }).click();
  await me.page.getByRole('menuitemradio', { name: /stub-1/ }).click();
  await me.say('a secret of this chat');
  const question = await me.question('“Asking” wants to use your model');
  await me.page.waitForTimeout(GUARD_MS);
  assert.equal(stub.requests.length, 1, 'nothing is sent by itself');
  await question.getByRole('button', { name: 'Let stub-1 answer' }).click();
  await question.getByRole('button', { name: 'Let stub-1 answer again' }).waitFor();
  assert.deepEqual(stub.requests[1].body.messages, [{ role: 'system', content: 'You count words.' }, { role: 'user', content: 'How many words has “a b c”?' }]);
  assert.equal(stub.requests[1].body.tools, undefined);
  const reply = question.getByLabel('Reply to “Asking”');
  assert.equal(await reply.inputValue(), 'It has three.');
  await reply.fill('It has 3.');
  await question.getByRole('button', { name: 'Send' }).click();
  await me.sees('All is done.');
  const { result: sent } = await result(me, 'model');
  assert.deepEqual([sent.model, sent.content.text], ['stub-1', 'It has 3.']);
  await me.say('once more');
  await me.answer(await me.question('“Asking” wants to use your model'), 'Decline');
  await me.sees('I see.');
  assert.equal(stub.requests.length, 5);
});

scenario('what a server asks outside any call waits in the bar, wherever one is, and in a panel', { home, timeout: 120_000 }, async (stage) => {
  const me = await start(stage);
  await me.say('/mcp_asking_later');
  await me.finished('Asking · later');
  await me.go('settings/about');
  await me.bar.click();
  const question = await me.question('“Asking” asks you for something');
  await me.answer(question, 'Decline');
  await me.questions.waitFor({ state: 'detached' });
});
