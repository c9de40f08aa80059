// Another program at /mcp, with the client of the TypeScript SDK and a named token: what its calls ask is answered in the page.
import assert from 'node:assert/strict';
import { GUARD_MS, has, scenario, skipReason, until, useBrowser } from './rig.js';

useBrowser();

const sdk = skipReason ? null : {
  ...(await import('@modelcontextprotocol/sdk/client/index.js')),
  ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
  ...(await import('@modelcontextprotocol/sdk/types.js')),
};

/** A program that is connected. @param {import('./companion.js').Companion} companion @param {string} token @param {import('@modelcontextprotocol/sdk/types.js').ClientCapabilities} [capabilities] */
async function connect(companion, token, capabilities = {}) {
  const client = new sdk.Client({ name: 'an-editor', version: '1' }, { capabilities });
  await client.connect(new sdk.StreamableHTTPClientTransport(new URL(`${companion.url}/mcp`), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }));
  return client;
}

const config = '[agents.helper]\nrisk_profile = "reads"\n[risk_profiles.reads]\nauto_approve = ["read_file"]\n';

scenario('the question of another program is answered in the page, with yes and with a reason; a program that asks too is told', { config, files: { 'notes.txt': 'one\n' } }, async (stage) => {
  const { companion } = stage;
  const { token } = await companion.api('POST', '/api/tokens', { name: 'An editor', agent: 'helper' });
  await assert.rejects(connect(companion, `${token}x`), (/** @type {any} */ error) => error instanceof sdk.StreamableHTTPError && error.code === 401);
  const client = await connect(companion, token);
  const me = await stage.page();
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert.ok(names.includes('read_file') && names.includes('edit_file'), names.join());
  /** @param {string} name @param {Record<string, unknown>} args @param {import('@modelcontextprotocol/sdk/shared/protocol.js').RequestOptions} [options] */
  const call = async (name, args, options) => {
    const { content, isError = false } = await client.callTool({ name, arguments: args }, undefined, options);
    return { isError, text: /** @type {any} */ (content)[0].text };
  };
  assert.deepEqual(await call('read_file', { path: 'notes.txt' }), { isError: false, text: 'one\n' });
  assert.equal(await me.questions.count(), 0, 'what may be read is not asked');

  const waiting = /** @type {(string | undefined)[]} */ ([]);
  const append = (/** @type {string} */ content) => call('edit_file', { path: 'notes.txt', mode: 'append', content }, { onprogress: ({ message }) => waiting.push(message) });
  const allowed = append('two\n');
  const question = await me.question('notes.txt');
  await has(question, /Change notes\.txt\?/);
  await has(question, /\+two/);
  await until(() => waiting.length, 'the program is told that somebody is asked');
  assert.equal(waiting[0], 'Waiting for an answer in the ZeroClaw page');
  assert.equal(companion.read('notes.txt'), 'one\n');
  await me.answer(question, 'Allow once');
  assert.equal((await allowed).isError, false);
  assert.equal(companion.read('notes.txt'), 'one\ntwo\n');

  const denied = append('three\n');
  await me.deny(await me.question('+three'), 'two lines are enough');
  const { isError, text } = await denied;
  assert.ok(isError);
  assert.match(text, /two lines are enough/);
  assert.equal(companion.read('notes.txt'), 'one\ntwo\n');
  await client.close();

  // One that can ask its own person is told that the page answered.
  const asking = await connect(companion, token, { elicitation: {} });
  let shown = '';
  const withdrawn = new Promise((resolve) => {
    asking.setRequestHandler(sdk.ElicitRequestSchema, async ({ params }, { signal }) => {
      shown = params.message;
      await new Promise((done) => signal.addEventListener('abort', done));
      resolve(true);
      return { action: 'cancel' };
    });
  });
  const last = asking.callTool({ name: 'edit_file', arguments: { path: 'notes.txt', mode: 'append', content: 'three\n' } });
  const both = await me.question('+three');
  await until(() => shown, 'the program shows the question, too');
  assert.match(shown, /edit_file[^]*notes\.txt/);
  await me.answer(both, 'Allow once');
  assert.ok(!(await last).isError);
  assert.ok(await withdrawn);
  assert.equal(companion.read('notes.txt'), 'one\ntwo\nthree\n');
  await asking.close();
});

scenario('a question that comes while the first steps are on the screen is said there, with who asks, and answered', { files: { 'notes.txt': 'one\n' } }, async (stage) => {
  const { companion } = stage;
  const { token } = await companion.api('POST', '/api/tokens', { name: 'An editor', agent: 'assistant' });
  const client = await connect(companion, token);
  const me = await stage.page({ start: false });
  await me.page.setViewportSize({ width: 320, height: 700 });
  await me.welcome.waitFor();
  const allowed = client.callTool({ name: 'edit_file', arguments: { path: 'notes.txt', mode: 'append', content: 'two\n' } });
  await me.page.getByRole('button', { name: /^1 question waiting/ }).click();
  const question = await me.question('notes.txt');
  await has(question, /Asked by An editor, as the agent assistant\./);
  await me.answer(question, 'Allow once');
  assert.equal((await allowed).isError ?? false, false);
  assert.equal(companion.read('notes.txt'), 'one\ntwo\n');
  assert.equal(await me.welcome.count(), 1, 'the first steps are still there');
  await client.close();
});

scenario('questions answered by keys outside of a chat: the next one takes the focus, and after the last the view has it', { files: { 'a.txt': '1\n', 'b.txt': '2\n' } }, async (stage) => {
  const { token } = await stage.companion.api('POST', '/api/tokens', { name: 'An editor', agent: 'assistant' });
  const client = await connect(stage.companion, token);
  const { page } = await stage.page({ path: 'settings/mcp' });
  const calls = ['a.txt', 'b.txt'].map((path) => client.callTool({ name: 'edit_file', arguments: { path, mode: 'append', content: 'x\n' } }));
  await page.getByText('2 questions waiting').waitFor();
  await page.locator('button.waiting').press('Enter');
  const focused = (/** @type {string} */ selector) => until(() => page.evaluate((what) => Boolean(document.activeElement?.matches(what)), selector), `${selector} has the focus`);
  for (const left of [1, 0]) {
    await focused('dialog section.card.ask');
    await page.waitForTimeout(GUARD_MS);
    await page.keyboard.press('1');
    await until(async () => (await page.locator('dialog section.card.ask').count()) === left, 'it is answered');
  }
  await focused('h1');
  for (const call of calls) assert.ok(!(await call).isError);
  await client.close();
});
