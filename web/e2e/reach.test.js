// What a chat and Run… reach: the tools of the chat's session or agent, whichever server started when, and the agents that a tool can be run with.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { layOut, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n' };
const home = { 'server.mjs': readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'testdata/asking-mcp.mjs')) };
const server = (/** @type {string} */ name) => `[[mcp.servers]]\nname = "${name}"\ncommand = "node"\n`;

/** Gives servers their program, which lies in a home that is not known before. @param {import('./rig.js').Stage} stage @param {string[]} names */
async function programs({ companion }, ...names) {
  for (const name of names) await companion.api('PUT', `/api/config/prop?path=mcp.servers.${name}.args`, { value: [path.join(companion.home, 'server.mjs'), '--changed', path.join(companion.home, 'changed')] });
}

/** @param {import('./rig.js').Stage} stage @param {string} name @param {string} state */
const comes = ({ companion }, name, state) => until(async () => (await companion.api('GET', '/api/servers')).servers.find((/** @type {any} */ one) => one.name === name)?.state === state, `${name} is ${state}`);

/** The number of tools under the message field. @param {import('./rig.js').Person} me */
const counted = async (me) => Number(/\d+/.exec((await me.page.locator('.composer a.btn').textContent()) ?? '')?.[0]);

/** @param {any} view a session or an agent of the API */
const usable = ({ tools }) => tools.filter((/** @type {any} */ tool) => tool.enabled && tool.mode !== 'deny' && tool.state !== 'offline').map((/** @type {any} */ tool) => tool.name);

scenario('a server that the chat reaches is not offered to it, however late it started, and its tools are counted as they come', { home, files, rules: ['R:./**'], config: `${server('post')}[mcp_bundles.mail]\nservers = ["post"]\n[agents.assistant]\nmcp_bundles = ["mail"]\n`, timeout: 120_000 }, async (stage) => {
  const { companion } = stage;
  await programs(stage, 'post');
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  await me.finished('read_file');
  await me.idle();
  const session = async () => {
    const id = (await companion.api('GET', '/api/sessions')).sessions.find((/** @type {any} */ one) => one.conversation)?.id;
    return companion.api('GET', `/api/sessions/${id}`);
  };
  await until(async () => (await session()).tools.some((/** @type {any} */ tool) => tool.server === 'post'), 'the session has the tools of the server');
  await until(async () => (await counted(me)) === usable(await session()).length, 'as many are counted as the session has');
  await companion.api('POST', '/api/servers/post/restart', {});
  await comes(stage, 'post', 'running');
  // The counter follows what the server offers now, though the chat is not written to.
  layOut({ changed: '' }, companion.home);
  await companion.api('POST', '/api/servers/post/discover', {});
  await companion.api('PUT', '/api/config/prop?path=permissions.tools.post__fresh.mode', { value: 'deny' });
  await until(async () => (await counted(me)) === usable(await session()).length, 'still as many');
  await me.go('settings/mcp');
  const card = me.page.locator('section.server');
  await card.getByText('connected', { exact: true }).waitFor();
  await card.getByText('used by assistant').waitFor();
  await me.page.waitForTimeout(1_000);
  assert.equal(await me.page.getByText('Use it in this chat').count(), 0);
  assert.equal(await me.page.getByText('cannot use it yet').count(), 0);
});

scenario('a new chat counts and completes the tools of the agent that is chosen for it', { files, config: '[risk_profiles.reader]\nallowed_tools = ["read_file", "list_directory"]\n[agents.reader]\nrisk_profile = "reader"\n' }, async (stage) => {
  const { companion } = stage;
  const me = await stage.page();
  const of = async (/** @type {string} */ agent) => usable(await companion.api('GET', `/api/agents/${agent}`));
  await until(async () => (await counted(me)) === (await of('assistant')).length, 'the tools of the built-in agent');
  await me.page.getByRole('button', { name: 'Agent: assistant' }).click();
  await me.page.getByRole('menuitemradio', { name: /reader/ }).click();
  assert.deepEqual((await of('reader')).sort(), ['list_directory', 'read_file', 'read_tool_result']);
  await until(async () => (await counted(me)) === 3, 'those of the other');
  await me.composer.fill('/');
  const menu = me.page.getByRole('listbox');
  await menu.getByText('/read_file').waitFor();
  assert.deepEqual(await menu.locator('b').allTextContents(), ['/list_directory', '/read_file', '/read_tool_result']);
  await companion.api('PUT', '/api/config/prop?path=permissions.tools.read_file.mode', { value: 'deny' });
  await until(async () => (await menu.locator('b').allTextContents()).join() === '/list_directory,/read_tool_result', 'what is denied goes');
});

scenario('Run… uses an agent that reaches the tool; where none does, it says so and leads to the grant', { home, config: `${server('post')}${server('lone')}[mcp_bundles.mail]\nservers = ["post"]\n[agents.postman]\nmcp_bundles = ["mail"]\n`, context: { viewport: { width: 1280, height: 657 } }, timeout: 120_000 }, async (stage) => {
  const { companion } = stage;
  await programs(stage, 'post', 'lone');
  for (const name of ['post', 'lone']) {
    await companion.api('POST', `/api/servers/${name}/connect`, {});
    await comes(stage, name, 'running');
  }
  const me = await stage.page({ path: 'settings/tools' });
  const group = (/** @type {string} */ name) => me.page.locator('section.group-box').filter({ has: me.page.getByRole('button', { name, exact: true }) });
  const run = (/** @type {string} */ name) => group(name).locator('.tool', { hasText: 'echo' }).locator('.tool-run');
  await run('post').click();
  const panel = me.page.locator('.run-panel');
  await panel.getByRole('textbox').first().fill('hello');
  await panel.getByRole('button', { name: 'Run', exact: true }).click();
  await me.answer(await me.question('post'), 'Allow once');
  const result = panel.locator('.run-result');
  await result.getByText('"hello"').first().waitFor();
  await until(async () => {
    const box = await result.boundingBox();
    return box && box.y >= 0 && box.y + box.height <= 657;
  }, 'the result is in view');
  assert.equal(await panel.getByText('There is no tool').count(), 0);
  assert.ok(await run('lone').isDisabled());
  await group('lone').getByText('No agent may use it yet.').waitFor();
  await group('lone').getByRole('button', { name: 'Grant lone to agents…' }).click();
  const dialog = me.page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Let it' }).click();
  await dialog.getByText('assistant may use “lone” now.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await until(async () => !(await run('lone').isDisabled()), 'it can be run now');
  await run('lone').click();
  await panel.getByRole('textbox').first().fill('hello');
  await panel.getByRole('button', { name: 'Run', exact: true }).click();
  await me.answer(await me.question('lone'), 'Allow once');
  await result.getByText('"hello"').first().waitFor();
});
