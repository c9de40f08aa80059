// Settings → MCP: configured servers, from adding one to removing it, with the real program and a real server.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { has, layOut, processes, scenario, until, useBrowser } from './rig.js';

useBrowser();

const stub = readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'testdata/asking-mcp.mjs'));
const home = { 'server.mjs': stub };

/** The card of a server. @param {import('./rig.js').Person} me @param {string} name */
const cardOf = (me, name) => me.page.locator('section.server').filter({ has: me.page.getByRole('heading', { name, exact: true }) });

/** @param {import('./rig.js').Stage} stage */
const fileOf = (stage) => readFileSync(path.join(stage.companion.home, '.zeroclaw/config.toml'), 'utf8');

/** Adds a server that is a program. @param {import('./rig.js').Person} me @param {string} name @param {string[]} args */
async function add(me, name, args) {
  await me.page.getByRole('button', { name: 'Add server' }).first().click();
  const form = me.page.getByRole('region', { name: 'Add server' });
  await form.getByLabel('Name', { exact: true }).fill(name);
  await form.getByLabel('Program').fill(process.execPath);
  await form.getByLabel('Arguments').fill(args.join('\n'));
  return form;
}

scenario('a server is added, tested before it is saved, connected, used, edited, renamed, duplicated and removed', { home, timeout: 240_000 }, async (stage) => {
  const { companion } = stage;
  const changed = path.join(companion.home, 'changed');
  const me = await stage.page({ path: 'settings/mcp' });
  const form = await add(me, 'parcels.v2', [path.join(companion.home, 'server.mjs'), '--changed', changed]);
  await form.getByRole('button', { name: 'Add: Environment variables' }).click();
  await form.getByLabel('Environment variables: Name').fill('API_TOKEN');
  await form.getByLabel('Value of API_TOKEN').fill('planted-secret-value');
  await form.getByRole('button', { name: 'Test', exact: true }).click();
  await form.getByText('It works.').waitFor();
  await form.getByText('Listed its tools').waitFor();
  assert.equal((await companion.api('GET', '/api/servers')).servers.length, 0, 'a test saves nothing');
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  const card = cardOf(me, 'parcels.v2');
  await card.waitFor();
  assert.doesNotMatch(fileOf(stage) + (await me.page.content()), /planted-secret-value/);
  assert.match(fileOf(stage), /API_TOKEN = "enc2:/);

  await card.getByRole('button', { name: 'Connect parcels.v2' }).click();
  await card.getByText('connected', { exact: true }).waitFor();
  await card.getByText(/program · 6 tools · last contact/).waitFor();
  await card.getByRole('button', { name: /^Tools/ }).click();
  await card.locator('.tool-name', { hasText: 'echo' }).waitFor();

  await card.getByRole('button', { name: 'Discover the tools of parcels.v2' }).click();
  await card.getByText('Nothing changed.').first().waitFor();
  layOut({ changed: '' }, companion.home);
  await card.getByRole('button', { name: 'Ask again' }).click();
  await has(card.locator('.found').first(), /1 new: ?fresh.*1 gone: ?old.*1 changed/s);
  await card.locator('.found summary', { hasText: 'echo' }).first().click();
  await card.locator('.found .add', { hasText: 'and tells others' }).first().waitFor();

  await card.getByRole('link', { name: 'Edit parcels.v2' }).click();
  await me.page.getByRole('heading', { level: 1, name: 'parcels.v2' }).waitFor();
  const settings = me.page.getByRole('region', { name: 'Settings of parcels.v2' });
  await settings.getByText('Times').click();
  await settings.getByLabel('Longest call, s').fill('601');
  await settings.getByText('From 1 to 600.').waitFor();
  await settings.getByRole('button', { name: 'Save' }).click();
  assert.doesNotMatch(fileOf(stage), /tool_timeout_secs/);
  await settings.getByLabel('Longest call, s').fill('90');
  await settings.getByRole('button', { name: 'Clear: API_TOKEN' }).click();
  await settings.getByRole('button', { name: 'Save' }).click();
  await settings.getByText('Saved', { exact: true }).waitFor();
  assert.match(fileOf(stage), /tool_timeout_secs = 90/);
  assert.doesNotMatch(fileOf(stage), /API_TOKEN/);
  await me.page.getByText('It runs with its old settings until it is restarted.').waitFor();

  await me.go('settings/mcp');
  await card.getByRole('button', { name: 'More for parcels.v2' }).click();
  await me.page.getByRole('menuitem', { name: 'Rename…' }).click();
  await me.page.getByRole('dialog').getByRole('textbox').fill('post');
  await me.page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click();
  await cardOf(me, 'post').waitFor();
  await until(async () => (await companion.api('GET', '/api/servers')).servers.map((/** @type {any} */ one) => one.name).join() === 'post', 'renamed');

  await me.page.getByRole('button', { name: 'More for post' }).click();
  await me.page.getByRole('menuitem', { name: 'Duplicate…' }).click();
  const copy = me.page.getByRole('region', { name: 'Add server' });
  assert.equal(await copy.getByLabel('Name', { exact: true }).inputValue(), 'post-2');
  await copy.getByRole('button', { name: 'Add', exact: true }).click();
  await cardOf(me, 'post-2').waitFor();

  for (const name of ['post-2', 'post']) {
    await me.page.getByRole('button', { name: `More for ${name}` }).click();
    await me.page.getByRole('menuitem', { name: 'Remove…' }).click();
    const dialog = me.page.getByRole('dialog');
    assert.equal((await me.focused()).name, 'Cancel', 'the focus is on what harms nothing');
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await cardOf(me, name).waitFor({ state: 'detached' });
  }
  await me.page.getByText('No configured servers').waitFor();
  await until(() => processes(path.join(companion.home, 'server.mjs')).length === 0, 'no process is left');
});

scenario('what fails says why and how far it came, and can be tried again; what is incomplete says what it needs', { home, timeout: 120_000 }, async (stage) => {
  const me = await stage.page({ path: 'config/mcp.servers' });
  await me.page.getByRole('button', { name: 'Add server' }).first().click();
  const form = me.page.getByRole('region', { name: 'Add server' });
  await form.getByLabel('Name', { exact: true }).fill('a__b');
  await form.getByText('two underscores in a row, or spaces').waitFor();
  await form.getByLabel('Name', { exact: true }).fill('a_');
  await form.getByText('Must not begin or end with an underscore.').waitFor();
  await form.getByLabel('Name', { exact: true }).fill('my server');
  assert.equal(await form.locator('.bad').count(), 0, 'as the hint says');
  await form.getByLabel('Name', { exact: true }).fill('far');
  await form.getByText('Still needed before it can be used: Program.').waitFor();
  await form.getByLabel('Connection').selectOption('http');
  await form.getByText('Still needed before it can be used: Address.').waitFor();
  assert.equal(await form.getByLabel('Program').count(), 0);
  await form.getByRole('button', { name: 'Add', exact: true }).click();
  const card = cardOf(me, 'far');
  await card.getByText('incomplete', { exact: true }).waitFor();
  await card.getByRole('link', { name: 'Complete it' }).click();
  await me.page.getByLabel('Address').fill('127.0.0.1:9/mcp');
  await me.page.getByRole('button', { name: 'Test', exact: true }).click();
  await me.page.getByText('It does not work.').waitFor();
  await me.page.getByText('No connection').waitFor();
  await me.page.getByRole('button', { name: 'Save' }).click();
  await me.page.getByText('Saved', { exact: true }).waitFor();
  assert.match(fileOf(stage), /url = "http:\/\/127\.0\.0\.1:9\/mcp"/);
  await me.go('settings/mcp');
  await card.getByRole('button', { name: 'Connect far' }).click();
  await card.locator('.err').getByText('127.0.0.1:9').waitFor({ timeout: 60_000 });
  await card.getByRole('button', { name: /^(Retry now: far|Disconnect far)$/ }).first().waitFor();
  await card.getByLabel('Enabled').click();
  await card.getByText('switched off', { exact: true }).waitFor();
});

scenario('what was changed elsewhere meanwhile is not overwritten unseen', { config: '[[mcp.servers]]\nname = "one"\ncommand = "node"\nenabled = false\n', timeout: 120_000 }, async (stage) => {
  const me = await stage.page({ path: 'config/mcp.servers/one' });
  const folder = me.page.getByLabel('Working folder');
  await folder.fill('/mine');
  // Something else of the file is no conflict.
  await stage.companion.api('PUT', '/api/config/prop?path=permissions.tools.read_file.mode', { value: 'deny' });
  await me.page.waitForTimeout(500);
  assert.equal(await me.page.getByText('This was changed meanwhile').count(), 0);
  await stage.companion.api('PUT', '/api/config/prop?path=mcp.servers.one.cwd', { value: '/theirs' });
  await me.page.getByText('This was changed meanwhile').waitFor();
  assert.equal(await folder.inputValue(), '/mine');
  await me.page.getByRole('button', { name: 'Show what is saved now' }).click();
  assert.equal(await folder.inputValue(), '/theirs');
  await folder.fill('/mine');
  await stage.companion.api('PUT', '/api/config/prop?path=mcp.servers.one.cwd', { value: '/again' });
  await me.page.getByRole('button', { name: 'Go on with mine' }).click();
  await me.page.getByRole('button', { name: 'Save' }).click();
  await me.page.getByText('Saved', { exact: true }).waitFor();
  assert.match(fileOf(stage), /cwd = "\/mine"/);
});

scenario('an agent is granted a server; a chat that began before can go on with it', { home, config: '[[mcp.servers]]\nname = "post"\ncommand = "node"\nargs = ["~/server.mjs"]\n', timeout: 180_000 }, async (stage) => {
  await stage.companion.api('PUT', '/api/config/prop?path=mcp.servers.post.args', { value: [path.join(stage.companion.home, 'server.mjs')] });
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  await me.answer(await me.question('README.md'), 'Allow once');
  await me.idle();
  await me.go('settings/mcp');
  const card = cardOf(me, 'post');
  await card.getByText('No agent may use it yet.').waitFor();
  await card.getByRole('button', { name: 'Connect post' }).click();
  await card.getByText('connected', { exact: true }).waitFor();
  await card.getByRole('button', { name: 'Grant post to agents…' }).click();
  const dialog = me.page.getByRole('dialog');
  await dialog.getByLabel('Name of the bundle').waitFor();
  // Another writer comes between making the bundle and giving it to the agent: it is said, and going on uses the bundle.
  await me.page.route(/path=agents\.assistant\.mcp_bundles/, (/** @type {any} */ route) => route.fulfill({ status: 409, contentType: 'application/json', body: '{"error":{"code":"config_changed_externally","message":"changed"}}' }), { times: 1 });
  await dialog.getByRole('button', { name: 'Let it' }).click();
  await dialog.getByRole('alert').getByText('was changed meanwhile').waitFor();
  await dialog.getByRole('button', { name: 'Let it' }).click();
  await dialog.getByText('assistant may use “post” now.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await card.getByText('used by assistant').waitFor();
  assert.match(fileOf(stage), /\[mcp_bundles\.post\]\nservers = \["post"\]/);
  await card.getByRole('button', { name: 'Use it in this chat' }).click();
  await me.say('/post__echo text=hello');
  await me.answer(await me.question('post'), 'Allow once');
  await me.finished('post · echo');
});

scenario('replacing a secret leads into its field; without a value it says so there', { config: '[[mcp.servers]]\nname = "one"\ncommand = "node"\nenabled = false\n', timeout: 120_000 }, async (stage) => {
  await stage.companion.api('PUT', '/api/config/prop?path=mcp.servers.one.env', { value: { API_TOKEN: 'old', OTHER: 'old' } });
  const me = await stage.page({ path: 'config/mcp.servers/one' });
  await me.page.getByRole('button', { name: 'Replace: OTHER' }).click();
  assert.equal((await me.focused()).name, 'Value of OTHER');
  const said = me.page.getByText('Enter the new value, or keep the old one.');
  assert.equal(await said.count(), 0, 'not before one tries');
  await me.page.getByRole('button', { name: 'Save' }).click();
  await said.waitFor();
  assert.ok(await me.page.locator('.secret-row', { hasText: 'OTHER' }).locator('.bad').isVisible());
  assert.equal((await me.focused()).name, 'Value of OTHER');
  await me.page.keyboard.insertText('new');
  await said.waitFor({ state: 'detached' });
  await me.page.getByRole('button', { name: 'Save' }).click();
  await me.page.getByText('Saved', { exact: true }).waitFor();
  await me.page.getByRole('button', { name: 'Replace: API_TOKEN' }).click();
  await me.page.getByRole('button', { name: 'Keep the old one: API_TOKEN' }).click();
  assert.equal((await me.focused()).name, 'Replace: API_TOKEN');
});

scenario('at 320 px the dot of a card stands beside its title, and the buttons keep clear of the text', { context: { viewport: { width: 320, height: 800 } } }, async (stage) => {
  await stage.companion.api('POST', '/api/services/dummy_mcp/start', {});
  const me = await stage.page({ path: 'settings/mcp' });
  await me.button('Stop Dummy MCP').waitFor();
  const cards = await me.page.locator('section.svc:has(.svc-head)').evaluateAll((all) => all.map((card) => {
    const box = (/** @type {string} */ part) => /** @type {Element} */ (card.querySelector(part)).getBoundingClientRect();
    const [dot, title, acts, text] = [box('.dot'), box('h3'), box('.svc-acts'), box(':scope > .desc')];
    return { beside: dot.top >= title.top && dot.bottom <= title.bottom && dot.right <= title.left, clear: text.top - acts.bottom };
  }));
  assert.ok(cards.length);
  for (const { beside, clear } of cards) assert.ok(beside && clear >= 6, JSON.stringify(cards));
});
