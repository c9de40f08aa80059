import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const app = fileURLToPath(new URL('../static/app', import.meta.url));
const load = async (name) => (await import(join(app, 'i18n', name))).default;
const forms = (text) => (typeof text === 'string' ? [text] : Object.values(text));
const holes = (text) => [...new Set(forms(text).flatMap((form) => form.match(/\{\w+\}/g) ?? []))].sort();
const sources = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? sources(join(folder, entry.name)) : entry.name.endsWith('.js') ? [join(folder, entry.name)] : []));

const parts = ['', '.agents', '.calls', '.permissions', '.reasons', '.servers', '.settings', '.tokens', '.tools'];
for (const part of parts) {
  test(`en and es have the same keys and placeholders${part}`, async () => {
    const [en, es] = [await load(`en${part}.js`), await load(`es${part}.js`)];
    assert.deepEqual(Object.keys(es).sort(), Object.keys(en).sort());
    for (const key of Object.keys(en)) {
      assert.deepEqual(holes(es[key]), holes(en[key]), key);
      assert.equal(typeof es[key], typeof en[key], key);
      for (const form of [...forms(en[key]), ...forms(es[key])]) assert.ok(form.trim(), key);
      if (typeof en[key] === 'object') assert.ok(en[key].one && en[key].other && es[key].one && es[key].other, key);
    }
  });
}

test('no key stands in two files, every key in the code has a text, and every text is used', async () => {
  const loaded = await Promise.all(parts.map((part) => load(`en${part}.js`)));
  const all = Object.assign({}, ...loaded);
  assert.equal(Object.keys(all).length, loaded.flatMap((part) => Object.keys(part)).length);
  assert.deepEqual(readdirSync(join(app, 'i18n')).sort(), ['index.js', ...['en', 'es'].flatMap((lang) => parts.map((part) => `${lang}${part}.js`))].sort());
  const code = sources(app).filter((file) => !file.includes(`${join('app', 'i18n')}`)).map((file) => readFileSync(file, 'utf8')).join('\n');
  const used = [...code.matchAll(/\bt[x]?\(\s*'([\w.]+)'/g)].map((match) => match[1]);
  assert.deepEqual([...new Set(used.filter((key) => !(key in all)))], []);
  const prefixes = [...code.matchAll(/`([\w.]+)\$\{/g)].map((match) => match[1]).filter((prefix) => prefix.includes('.'));
  const unused = Object.keys(all).filter((key) => !code.includes(`'${key}'`) && !prefixes.some((prefix) => key.startsWith(prefix)));
  assert.deepEqual(unused, []);
});

test('plurals and placeholders', async () => {
  const { t, tx, setLanguage, formatSize, formatDuration } = await import(join(app, 'i18n', 'index.js'));
  assert.equal(t('ask.waiting', { n: 1 }), '1 question waiting');
  assert.equal(t('ask.waiting', { n: 2 }), '2 questions waiting');
  assert.deepEqual(tx('ask.tool_of', { tool: 1234, server: 'x' }), ['Use ', '1,234', ' of ', 'x', '?']);
  assert.equal(formatSize(1234), '1.2 kB');
  assert.equal(formatDuration(1400), '1.4 s');
  setLanguage('es');
  assert.equal(t('ask.waiting', { n: 2 }), '2 preguntas en espera');
  setLanguage('en');
  assert.equal(t('no.such_key'), 'no.such_key');
});
