// The page served from another origin with --ui: let in by a person on the loopback page, then it does the main job; a third origin is refused.
import assert from 'node:assert/strict';
import { Person, scenario, useBrowser } from './rig.js';
import { hostPage } from './static-host.js';

useBrowser();

const files = { 'README.md': '# Hello\n\nThis is the readme.\n', 'notes.txt': 'one\ntwo\n' };
const origin = await hostPage();
const third = await hostPage();

scenario('the page of another origin does the main job once a person let it in', { files, rules: ['R:./notes.txt'], args: ['--ui', origin], origins: [origin], timeout: 150_000 }, async (stage) => {
  const { companion } = stage;
  assert.ok(companion.launch.startsWith(companion.url), 'until it is let in, our own page opens');
  const page = await stage.context.newPage();
  stage.pages.push(page);
  await page.goto(companion.launch);
  await page.getByText(origin).first().waitFor();
  // Nothing is let in by a key that was meant for something else.
  await page.keyboard.press('Enter');
  await page.waitForTimeout(300);
  assert.equal((await companion.api('GET', '/api/status')).ui.confirmed, false);
  await page.getByRole('button', { name: /let .*in|allow|continue/i }).click();
  await page.waitForURL((where) => where.origin === origin);
  const me = new Person(page, stage);
  await me.ready();
  assert.ok(!page.url().includes('code='), 'the code is out of the address');
  assert.equal((await companion.api('GET', '/api/status')).ui.confirmed, true);

  await me.say('/read_file path=README.md');
  await me.answer(await me.question('README.md'), 'Allow once');
  await me.sees('This is the readme.');
  await me.idle();
  await me.say('/edit_file path=notes.txt mode=replace old_text=two new_text=TWO');
  await me.answer(await me.question('notes.txt'), 'Allow once');
  const edit = await me.finished('edit_file');
  await edit.getByRole('button', { name: /^Undo/ }).click();
  await edit.getByText('Undone').waitFor();

  // Shell commands and "always" are for the loopback page; this one can only say no, and says where to go.
  await me.say('/execute_command command="ls | wc -l"');
  const question = await me.question('wc -l');
  assert.ok(await question.getByRole('button', { name: 'Allow once' }).isDisabled());
  assert.ok(await question.getByRole('button', { name: 'Always…' }).isDisabled());
  await question.getByText(/127\.0\.0\.1|companion.s own page|on this computer/).first().waitFor();
  await me.deny(question, 'not from here');
  await me.sees(/not from here/);
  // A reload keeps the connection; the token is in this tab's storage only.
  await page.reload();
  await me.ready();
  await me.sees('This is the readme.');
  assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter((key) => !['zc.theme', 'zc.lang'].includes(key))), []);
});

scenario('a shell question from another origin is answered on the loopback page', { files, args: ['--ui', origin], origins: [origin], timeout: 120_000 }, async (stage) => {
  const { companion } = stage;
  await companion.api('POST', '/api/ui', { origin, confirmed: true });
  const page = await stage.context.newPage();
  stage.pages.push(page);
  await page.goto(await companion.address());
  assert.equal(new URL(page.url()).origin, origin, 'once let in, the address leads there');
  const me = new Person(page, stage);
  await me.ready();
  if (await me.welcome.count()) await me.button('Start').click();
  await me.say('/execute_command command="ls | wc -l"');
  await me.question('wc -l');
  const { approvals } = await companion.api('GET', '/api/approvals');
  // The page of the other origin cannot do it even when it tries.
  const refused = await page.evaluate(async ({ url, id }) => {
    const { token } = JSON.parse(sessionStorage.getItem('zc.pairing') ?? '{}');
    const answer = await fetch(`${url}/api/approvals/${id}`, { method: 'POST', headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ decision: 'once' }) });
    return { status: answer.status, text: await answer.text() };
  }, { url: companion.url, id: approvals[0].id });
  assert.equal(refused.status, 403, refused.text);
  await companion.api('POST', `/api/approvals/${approvals[0].id}`, { decision: 'once' });
  await me.finished('execute_command');
});

scenario('staying with the companion\'s own page is possible', { files, args: ['--ui', origin], origins: [origin] }, async (stage) => {
  const page = await stage.context.newPage();
  stage.pages.push(page);
  await page.goto(stage.companion.launch);
  await page.getByText(origin).first().waitFor();
  await page.getByRole('button', { name: /stay|not now|own page|no/i }).first().click();
  const me = new Person(page, stage);
  await me.ready();
  assert.equal(new URL(page.url()).origin, stage.companion.url);
  assert.equal((await stage.companion.api('GET', '/api/status')).ui.confirmed, false);
  if (await me.welcome.count()) await me.button('Start').click();
  await me.say('/read_file path=README.md');
  await me.answer(await me.question('README.md'), 'Allow once');
  await me.sees('This is the readme.');
});

scenario('a third origin is refused, and so is the second before a person let it in', { files, args: ['--ui', origin], origins: [origin, third] }, async (stage) => {
  const { companion } = stage;
  stage.watch.expected.push(/CORS|Access-Control|net::ERR/);
  const code = async () => new URL(await companion.address()).hash.replace('#code=', '');
  for (const from of [third, origin]) {
    const page = await stage.context.newPage();
    stage.pages.push(page);
    const used = await code();
    await page.goto(`${from}/#code=${used}&server=${encodeURIComponent(companion.url)}`);
    await page.locator('main.gate').waitFor();
    if (from === origin) await page.getByText(companion.url).first().waitFor();
    assert.ok(!page.url().includes('code='));
    assert.equal(await page.locator('.composer').count(), 0);
  }
  const page = stage.pages[0];
  for (const where of ['/api/status', '/api/approvals', '/api/events']) {
    const got = await page.evaluate(async ({ url, token }) => fetch(url, { headers: { Authorization: `Bearer ${token}` } }).then((answer) => answer.status, (error) => String(error)), { url: companion.url + where, token: companion.token });
    assert.match(String(got), /Failed to fetch/, `${where} from a third origin, even with a token`);
  }
  // The address of a program on another computer is never spoken to.
  await page.goto(`${third}/#code=abc&server=${encodeURIComponent('http://192.0.2.1:6388')}`);
  await page.reload();
  await page.goto(`${third}/?x#code=abc&server=${encodeURIComponent('http://192.0.2.1:6388')}`);
  await page.getByText(/not on this computer/).waitFor();
  assert.ok(!stage.watch.requests.some((address) => address.includes('192.0.2.1')));
});

scenario('the page works below a path of a static host', { files, origins: [], timeout: 60_000 }, async (stage) => {
  const sub = await hostPage('/sub/dir/');
  stage.watch.faults.length = 0;
  const page = await stage.context.newPage();
  stage.pages.push(page);
  const failures = /** @type {string[]} */ ([]);
  page.on('response', (response) => {
    if (response.status() >= 400) failures.push(response.url());
  });
  await page.goto(`${sub}/sub/dir/`);
  await page.getByRole('heading', { name: 'Not connected to the companion' }).waitFor();
  assert.deepEqual(failures.filter((address) => address.startsWith(sub)), []);
  stage.watch.expected.push(new RegExp(`the page asked ${sub}`), /status of 40|ERR_/);
});
