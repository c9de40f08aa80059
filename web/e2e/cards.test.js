// Cards of calls and questions: pictures, why a call failed, names, how a question is laid out.
import assert from 'node:assert/strict';
import { has, scenario, until, useBrowser } from './rig.js';

useBrowser();

const tiny = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const files = { 'README.md': '# Hello\n', 'pic.png': tiny, 'code.js': 'if (a) {\n                        deep();\n}\n' };

/** @param {import('./rig.js').Stage} stage */
async function startDummy(stage) {
  await stage.companion.api('POST', '/api/services/dummy_mcp/start', {});
  await until(async () => (await stage.companion.api('GET', '/api/services')).services.find((/** @type {any} */ one) => one.id === 'dummy_mcp').state === 'running', 'dummy_mcp runs');
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

scenario('a picture of an MCP server shows in the chat and in the Run panel', { files, config: '[agents.assistant]\nmedia = ["dummy_mcp"]\n' }, async (stage) => {
  await startDummy(stage);
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
  await startDummy(stage);
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
