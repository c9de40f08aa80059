import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const site = fileURLToPath(new URL('../static', import.meta.url));
const files = (folder) => readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? files(join(folder, entry.name)) : [join(folder, entry.name)]));
const ours = files(site).filter((file) => !file.includes(`${join('static', 'vendor')}`));

test('imports are relative and lead to files', () => {
  for (const file of ours.filter((name) => name.endsWith('.js'))) {
    for (const [, to] of readFileSync(file, 'utf8').matchAll(/(?<![.\w])(?:from|import)\s*\(?\s*'([^'\n]+)'/g)) {
      assert.match(to, /^\.\.?\//, `${relative(site, file)} imports ${to}`);
      assert.ok(files(site).includes(join(dirname(file), to)), `${relative(site, file)} imports ${to}`);
    }
  }
});

test('nothing that the content security policy would stop, and HTML is made in one place', () => {
  for (const file of ours.filter((name) => /\.(js|html)$/.test(name))) {
    const name = relative(site, file);
    const text = readFileSync(file, 'utf8').replace(/^\s*\/\/.*$/gm, '');
    assert.doesNotMatch(text, /\sstyle="|\sstyle='/, `${name}: style attribute`);
    assert.doesNotMatch(text, /\son[a-z]+="/, `${name}: inline handler`);
    assert.doesNotMatch(text, /\beval\(|new Function\(|document\.write|\.outerHTML\s*=|insertAdjacentHTML|innerHTML|new Worker|srcdoc/, `${name}: makes code or HTML`);
    if (name !== join('app', 'chat', 'markdown.js')) assert.doesNotMatch(text, /dompurify/i.test(name) ? /^$/ : /from '.*dompurify/, `${name}: sanitises`);
    assert.doesNotMatch(text, /addEventListener\('message'[^)]*\)[^]*?origin/, `${name}: listens to other windows`);
    if (name !== join('app', 'http.js')) assert.doesNotMatch(text, /\bfetch\(/, `${name}: fetches by itself`);
  }
});

test('the index has no inline code and only files of the site', () => {
  const text = readFileSync(join(site, 'index.html'), 'utf8');
  for (const [tag] of text.matchAll(/<script[^>]*>(?!<\/script>)/g)) assert.fail(`inline script: ${tag}`);
  for (const [, to] of text.matchAll(/(?:src|href)="([^"]+)"/g)) assert.ok(files(site).includes(join(site, to)), to);
});

test('only appearance is stored for good; the token and unsent drafts go with the tab', () => {
  const all = ours.filter((name) => name.endsWith('.js')).map((file) => readFileSync(file, 'utf8')).join('\n');
  assert.deepEqual([...new Set([...all.matchAll(/localStorage\.setItem\('([^']+)'/g)].map((match) => match[1]))].sort().filter((key) => !['zc.lang', 'zc.theme'].includes(key)), []);
  assert.deepEqual([...new Set([...all.matchAll(/sessionStorage\.setItem\(([^,]+),/g)].map((match) => match[1]))].sort(), ['PREFIX + chatId', 'STORE']);
  assert.doesNotMatch(all, /indexedDB|caches\.open|document\.cookie/);
});
