// The cases of testdata/ui.jsonl: text from outside stays text, and nothing but a person's own act answers a question.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { cases, clean, files, hostile } from './ui-cases.js';
import { OpenAIStub } from './models.js';
import { scenario, skipReason, useBrowser } from './rig.js';
import { hostPage } from './static-host.js';
import { acts } from './hostile-acts.js';
import { pages } from './hostile-pages.js';
import { texts } from './hostile-texts.js';

useBrowser();

/** What a case is tried with, by its number; a text says where else. @type {Record<string, string | ((stage: import('./rig.js').Stage, one: any) => Promise<void>)>} */
const tries = { ...texts, ...acts, ...pages, U043: 'in gone.test.js, where the companion is killed under a question' };

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
  assert.match(readFileSync(new URL('gone.test.js', import.meta.url), 'utf8'), /U043/);
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
