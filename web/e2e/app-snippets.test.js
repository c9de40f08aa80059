// Settings → MCP: what is entered into another app, to copy.
import assert from 'node:assert/strict';
import { has, scenario, useBrowser } from './rig.js';

useBrowser();

const home = { '.zeroclaw/config.toml': '[agents.coder]\n' };

scenario('the configuration of another app is shown for an agent and copied', { home, context: { permissions: ['clipboard-read', 'clipboard-write'] } }, async (stage) => {
  const me = await stage.page({ path: 'settings/mcp' });
  const setup = me.page.getByRole('region', { name: 'Use from another app' });
  const copied = () => me.page.evaluate(() => navigator.clipboard.readText());
  await has(setup.getByRole('group', { name: 'configuration', exact: true }), /"mcpServers": \{\s+"zeroclaw"/);
  assert.equal(await setup.getByText('With an address and a token instead').count(), 0, 'Claude Desktop takes no address');

  await setup.getByLabel('App', { exact: true }).selectOption('VS Code');
  await setup.getByLabel('As agent').selectOption('coder');
  await has(setup.getByRole('group', { name: 'command' }), /zeroclaw\S* mcp install vscode --agent coder/);
  await has(setup.getByText('Or enter this into'), /Code\/User\/mcp\.json/);
  await setup.getByRole('button', { name: 'Copy configuration', exact: true }).click();
  await setup.getByRole('button', { name: 'Copied' }).waitFor();
  const { servers } = JSON.parse(await copied());
  assert.deepEqual(servers.zeroclaw.args, ['mcp', '--agent', 'coder']);

  await setup.getByText('With an address and a token instead').click();
  await setup.getByRole('button', { name: 'Copy configuration for HTTP' }).click();
  const http = JSON.parse(await copied()).servers.zeroclaw;
  assert.match(http.url, /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
  assert.equal(http.headers.Authorization, 'Bearer YOUR_TOKEN');
  assert.doesNotMatch(await me.page.content(), new RegExp(stage.companion.token), 'no real token is shown');
});
