// Settings → MCP: how a server is added, and what a person sees of one that does not start.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { has, layOut, scenario, until, useBrowser } from './rig.js';

useBrowser();

const here = path.dirname(fileURLToPath(import.meta.url));
const broken = { '.zeroclaw/services/broken/service.json': JSON.stringify({ schemaVersion: 1, displayName: { en: 'Broken', es: 'Roto' }, launch: { executable: 'no-such-program-anywhere', args: [] } }) };

scenario('a service that cannot start says why in its card until it can; the reason can be copied', { home: broken, context: { permissions: ['clipboard-read', 'clipboard-write'] } }, async (stage) => {
  const { companion } = stage;
  const me = await stage.page({ path: 'settings/mcp' });
  const card = me.page.locator('section.svc').filter({ has: me.page.getByRole('heading', { name: 'Broken' }) });
  await card.getByRole('button', { name: /^(Start|Retry now)/ }).click();
  const error = card.locator('.err');
  await error.getByText('no-such-program-anywhere').waitFor();
  // No toast: it stays while nothing changes, and over a reload.
  await me.page.waitForTimeout(6_000);
  const text = ((await error.locator('div').first().textContent()) ?? '').replace(/^Failed\.\s*/, '').trim();
  assert.match(text, /no-such-program-anywhere/);
  await error.getByRole('button', { name: 'Copy' }).click();
  await error.getByRole('button', { name: 'Copied' }).waitFor();
  assert.equal(await me.page.evaluate(() => navigator.clipboard.readText()), text);
  await me.page.reload();
  await error.getByText('no-such-program-anywhere').waitFor();
  // Once its program is there it starts, and the error goes.
  layOut({
    '.zeroclaw/services/broken/server.mjs': readFileSync(path.join(here, 'testdata/hostile-mcp.mjs')),
    '.zeroclaw/services/broken/service.json': JSON.stringify({ schemaVersion: 1, displayName: 'Broken', launch: { executable: process.execPath, args: ['${serviceDir}/server.mjs'] } }),
  }, companion.home);
  await until(async () => (await companion.api('GET', '/api/services')).services.some((/** @type {any} */ one) => one.id === 'broken' && one.command?.[0] === process.execPath), 'the new definition is read');
  await card.getByRole('button', { name: /^(Start|Retry now)/ }).click();
  await card.getByRole('button', { name: /^Stop/ }).waitFor();
  await error.waitFor({ state: 'detached' });
});

scenario('the page says how a server is added, and what is made so appears by itself', { timeout: 120_000 }, async (stage) => {
  const me = await stage.page({ path: 'settings/mcp' });
  const how = me.page.getByRole('region', { name: 'A service of your own' });
  await has(how, /~\/\.zeroclaw\/services\/my_server\/service\.json/);
  const example = JSON.parse((await how.locator('pre').textContent()) ?? '');
  // The example with a program of ours in place of the package.
  example.launch = { executable: 'node', args: ['${serviceDir}/server.mjs'] };
  layOut({
    '.zeroclaw/services/my_server/service.json': JSON.stringify(example),
    '.zeroclaw/services/my_server/server.mjs': readFileSync(path.join(here, 'testdata/hostile-mcp.mjs')),
  }, stage.companion.home);
  await me.button('Start My server').click({ timeout: 30_000 });
  await me.button('Stop My server').waitFor();
});

scenario('the log of a service opens under the head of its card and in view; a double click on Start is one click', { context: { viewport: { width: 1280, height: 657 } } }, async (stage) => {
  const me = await stage.page({ path: 'settings/mcp' });
  const card = me.page.locator('section.svc').filter({ has: me.page.getByRole('heading', { name: 'Dummy MCP' }) });
  await me.button('Start Dummy MCP').scrollIntoViewIfNeeded();
  const start = (await me.button('Start Dummy MCP').boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  await me.page.mouse.dblclick(start.x + start.width / 2, start.y + start.height / 2, { delay: 10 });
  await me.button('Stop Dummy MCP').waitFor();
  // As it were a slower one, right after the button has come.
  await me.button('Stop Dummy MCP').dispatchEvent('click');
  await me.page.waitForTimeout(800);
  const { state, restarts = 0 } = (await stage.companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === 'dummy_mcp');
  assert.deepEqual([state, restarts], ['running', 0]);
  await me.button('Log of Dummy MCP').click();
  const log = card.locator('.logs');
  await log.locator('.log-line', { hasText: 'ready' }).waitFor();
  await me.page.waitForTimeout(100);
  const [box, tools] = [await log.boundingBox(), await card.locator('.svc-tools').boundingBox()];
  assert.ok(box && tools && box.y >= 0 && box.y + box.height <= 657, `in the window: ${JSON.stringify(box)}`);
  assert.ok(box.y + box.height <= tools.y, 'above the tools');
  await me.button('Stop Dummy MCP').click();
  await me.button('Start Dummy MCP').waitFor();
});

scenario('nothing in the bar of a chat leads to a page that does not exist', {}, async (stage) => {
  const me = await stage.page();
  await me.page.locator('.chips button').first().click();
  const menu = me.page.getByRole('menu');
  await menu.getByRole('menuitemradio', { name: /Mirror/ }).waitFor();
  for (const link of await menu.locator('a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))) {
    await me.page.evaluate((hash) => {
      location.hash = /** @type {string} */ (hash);
    }, link);
    assert.equal(await me.page.getByText('There is no such page in Settings').count(), 0, String(link));
  }
});

scenario('a question of Run… is in view as a whole, whatever the height of the window', { context: { viewport: { width: 1280, height: 657 } } }, async (stage) => {
  const me = await stage.page({ path: 'settings/mcp' });
  await me.button('Start Dummy MCP').click();
  await me.button('Run slow…').click();
  await me.page.locator('.run-panel [type=submit]').click();
  const question = await me.question('mcp_dummy_mcp_slow');
  await until(async () => {
    const box = await question.boundingBox();
    return box && box.y >= 0 && box.y + box.height <= 657;
  }, 'the question is in view');
  await me.page.waitForTimeout(300);
  const covered = await question.evaluate((card) => [...card.querySelectorAll('button, .scope')].filter((one) => {
    const box = one.getBoundingClientRect();
    return !card.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2));
  }).map((one) => one.textContent));
  assert.deepEqual(covered, [], 'nothing lies over it');
});
