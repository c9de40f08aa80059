// Cards of calls and questions: pictures, why a call failed, names, how a question is laid out.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { has, layOut, scenario, until, useBrowser } from './rig.js';

useBrowser();

const tiny = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const files = { 'README.md': '# Hello\n', 'pic.png': tiny, 'code.js': 'if (a) {\n                        deep();\n}\n' };

const asking = {
  '.zeroclaw/services/asking/service.json': JSON.stringify({ schemaVersion: 1, displayName: 'Asking', launch: { executable: process.execPath, args: ['${serviceDir}/server.mjs'] } }),
  '.zeroclaw/services/asking/server.mjs': readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'testdata/asking-mcp.mjs')),
};

/** @param {import('./rig.js').Stage} stage @param {string} service */
async function start({ companion }, service) {
  await companion.api('POST', `/api/services/${service}/start`, {});
  await until(async () => (await companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === service).state === 'running', `${service} runs`);
}

/** Whether a picture has been drawn from bytes of the companion. @param {import('playwright-core').Locator} image */
const drawn = (image) => image.evaluate((/** @type {HTMLImageElement} */ one) => one.src.startsWith('blob:') && one.complete && one.naturalWidth > 0);

scenario('a picture that a tool returns is shown, in a box that has its size before it comes', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  let open = () => {};
  /** @type {Promise<void>} */
  const gate = new Promise((resolve) => {
    open = () => resolve();
  });
  await me.page.route('**/api/results/**', async (route) => {
    assert.equal(route.request().headers().accept, 'application/octet-stream');
    await gate;
    await route.continue();
  });
  await me.say('/read_file path=pic.png image=true');
  const card = await me.finished('read_file');
  const box = card.locator('.shot-box');
  await box.waitFor();
  await me.idle();
  const before = await card.boundingBox();
  open();
  const image = card.getByRole('img', { name: 'Image from pic.png' });
  await until(() => drawn(image), 'the picture is drawn');
  assert.deepEqual(await card.boundingBox(), before, 'nothing moved');
  await card.locator('.line').click();
  assert.equal(await card.getByText('mime_type').count(), 0, 'no JSON beside the picture');
  await until(() => drawn(image), 'the picture is still there');
  await me.page.reload();
  await until(() => drawn(me.page.getByRole('img', { name: 'Image from pic.png' })), 'and after a reload');
});

scenario('a picture can be enlarged; Escape closes it and gives the focus back', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=pic.png image=true');
  const card = await me.finished('read_file');
  await me.idle();
  await until(() => drawn(card.getByRole('img', { name: 'Image from pic.png' })), 'the picture is drawn');
  await card.getByRole('button', { name: 'Enlarge: Image from pic.png' }).focus();
  await me.page.keyboard.press('Enter');
  const dialog = me.page.getByRole('dialog', { name: 'Image from pic.png' });
  await until(() => drawn(dialog.getByRole('img')), 'it is drawn large');
  await me.page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await me.focused()).name, 'Enlarge: Image from pic.png');
});

scenario('the row of a call shows as much of its subject as there is room for, and does not move when the call ends', { files, home: asking, context: { viewport: { width: 1280, height: 800 } } }, async (stage) => {
  await stage.companion.api('PUT', '/api/config/prop?path=permissions.tools.mcp_asking_echo.mode', { value: 'allow' });
  await start(stage, 'asking');
  const me = await stage.page();
  await me.say(`/mcp_asking_echo ${JSON.stringify({ text: `https://example.com/${'a-long-address/'.repeat(8)}`, until: path.join(stage.companion.home, 'go') })}`);
  const places = (/** @type {import('playwright-core').Locator} */ card) => card.evaluate((one) => ['.line', '.line > b', '.line > code'].map((part) => {
    const { left, top, height } = /** @type {Element} */ (one.querySelector(part)).getBoundingClientRect();
    return [left, top - one.getBoundingClientRect().top, height].map(Math.round);
  }));
  const running = me.page.locator('section.card.run');
  await running.locator('.line > code').waitFor();
  const before = await places(running);
  layOut({ go: '' }, stage.companion.home);
  const card = await me.finished('Asking · echo');
  assert.deepEqual(await places(card), before);
  await me.idle();
  // What is not taken by the rest of the row belongs to the subject.
  const [free, cut] = await card.locator('.line').evaluate((line) => {
    const [code, meta] = ['code', '.meta'].map((part) => /** @type {HTMLElement} */ (line.querySelector(part)));
    return [meta.getBoundingClientRect().left - code.getBoundingClientRect().right, code.scrollWidth > code.clientWidth];
  });
  assert.ok(cut && free < 30, `${free} px are free`);
});

scenario('a picture of an MCP server shows in the chat and in the Run panel', { files, config: '[agents.assistant]\nmedia = ["dummy_mcp"]\n' }, async (stage) => {
  await start(stage, 'dummy_mcp');
  const me = await stage.page();
  await me.say('/mcp_dummy_mcp_image {}');
  const question = await me.question('mcp_dummy_mcp_image');
  await question.getByRole('heading', { name: 'Use image of Dummy MCP?' }).waitFor();
  await me.answer(question, 'Allow once');
  await until(() => drawn(me.page.getByRole('img', { name: 'Image from Dummy MCP · image' })), 'the picture is drawn in the chat');
  await me.go('settings/mcp');
  await me.button('Run image…').click();
  await me.page.locator('.run-panel [type=submit]').click();
  await me.answer(await me.question('mcp_dummy_mcp_image'), 'Allow once');
  await until(() => drawn(me.page.locator('.run-panel').getByRole('img')), 'the picture is drawn in the panel');
});

scenario('whatever fails says why in its line', { files, rules: ['R:./**'] }, async (stage) => {
  await start(stage, 'dummy_mcp');
  const me = await stage.page();
  await me.say('/read_file path=pic.png');
  await has(await me.finished('read_file'), /Failed · It is no text but image\/png \(70 B\), so it was not read/);
  await me.idle();
  await me.say('/mcp_dummy_mcp_fail message="the disk is on fire"');
  await me.answer(await me.question('mcp_dummy_mcp_fail'), 'Allow once');
  await has(await me.finished('Dummy MCP · fail'), /Failed · the disk is on fire/);
  await me.page.reload();
  await has(await me.finished('Dummy MCP · fail'), /Failed · the disk is on fire/);
});

scenario('indentation in a difference looks ordinary', { files, rules: ['R:./**'] }, async (stage) => {
  const me = await stage.page();
  await me.say('/edit_file {"path": "code.js", "mode": "replace", "old_text": "deep();", "new_text": "deep();\\n                        deeper();"}');
  const question = await me.question('code.js');
  await question.locator('.diff .add', { hasText: 'deeper' }).waitFor();
  assert.equal(await question.locator('.ctl').count(), 0);
  await me.deny(question);
});

for (const width of [1280, 320]) {
  scenario(`a question at ${width} px: plain words, one column of names, the scope of each yes, Stop in the row`, { files, context: { viewport: { width, height: 900 }, locale: 'es-ES' } }, async (stage) => {
    const page = await stage.context.newPage();
    stage.pages.push(page);
    await page.goto(await stage.companion.address());
    await page.locator('.welcome-go button').click();
    await page.locator('.composer textarea').fill('/read_file path=README.md start_line=1');
    await page.locator('.composer textarea').press('Escape');
    await page.locator('.composer textarea').press('Enter');
    const question = page.locator('section.card.ask');
    await question.waitFor();
    await has(question, /Ninguna regla deja leer/);
    assert.doesNotMatch((await question.textContent()) ?? '', /regla R\b/);
    const lefts = await question.locator('dd').evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
    assert.ok(lefts.length >= 3);
    assert.equal(new Set(lefts).size, 1, `names and values in one column: ${lefts}`);
    await question.getByText('deja pasar sin preguntar toda llamada a read_file').waitFor();
    const rows = await question.locator('.choices .btn').evaluateAll((all) => all.map((one) => [one.textContent, Math.round(one.getBoundingClientRect().top)]));
    assert.equal(rows.at(-1)?.[0], 'Detener');
    if (width === 1280) assert.equal(new Set(rows.map(([, top]) => top)).size, 1, `one row: ${JSON.stringify(rows)}`);
  });
}

scenario('a yes given too soon is not taken, and says so', { files }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  const question = await me.question('README.md');
  await question.getByRole('button', { name: 'Allow once' }).dispatchEvent('click');
  await question.getByText('has just appeared or moved').waitFor();
  await me.answer(question, 'Allow once');
  await me.finished('read_file');
});

scenario('a question whose server is stopped meanwhile says so, by the name that people know it by', { files, context: { locale: 'es-ES' } }, async (stage) => {
  await start(stage, 'dummy_mcp');
  const page = await stage.context.newPage();
  stage.pages.push(page);
  await page.goto(await stage.companion.address());
  await page.locator('.welcome-go button').click();
  await page.locator('.composer button[type=submit]').waitFor();
  await page.locator('.composer textarea').fill('/mcp_dummy_mcp_slow seconds=1');
  await page.locator('.composer textarea').press('Escape');
  await page.locator('.composer textarea').press('Enter');
  await page.locator('section.card.ask').waitFor();
  await stage.companion.api('POST', '/api/services/dummy_mcp/stop', {});
  await page.locator('section.card.ask .note').getByText('«MCP de prueba» se detuvo; inícialo en Ajustes → MCP.').waitFor();
  await page.waitForTimeout(600);
  await page.getByRole('button', { name: 'Permitir una vez' }).click();
  const card = page.locator('section.card.done', { hasText: 'slow' });
  await has(card, /«MCP de prueba» se detuvo; inícialo en Ajustes → MCP\.$/);
  await page.reload();
  await has(card, /«MCP de prueba» se detuvo; inícialo en Ajustes → MCP\.$/);
});

/** Room between the left edge of a card and a text in it. @param {import('playwright-core').Locator} text */
const inset = (text) => text.evaluate((one) => one.getBoundingClientRect().left - /** @type {Element} */ (one.closest('.card')).getBoundingClientRect().left);

scenario('a question that another tab answered says so, inside its card', { files }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  await me.question('README.md');
  const other = await stage.page({ path: await me.page.evaluate(() => location.hash.slice(2)) });
  await other.answer(await other.question('README.md'), 'Allow once');
  await me.page.bringToFront();
  const text = me.page.getByText('Answered in another tab.');
  await text.waitFor();
  assert.ok((await inset(text)) >= 10);
});

scenario('a file that was attached is read because it was attached, not by a rule that nobody wrote', { files }, async (stage) => {
  const me = await stage.page();
  await me.page.locator('#main input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('attached text\n') });
  await me.page.locator('.composer .file', { hasText: 'notes.txt' }).waitFor();
  const id = await until(async () => (await stage.companion.api('GET', '/api/conversations?limit=5')).conversations[0]?.id, 'the chat is stored');
  const [file] = (await stage.companion.api('GET', `/api/conversations/${id}/files`)).files;
  await me.say('look at it');
  await me.idle();
  await me.say(`/read_file path=${JSON.stringify(file.path)}`);
  const card = await me.finished('read_file');
  await has(card, /attached by you/);
  assert.doesNotMatch((await card.textContent()) ?? '', /workspace|rule/);
  await me.go('settings/audit');
  await me.page.locator('.audit .line', { hasText: 'read_file' }).first().click();
  await has(me.page.locator('.audit .card').first(), /Decided by\s*attached by you/);
});

for (const width of [1280, 320]) {
  scenario(`a picture that is not admitted says at ${width} px how to admit it, without unfolding`, { files, context: { viewport: { width, height: 800 } } }, async (stage) => {
    await start(stage, 'dummy_mcp');
    const me = await stage.page();
    await me.say('/mcp_dummy_mcp_image {}');
    await me.answer(await me.question('mcp_dummy_mcp_image'), 'Allow once');
    const card = await me.finished('Dummy MCP · image');
    const hint = card.getByText('A picture was left out.');
    await hint.waitFor();
    assert.equal(await card.locator('.line').getAttribute('aria-expanded'), 'false');
    assert.match((await hint.textContent()) ?? '', /those of Dummy MCP in new chats, tick it under Settings → Agents → assistant → Pictures and sounds\.$/);
    assert.ok((await inset(hint)) >= 10);
    await me.page.reload();
    await hint.getByRole('link').click();
    const box = me.page.getByRole('group', { name: 'Pictures and sounds' });
    await until(() => box.evaluate((group) => group.contains(document.activeElement)), 'the setting has the focus');
    await until(() => box.evaluate((group) => {
      const { top, bottom } = group.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    }), 'and is in view');
  });
}

scenario('what is not offered says why in a line of its own, and keys are shown only where there are keys', { files, context: { viewport: { width: 320, height: 560 } } }, async (stage) => {
  const me = await stage.page();
  await me.say('/execute_command command="ls | wc"');
  const question = await me.question('ls | wc');
  const why = question.getByText('Not offered here, because a call like this is asked about each time: Allow for this session, Always.');
  await why.waitFor();
  for (const name of ['Allow for this session', 'Always…']) {
    const button = question.getByRole('button', { name, exact: true });
    assert.ok(await button.isDisabled());
    assert.equal(await button.getAttribute('aria-describedby'), await why.getAttribute('id'));
  }
  const keys = () => question.locator('.choices kbd').evaluateAll((all) => all.filter((one) => one.getClientRects().length).length);
  assert.equal(await keys(), 0);
  // The card is higher than what is left of the window; its heading is seen all the same, below the bar.
  const heading = await question.getByRole('heading').boundingBox();
  const top = await me.page.locator('.top').boundingBox();
  assert.ok(heading && top && heading.y >= top.y + top.height - 1 && heading.y < 300, JSON.stringify([heading, top]));
  await me.page.setViewportSize({ width: 1280, height: 800 });
  assert.equal(await keys(), 4);
  await me.deny(question);
  await me.idle();
  await me.say('/read_file path=README.md');
  const next = await me.question('README.md');
  assert.equal(await next.getByText('Not offered here').count(), 0);
  await me.deny(next);
});

scenario('the last minute of a question is counted, in a place kept for it, for nobody to hear; then the question says that it is over', { files }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  const question = await me.question('README.md');
  const timer = question.getByRole('timer');
  const places = async () => [await question.boundingBox(), await question.getByText(/waits until/).boundingBox()];
  const { height = 0 } = (await question.boundingBox()) ?? {};
  const [, before] = await places();
  const [{ deadline }] = (await stage.companion.api('GET', '/api/approvals')).approvals;
  const jump = (/** @type {number} */ left) => me.page.evaluate((to) => {
    const real = /** @type {any} */ (globalThis).__now ??= Date.now.bind(Date);
    const shift = to - real();
    Date.now = () => real() + shift;
  }, Date.parse(deadline) - left);
  await jump(100_000);
  await me.page.waitForTimeout(1_200);
  assert.equal(await timer.textContent(), '');
  await jump(45_000);
  await until(async () => /^0:4\d$/.test((await timer.textContent()) ?? ''), 'it counts');
  const [box, after] = await places();
  assert.equal(box?.height, height);
  assert.deepEqual(after, before, 'nothing moved');
  assert.equal(await timer.evaluate((one) => Boolean(one.closest('[aria-live=polite], [role=status]'))), false);
  await jump(-1);
  await question.getByText('time is up').waitFor();
  await me.deny(question);
});

scenario('while the connection is lost a question takes no answers and says so calmly', { files }, async (stage) => {
  const me = await stage.page();
  await me.say('/read_file path=README.md');
  const question = await me.question('README.md');
  await stage.companion.end('SIGKILL');
  await question.getByText('Not connected to the companion.').waitFor();
  for (const name of ['Allow once', 'Allow for this session', 'Always…', 'Deny…', 'Stop']) assert.ok(await question.getByRole('button', { name, exact: true }).isDisabled(), name);
  assert.equal(await question.locator('.err').count(), 0);
});

scenario('an error of one long line in a box of text wraps, code that is cut shows it', { files, context: { viewport: { width: 320, height: 700 } } }, async (stage) => {
  const me = await stage.page({ path: await stage.companion.conversation('Boxes', [
    { role: 'user', data: { text: 'x' } },
    { role: 'assistant', data: { model: 'm', text: `\`\`\`\nError: ${'something_long '.repeat(20)}\n\`\`\`\n\n\`\`\`js\nconst long = [${'1, '.repeat(60)}];\n\`\`\`` } },
  ]) });
  const boxes = me.page.locator('.codebox pre');
  await boxes.nth(1).waitFor();
  const cut = await boxes.evaluateAll((all) => all.map((one) => [one.scrollWidth > one.clientWidth, getComputedStyle(one).backgroundImage.includes('linear-gradient')]));
  assert.equal(cut[0][0], false);
  assert.deepEqual(cut[1], [true, true]);
});
