// What stands in place of the page when its key is no longer good.
import assert from 'node:assert/strict';
import { scenario, useBrowser } from './rig.js';

useBrowser();

scenario('after a restart the page leads to a new link, and trying again helps once another tab has one', {}, async (stage) => {
  const { companion } = stage;
  const me = await stage.page();
  const { port } = companion;
  await companion.end('SIGKILL');
  await companion.run({ port });
  const gate = me.page.locator('main.gate');
  await gate.getByText('zeroclaw open').waitFor();
  const words = (await gate.innerText()).replace(/\s+/g, ' ');
  assert.match(words, /Open the address that the companion printed in its terminal\. Or run the command that started it again, or zeroclaw open/, 'the nearest way first');
  assert.equal(await gate.locator('.btn.primary').count(), 0, 'nothing that cannot work by itself is what to press first');
  await gate.getByRole('button', { name: 'Try again' }).click();
  await gate.getByText('zeroclaw open').waitFor();
  await stage.page();
  await me.page.bringToFront();
  if (await gate.count()) await gate.getByRole('button', { name: 'Try again' }).click();
  await me.composer.waitFor();
});
