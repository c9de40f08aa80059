import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawnAt } from '../static/app/chat/place.js';
import { aroundHit, byChat } from '../static/app/chat/search.js';
import { titleOf } from '../static/app/chat/titles.js';
import { services, tools } from '../static/app/store.js';

test('hits are grouped by chat, in the order of each chat\'s best', () => {
  const hit = (conversation, seq, snippet) => ({ conversation, title: `title ${conversation}`, seq, snippet });
  assert.deepEqual(byChat([hit('b', 0, 'title b'), hit('a', 3, 'x'), hit('b', 7, 'y'), hit('a', 4, 'z')]), [
    { id: 'b', title: 'title b', inTitle: true, places: [{ seq: 7, snippet: 'y' }] }, { id: 'a', title: 'title a', inTitle: false, places: [{ seq: 3, snippet: 'x' }, { seq: 4, snippet: 'z' }] },
  ]);
});

test('a result and the answer that repeats it are one hit, at the later of the two; what only looks alike stays apart', () => {
  const places = (...snippets) => byChat(snippets.map((snippet, at) => ({ conversation: 'a', title: 't', seq: at + 3, snippet })))[0].places.map(({ seq }) => seq);
  assert.deepEqual(places('…The \u2039needle\u203a lies in the second line.\nThird line.\n\n\nR:./**', '…The \u2039needle\u203a lies in the second line.\nThird line.\n\n```'), [4]);
  assert.deepEqual(places('call_1\nread_file\n\u2039First\u203a line here.\nThe rest of the file', '…A model would read this:\n\n```\n\u2039First\u203a line here.\nThe rest of…'), [4]);
  assert.deepEqual(places('same \u2039words\u203a', 'same  \u2039words\u203a'), [4]);
  assert.deepEqual(places('\u2039omega\u203a', 'reply 3 to \u2039omega\u203a'), [3, 4]);
  assert.deepEqual(places('a long line before the \u2039needle\u203a number 0', 'a long line before the \u2039needle\u203a number 1'), [3, 4]);
});

test('the place of a result is the card of its call', () => {
  const messages = [{ seq: 1, id: 'u', role: 'user', data: {} }, { seq: 2, id: 'a', role: 'assistant', data: { calls: [{ call_id: 'x' }] } }, { seq: 3, id: 't', role: 'tool', data: { call_id: 'x' } }];
  assert.deepEqual(drawnAt(messages, 3), { message: messages[1], callId: 'x' });
  assert.deepEqual(drawnAt(messages, 2), { message: messages[1], callId: '' });
  assert.equal(drawnAt(messages, 9), null);
});

test('the found word stands near the beginning of its snippet', () => {
  assert.equal(aroundHit('a \u2039b\u203a c'), 'a \u2039b\u203a c');
  const long = aroundHit(`${'many words before it '.repeat(10)}\n\n\u2039hit\u203a and more`);
  assert.ok(long.indexOf('\u2039') < 30 && long.startsWith('…') && long.endsWith('\u2039hit\u203a and more'), long);
  assert.ok(aroundHit(`${'x'.repeat(200)}\u2039hit\u203a`).indexOf('\u2039') < 30);
});

test.before(() => {
  tools.value = [{ name: 'mcp_dummy_mcp_slow', own_name: 'slow', server: 'dummy_mcp' }];
  services.value = { dummy_mcp: { id: 'dummy_mcp', display_name: 'Dummy MCP' } };
});

test('a chat is called by what it began with, a tool line by the tool and what it is about', () => {
  for (const [text, title] of [
    ['hello   there\nmore', 'hello there'], ['', 'Untitled chat'], ['/execute_command command="ls -la sub"', 'execute_command · ls -la sub'], ['/read_file {"path":"a b.md"}', 'read_file · a b.md'],
    ['/list_directory', 'list_directory'], ['/echo message="x', 'echo'], ['/etc/passwd, what is it?', '/etc/passwd, what is it?'], ['/mcp_x n=3 text=hi', 'mcp_x · hi'], ['x'.repeat(90), `${'x'.repeat(57)}…`],
    ['/read_file path=/a/very/long/way/to/the/README.md', 'read_file · README.md'], ['/list_directory path=src/', 'list_directory · src'], ['/list_directory path=.', 'list_directory · .'], ['/list_directory path=/', 'list_directory · /'],
    ['/read_file path="C:\\\\dir\\\\b c.txt"', 'read_file · b c.txt'], ['/mcp_dummy_mcp_slow seconds=3', 'Dummy MCP · slow'], ['/mcp_dummy_mcp_slow note=hi', 'Dummy MCP · slow · hi'],
  ]) assert.equal(titleOf(text), title);
});
