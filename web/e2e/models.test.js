import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { closeBrowser, missing, newContext, openPage, passWelcome, say, startCompanion } from './harness.js';

const skip = missing() || false;
/** Answers of the stub, one for each request; what it was asked. @type {{answer: (body: any, response: import('node:http').ServerResponse) => void, asked: any[]}} */
const stub = { answer: () => {}, asked: [] };
const server = createServer(async (request, response) => {
  let text = '';
  for await (const part of request) text += part;
  if (!request.url?.includes('completions') && !request.url?.includes('messages')) return void response.writeHead(404).end();
  const body = JSON.parse(text);
  stub.asked.push({ url: request.url, headers: request.headers, body });
  stub.answer(body, response);
});
/** @type {any} */
let companion;
before(async () => {
  if (skip) return;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const base = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
  companion = await startCompanion({ config: `[providers.stub]\nkind = "openai"\nbase_url = "${base}/v1"\nmodel = "small"\n\n[providers.claude]\nkind = "anthropic"\nbase_url = "${base}"\nmodel = "claude-x"\n` });
});
after(async () => {
  await closeBrowser();
  await companion?.clean();
  server.closeAllConnections();
  server.close();
});

/** @param {import('node:http').ServerResponse} response @param {any[]} chunks @param {{end?: boolean, named?: boolean}} [options] */
async function stream(response, chunks, { end = true, named = false } = {}) {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  for (const chunk of chunks) {
    if (response.destroyed) return;
    response.write(`${named ? `event: ${chunk.type}\n` : ''}data: ${JSON.stringify(chunk)}\n\n`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  if (end) {
    if (!named) response.write('data: [DONE]\n\n');
    response.end();
  } else response.destroy();
}
const part = (/** @type {any} */ delta, /** @type {string|null} */ finish = null) => ({ choices: [{ index: 0, delta, finish_reason: finish }] });
const call = (/** @type {number} */ index, /** @type {string} */ name, /** @type {any} */ args) => part({ tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) } }] });

/** @param {string} profile */
async function chatWith(profile) {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await page.locator('.chip').nth(1).click();
  await page.locator('.menu [role=menuitemradio]', { hasText: profile }).click();
  stub.asked.length = 0;
  return { page, context };
}

test('two calls of one streamed answer, one allowed, one denied; Stop kills a command', { skip, timeout: 90_000 }, async () => {
  const { page, context } = await chatWith('stub');
  stub.answer = (body, response) => {
    const results = body.messages.filter((/** @type {any} */ one) => one.role === 'tool');
    if (!results.length) stream(response, [part({ role: 'assistant', content: 'I look ' }), part({ content: 'first.' }), call(0, 'read_file', { path: 'README.md' }), call(1, 'execute_command', { command: 'rm README.md | cat' }), part({}, 'tool_calls')]);
    else if (results.length === 2) stream(response, [call(0, 'execute_command', { command: 'echo start; sleep 300' }), part({}, 'tool_calls')]);
    else stream(response, [part({ content: 'should not come' }, 'stop')]);
  };
  await say(page, 'please');
  await page.locator('.card.ask').nth(1).waitFor();
  await page.waitForTimeout(600);
  const answer = async (/** @type {string} */ text, /** @type {string} */ key) => {
    await page.locator('.card.ask', { hasText: text }).focus();
    await page.keyboard.press(key);
  };
  await answer('README.md?', '1');
  await page.waitForTimeout(600);
  await answer('rm README.md', '4');
  await page.locator('.deny-form input').waitFor();
  await page.keyboard.insertText('keep it');
  await page.keyboard.press('Enter');
  await page.locator('.card.ask', { hasText: 'sleep 300' }).waitFor();
  const results = stub.asked[1].body.messages.filter((/** @type {any} */ one) => one.role === 'tool');
  assert.match(results[0].content, /hello from the folder/);
  assert.match(results[1].content, /keep it/);
  assert.equal(stub.asked[0].headers.authorization?.includes('held-by-the-companion') ?? false, false);
  await page.waitForTimeout(600);
  await answer('sleep 300', '1');
  await page.locator('.card.run pre', { hasText: 'start' }).waitFor();
  await page.getByRole('button', { name: 'Stop', exact: true }).last().click();
  await page.getByText('Stopped by you').waitFor();
  assert.equal(stub.asked.length, 2, 'the model is not asked after Stop');
  await page.waitForTimeout(300);
  const left = spawnSync('pgrep', ['-f', 'sleep 300'], { encoding: 'utf8' }).stdout.trim().split('\n').filter(Boolean)
    .filter((pid) => spawnSync('cat', [`/proc/${pid}/environ`], { encoding: 'utf8' }).stdout.includes(companion.home));
  assert.deepEqual(left, []);
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('what goes wrong at the model is said in words, and half an answer runs nothing', { skip, timeout: 90_000 }, async () => {
  const { page, context } = await chatWith('stub');
  stub.answer = (body, response) => void stream(response, [part({ content: 'half an ans' }), call(0, 'read_file', { path: 'README.md' })], { end: false });
  await say(page, 'one');
  await page.locator('.err').waitFor();
  await page.locator('.log', { hasText: 'half an ans' }).waitFor();
  assert.equal(await page.locator('.card').count(), 0);
  for (const [status, words] of /** @type {const} */ ([[401, 'key was refused'], [429, 'Too many requests'], [404, 'does not know this model']])) {
    stub.answer = (body, response) => void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: { message: `status ${status}` } }));
    await say(page, `try ${status}`);
    await page.locator('.err', { hasText: words }).waitFor();
  }
  stub.answer = (body, response) => void stream(response, [call(0, 'read_file', '{"path": '), part({}, 'tool_calls')]);
  await say(page, 'broken');
  await page.locator('.divider', { hasText: 'failed three times' }).waitFor();
  assert.match(stub.asked.at(-1).body.messages.at(-1).content, /not a JSON object/);
  assert.equal(await page.locator('.card.ask').count(), 0);
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('Anthropic: text, thinking, a call and its result', { skip, timeout: 90_000 }, async () => {
  const { page, context } = await chatWith('claude');
  const message = (/** @type {any[]} */ blocks, /** @type {string} */ stop) => [{ type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'x', usage: { input_tokens: 50, output_tokens: 1 } } }, ...blocks, { type: 'message_delta', delta: { stop_reason: stop }, usage: { output_tokens: 9 } }, { type: 'message_stop' }];
  stub.answer = (body, response) => {
    if (body.messages.length === 1) stream(response, message([{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Reading.' } }, { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} } }, { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"path":"README.md"}' } }, { type: 'content_block_stop', index: 1 }], 'tool_use'), { named: true });
    else stream(response, message([{ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'It says hello.' } }, { type: 'content_block_stop', index: 0 }], 'end_turn'), { named: true });
  };
  await say(page, 'read it');
  await page.locator('.card.ask').waitFor();
  await page.waitForTimeout(600);
  await page.locator('.card.ask').focus();
  await page.keyboard.press('1');
  await page.locator('.log', { hasText: 'It says hello.' }).waitFor();
  const [, result] = [stub.asked[1].body.messages[1], stub.asked[1].body.messages[2]];
  assert.equal(result.content[0].tool_use_id, 'toolu_1');
  assert.match(result.content[0].content, /hello from the folder/);
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('edit, regenerate, branch, rename, search, export, import, delete', { skip, timeout: 120_000 }, async () => {
  const { page, context } = await chatWith('stub');
  let n = 0;
  stub.answer = (body, response) => void stream(response, [part({ content: `reply ${++n} to ${body.messages.at(-1).content}` }), part({}, 'stop')]);
  await say(page, 'alpha');
  await page.locator('.md', { hasText: 'reply 1 to alpha' }).waitFor();
  await page.getByRole('button', { name: 'Regenerate' }).click();
  await page.locator('.md', { hasText: 'reply 2 to alpha' }).waitFor();
  await page.locator('.turn').first().getByRole('button', { name: 'Edit' }).click();
  await page.locator('.edit-box textarea').fill('omega');
  await page.getByRole('button', { name: 'Send again' }).click();
  await page.locator('.md', { hasText: 'reply 3 to omega' }).waitFor();
  assert.equal(await page.locator('.msg.user').count(), 1);
  await page.reload();
  await page.locator('.md', { hasText: 'reply 3 to omega' }).waitFor();
  const before = page.url();
  await page.locator('.turn').last().getByRole('button', { name: 'Branch' }).click();
  await page.waitForURL((/** @type {URL} */ url) => url.href !== before);
  await page.locator('.md', { hasText: 'reply 3 to omega' }).waitFor();
  const menu = async (/** @type {string} */ name) => {
    await page.locator('.conv-row', { has: page.locator('[aria-current=page]') }).locator('.conv-more').click();
    await page.locator('.menu [role=menuitem]', { hasText: name }).click();
  };
  await menu('Rename');
  await page.locator('dialog input').fill('zebra notes');
  await page.keyboard.press('Enter');
  await page.locator('.conv[aria-current=page]', { hasText: 'zebra notes' }).waitFor();
  await page.locator('input[type=search]').fill('omega');
  await page.locator('.snippet mark').first().waitFor();
  await page.locator('input[type=search]').fill('');
  const download = page.waitForEvent('download');
  await menu('Export as JSON');
  const path = await (await download).path();
  await menu('Delete');
  await page.locator('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.locator('.conv', { hasText: 'zebra notes' }).waitFor({ state: 'detached' });
  await page.locator('.side-foot input[type=file]').setInputFiles({ name: 'x.json', mimeType: 'application/json', buffer: (await import('node:fs')).readFileSync(path) });
  await page.locator('.conv[aria-current=page]', { hasText: 'zebra notes' }).waitFor();
  await page.locator('.md', { hasText: 'reply 3 to omega' }).waitFor();
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('attachments reach the session and the model', { skip, timeout: 60_000 }, async () => {
  const { page, context } = await chatWith('stub');
  stub.answer = (body, response) => void stream(response, [part({ content: 'seen' }), part({}, 'stop')]);
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  await page.locator('.composer input[type=file]').setInputFiles([{ name: 'dot.png', mimeType: 'image/png', buffer: png }, { name: 'notes <b>.txt', mimeType: 'text/plain', buffer: Buffer.from('hi') }]);
  await page.locator('.composer .file').nth(1).waitFor({ timeout: 5000 }).catch(async (error) => { throw new Error(await page.locator('.err').allTextContents() + error.message); });
  await say(page, 'look');
  await page.locator('.md', { hasText: 'seen' }).waitFor();
  const last = stub.asked[0].body.messages.at(-1);
  assert.match(JSON.stringify(last.content), /dot\.png/);
  assert.match(JSON.stringify(last.content), /data:image\/png;base64/);
  await page.locator('.msg.user img.shot').waitFor();
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('a closed tab hands its conversation over', { skip, timeout: 60_000 }, async () => {
  const { page, context } = await chatWith('stub');
  stub.answer = (body, response) => {
    if (body.messages.some((/** @type {any} */ one) => one.role === 'tool')) stream(response, [part({ content: 'taken over' }), part({}, 'stop')]);
    else stream(response, [call(0, 'execute_command', { command: 'sleep 2; echo slept' }), part({}, 'tool_calls')]);
  };
  await say(page, 'go');
  await page.locator('.card.ask').waitFor();
  const second = await openPage(context, page.url());
  await second.locator('.card.ask').waitFor();
  await second.waitForTimeout(600);
  await second.locator('.card.ask').focus();
  await second.keyboard.press('1');
  await second.locator('.card.run').waitFor();
  await page.close();
  await second.locator('.md', { hasText: 'taken over' }).waitFor({ timeout: 20_000 });
  assert.equal(stub.asked.filter(({ body }) => body.messages.some((/** @type {any} */ one) => one.role === 'tool')).length, 1);
  await context.close();
});
