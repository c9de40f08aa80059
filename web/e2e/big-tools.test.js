// Settings → Tools with a server of a thousand tools: filtering and switching stay under a second.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { busy, scenario, until, useBrowser } from './rig.js';

useBrowser();

const home = { 'server.mjs': readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'testdata/asking-mcp.mjs')) };

/** How long it takes until something is drawn after something was done, in the page's own time. @param {import('./rig.js').Person} me @param {() => Promise<any>} act @param {() => boolean} drawn @returns {Promise<number>} */
async function took(me, act, drawn) {
  const watching = me.page.evaluate((test) => new Promise((resolve) => {
    const fits = globalThis.eval(`(${test})`);
    const begin = () => {
      const start = performance.now();
      const look = () => requestAnimationFrame(() => (fits() ? resolve(performance.now() - start) : look()));
      look();
    };
    for (const kind of ['input', 'pointerdown', 'keydown']) addEventListener(kind, begin, { capture: true, once: true });
  }), drawn.toString());
  await act();
  return /** @type {Promise<number>} */ (watching);
}

scenario('a thousand tools of one server are filtered, switched and limited in less than a second', { home, config: '[[mcp.servers]]\nname = "big"\ncommand = "node"\n', timeout: 240_000 }, async (stage) => {
  const { companion } = stage;
  await companion.api('PUT', '/api/config/prop?path=mcp.servers.big.args', { value: [path.join(companion.home, 'server.mjs'), '--tools', '1000'] });
  await companion.api('POST', '/api/servers/big/connect', {});
  await until(async () => (await companion.api('GET', '/api/servers')).servers[0].tools === 1006, 'all are listed');
  const me = await stage.page({ path: 'settings/tools' });
  const filter = me.page.getByRole('searchbox', { name: 'Filter by name, server or description' });
  await me.page.getByText(/1,0\d\d tools/).first().waitFor();
  const group = me.page.locator('.group-box').filter({ has: me.page.getByRole('button', { name: 'big', exact: true }) });
  const times = /** @type {Record<string, number>} */ ({});
  times.open = await took(me, () => group.getByRole('button', { name: 'big', exact: true }).click(), () => document.querySelectorAll('.tool').length >= 200);
  assert.ok((await me.page.locator('.tool').count()) < 230, 'at most about 200 are drawn');
  times.filter = await took(me, () => filter.pressSequentially('rare', { delay: 0 }), () => /143 of/.test(document.querySelector('.filter [role=status]')?.textContent ?? '') && document.querySelectorAll('.tool').length >= 143);
  await filter.fill('');
  const row = group.locator('.tool').nth(50);
  await row.scrollIntoViewIfNeeded();
  const toggle = row.locator('input[role=switch]');
  const name = await row.locator('b').textContent();
  times.toggle = await took(me, () => toggle.click(), () => document.querySelectorAll('.tool.off').length === 1);
  await until(async () => (await companion.api('GET', '/api/tools')).tools.find((/** @type {any} */ tool) => tool.own_name === name).enabled === false, 'it is off');
  await group.getByRole('button', { name: /^Set all/ }).click();
  times.bulk = await took(me, () => me.page.getByRole('menuitem', { name: 'Switch off' }).click(), () => document.querySelectorAll('.tool.off').length >= 200);
  await until(async () => (await companion.api('GET', '/api/tools')).tools.filter((/** @type {any} */ tool) => tool.server === 'big' && tool.enabled).length === 0, 'all are off', 60_000);
  times.limits = await took(me, () => group.getByRole('button', { name: 'Limits of big' }).click(), () => document.querySelectorAll('.limit-list li').length >= 200);
  const limits = me.page.getByRole('form', { name: 'Limits of big' });
  await limits.getByLabel('tool_0003 is offered').uncheck();
  await limits.getByLabel('echo always asks').check();
  await limits.getByRole('button', { name: 'Save' }).click();
  await limits.waitFor({ state: 'detached' });
  await group.getByText('only 1,005 offered').waitFor();
  await group.getByText('1 always asks').waitFor();
  console.log(`# 1,006 tools, ms: ${Object.entries(times).map(([what, ms]) => `${what} ${Math.round(ms)}`).join(', ')}`);
  for (const [what, ms] of Object.entries(times)) assert.ok(ms < (busy() ? 3_000 : 1_000), `${what} took ${Math.round(ms)} ms`);
});
