// Remarks above a chat: about the configuration, and about what the chat's session could not give it.
import assert from 'node:assert/strict';
import { has, scenario, until, useBrowser } from './rig.js';

useBrowser();

const files = { 'README.md': '# Hello\n' };

scenario('what a session could not give its chat is one quiet line that opens and closes', { files, rules: ['R:./**'], config: '[mcp_bundles.mail]\nservers = ["nowhere"]\n[agents.assistant]\nmcp_bundles = ["mail", "gone"]\n' }, async (stage) => {
  const me = await stage.page();
  const line = me.page.getByRole('button', { name: /remarks? about this chat/ }).first();
  assert.equal(await line.count(), 0, 'a chat that has not begun has none');
  await me.say('/read_file path=README.md');
  await me.idle();
  await has(line, /^2 remarks about this chat$/);
  assert.equal(await line.getAttribute('aria-expanded'), 'false');
  await line.click();
  const list = me.page.getByRole('region', { name: '2 remarks about this chat' }).getByRole('listitem');
  await has(list.first(), /nowhere|gone/);
  assert.equal(await list.count(), 2);
  await me.button('Close: 2 remarks about this chat').click();
  await line.waitFor({ state: 'detached' });
  assert.equal((await me.focused()).name, 'Message');
  await me.say('/read_file path=README.md');
  await me.finished('read_file', 2);
  await me.idle();
  assert.equal(await line.count(), 0, 'it stays closed');
  const chat = await me.page.evaluate(() => location.hash.slice(2));
  await me.go('settings/appearance');
  await me.go(chat);
  await me.finished('read_file', 2);
  assert.equal(await line.count(), 0);
});

scenario('remarks about the configuration can be closed, and come back when there are others', { files }, async (stage) => {
  const bundles = (/** @type {string[]} */ value) => stage.companion.api('PUT', '/api/config/prop?path=agents.assistant.mcp_bundles', { value });
  await bundles(['gone']);
  const me = await stage.page();
  const banner = me.page.locator('.banner.soft');
  await has(banner, /gone/);
  await banner.getByRole('button', { name: /^Close: 1 remark/ }).click();
  await banner.waitFor({ state: 'detached' });
  await me.go('settings/appearance');
  await me.go('chat');
  await me.composer.waitFor();
  assert.equal(await banner.count(), 0);
  await bundles(['gone', 'lost']);
  await until(() => banner.count(), 'there is another one');
  await has(banner, /2 remarks about the configuration/);
});
