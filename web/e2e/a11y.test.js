// axe on every screen, in both themes and both languages; narrow and wide windows without sideways scrolling.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { OpenAIStub } from './models.js';
import { scenario, skipReason, until, useBrowser } from './rig.js';

useBrowser();

const axeSource = skipReason ? '' : readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'notes.txt': 'one\ntwo\nthree\n', 'docs/a.md': 'a\n', 'pic.png': Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64') };
// Themes differ in colours alone: what has none is looked at in one of them.
const everything = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const colours = ['color-contrast', 'link-in-text-block'];

/** What axe says about what is on the screen now, and whether it scrolls sideways. @param {import('./rig.js').Person} me @param {string} screen @param {string[]} faults */
async function look(me, screen, faults) {
  const { page } = me;
  // The policy of the page lets no foreign script in; a test's own may be evaluated.
  await page.evaluate((source) => {
    if (!(/** @type {any} */ (globalThis).axe)) globalThis.eval(source);
  }, axeSource);
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => {
      document.documentElement.dataset.theme = name;
      // What has just scrolled half under a bar that stays is no small target.
      for (const pane of document.querySelectorAll('.settings')) pane.scrollTop = 0;
    }, theme);
    const found = await page.evaluate(async (only) => {
      // Colours in the middle of a transition are neither the old nor the new ones.
      for (const one of document.getAnimations()) if (one instanceof CSSTransition) one.finish();
      const { axe } = /** @type {any} */ (globalThis);
      const { violations } = await axe.run(document, { resultTypes: ['violations'], runOnly: only });
      return violations.map((/** @type {any} */ one) => `${one.id}: ${one.nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.target.join(' ')} ${String(node.failureSummary).split('\n')[1] ?? ''}`).join(' | ')}`);
    }, theme === 'light' ? everything : colours);
    for (const one of found) faults.push(`${screen}, ${theme}: ${one}`);
  }
  for (const [width, height] of [[320, 700], [2560, 1300], [1280, 900]]) {
    await page.setViewportSize({ width, height });
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    const over = await page.evaluate(() => {
      const wide = document.documentElement.clientWidth;
      const scrolls = (/** @type {Element} */ element) => element.scrollWidth > element.clientWidth + 1 && !/hidden|clip/.test(getComputedStyle(element).overflowX);
      const out = [];
      if (document.documentElement.scrollWidth > wide) out.push('the window');
      // Boxes that are made to scroll (code, tables) may; whole panes may not.
      for (const pane of document.querySelectorAll('.main, .scroll, .log, .side-scroll, dialog, .composer, .card, .svc')) if (scrolls(pane)) out.push(`${pane.className || pane.tagName} ${pane.scrollWidth}>${pane.clientWidth}`);
      return out;
    });
    for (const one of over) faults.push(`${screen}, ${width} px: scrolls sideways: ${one}`);
  }
}

for (const language of ['en', 'es']) {
  const context = { locale: language === 'en' ? 'en-US' : 'es-ES' };

  scenario(`${language}: first run, empty chat, gate, cards and questions`, { files, context, timeout: 240_000 }, async (stage) => {
    const faults = /** @type {string[]} */ ([]);
    const lone = await (await stage.context.browser()).newContext({ ...context });
    const gate = await lone.newPage();
    await gate.goto(stage.companion.url);
    await gate.locator('main.gate h1').waitFor();
    await look(/** @type {any} */ ({ page: gate }), 'gate', faults);
    await lone.close();

    const page = await stage.context.newPage();
    stage.pages.push(page);
    const me = /** @type {any} */ ({ page });
    await page.goto(await stage.companion.address());
    await page.locator('.welcome').waitFor();
    await look(me, 'first run', faults);
    await page.locator('.steps button').first().click();
    await page.locator('.folder-list').waitFor();
    await look(me, 'first run with the folder picker', faults);
    await page.locator('.welcome-go button').click();
    await page.locator('.empty').waitFor();
    await look(me, 'empty chat', faults);
    const area = page.locator('.composer textarea');
    await area.fill('/');
    await page.locator('.suggest').waitFor();
    await look(me, 'completion', faults);

    const say = async (/** @type {string} */ text) => {
      await area.fill(text);
      await area.press('Escape');
      await area.press('Enter');
      await page.locator('section.card.ask').waitFor();
    };
    const answer = async (/** @type {number} */ choice) => {
      await page.waitForTimeout(600);
      await page.locator('section.card.ask .choices button').nth(choice).click();
    };
    const idle = () => page.locator('.composer button[type=submit]').waitFor();
    await say('/execute_command command="ls | wc -l; echo \\u202e hidden"');
    await look(me, 'question: command', faults);
    await page.locator('section.card.ask .choices button').nth(3).click();
    await page.locator('.deny-form').waitFor();
    await look(me, 'question: reason', faults);
    await page.locator('.deny-form input').fill('no');
    await page.locator('.deny-form input').press('Enter');
    await idle();
    await say('/read_file path=README.md');
    await page.locator('section.card.ask .choices button').nth(2).click();
    await page.locator('.rules').waitFor();
    await look(me, 'question: always', faults);
    await answer(0);
    await idle();
    await say('/edit_file path=notes.txt mode=replace old_text=two new_text=TWO');
    await look(me, 'question: edit', faults);
    await answer(0);
    await idle();
    await say('/list_directory path=.');
    await answer(0);
    await idle();
    await say('/execute_command command="echo out; echo err >&2; exit 3"');
    await answer(0);
    await idle();
    await say('/read_file path=pic.png');
    await answer(0);
    await idle();
    await say('/read_file path=pic.png image=true');
    await answer(0);
    await idle();
    await page.locator('.shot').waitFor();
    await look(me, 'finished, failed and denied cards', faults);
    for (const line of await page.locator('section.card .line').all()) await line.click();
    await page.locator('.card-body').first().waitFor();
    await look(me, 'opened cards', faults);
    await say('/execute_command command="echo some; sleep 60"');
    await answer(0);
    await page.locator('section.card.run pre').waitFor();
    await look(me, 'running card', faults);
    await page.locator('section.card.run .card-head button').click();
    await idle();
    // Menus, a dialog, the drawer of narrow windows.
    await page.locator('.chips button').first().click();
    await page.locator('[role=menu]').waitFor();
    await look(me, 'menu', faults);
    await page.keyboard.press('Escape');
    await page.locator('.chips button').last().click();
    await page.locator('dialog').waitFor();
    await look(me, 'dialog: folder', faults);
    await page.keyboard.press('Escape');
    await page.locator('.conv-more').first().click({ force: true });
    await page.locator('[role=menu]').waitFor();
    await look(me, 'menu of a conversation', faults);
    await page.locator('[role=menuitem].danger, [role=menuitem]').last().click();
    await page.locator('dialog').waitFor();
    await look(me, 'dialog: delete', faults);
    await page.keyboard.press('Escape');
    await page.locator('.side input[type=search]').fill('read');
    await page.locator('.snippet').first().waitFor();
    await look(me, 'search', faults);
    await page.locator('.side input[type=search]').fill('');
    await page.locator('.msg-tools.right').last().locator('button').nth(1).focus();
    await page.keyboard.press('Enter');
    await page.locator('.edit-box').waitFor();
    await look(me, 'editing a message', faults);
    await page.keyboard.press('Escape');
    await page.setViewportSize({ width: 400, height: 700 });
    await page.locator('.menu-btn').click();
    await page.locator('#side.open').waitFor();
    await look(me, 'drawer', faults);
    assert.deepEqual(faults, []);
  });

  scenario(`${language}: a long answer of a model and its errors`, { files, context, timeout: 180_000 }, async (stage) => {
    const faults = /** @type {string[]} */ ([]);
    const route = await stage.companion.conversation('An answer', [
      { role: 'user', data: { text: 'Tell me `all` of it', files: [{ name: 'a.txt', path: '/x/a.txt', size: 12, mime: 'text/plain' }] } },
      { role: 'assistant', data: { model: 'm', reasoning: 'I **think**', text: '# One\n\n## Two\n\nText with `code`, **bold**, [link](https://example.org), ~~gone~~.\n\n- [x] done\n- [ ] open\n\n1. a\n2. b\n\n> quoted\n\n```js\nconst answer = "42"; // why\nfunction f(x) { return x + 1; }\n```\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n---\n\n![picture](https://example.org/x.png)' } },
      { role: 'user', data: { text: 'x'.repeat(400) } },
      { role: 'assistant', data: { model: 'm', text: 'half', error: { message: 'overloaded', code: '429' } } },
      { role: 'assistant', data: { model: 'm', text: '', stopped: true } },
      { role: 'assistant', data: { model: 'm', text: '', kind: 'limit' } },
      { role: 'assistant', data: { model: 'm', text: 'before', kind: 'summary' } },
      { role: 'assistant', data: { model: 'm', text: 'see', calls: [{ id: 'a', call_id: 'gone', tool: 'read_file', arguments: { path: 'x'.repeat(300) } }] } },
    ]);
    const stub = await OpenAIStub.start([]);
    await stage.companion.provider('stub', { kind: 'openai', base_url: `${stub.origin}/v1`, model: 'stub-1', api_key: 'sk-abcdefghijklmnopqrst0123' });
    const page = await stage.context.newPage();
    stage.pages.push(page);
    const me = /** @type {any} */ ({ page });
    await page.goto(await stage.companion.address());
    await page.locator('.app').waitFor();
    await page.evaluate((hash) => {
      location.hash = `#/${hash}`;
    }, route);
    await page.locator('.codebox .hljs-keyword, .codebox span').first().waitFor();
    await page.locator('.log summary').evaluateAll((all) => all.forEach((one) => /** @type {HTMLElement} */ (one).click()));
    await look(me, 'messages', faults);
    await page.evaluate(() => {
      location.hash = '#/chat/nothere';
    });
    await page.locator('.empty').waitFor();
    await look(me, 'missing chat', faults);
    assert.deepEqual(faults, []);
  });

  scenario(`${language}: every page of Settings`, { files, context, timeout: 240_000 }, async (stage) => {
    const faults = /** @type {string[]} */ ([]);
    const { companion } = stage;
    const stub = await OpenAIStub.start([]);
    await companion.provider('stub', { kind: 'openai', base_url: `${stub.origin}/v1`, model: 'stub-1', api_key: 'sk-abcdefghijklmnopqrst0123' });
    const page = await stage.context.newPage();
    stage.pages.push(page);
    const me = /** @type {any} */ ({ page });
    await page.goto(await companion.address());
    await page.locator('.app').waitFor();
    const go = async (/** @type {string} */ section) => {
      await page.evaluate((hash) => {
        location.hash = `#/settings/${hash}`;
      }, section);
      await page.locator(`.set-nav [aria-current=page][href$="${section}"]`).waitFor();
      await page.locator('.page h1').first().waitFor();
      await page.waitForTimeout(250);
    };
    await go('mcp');
    await look(me, 'mcp', faults);
    const dummy = page.locator('section.svc').filter({ has: page.getByRole('heading', { name: /Dummy MCP|MCP de prueba/ }) });
    await dummy.locator('.svc-acts button').first().click();
    await until(async () => (await companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === 'dummy_mcp').state === 'running', 'dummy_mcp runs');
    await page.locator('.svc .tool-name').first().waitFor();
    await dummy.locator('.svc-acts button').last().click();
    for (const summary of await page.locator('.svc summary').all()) await summary.click();
    await look(me, 'mcp with a running service, its log and details', faults);
    await page.locator('.svc .tool-run').first().click();
    await page.locator('.run-panel').waitFor();
    await look(me, 'mcp: run a tool', faults);
    await go('tools');
    await look(me, 'tools', faults);
    await page.locator('.page input.field').first().fill('nothing like this');
    await page.locator('.page .empty').waitFor();
    await look(me, 'tools: none found', faults);
    await page.locator('.page input.field').first().fill('read_file');
    await page.locator('.tool-run').first().click();
    await page.locator('.run-panel [type=submit]').click();
    await page.locator('.run-panel [role=alert], .run-panel .bad').first().waitFor();
    await look(me, 'tools: a form with an error', faults);
    await page.locator('.run-panel textarea').first().fill('README.md');
    await page.locator('.run-panel [type=submit]').click();
    await page.locator('section.card.ask').waitFor();
    await look(me, 'tools: a question', faults);
    await page.waitForTimeout(600);
    await page.locator('section.card.ask .choices button').nth(1).click();
    await page.locator('.run-result .card-body, .run-result .card').first().waitFor();
    await look(me, 'tools: a result', faults);
    await go('permissions');
    await look(me, 'permissions', faults);
    await page.locator('.rules-section textarea').fill('R:./docs/**\nnonsense\nW:./notes.txt');
    await page.locator('.rules-section [type=submit]').click();
    await look(me, 'permissions with a line that is wrong', faults);
    await page.locator('.policy input').last().click();
    await page.locator('dialog').waitFor();
    await look(me, 'dialog: everything authorised', faults);
    await page.keyboard.press('Escape');
    await go('providers');
    await look(me, 'providers', faults);
    for (const button of await page.locator('.page .svc button, .page section button').all()) {
      if (/edit/i.test((await button.getAttribute('aria-label')) ?? '')) await button.click();
    }
    await look(me, 'providers: edit', faults);
    await go('audit');
    await page.locator('.page details, .page table, .page li').first().waitFor();
    for (const summary of (await page.locator('.page summary').all()).slice(0, 2)) await summary.click();
    await look(me, 'audit', faults);
    await go('appearance');
    await look(me, 'appearance', faults);
    await go('about');
    await look(me, 'about', faults);
    await page.locator('.page button').last().click();
    await page.locator('dialog').waitFor();
    await look(me, 'dialog: quit', faults);
    await page.keyboard.press('Escape');
    assert.equal(await page.evaluate(() => document.documentElement.lang), language);
    assert.deepEqual(faults, []);
  });
}

const asking = readFileSync(new URL('./testdata/asking-mcp.mjs', import.meta.url));
const servers = `[[mcp.servers]]
name = "far"
transport = "http"
url = "http://127.0.0.1:9/mcp"
headers = { Authorization = "abcdefgh12345678" }
[[mcp.servers]]
name = "unfinished"
transport = "sse"
[[mcp.servers]]
name = "resting"
command = "node"
enabled = false
[mcp_bundles.work]
servers = ["far", "nowhere"]
[agents.coder]
mcp_bundles = ["work", "gone"]
risk_profile = "careful"
[risk_profiles.careful]
level = "supervised"
always_ask = ["read_file"]
[runtime_profiles.short]
tool_filter_groups = [{ mode = "dynamic", tools = ["far__*"], keywords = ["far"] }]
`;

for (const language of ['en', 'es']) {
  const context = { locale: language === 'en' ? 'en-US' : 'es-ES' };

  scenario(`${language}: configured servers, agents, and what servers ask`, { files, config: servers, home: { '.zeroclaw/services/asking/service.json': JSON.stringify({ schemaVersion: 1, displayName: 'Asking', launch: { executable: process.execPath, args: ['${serviceDir}/server.mjs'] } }), '.zeroclaw/services/asking/server.mjs': asking }, context, timeout: 300_000 }, async (stage) => {
    const faults = /** @type {string[]} */ ([]);
    const { companion } = stage;
    const page = await stage.context.newPage();
    stage.pages.push(page);
    const me = /** @type {any} */ ({ page });
    await page.goto(await companion.address());
    await page.locator('.app').waitFor();
    const go = async (/** @type {string} */ hash) => {
      await page.evaluate((to) => {
        location.hash = to;
      }, `#/${hash}`);
      await page.locator('.page h1').first().waitFor();
      await page.waitForTimeout(300);
    };
    await go('config/mcp.servers');
    const far = page.locator('section.server').first();
    await far.waitFor();
    await far.locator('.svc-acts button[aria-expanded]').first().click();
    await far.locator('.trial-steps li').first().waitFor();
    await look(me, 'servers with a test', faults);
    await far.locator('.svc-acts .menu-wrap button').click();
    await page.locator('[role=menu]').waitFor();
    await look(me, 'menu of a server', faults);
    await page.locator('[role=menuitem]').last().click();
    await page.locator('dialog').waitFor();
    await look(me, 'dialog: remove a server', faults);
    await page.keyboard.press('Escape');
    await page.locator('section.server').nth(1).locator('.svc-foot .link').click();
    await page.locator('dialog').waitFor();
    await look(me, 'dialog: grant', faults);
    await page.keyboard.press('Escape');
    await page.locator('h2 .btn.primary').click();
    await page.locator('.new-server .secret-add').click();
    await page.locator('.new-server form [type=submit]').click();
    await look(me, 'a new server', faults);
    await go('config/mcp.servers/far');
    await page.evaluate(() => document.querySelectorAll('details.form-part').forEach((part) => {
      /** @type {any} */ (part).open = true;
    }));
    await look(me, 'settings of a server', faults);
    await go('settings/agents');
    await page.locator('.settings h3 .fold').first().waitFor();
    await look(me, 'agents', faults);
    for (const fold of await page.locator('.settings h3 .fold').all()) await fold.click();
    await look(me, 'agents with bundles and profiles', faults);
    await go('settings/agents/coder');
    await page.locator('.result-list').first().waitFor();
    await look(me, 'an agent', faults);
    await companion.api('POST', '/api/services/asking/start', {});
    await until(async () => (await companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === 'asking').state === 'running', 'the server runs');
    for (const tool of ['form', 'page', 'model']) await companion.api('PUT', `/api/config/prop?path=permissions.tools.mcp_asking_${tool}.mode`, { value: 'allow' });
    await page.evaluate(() => {
      location.hash = '#/chat';
    });
    const area = page.locator('.composer textarea');
    for (const [line, screen] of [['/mcp_asking_form', 'a form'], ['/mcp_asking_page url=http://a@b.example/', 'an address'], ['/mcp_asking_model', 'a reply of a model']]) {
      await area.fill(line);
      await area.press('Escape');
      await area.press('Enter');
      const question = page.locator('section.card.ask');
      await question.waitFor();
      await page.waitForTimeout(600);
      if (screen === 'a form') await question.locator('[type=submit]').click();
      await look(me, `question: ${screen}`, faults);
      await question.locator('[data-choice=deny]').click();
      await question.waitFor({ state: 'detached' });
      await page.locator('.composer button[type=submit]').waitFor();
    }
    assert.deepEqual(faults, []);
  });
}

scenario('who wants less motion gets none', { files, context: { reducedMotion: 'reduce' } }, async (stage) => {
  const me = await stage.page();
  await me.say('/execute_command command="sleep 20"');
  await me.answer(await me.question('sleep 20'), 'Allow once');
  await me.page.locator('section.card.run').waitFor();
  const moving = await me.page.evaluate(() => document.getAnimations().filter((one) => one.playState === 'running' && Number(one.effect?.getComputedTiming().duration) > 10).map((one) => /** @type {any} */ (one).animationName ?? 'transition'));
  assert.deepEqual(moving, []);
  await me.page.getByRole('button', { name: 'Stop execute_command' }).click();
});
