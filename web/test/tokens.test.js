import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ended, endOf, LASTS, mcpAddress, nameFault, USUAL } from '../static/app/settings/token-text.js';
import { applyEvent, ticks } from '../static/app/store.js';

test('the name of a token is 1 to 64 characters that can be seen, and is not taken', () => {
  for (const [name, fault] of [
    ['Editor', ''], [' Editor ', ''], ['日本語 ñ', ''], ['a  b', ''], ['<b>&"', ''], ['👩', ''], ['ñ'.repeat(64), ''], ['😀'.repeat(64), ''],
    ['', 'empty'], ['   ', 'empty'], ['ñ'.repeat(65), 'long'], ['a\nb', 'chars'], ['a\tb', 'chars'], ['a\u001b[31m', 'chars'], ['a\u202eb', 'chars'], ['a\u200bb', 'chars'], ['a\u00a0b', 'chars'],
    ['a\u2028b', 'chars'], ['a\ufffdb', 'chars'], ['a\ud800b', 'chars'], ['Taken', 'taken'], ['tAKEN ', 'taken'],
  ]) assert.equal(nameFault(name, ['Taken']), fault, JSON.stringify(name));
});

test('a token ends so many days from now, in the form that the companion takes, or never', () => {
  const now = Date.UTC(2026, 11, 1, 10, 30, 15, 123);
  assert.equal(endOf(30, now), '2026-12-31T10:30:15Z');
  assert.equal(endOf(0, now), undefined);
  assert.ok(LASTS.includes(USUAL) && USUAL > 0, 'what the form begins with ends some day');
  assert.equal(ended({ expires: '2026-12-01T10:30:15Z' }, now), true);
  assert.equal(ended({ expires: '2026-12-01T10:30:16Z' }, now), false);
  assert.equal(ended({}, now), false);
});

test('other apps find the companion by its number, whatever the page was opened with', () => {
  for (const [server, address] of [
    ['http://127.0.0.1:6388', 'http://127.0.0.1:6388/mcp'], ['http://localhost:7000/', 'http://127.0.0.1:7000/mcp'], ['http://127.0.0.1', 'http://127.0.0.1/mcp'],
    ['http://127.0.0.1.example:6388', ''], ['https://127.0.0.1:6388', ''], ['http://127.0.0.1:6388@x', ''], ['', ''], [undefined, ''],
  ]) assert.equal(mcpAddress(server), address, String(server));
});

test('the list is loaded again when the companion says so, and after every gap', async () => {
  const real = globalThis.fetch;
  globalThis.fetch = /** @type {any} */ (async () => new Response('{}'));
  try {
    for (const kind of ['tokens.changed', 'hello', 'resync']) {
      const before = ticks.value.tokens ?? 0;
      applyEvent(kind, {});
      assert.equal(ticks.value.tokens, before + 1, kind);
    }
  } finally {
    await new Promise((resolve) => setTimeout(resolve, 20));
    globalThis.fetch = real;
  }
});
