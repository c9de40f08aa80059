import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aroundHit, byChat } from '../static/app/chat/search.js';
import { titleOf } from '../static/app/chat/titles.js';

test('hits are grouped by chat, in the order of each chat\'s best', () => {
  const hit = (conversation, seq, snippet) => ({ conversation, title: `title ${conversation}`, seq, snippet });
  assert.deepEqual(byChat([hit('b', 0, 'title b'), hit('a', 3, 'x'), hit('b', 7, 'y'), hit('a', 4, 'z')]), [
    { id: 'b', title: 'title b', snippets: ['y'] }, { id: 'a', title: 'title a', snippets: ['x', 'z'] },
  ]);
});

test('the found word stands near the beginning of its snippet', () => {
  assert.equal(aroundHit('a \u2039b\u203a c'), 'a \u2039b\u203a c');
  const long = aroundHit(`${'many words before it '.repeat(10)}\n\n\u2039hit\u203a and more`);
  assert.ok(long.indexOf('\u2039') < 30 && long.startsWith('…') && long.endsWith('\u2039hit\u203a and more'), long);
  assert.ok(aroundHit(`${'x'.repeat(200)}\u2039hit\u203a`).indexOf('\u2039') < 30);
});

test('a chat is called by what it began with, a tool line by what it is about', () => {
  for (const [text, title] of [
    ['hello   there\nmore', 'hello there'], ['', 'Untitled chat'], ['/execute_command command="ls -la sub"', 'ls -la sub · execute_command'], ['/read_file {"path":"a b.md"}', 'a b.md · read_file'],
    ['/list_directory', 'list_directory'], ['/echo message="x', 'echo'], ['/etc/passwd, what is it?', '/etc/passwd, what is it?'], ['/mcp_x n=3 text=hi', 'hi · mcp_x'], ['x'.repeat(90), `${'x'.repeat(57)}…`],
  ]) assert.equal(titleOf(text), title);
});
