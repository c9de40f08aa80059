// Speed that a person feels: a conversation of 10,000 messages, a long answer as it streams, a thousand tools, the first paint.
// `npm run bench` prints the numbers; here they only must not be bad.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OpenAIStub } from './models.js';
import { busy, Companion, scenario, skipReason, tempDir, theBrowser, until, useBrowser } from './rig.js';

useBrowser();

const here = path.dirname(fileURLToPath(import.meta.url));
const files = { 'README.md': 'x\n' };

/** Notes every task of the page that blocks for 50 ms and more. @param {import('./rig.js').Person} me */
async function watchTasks(me) {
  await me.page.evaluate(() => {
    const all = /** @type {any} */ (globalThis);
    all.tasks = [];
    all.observer ??= new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) all.tasks.push(Math.round(entry.duration));
    });
    all.observer.observe({ entryTypes: ['longtask'] });
  });
}
/** @param {import('./rig.js').Person} me @returns {Promise<number>} the longest since watchTasks, ms */
const longest = (me) => me.page.evaluate(() => Math.max(0, .../** @type {any} */ (globalThis).tasks));

/** Types and answers how long each key took until it was on the screen, ms, shortest first. @param {import('./rig.js').Person} me @param {string} text */
async function typed(me, text) {
  await me.composer.focus();
  await me.page.evaluate(() => {
    const all = /** @type {any} */ (globalThis);
    all.keys = [];
    if (all.keyed) return;
    all.keyed = true;
    document.querySelector('.composer textarea')?.addEventListener('keydown', (event) => {
      const began = event.timeStamp;
      requestAnimationFrame(() => requestAnimationFrame(() => all.keys.push(performance.now() - began)));
    });
  });
  for (const letter of text) {
    await me.page.keyboard.press(letter);
    await me.page.waitForTimeout(30);
  }
  await me.page.waitForTimeout(300);
  const times = await me.page.evaluate(() => /** @type {any} */ (globalThis).keys);
  assert.equal(times.length, text.length);
  return times.sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
}

scenario('10,000 messages open, scroll and take typing without a delay that one sees', { files, timeout: 180_000 }, async (stage) => {
  const route = await stage.companion.conversation('Long', Array.from({ length: 10_000 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', data: { text: n % 2 ? `Answer ${n} with **bold**, \`code\` and a list:\n\n- one\n- two\n\n\`\`\`js\nconst n = ${n};\n\`\`\`` : `Question ${n}?` } })));
  const me = await stage.page();
  await watchTasks(me);
  const began = Date.now();
  await me.go(route);
  await me.sees('Answer 9999');
  const opened = Date.now() - began;
  const opening = await longest(me);
  assert.ok(await me.page.locator('.turn').count() <= 1_000, 'at most a thousand are mounted');
  const typing = await typed(me, 'how long does it take');
  const worst = typing[busy() ? Math.floor(typing.length / 2) : typing.length - 2];
  // Everything that can be shown is brought in, then scrolled through.
  for (let more = 0; more < 6; more++) {
    const button = me.button('Show earlier messages');
    if (!(await button.count())) break;
    const before = await me.page.locator('.turn').count();
    await button.click();
    await until(async () => (await me.page.locator('.turn').count()) > before || !(await button.count()), 'more are shown');
  }
  const shown = await me.page.locator('.turn').count();
  assert.ok(shown > 500 && shown <= 1_000, `${shown} are shown`);
  const frames = await me.page.evaluate(async () => {
    const box = /** @type {HTMLElement} */ (document.querySelector('.log'));
    const gaps = [];
    box.scrollTop = 0;
    for (let at = 0, last = performance.now(); at < 80; at++) {
      box.scrollTop += 700;
      await new Promise(requestAnimationFrame);
      gaps.push(performance.now() - last);
      last = performance.now();
    }
    return gaps.sort((a, b) => a - b);
  });
  const full = await typed(me, 'and with a thousand');
  const fullWorst = full[busy() ? Math.floor(full.length / 2) : full.length - 2];
  console.log(`# opened in ${opened} ms (longest task ${opening} ms); a key ${worst.toFixed(0)} ms, with ${shown} shown ${fullWorst.toFixed(0)} ms; a frame while scrolling ${frames[40].toFixed(0)} ms, 95 of 100 below ${frames[76].toFixed(0)} ms`);
  assert.ok(worst < 200 && fullWorst < 200, `typing ${worst} and ${fullWorst} ms`);
  assert.ok(frames[busy() ? 40 : 76] < 100, `scrolling ${frames[76]} ms`);
  assert.ok(opened < (busy() ? 10_000 : 3_000), `opened in ${opened} ms`);
  // Search finds what is far away.
  await me.page.getByRole('searchbox').fill('"Question 42"');
  await me.page.locator('.snippet').first().waitFor();
});

scenario('a long answer streams without holding up typing', { files, timeout: 120_000 }, async (stage) => {
  const text = `${'Words with **bold** and `code`.\n\n- a\n- b\n\n'.repeat(150)}${'| a | b |\n|---|---|\n| 1 | 2 |\n\n'.repeat(30)}the end`;
  const stub = await OpenAIStub.start([{ parts: text.match(/[^]{1,400}/g)?.map((part) => ({ text: part })) }]);
  await stage.companion.provider('stub', { kind: 'openai', base_url: `${stub.origin}/v1`, model: 'stub-1' });
  const me = await stage.page();
  await me.button(/^Model:/, false).click();
  await me.page.getByRole('menuitemradio', { name: /stub-1/ }).click();
  await me.say('go on');
  await me.sees(/Words with/);
  await watchTasks(me);
  const typing = await typed(me, 'typing while it streams');
  const worst = typing[busy() ? Math.floor(typing.length / 2) : typing.length - 2];
  await me.log.getByText('the end', { exact: true }).last().waitFor({ timeout: 30_000 });
  console.log(`# a key while an answer of ${text.length} characters streams: ${worst.toFixed(0)} ms; longest task ${await longest(me)} ms`);
  assert.ok(worst < 200, `typing ${worst} ms`);
  await me.idle();
  await me.page.waitForTimeout(500);
  assert.equal(await me.button('Jump to the end').count(), 0, 'nobody scrolled away');
  assert.ok(await me.page.evaluate(() => {
    const box = /** @type {HTMLElement} */ (document.querySelector('.log'));
    return box.scrollHeight - box.scrollTop - box.clientHeight < 40;
  }), 'the end is on the screen');
});

scenario('K5: a thousand tools stay under a second', {
  files, timeout: 120_000,
  home: {
    '.zeroclaw/services/many/service.json': JSON.stringify({ schemaVersion: 1, id: 'many', displayName: 'Many', launch: { executable: process.execPath, args: ['${serviceDir}/server.mjs'] } }),
    '.zeroclaw/services/many/server.mjs': `import { createInterface } from 'node:readline';
const tools = Array.from({ length: 1000 }, (_, n) => ({ name: 'tool_' + n, description: 'Does thing number ' + n + '. '.repeat(20), inputSchema: { type: 'object', properties: { value: { type: 'string' } } } }));
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'many', version: '1' } } : method === 'tools/list' ? { tools } : {};
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});`,
  },
}, async (stage) => {
  await stage.companion.api('POST', '/api/services/many/start', {});
  await until(async () => (await stage.companion.api('GET', '/api/tools')).tools.length > 1_000, 'a thousand tools are there');
  const me = await stage.page({ path: 'settings/about' });
  await me.page.locator('.page h1').waitFor();
  await watchTasks(me);
  let began = Date.now();
  await me.go('settings/tools');
  await me.button('Many').click();
  await me.page.locator('.tool-name', { hasText: 'tool_0' }).first().waitFor();
  const opened = Date.now() - began;
  began = Date.now();
  await me.page.locator('.page input.field').first().fill('tool_777');
  await until(async () => (await me.page.locator('.tool-name', { hasText: /^tool_\d|mcp_many/ }).count()) <= 2, 'the filter has worked');
  await me.page.locator('.tool-name', { hasText: 'tool_777' }).waitFor();
  const filtered = Date.now() - began;
  const task = await longest(me);
  await me.go('chat');
  await me.composer.fill('/');
  await me.page.locator('.suggest').waitFor();
  console.log(`# a thousand tools: opened in ${opened} ms, filtered in ${filtered} ms, longest task ${task} ms`);
  assert.ok(opened < (busy() ? 3_000 : 1_000) && filtered < (busy() ? 3_000 : 1_000));
  await me.page.getByRole('link', { name: /1,?00\d tools/ }).waitFor();
});

test('the first load is small: at most 60 KB of libraries, gzipped', { skip: skipReason || false }, async () => {
  const companion = await Companion.start({ files });
  const context = await theBrowser().newContext();
  try {
    const page = await context.newPage();
    const libraries = /** @type {string[]} */ ([]);
    page.on('response', (response) => {
      if (/\/vendor\/.*\.js/.test(response.url())) libraries.push(response.url());
    });
    await page.goto(await companion.address());
    await page.locator('.app').waitFor();
    await page.waitForTimeout(500);
    const { gzipSync } = await import('node:zlib');
    let size = 0;
    for (const address of libraries) size += gzipSync(Buffer.from(await (await fetch(address)).arrayBuffer())).length;
    console.log(`# libraries of the first load: ${libraries.map((one) => path.basename(one)).join(', ')}: ${(size / 1024).toFixed(1)} KB gzipped`);
    assert.ok(size <= 60 * 1024, `${size} bytes`);
  } finally {
    await context.close();
    await companion.end();
  }
});

test('cold start to the first paint, next to a bare server of the same machine', { skip: skipReason || false, timeout: 120_000 }, async () => {
  const dir = tempDir('bare');
  mkdirSync(path.join(dir, 'out'));
  const bare = path.join(dir, 'out', process.platform === 'win32' ? 'bare.exe' : 'bare');
  execFileSync('go', ['build', '-o', bare, path.join(here, 'testdata/bare/main.go')], { stdio: ['ignore', 'inherit', 'inherit'] });
  const context = await theBrowser().newContext();
  const page = await context.newPage();
  /** From the start of a program to the first thing on the screen, ms. @param {() => Promise<{address: string, end: () => Promise<any>}>} start @param {string} what */
  const measure = async (start, what) => {
    const began = performance.now();
    const { address, end } = await start();
    const listening = performance.now() - began;
    await page.goto(address, { waitUntil: 'commit' });
    await page.locator(what).first().waitFor();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const painted = performance.now() - began;
    await page.goto('about:blank');
    await end();
    return { listening, painted };
  };
  /** @type {{bare: any[], ours: any[]}} */
  const runs = { bare: [], ours: [] };
  try {
    for (let run = 0; run < 5; run++) {
      runs.bare.push(await measure(async () => {
        const child = spawn(bare, { stdio: ['ignore', 'pipe', 'ignore'] });
        const address = await new Promise((resolve) => child.stdout.once('data', (line) => resolve(String(line).trim())));
        return { address, end: () => new Promise((resolve) => {
          child.once('exit', resolve);
          child.kill('SIGKILL');
        }) };
      }, 'body p'));
      runs.ours.push(await measure(async () => {
        const companion = await Companion.start({ files });
        return { address: companion.launch, end: () => companion.end() };
      }, '.app'));
    }
  } finally {
    await context.close();
  }
  const best = (/** @type {any[]} */ list, /** @type {string} */ key) => Math.min(...list.map((one) => one[key]));
  const ratio = best(runs.ours, 'painted') / best(runs.bare, 'painted');
  console.log(`# bare server: listens after ${best(runs.bare, 'listening').toFixed(0)} ms, painted after ${best(runs.bare, 'painted').toFixed(0)} ms; companion: ${best(runs.ours, 'listening').toFixed(0)} ms, ${best(runs.ours, 'painted').toFixed(0)} ms; ratio ${ratio.toFixed(1)} (limit 10)`);
  assert.ok(ratio < 10, `ratio ${ratio}`);
});
