// Settings → Agents: agents, bundles and profiles, what comes of them, and the agent of a chat.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { has, scenario, until, useBrowser } from './rig.js';

useBrowser();

const home = { 'server.mjs': readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'testdata/asking-mcp.mjs')) };

/** @param {import('./rig.js').Stage} stage */
const fileOf = (stage) => readFileSync(path.join(stage.companion.home, '.zeroclaw/config.toml'), 'utf8');

/** Gives the name that a dialog asks for. @param {import('./rig.js').Person} me @param {string} name @param {string} button */
async function named(me, name, button) {
  await me.page.getByRole('dialog').getByRole('textbox').fill(name);
  await me.page.getByRole('dialog').getByRole('button', { name: button, exact: true }).click();
  await me.page.getByRole('dialog').waitFor({ state: 'detached' });
}

scenario('an agent is made of a bundle and profiles; what comes of it is shown, and a chat with it reaches just that', { home, config: '[[mcp.servers]]\nname = "post"\ncommand = "node"\n', timeout: 240_000 }, async (stage) => {
  const { companion } = stage;
  await companion.api('PUT', '/api/config/prop?path=mcp.servers.post.args', { value: [path.join(companion.home, 'server.mjs')] });
  await companion.api('POST', '/api/servers/post/connect', {});
  await until(async () => (await companion.api('GET', '/api/servers')).servers[0].state === 'running', 'the server runs');
  const me = await stage.page();
  assert.equal(await me.page.getByRole('button', { name: /^Agent/ }).count(), 0, 'with one agent there is nothing to choose');
  await me.go('settings/agents');

  await me.button('Add bundle').click();
  await named(me, 'mail', 'Add');
  const bundle = me.page.getByRole('region', { name: 'mail' });
  await bundle.getByRole('group', { name: 'Servers in it' }).getByLabel('post').check();
  await bundle.getByRole('button', { name: 'Save' }).click();
  await bundle.getByText('Saved', { exact: true }).waitFor();
  assert.match(fileOf(stage), /\[mcp_bundles\.mail\]\nservers = \["post"\]/);

  await me.button('Add risk profile').click();
  await named(me, 'careful', 'Add');
  const risk = me.page.getByRole('region', { name: 'careful' });
  assert.equal(await risk.getByLabel('Level').inputValue(), 'supervised');
  await risk.getByLabel('Tool to add to: Never these tools').fill('execute_command');
  await risk.getByLabel('Tool to add to: Never these tools').press('Enter');
  await risk.getByRole('button', { name: 'Save' }).click();
  await risk.getByText('Saved', { exact: true }).waitFor();

  await me.button('Add display profile').click();
  await named(me, 'short', 'Add');
  const display = me.page.getByRole('region', { name: 'short' });
  await display.getByLabel('Longest result, characters').fill('5000');
  await display.getByRole('button', { name: 'Add group' }).click();
  await display.getByRole('textbox', { name: 'Tools' }).fill('post__*');
  await display.getByRole('textbox', { name: 'Words' }).fill('ask\nhello');
  await display.getByRole('button', { name: 'Save' }).click();
  await display.getByText('Saved', { exact: true }).waitFor();
  assert.match(fileOf(stage), /tool_filter_groups = \[.*hello.*post__\*/s);

  await me.button('Add agent').click();
  await named(me, 'postman', 'Add');
  await me.page.getByRole('heading', { level: 1, name: 'postman' }).waitFor();
  const form = me.page.getByRole('region', { name: 'Settings of postman' });
  await form.getByLabel('How much it does by itself').selectOption('careful');
  await form.getByLabel('What its model is shown').selectOption('short');
  await form.getByRole('group', { name: 'Bundles of servers' }).getByLabel(/mail/).check();
  await form.getByText('Only ticked').first().click();
  await form.getByRole('group', { name: 'Tools of post' }).getByLabel('later').uncheck();
  await form.getByRole('group', { name: 'Pictures and sounds' }).getByLabel('post').check();
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Saved', { exact: true }).waitFor();
  await form.getByText('Applies to new chats').waitFor();
  assert.match(fileOf(stage), /\[agents\.postman\][^]*risk_profile = "careful"/);
  const result = me.page.getByRole('list', { name: 'post' });
  await result.getByText('echo').waitFor();
  assert.equal(await result.getByText('later').count(), 0);
  await until(async () => (await me.page.getByRole('list', { name: 'Built in' }).getByText('execute_command').count()) === 0, 'the excluded tool is not there');

  await me.go('settings/agents');
  await me.page.getByRole('button', { name: 'New chat with postman' }).click();
  await me.page.getByRole('button', { name: 'Agent: postman' }).waitFor();
  await me.say('/post__echo text=hello');
  await me.answer(await me.question('post'), 'Allow once');
  await me.finished('post · echo');
  await me.idle();
  // The built-in agent has no bundle and reaches nothing of it.
  await me.page.getByRole('button', { name: 'Agent: postman' }).click();
  await me.page.getByRole('menuitemradio', { name: /assistant/ }).click();
  await me.page.getByRole('button', { name: 'Agent: assistant' }).waitFor();
  await me.say('/post__echo text=hello');
  await me.sees(/post__echo/);
  await me.idle();
  assert.equal(await me.page.locator('section.card.done').filter({ hasText: 'post · echo' }).count(), 1);

  await me.go('settings/agents');
  await me.page.getByRole('button', { name: 'More for mail' }).click();
  await me.page.getByRole('menuitem', { name: 'Rename…' }).click();
  await named(me, 'letters', 'Rename');
  await until(async () => (await companion.api('GET', '/api/agents')).agents.find((/** @type {any} */ one) => one.name === 'postman').mcp_bundles.join() === 'letters', 'the agent follows');
  await me.page.getByRole('button', { name: 'More for letters' }).click();
  await me.page.getByRole('menuitem', { name: 'Remove…' }).click();
  await me.page.getByRole('dialog').getByText('Used by postman.').waitFor();
  await me.page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await has(me.page.locator('.svc', { hasText: 'postman' }).locator('.warnings'), /letters/);
});

scenario('a first bundle is made on the page of the agent and is ticked there; a server that was never asked is named', { home, config: '[[mcp.servers]]\nname = "post"\ncommand = "node"\n', timeout: 120_000 }, async (stage) => {
  const me = await stage.page({ path: 'settings/agents/assistant' });
  const form = me.page.getByRole('region', { name: 'Settings of assistant' });
  await form.getByRole('group', { name: 'Pictures and sounds' }).getByLabel('post').check();
  await form.getByRole('button', { name: 'Make one' }).click();
  const dialog = me.page.getByRole('dialog', { name: 'New bundle' });
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.getByText('Give it a name.').waitFor();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('mail');
  await dialog.getByLabel('post').check();
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.ok(await form.getByRole('group', { name: 'Bundles of servers' }).getByLabel(/mail/).isChecked());
  assert.ok(await form.getByRole('group', { name: 'Pictures and sounds' }).getByLabel('post').isChecked(), 'what was chosen before stays');
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Saved', { exact: true }).waitFor();
  assert.match(fileOf(stage), /mcp_bundles = \["mail"\]/);
  await has(me.page.getByRole('region', { name: 'post' }), /post ?asked when first needed/);
});
