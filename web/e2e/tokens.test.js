// Settings → MCP, “Tokens”: a token is made, shown once, copied, used, listed and revoked; axe in both themes.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { scenario, skipReason, until, useBrowser } from './rig.js';

useBrowser();

const axeSource = skipReason ? '' : readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe says in both themes, and what scrolls sideways in narrow windows. @param {import('playwright-core').Page} page @param {string} screen */
async function look(page, screen) {
  await page.evaluate((source) => {
    if (!(/** @type {any} */ (globalThis).axe)) globalThis.eval(source);
  }, axeSource);
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
    }, theme);
    const found = await page.evaluate(async () => {
      for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
      const { violations } = await /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
      return violations.map((/** @type {any} */ one) => `${one.id}: ${one.nodes.slice(0, 3).map((/** @type {any} */ node) => node.target.join(' ')).join(' | ')}`);
    });
    assert.deepEqual(found, [], `${screen}, ${theme}`);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      await page.evaluate(() => [...document.querySelectorAll('.settings h2')].at(-1)?.scrollIntoView());
      const wide = await page.evaluate(() => [...document.querySelectorAll('.main, .scroll, .svc, .grant, dialog')].filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => `${one.className} ${one.scrollWidth}>${one.clientWidth}`));
      assert.deepEqual(wide, [], `${screen}, ${theme}, ${width} px`);
      if (process.env.E2E_LOOK) await page.screenshot({ path: path.join(process.env.E2E_LOOK, `tokens-${await page.evaluate(() => document.documentElement.lang)}-${screen}-${theme}-${width}.png`) });
    }
  }
}

const config = '[agents.helper]\n';
const longest = 'An editor with quite a long name, as long as a name may be, 64ch';

scenario('a token is made, shown once, copied, used, listed and revoked', { config, context: { permissions: ['clipboard-read', 'clipboard-write'] }, timeout: 90_000 }, async (stage) => {
  const { companion } = stage;
  const me = await stage.page({ path: 'settings/mcp' });
  const { page } = me;
  await page.getByText('No tokens', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'New token' }).click();
  const form = page.getByRole('region', { name: 'New token' });
  assert.equal((await me.focused()).name, 'Name');
  await page.keyboard.press('Enter');
  await form.getByText('Give it a name.').waitFor();
  assert.equal((await me.focused()).name, 'Name', 'the focus is where something is missing');
  await form.getByLabel('Name').fill(longest);
  await form.getByLabel('Agent').selectOption('helper');
  await form.getByLabel('Ends').selectOption({ label: 'in 30 days' });
  await form.getByLabel('Name').press('Enter');

  const made = page.getByRole('region', { name: `The token for ${longest}` });
  await made.getByText('it is not shown again').waitFor();
  const token = (await made.locator('code').first().textContent()) ?? '';
  assert.match(token, /^zeroclaw_[\w-]{43}$/);
  await made.getByRole('button', { name: 'Copy token' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), token);
  await made.getByRole('button', { name: 'Copy address' }).click();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${companion.url}/mcp`);
  await look(page, 'made');
  const refused = await fetch(`${companion.url}/api/status`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(refused.status, 403, 'it opens nothing but /mcp');
  await made.getByRole('button', { name: 'Done' }).click();
  await made.waitFor({ state: 'detached' });
  assert.doesNotMatch(await page.content(), /zeroclaw_[\w-]{43}/);
  assert.equal(await page.evaluate((text) => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]).includes(text), token), false, 'the browser keeps it nowhere');

  const row = page.locator('li.grant').filter({ hasText: longest });
  await row.getByText('helper', { exact: true }).waitFor();
  await row.getByText(/^made .* · ends .* · last used /).waitFor();
  // Another tab, or the command line, makes one: it appears by itself.
  await companion.api('POST', '/api/tokens', { name: 'from the shell' });
  await page.locator('li.grant').filter({ hasText: 'from the shell' }).getByText(/no end · not used yet/).waitFor();
  await companion.api('DELETE', '/api/config/map-key?path=agents&key=helper');
  await row.getByText('This agent is gone').waitFor();
  await look(page, 'list');

  await row.getByRole('button', { name: `Revoke ${longest}` }).click();
  const dialog = page.getByRole('dialog');
  assert.equal((await me.focused()).name, 'Cancel', 'the focus is on what harms nothing');
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await row.waitFor({ state: 'detached' });
  await until(async () => /^Tokens/.test((await me.focused()).name), 'the focus is at the heading');
  const gone = await fetch(`${companion.url}/api/status`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal(gone.status, 401);
  await until(async () => (await companion.api('GET', '/api/tokens')).tokens.map((/** @type {any} */ one) => one.name).join() === 'from the shell', 'one is left');
});

scenario('in Spanish, with tokens and a form that is wrong', { context: { locale: 'es-ES' }, timeout: 90_000 }, async (stage) => {
  await stage.companion.api('POST', '/api/tokens', { name: 'Editor', expires: new Date(Date.now() + 86_400_000).toISOString() });
  const page = await stage.context.newPage();
  stage.pages.push(page);
  await page.goto(await stage.companion.address());
  await page.locator('.app').waitFor();
  await page.evaluate(() => {
    location.hash = '#/settings/mcp';
  });
  await page.locator('li.grant').getByText(/^creado el .* · caduca el .* · sin usar todavía$/).waitFor();
  await page.getByRole('button', { name: 'Token nuevo' }).click();
  await page.locator('.new-token input').fill('editor');
  await page.getByRole('button', { name: 'Crear token' }).click();
  await page.getByText('Ese nombre ya existe.').waitFor();
  await look(page, 'form');
});
