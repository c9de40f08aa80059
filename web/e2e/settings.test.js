import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { closeBrowser, missing, newContext, openPage, passWelcome, startCompanion } from './harness.js';

const axe = new URL('../node_modules/axe-core/axe.min.js', import.meta.url);
const skip = missing() || false;
const sections = ['mcp', 'tools', 'permissions', 'agents', 'providers', 'audit', 'appearance', 'about', 'unknown'];
/** @type {any} */
let companion;
before(async () => {
  if (!skip) companion = await startCompanion();
});
after(async () => {
  await closeBrowser();
  await companion?.clean();
});

/** @param {any} page @param {string} section */
async function go(page, section) {
  await page.evaluate((/** @type {string} */ name) => {
    location.hash = `#/settings/${name}`;
  }, section);
  await page.locator('.settings h1').waitFor();
  await page.waitForFunction(() => !document.querySelector('.settings [role=status].meta')?.textContent?.includes('…'));
}

/** @param {any} page @param {string} screen @param {{colours?: boolean}} [options] `colours`: only what another theme can change */
async function check(page, screen, { colours = false } = {}) {
  if (await page.evaluate(() => !('axe' in globalThis))) await page.evaluate(readFileSync(axe, 'utf8'));
  const found = await page.evaluate(async (/** @type {string[]} */ only) => {
    const { violations } = await /** @type {any} */ (globalThis).axe.run(document, { resultTypes: ['violations'], ...(only.length ? { runOnly: only } : {}) });
    return violations.map((/** @type {any} */ one) => `${one.id}: ${one.nodes.slice(0, 3).map((/** @type {any} */ node) => node.html.slice(0, 160)).join(' | ')}`);
  }, colours ? ['color-contrast', 'link-in-text-block'] : []);
  assert.deepEqual(found, [], screen);
  const wide = await page.evaluate(() => [...document.querySelectorAll('.settings *')].filter((one) => {
    const box = one.getBoundingClientRect();
    return box.width > 0 && box.right > innerWidth + 1 && !one.closest('pre, .sr, .rule-text, .log-lines');
  }).slice(0, 3).map((one) => one.outerHTML.slice(0, 120)));
  assert.deepEqual(wide, [], `${screen}: wider than the window`);
}

/** @param {{lang?: string, theme?: string, width?: number}} [options] */
async function settings(options = {}) {
  const context = await newContext({ height: 900, reducedMotion: 'reduce', ...options });
  const page = await openPage(context, companion.link());
  await page.locator('.welcome, .composer').first().waitFor();
  await passWelcome(page);
  return { page, context };
}

// Colours are of a theme and words of a language at any width: each of both at one, and what a narrow window moves in one theme.
for (const [theme, lang, width] of /** @type {const} */ ([['light', 'en', 1280], ['dark', 'en', 1280], ['light', 'es', 1280], ['dark', 'es', 1280], ['light', 'en', 320], ['light', 'es', 320]])) {
  test(`settings: ${theme}, ${lang}, ${width} px`, { skip: skip || (existsSync(axe) ? false : 'axe-core is not installed (npm ci)'), timeout: 180_000 }, async () => {
    const { page, context } = await settings({ theme, lang, width });
    const look = (/** @type {string} */ screen) => check(page, screen, { colours: theme === 'dark' });
    for (const section of sections) {
      await go(page, section);
      await look(section);
      if (section === 'tools') {
        await page.locator('.tool-run').nth(1).click();
        await page.locator('.schema-foot .btn.primary').click();
        await look('run');
        await page.locator('.schema-foot .seg input').nth(1).check({ force: true });
        await look('run, as JSON');
      }
      if (section === 'permissions') {
        await page.locator('.rule-text').fill('R:./**\nno rule\n');
        await page.locator('.rules-section [type=submit]').click();
        await look('a bad rule');
        await page.locator('.policy input').nth(1).click({ force: true });
        await page.locator('dialog').waitFor();
        await look('the dangerous policy');
        await page.keyboard.press('Escape');
        await page.locator('dialog').waitFor({ state: 'detached' });
        assert.deepEqual(await page.locator('.policy input').evaluateAll((/** @type {any[]} */ all) => all.map((one) => one.checked)), [true, false]);
      }
      if (section === 'providers') {
        await page.locator('.preset').first().click();
        await look('a new provider');
      }
    }
    assert.deepEqual(page.faults, []);
    await context.close();
  });
}

test('a service is started, its tool is run by keyboard alone, asked for and answered', { skip, timeout: 120_000 }, async () => {
  const { page, context } = await settings();
  await go(page, 'mcp');
  await page.getByRole('button', { name: 'Start Dummy MCP' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Run add…' }).waitFor();
  await page.getByRole('button', { name: 'Run add…' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('2');
  await page.keyboard.press('Tab');
  await page.keyboard.type('40');
  await page.keyboard.press('Control+Enter');
  const question = page.locator('.run-panel .card.ask');
  await question.waitFor();
  await page.waitForTimeout(600);
  await question.focus();
  await page.keyboard.press('1');
  await page.locator('.run-panel .card .code', { hasText: /^42$/ }).waitFor();
  await page.getByRole('button', { name: 'Log of Dummy MCP' }).click();
  await page.locator('.log-line', { hasText: 'ready' }).first().waitFor();
  await page.locator('.tool', { hasText: 'echo' }).locator('.seg input').nth(2).check({ force: true });
  await page.waitForFunction(() => document.querySelector('.tool:nth-child(3) .seg input:checked')?.getAttribute('value') === 'deny');
  await go(page, 'audit');
  await page.locator('.audit .line', { hasText: 'add' }).first().waitFor();
  await go(page, 'mcp');
  await page.getByRole('button', { name: 'Stop Dummy MCP' }).click();
  await page.getByRole('button', { name: 'Start Dummy MCP' }).waitFor();
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('rules: the fault stands beside its line, a good list is saved, the tester agrees, another writer is noticed', { skip, timeout: 120_000 }, async () => {
  const { page, context } = await settings();
  await go(page, 'permissions');
  const text = page.locator('.rule-text');
  await text.fill('# ours\nR:./**\nW:');
  await page.locator('.rule-notes li:nth-child(3)', { hasText: 'needs a path after the colon' }).waitFor();
  await text.fill('# ours\nR:./*.txt');
  await page.getByRole('button', { name: 'Save rules' }).click();
  await page.locator('.rules-section .saved', { hasText: 'Saved' }).waitFor();
  await page.getByLabel('Path', { exact: true }).last().fill('README.md');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.locator('.verdict.ask').waitFor();
  await page.getByRole('button', { name: /^Add the rule/ }).first().click();
  assert.match(await text.inputValue(), /^# ours\nR:\.\/\*\.txt\nR:\.\/README\.md$/);
  await page.getByRole('button', { name: 'Save rules' }).click();
  await page.locator('.rule-notes li:nth-child(3)', { hasText: 'active' }).waitFor();
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.locator('.verdict.ok').waitFor();
  const second = await openPage(context, companion.link());
  await second.locator('.welcome, .composer').first().waitFor();
  await go(second, 'permissions');
  await text.fill('R:./mine/**');
  await second.locator('.rule-text').fill('R:./theirs/**');
  await second.getByRole('button', { name: 'Save rules' }).click();
  await page.getByRole('button', { name: 'Keep mine; Save replaces those' }).click();
  assert.equal(await text.inputValue(), 'R:./mine/**');
  await page.getByRole('button', { name: 'Save rules' }).click();
  await second.waitForFunction(() => /** @type {any} */ (document.querySelector('.rule-text')).value === 'R:./mine/**');
  assert.deepEqual([page.faults, second.faults], [[], []]);
  await context.close();
});

test('a provider is added, its key goes in sealed and never comes back', { skip, timeout: 120_000 }, async () => {
  const models = createServer((request, response) => {
    response.writeHead(request.headers.authorization === 'Bearer sk-e2e-good-key' ? 200 : 401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [{ id: 'alpha' }, { id: 'beta' }] }));
  });
  await new Promise((resolve) => models.listen(0, '127.0.0.1', () => resolve(null)));
  const { port } = /** @type {any} */ (models.address());
  const { page, context } = await settings();
  /** @type {string[]} */
  const bodies = [];
  page.on('response', async (/** @type {any} */ response) => bodies.push(await response.text().catch(() => '')));
  await go(page, 'providers');
  await page.getByRole('button', { name: /^Other/ }).click();
  await page.getByLabel('Name').fill('mine.local');
  await page.getByLabel('Address').fill(`http://127.0.0.1:${port}/v1`);
  await page.getByLabel('API key').fill('sk-e2e-wrong-key');
  await page.getByRole('button', { name: 'Add and test' }).click();
  const refused = page.locator('.err', { hasText: '401' });
  await refused.waitFor();
  assert.match((await refused.textContent()) ?? '', /^Does not work\. The key was refused \(401\): it is missing, wrong, or not for http:\S+ ?Copy$/);
  await page.getByRole('button', { name: 'Edit mine.local' }).click();
  await page.getByRole('button', { name: 'Replace' }).click();
  await page.getByLabel('API key').fill('sk-e2e-good-key');
  await page.getByRole('button', { name: 'Save and test' }).click();
  await page.locator('.test-ok select').selectOption('beta');
  await page.locator('.facts-line', { hasText: 'beta' }).waitFor();
  assert.doesNotMatch(readFileSync(join(companion.home, '.zeroclaw', 'config.toml'), 'utf8'), /sk-e2e/);
  assert.doesNotMatch(bodies.join('\n'), /sk-e2e/);
  assert.doesNotMatch(await page.content(), /sk-e2e/);
  await page.getByRole('button', { name: 'Remove mine.local' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('button', { name: 'Test mine.local' }).waitFor({ state: 'detached' });
  assert.deepEqual(page.faults, []);
  await context.close();
  await new Promise((resolve) => models.close(resolve));
});

/** A model server that lists these. @param {string[]} names */
async function modelServer(names) {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: names.map((id) => ({ id })) }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(null)));
  return { at: `127.0.0.1:${/** @type {any} */ (server.address()).port}/v1`, end: () => new Promise((resolve) => server.close(resolve)) };
}

test('a provider without a model keeps what can be chosen on its card; the only model is chosen by itself', { skip, timeout: 120_000 }, async () => {
  const [two, one] = [await modelServer(['alpha', 'beta']), await modelServer(['gamma'])];
  const { page, context } = await settings();
  const card = (/** @type {string} */ name) => page.getByRole('region', { name, exact: true });
  const add = async (/** @type {string} */ name, /** @type {string} */ at) => {
    await go(page, 'providers');
    await page.getByRole('button', { name: /^Other/ }).click();
    await page.getByLabel('Name').fill(name);
    assert.ok(await page.getByLabel('Address').getAttribute('placeholder'));
    await page.getByLabel('Address').fill(at);
    await page.getByRole('button', { name: 'Add and test' }).click();
  };
  await add('two', two.at);
  await card('two').getByText(`http://${two.at}`).waitFor();
  await card('two').getByLabel('Model to start with:').waitFor();
  await go(page, 'about');
  await go(page, 'providers');
  const select = card('two').getByLabel('Model to start with:');
  await select.waitFor();
  await page.reload();
  await select.waitFor();
  assert.equal(await page.locator('.err').count(), 0);
  await select.selectOption('beta');
  await card('two').locator('.facts-line', { hasText: 'beta' }).waitFor();
  await select.waitFor({ state: 'detached' });
  await add('one', one.at);
  await card('one').locator('.facts-line', { hasText: 'gamma' }).waitFor();
  assert.equal(await card('one').locator('select').count(), 0);
  for (const name of ['one', 'two']) {
    await page.getByRole('button', { name: `Remove ${name}` }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await card(name).waitFor({ state: 'detached' });
  }
  assert.deepEqual(page.faults, []);
  await context.close();
  await Promise.all([two.end(), one.end()]);
});

/** Whether an element is in the window as a whole. @param {any} element */
const inWindow = (element) => element.evaluate((/** @type {Element} */ one) => {
  const { top, bottom } = one.getBoundingClientRect();
  const pane = /** @type {Element} */ (one.closest('.settings')).getBoundingClientRect();
  return top >= pane.top && bottom <= Math.min(innerHeight, pane.bottom) + 1;
});

for (const [width, height] of [[1280, 800], [320, 720]]) {
  test(`the tester at ${width} px: its answer comes into view, faults stand at their field, rules are said once and the narrowest first`, { skip, timeout: 120_000 }, async () => {
    const { page, context } = await settings({ width, height });
    await go(page, 'permissions');
    const form = page.locator('form.svc').last();
    const run = form.getByRole('button', { name: 'Test', exact: true });
    const verdict = form.locator('.verdict');
    await run.click();
    await form.getByText('Give a path to test.').waitFor();
    assert.equal(await verdict.count(), 0);
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute('aria-invalid')), 'true');
    await form.getByLabel('Path', { exact: true }).last().fill('docs/deep/a.md');
    assert.equal(await form.locator('.bad').count(), 0);
    await run.click();
    await verdict.getByText('Each of these rules would cover it:').waitFor();
    assert.equal(await verdict.getByText('would cover it').count(), 1);
    assert.deepEqual(await verdict.locator('.proposed code').allTextContents(), ['R:./docs/deep/a.md', 'R:./docs/deep/**']);
    await page.waitForTimeout(100);
    assert.ok(await inWindow(verdict), 'the answer is in the window');
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Test', 'and the focus is where it was');
    await form.locator('.seg input').nth(1).check({ force: true });
    await run.click();
    await form.getByText('Give a command to test.').waitFor();
    await form.getByLabel('Command', { exact: true }).last().fill('ls | wc');
    await form.getByLabel('Run in').fill('/no/such/folder');
    await run.click();
    await verdict.getByText('Not possible', { exact: true }).waitFor();
    assert.equal((await verdict.textContent())?.replace(/\s+/g, ' ').trim(), '✕Not possible');
    const cwd = form.getByLabel('Run in');
    assert.equal(await cwd.getAttribute('aria-invalid'), 'true');
    await form.locator('.label:has([aria-invalid=true])', { hasText: 'Run in' }).getByText('not an existing folder').waitFor();
    const tops = await form.locator('.test-line :is(input, .btn)').evaluateAll((/** @type {Element[]} */ all) => all.map((one) => Math.round(one.getBoundingClientRect().top / 10)));
    assert.equal(new Set(tops).size, width === 320 ? 3 : 1, `rows: ${tops}`);
    await check(page, 'the tester with a fault');
    assert.deepEqual(page.faults, []);
    await context.close();
  });
}

test('tools at 320 px: a description that is cut can be read whole, the hint of the filter fits', { skip, timeout: 120_000 }, async () => {
  for (const lang of ['en', 'es']) {
    const { page, context } = await settings({ width: 320, lang });
    await go(page, 'tools');
    const fits = await page.locator('.filter input').evaluate((/** @type {any} */ one) => {
      const pen = /** @type {any} */ (document.createElement('canvas').getContext('2d'));
      pen.font = getComputedStyle(one).font;
      return pen.measureText(one.placeholder).width < one.clientWidth - 24;
    });
    assert.ok(fits, `${lang}: the placeholder fits`);
    const row = page.locator('.tool', { hasText: 'edit_file' });
    const text = row.locator('.meta');
    const cut = () => text.first().evaluate((/** @type {Element} */ one) => one.scrollHeight > one.clientHeight + 1);
    const more = row.getByRole('button', { name: /^(Show all|Mostrar todo)/ });
    await more.click();
    assert.equal(await cut(), false);
    await row.getByRole('button', { name: /^(Show less|Mostrar menos)/ }).click();
    await more.waitFor();
    assert.equal(await cut(), true);
    await page.setViewportSize({ width: 1280, height: 900 });
    await more.waitFor({ state: 'detached' });
    await context.close();
  }
});

test('what a provider test met is said once, in the language of the page, by the names of its fields', { skip, timeout: 120_000 }, async () => {
  const { page, context } = await settings({ lang: 'es' });
  await go(page, 'providers');
  await page.getByRole('button', { name: /^Otro/ }).click();
  await page.getByLabel('Nombre').fill('nadie');
  await page.getByLabel('Dirección').fill('http://127.0.0.1:9/v1');
  await page.getByRole('button', { name: 'Añadir y probar' }).click();
  const error = page.locator('.err');
  await error.waitFor();
  assert.equal(await error.locator('div').textContent(), 'No funciona. Ningún servidor de modelos responde en http://127.0.0.1:9. ¿Está iniciado y es correcta la dirección?');
  await page.getByRole('button', { name: 'Quitar nadie' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Quitar' }).click();
  await page.getByRole('button', { name: 'Probar nadie' }).waitFor({ state: 'detached' });
  await context.close();
});

test('tools in Spanish: our own in words of the page, no title that repeats the name, one off is one', { skip, timeout: 120_000 }, async () => {
  const { page, context } = await settings({ lang: 'es' });
  await go(page, 'tools');
  const row = page.locator('.tool', { hasText: 'read_file' });
  assert.equal(await row.locator('.tool-name').textContent().then((/** @type {string} */ text) => text.trim()), 'read_file');
  await row.getByText('Lee un archivo de texto').waitFor();
  await row.locator('input[role=switch]').uncheck();
  await page.getByText('1 apagada', { exact: false }).waitFor();
  assert.equal(await page.getByText('1 apagadas').count(), 0);
  await row.locator('input[role=switch]').check();
  await row.getByRole('button', { name: 'Ejecutar read_file…' }).click();
  await page.getByText('Lo que se dice de ella a un modelo').click();
  await page.locator('.run-panel').getByText('Read a part of a text file').waitFor();
  await go(page, 'audit');
  assert.deepEqual(await page.locator('.audit-filter select').evaluateAll((/** @type {any[]} */ all) => all.map((one) => one.options[0].textContent)), ['Todas', 'Todos']);
  await context.close();
});

test('audit: columns stand under each other, and at 320 px nothing is cut off', { skip, timeout: 120_000 }, async () => {
  const token = JSON.parse(readFileSync(join(companion.home, '.zeroclaw/run/server.json'), 'utf8')).token;
  const post = async (/** @type {string} */ where, /** @type {any} */ body) => (await fetch(companion.origin + where, { method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json();
  const made = await post('/api/sessions', {});
  const calls = `/api/sessions/${(made.session ?? made).id}/calls`;
  for (const path of ['a.txt', 'b.txt']) await post(calls, { tool: 'read_file', arguments: { path, start_line: 0 } });
  await post(calls, { tool: 'execute_command', arguments: { command: `echo ${'long '.repeat(60)}`, timeout_seconds: -1 } });
  const { page, context } = await settings();
  await go(page, 'audit');
  await page.locator('.audit .line').nth(2).waitFor();
  for (const column of ['.took', '.when']) {
    const rights = await page.locator(`.audit ${column}`).evaluateAll((/** @type {any[]} */ all) => all.map((one) => Math.round(one.getBoundingClientRect().right)));
    assert.equal(new Set(rights).size, 1, `${column}: ${rights}`);
  }
  await page.setViewportSize({ width: 320, height: 700 });
  const cut = await page.locator('.audit .line').evaluateAll((/** @type {any[]} */ all) => all.flatMap((line) => [line, ...line.querySelectorAll('.meta, b, code')]).filter((one) => {
    const box = one.getBoundingClientRect();
    return box.right > innerWidth || (one.tagName !== 'CODE' && one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0);
  }).map((one) => one.outerHTML.slice(0, 100)));
  assert.deepEqual(cut, []);
  await context.close();
});

test('a rule that counts in another folder says in which; the tester says what decided', { skip, timeout: 120_000 }, async () => {
  const { page, context } = await settings();
  await go(page, 'permissions');
  await page.locator('.rule-text').fill('R:./notes/**');
  await page.getByRole('button', { name: 'Save rules' }).click();
  await page.locator('.rules-section .saved', { hasText: 'Saved' }).waitFor();
  await page.getByLabel('Path', { exact: true }).last().fill('notes/x');
  await page.getByRole('button', { name: 'Test', exact: true }).click();
  await page.locator('.verdict', { hasText: 'decided at step 13 of 14: your rules' }).waitFor();
  const token = JSON.parse(readFileSync(join(companion.home, '.zeroclaw/run/server.json'), 'utf8')).token;
  const move = async (/** @type {string} */ path) => (await fetch(`${companion.origin}/api/root`, { method: 'PUT', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ path }) })).json();
  await move(companion.home);
  await page.locator('.rule-warn', { hasText: `counts in ${companion.root}, not here` }).waitFor();
  await move(companion.root);
  await page.locator('.rule-notes', { hasText: 'active' }).waitFor();
  await context.close();
});
