// Conversations as they are kept: edit, branch, find, export, import, delete; files that go with a message; services from start to use.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { OpenAIStub } from './models.js';
import { GUARD_MS, has, processes, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n' };
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

/** A page whose chat talks to a stub that counts its replies. @param {import('./rig.js').Stage} stage */
async function counting(stage) {
  const stub = await OpenAIStub.start(Array.from({ length: 10 }, (_, n) => (/** @type {any} */ body) => {
    const { content } = body.messages.at(-1);
    return { parts: [{ text: `reply ${n + 1} to ${typeof content === 'string' ? content : content[0].text}` }] };
  }));
  await stage.companion.provider('stub', { kind: 'openai', base_url: `${stub.origin}/v1`, model: 'stub-1' });
  const me = await stage.page();
  await me.button(/^Model:/, false).click();
  await me.page.getByRole('menuitemradio', { name: /stub-1/ }).click();
  return { stub, me };
}

scenario('edit, regenerate, branch, rename, search, export, import, delete', { files, timeout: 120_000 }, async (stage) => {
  const { stub, me } = await counting(stage);
  const { page } = me;
  await me.say('alpha');
  await me.sees('reply 1 to alpha');
  await me.idle();
  await me.button('Regenerate').click();
  await me.sees('reply 2 to alpha');
  await me.idle();
  await page.locator('.turn').first().getByRole('button', { name: 'Edit' }).click();
  await page.locator('.edit-box textarea').fill('omega');
  await me.button('Send again').click();
  await me.sees('reply 3 to omega');
  await me.idle();
  assert.equal(await page.locator('.msg.user').count(), 1);
  assert.ok(!JSON.stringify(stub.requests.at(-1)?.body).includes('alpha'), 'what was replaced is gone for the model, too');
  await page.reload();
  await me.sees('reply 3 to omega');
  const first = page.url();
  await page.locator('.turn').last().getByRole('button', { name: 'Branch' }).click();
  await page.waitForURL((where) => where.href !== first);
  await me.sees('reply 3 to omega');
  await me.say('and then');
  await me.sees('reply 4 to and then');
  await me.idle();
  const menu = async (/** @type {string} */ name) => {
    await page.locator('.conv-row', { has: page.locator('[aria-current=page]') }).locator('.conv-more').click();
    await page.getByRole('menuitem', { name }).click();
  };
  await menu('Rename…');
  await page.locator('dialog').getByRole('textbox').fill('zebra notes');
  await page.keyboard.press('Enter');
  await page.locator('.conv[aria-current=page]', { hasText: 'zebra notes' }).waitFor();
  await page.getByRole('searchbox').fill('omega');
  await page.locator('.snippet mark').first().waitFor();
  await page.getByRole('searchbox').fill('');
  const saved = async (/** @type {string} */ name) => {
    const [download] = await Promise.all([page.waitForEvent('download'), menu(name)]);
    return { name: download.suggestedFilename(), text: readFileSync(await download.path()) };
  };
  const json = await saved('Export as JSON');
  const markdown = await saved('Export as Markdown');
  assert.match(json.name, /zebra.*\.json$/);
  assert.match(String(markdown.text), /zebra notes[^]*omega[^]*reply 3 to omega[^]*reply 4/);
  await menu('Delete');
  await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.locator('.conv', { hasText: 'zebra notes' }).waitFor({ state: 'detached' });
  for (const { name, text } of [json, markdown]) {
    await page.locator('.side-foot input[type=file]').setInputFiles({ name, mimeType: '', buffer: text });
    await page.locator('.conv[aria-current=page]', { hasText: 'zebra notes' }).waitFor();
    await me.sees('reply 4 to and then');
    await menu('Delete');
    await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.locator('.conv', { hasText: 'zebra notes' }).waitFor({ state: 'detached' });
  }
  for (const [name, text] of [['broken.json', '{"a":'], ['other.json', '{"hello":1}']]) {
    await page.locator('.side-foot input[type=file]').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) });
    await page.locator('.side').getByRole('alert').getByText(name).waitFor();
  }
});

scenario('attached files reach the folder of the session and the model', { files, timeout: 90_000 }, async (stage) => {
  const { stub, me } = await counting(stage);
  await me.page.locator('.composer input[type=file]').setInputFiles([{ name: 'dot.png', mimeType: 'image/png', buffer: png }, { name: 'notes <b>.txt', mimeType: 'text/plain', buffer: Buffer.from('hi there') }]);
  await me.page.locator('.composer .file').nth(1).waitFor();
  await me.say('look');
  await me.sees(/reply 1 to look/);
  const sent = JSON.stringify(stub.requests[0].body.messages.at(-1).content);
  assert.match(sent, /dot\.png/);
  assert.match(sent, /data:image\/png;base64/);
  await me.page.locator('.msg.user img').waitFor();
  // A tool reads what was attached by the path that the model is told, without a question: it is the session's own.
  const where = /([^"\s\\]*uploads[^"\s\\]*notes[^"\\]*\.txt)/.exec(sent)?.[1] ?? '';
  assert.ok(where, sent);
  await me.idle();
  await me.say(`/read_file path="${where}"`);
  await me.sees(/hi there/);
  assert.equal(await me.questions.count(), 0);
});

scenario('dummy_mcp: started, used in an open chat, stopped, from the page; kill -9 leaves nothing of it', { files, timeout: 120_000 }, async (stage) => {
  const { companion } = stage;
  const mine = () => processes('dummy-mcp').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(companion.home) || readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[3] === String(companion.pid);
    } catch {
      return false;
    }
  });
  const me = await stage.page();
  await me.say('hello');
  await me.sees(/"tools"/);
  await me.idle();
  await me.go('settings/mcp');
  await me.button('Start Dummy MCP').click();
  await me.button('Stop Dummy MCP').waitFor();
  await until(() => mine().length === 1, 'its process runs');
  await me.button('Use it in this chat').click();
  await me.composer.waitFor();
  const { tools } = await companion.api('GET', '/api/tools');
  const echo = tools.find((/** @type {any} */ tool) => tool.own_name === 'echo').name;
  await me.say(`/${echo} message="round trip"`);
  const question = await me.question('round trip');
  await has(question, /dummy/i);
  await me.answer(question, 'Allow once');
  await me.sees(/round trip/);
  await me.idle();
  const slow = tools.find((/** @type {any} */ tool) => tool.own_name === 'slow').name;
  await me.say(`/${slow} seconds=30 steps=60`);
  await me.answer(await me.question(slow), 'Allow once');
  await me.page.locator('section.card.run').getByText(/step \d+ of 60/).waitFor();
  await me.page.getByRole('button', { name: 'Stop Dummy MCP · slow' }).click();
  await has(await me.finished('Dummy MCP · slow'), /Stopped/);
  await me.idle();
  await me.go('settings/mcp');
  await me.button('Stop Dummy MCP').click();
  await me.button('Start Dummy MCP').waitFor();
  await until(() => mine().length === 0, 'its process is gone', 5_000);
  await me.page.waitForTimeout(GUARD_MS);
  await me.button('Start Dummy MCP').click();
  await until(() => mine().length === 1, 'it runs again');
  const pids = mine();
  const { port } = companion;
  await companion.end('SIGKILL');
  await companion.run({ port });
  await until(() => pids.every((pid) => !processes('dummy-mcp').includes(pid)), 'nothing is left after kill -9', 5_000);
});

scenario('the companion quits from the page and leaves nothing', { files }, async (stage) => {
  const { companion } = stage;
  const me = await stage.page({ path: 'settings/about' });
  await has(me.page.locator('.page'), new RegExp(path.basename(companion.root)));
  await me.page.locator('.page').getByRole('button', { name: /^Quit/ }).click();
  await me.page.locator('dialog').getByRole('button', { name: /^Quit/ }).click();
  await Promise.race([companion.ended, new Promise((_, reject) => setTimeout(() => reject(new Error('still runs')), 6_000))]);
  await me.page.getByText(/has ended|not connected|No connection/i).first().waitFor();
});

scenario('what is written and not sent outlives a reload, chat by chat, and goes when it is sent', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  await me.composer.fill('for the new chat');
  await me.page.reload();
  await until(async () => (await me.composer.inputValue()) === 'for the new chat', 'the draft is back');
  await me.say('/read_file path=README.md');
  await me.idle();
  assert.equal(await me.composer.inputValue(), '');
  await me.composer.fill('for the first');
  await me.page.locator('.composer input[type=file]').setInputFiles([{ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('hi there') }]);
  await me.page.locator('.composer .file', { hasText: 'notes.txt' }).waitFor();
  await me.button('New chat').click();
  await until(async () => (await me.composer.inputValue()) === '', 'a new chat has no draft');
  assert.equal((await me.focused()).name, 'Message', 'a new chat is ready to be written in');
  await me.page.goBack();
  await me.page.reload();
  await until(async () => (await me.composer.inputValue()) === 'for the first', 'the draft of the first chat is back');
  await me.page.locator('.composer .file', { hasText: 'notes.txt' }).waitFor();
  await me.composer.press('Enter');
  await me.sees('for the first');
  await me.idle();
  await me.page.reload();
  await me.sees('for the first');
  assert.equal(await me.composer.inputValue(), '');
  assert.equal(await me.page.locator('.composer .file').count(), 0);
});

scenario('Import takes exported chats and nothing else', { files }, async (stage) => {
  const me = await stage.page();
  const chats = async () => (await stage.companion.api('GET', '/api/conversations')).conversations.length;
  const give = (/** @type {string} */ name, /** @type {Buffer} */ buffer) => me.page.locator('.side-foot input[type=file]').setInputFiles({ name, mimeType: '', buffer });
  for (const [name, buffer] of /** @type {[string, Buffer][]} */ ([['pic.png', png], ['notes.md', Buffer.from('# Notes\n\nplain words')], ['other.json', Buffer.from('{"hello":1}')], ['shape.json', Buffer.from(JSON.stringify({ format: 'zeroclaw-conversation', version: 1, title: 'T', messages: [{ role: 'assistant', data: { calls: 'x' } }] }))]])) {
    await give(name, buffer);
    await me.page.locator('.side').getByRole('alert').getByText(`${name} is no chat that was exported here`).waitFor();
  }
  assert.equal(await chats(), 0);
  // What went wrong with a file does not stay beside what is done next.
  const alert = me.page.locator('.side').getByRole('alert');
  await me.say('hello');
  await me.idle();
  assert.equal(await alert.count(), 0, 'gone with the next message');
  await give('other.json', Buffer.from('{"hello":1}'));
  await alert.waitFor();
  await me.button('New chat').click();
  await alert.waitFor({ state: 'detached' });
  await give('other.json', Buffer.from('{"hello":1}'));
  await alert.waitFor();
  await me.page.getByRole('searchbox').fill('hel');
  await alert.waitFor({ state: 'detached' });
  await me.page.getByRole('searchbox').fill('');
  await stage.companion.api('DELETE', `/api/conversations/${(await stage.companion.api('GET', '/api/conversations')).conversations[0].id}`);
  // One that ended with a question is shown, and not asked again by itself.
  await give('open.json', Buffer.from(JSON.stringify({ format: 'zeroclaw-conversation', version: 1, title: 'Brought in', meta: {}, messages: [{ role: 'user', data: { text: 'and now?' } }] })));
  await me.sees('and now?');
  await me.button('Continue').waitFor();
  assert.equal(await me.page.locator('.side').getByRole('alert').count(), 0);
  assert.equal(await chats(), 1);
});

scenario('search groups hits by chat, shows the words, and works by keyboard', { files }, async (stage) => {
  const padding = 'Words that stand before what is looked for and fill a line or two of the list. '.repeat(3);
  const talk = Array.from({ length: 8 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', data: { text: `${padding}the needle number ${n}` } }));
  await stage.companion.conversation('First haystack', talk);
  await stage.companion.conversation('Second haystack', talk.slice(0, 2));
  await stage.companion.conversation('A needle in the title', [{ role: 'user', data: { text: 'x' } }, { role: 'assistant', data: { text: 'y' } }]);
  const me = await stage.page();
  await me.page.getByRole('searchbox').fill('needle');
  const hits = me.page.locator('.conv-row.hit');
  await hits.nth(2).waitFor();
  assert.equal(await hits.count(), 3, 'one entry for each chat');
  await me.page.getByRole('status').getByText('11 hits in 3 chats').waitFor();
  const first = hits.filter({ hasText: 'First haystack' });
  await has(first, /and 5 more hits/);
  for (const mark of await first.locator('mark').all()) {
    const inside = await mark.evaluate((element) => {
      const word = element.getBoundingClientRect();
      const box = /** @type {HTMLElement} */ (element.closest('.snippet')).getBoundingClientRect();
      return word.top >= box.top - 1 && word.bottom <= box.bottom + 1 && word.right <= box.right + 1;
    });
    assert.ok(inside, 'the found word itself can be seen');
  }
  await me.page.keyboard.press('ArrowDown');
  await until(async () => /needle in the title/i.test((await me.focused()).text), 'the first hit has the focus');
  await me.page.keyboard.press('ArrowDown');
  await me.page.keyboard.press('ArrowUp');
  await me.page.keyboard.press('Enter');
  await me.sees('y');
  await first.locator('a.snippet').nth(1).press('Escape');
  assert.equal(await me.page.getByRole('searchbox').inputValue(), '');
  await me.page.getByRole('searchbox').fill('nowhere to be found');
  await me.page.getByText('Nothing found').waitFor();
});

scenario('a hit leads to its message, however far back, shows it once and marks it', { files: { ...files, 'notes.md': 'First line.\nThe needle lies in the second line of this file.\n' }, rules: ['R:./**'], timeout: 150_000 }, async (stage) => {
  const talk = Array.from({ length: 2_600 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', data: { text: n === 300 ? 'a thimble between the rest' : `message ${n} ${'with some more words '.repeat(n % 9)}` } }));
  const long = await stage.companion.conversation('Long haystack', talk);
  const me = await stage.page();
  await me.say('/read_file path=notes.md');
  await me.sees(/A model would read this/);
  await me.idle();
  const short = await me.page.evaluate(() => location.hash);
  const search = me.page.getByRole('searchbox');
  await search.fill('needle');
  await me.page.getByRole('status').getByText('1 hit in 1 chat').waitFor();
  const snippets = me.page.locator('a.snippet');
  assert.equal(await snippets.count(), 1, 'the result and the answer that repeats it are one hit');
  const inView = (/** @type {import('playwright-core').Locator} */ element) => element.evaluate((one) => {
    const { top, bottom } = one.getBoundingClientRect();
    const log = /** @type {HTMLElement} */ (document.querySelector('.log')).getBoundingClientRect();
    return top >= log.top - 1 && bottom <= log.bottom + 1;
  });

  await search.fill('thimble');
  const thimble = snippets.filter({ hasText: 'thimble' });
  await thimble.click();
  const marked = me.page.locator('[data-found]');
  await marked.getByText('a thimble between the rest').waitFor();
  await until(() => inView(me.log.getByText('a thimble between the rest')), 'the message is in view');
  await marked.waitFor({ state: 'detached' });
  assert.ok(await inView(me.log.getByText('a thimble between the rest')), 'and stays there');
  assert.equal(await me.page.evaluate(() => location.hash), `#/${long}`, 'the address is that of the chat');
  assert.ok((await me.page.locator('article.turn').count()) <= 1_000, 'not everything is drawn');
  await me.button('Show later messages').scrollIntoViewIfNeeded();
  const above = () => me.log.getByText(/^message 499/).evaluate((one) => Math.round(one.getBoundingClientRect().top));
  await until(async () => {
    const top = await above();
    await me.page.waitForTimeout(100);
    return top === (await above());
  }, 'the end of what is drawn is in view');
  const top = await above();
  await me.button('Show later messages').click();
  await me.log.getByText(/^message 650/).first().waitFor({ state: 'attached' });
  await me.page.waitForTimeout(200);
  assert.equal(await above(), top, 'more below moves nothing');
  await me.button('Jump to the end').click();
  await until(() => inView(me.log.getByText(/^message 2599/)), 'the newest message is in view');
  assert.equal(await me.button('Show later messages').count(), 0);
  // The same hit leads there again, and so does one of another chat, whose card opens where the words are in a result.
  await thimble.click();
  await until(() => inView(me.log.getByText('a thimble between the rest')), 'the message is in view again');
  await search.fill('needle');
  await snippets.filter({ hasText: 'needle' }).click();
  await until(async () => (await me.page.evaluate(() => location.hash)) === short, 'the other chat');
  await marked.getByText(/needle lies in the second line/).waitFor();
  const { messages } = await stage.companion.api('GET', `/api/conversations/${short.split('/').at(-1)}/messages`);
  await me.go(`${short.slice(2)}?at=${messages.find((/** @type {any} */ one) => one.role === 'tool').seq}`);
  await me.page.locator('section.card[data-found]').getByText(/needle lies in the second line/).waitFor();
  await me.go('settings/about');
  await me.go(long);
  await until(() => inView(me.log.getByText(/^message 2599/)), 'without a place the end is shown');
});

scenario('a chat that begins with a file is named by its first text, and keeps the name that a person gives it', { files, timeout: 120_000 }, async (stage) => {
  const me = await stage.page();
  const attach = () => me.page.locator('.composer input[type=file]').setInputFiles([{ name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('hi there') }]);
  const current = (/** @type {string} */ title) => me.page.locator('.conv[aria-current=page]', { hasText: title }).waitFor();
  await attach();
  await current('plan.txt');
  await me.composer.press('Enter');
  await me.idle();
  await current('plan.txt');
  await me.say('What does the plan say?');
  await current('What does the plan say?');
  await me.idle();
  await me.say('And then?');
  await me.idle();
  await current('What does the plan say?');
  await me.button('New chat').click();
  await attach();
  await current('plan.txt');
  await me.page.locator('.conv-row', { has: me.page.locator('[aria-current=page]') }).locator('.conv-more').click();
  await me.page.getByRole('menuitem', { name: 'Rename…' }).click();
  await me.page.locator('dialog').getByRole('textbox').fill('My plan');
  await me.page.keyboard.press('Enter');
  await current('My plan');
  await until(async () => (await me.page.title()).includes('My plan'), 'the page knows the new name');
  await me.say('hello');
  await me.idle();
  await current('My plan');
});
