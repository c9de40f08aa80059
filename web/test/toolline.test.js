import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete, nearest, parseToolText } from '../static/app/llm/toolline.js';
import { reflect } from '../static/app/llm/mirror.js';

const tools = [
  { name: 'read_file', description: 'Reads', input_schema: { properties: { path: { type: 'string' }, start_line: { type: 'integer' }, raw: { type: 'boolean' } }, required: ['path'] } },
  { name: 'execute_command', input_schema: { properties: { command: { type: 'string' }, args: { type: 'array' } }, required: ['command'] } },
  { name: 'free', input_schema: {} },
];

test('tool lines become calls', () => {
  const cases = [
    ['/read_file path=README.md', [{ name: 'read_file', arguments: { path: 'README.md' } }]],
    ['/read_file path=123 start_line=4 raw=true', [{ name: 'read_file', arguments: { path: '123', start_line: 4, raw: true } }]],
    ['/execute_command command="ls | wc -l"', [{ name: 'execute_command', arguments: { command: 'ls | wc -l' } }]],
    ['/execute_command command="say \\"hi\\"\\n\\\\d \\d"', [{ name: 'execute_command', arguments: { command: 'say "hi"\n\\d \\d' } }]],
    ["/execute_command command='a\"b\\n'", [{ name: 'execute_command', arguments: { command: 'a"b\\n' } }]],
    ['/read_file {"path": "a}b", "start_line": 2}', [{ name: 'read_file', arguments: { path: 'a}b', start_line: 2 } }]],
    ['/read_file {\n "path": "x"\n}\n/free', [{ name: 'read_file', arguments: { path: 'x' } }, { name: 'free', arguments: {} }]],
    ['/read_file path=a\n/read_file path=b', [{ name: 'read_file', arguments: { path: 'a' } }, { name: 'read_file', arguments: { path: 'b' } }]],
    ['/execute_command command=x args=["a", "b c"]', [{ name: 'execute_command', arguments: { command: 'x', args: ['a', 'b c'] } }]],
    ['/free a=1 b=true c=x d="2" e=null', [{ name: 'free', arguments: { a: 1, b: true, c: 'x', d: '2', e: null } }]],
    ['  /free  ', [{ name: 'free', arguments: {} }]],
  ];
  for (const [text, calls] of cases) assert.deepEqual(parseToolText(text, tools), { calls }, text);
});

test('what is no tool line is left alone, what is a broken one says why', () => {
  for (const text of ['hello', 'see /read_file path=x', '/etc/passwd is a file', '/ ', '']) assert.equal(parseToolText(text, tools), null, text);
  const broken = [['/read_fil path=x', 'unknown'], ['/read_file {"path": }', 'json'], ['/read_file {"path": "x"', 'json'], ['/execute_command command="ls', 'quote'], ['/read_file path=x start_line=abc', 'type'], ['/read_file path=a b', 'rest'], ['/free\nthen words', 'line']];
  for (const [text, error] of broken) assert.equal(parseToolText(text, tools)?.error, error, text);
  assert.equal(nearest('read_fil', ['read_file', 'free']), 'read_file');
  assert.equal(nearest('zzzzzz', ['read_file', 'free']), '');
});

test('completion offers tools, then arguments not given yet', () => {
  const labels = (text) => complete(text, tools).items.map(({ label }) => label);
  assert.deepEqual(labels('/'), ['/execute_command', '/free', '/read_file']);
  assert.deepEqual(labels('/re'), ['/read_file', '/free']);
  assert.deepEqual(labels('/read_file '), ['path=', 'start_line=', 'raw=']);
  assert.deepEqual(labels('/read_file path=x st'), ['start_line=']);
  assert.deepEqual(labels('/read_file path=x'), []);
  assert.deepEqual(labels('/execute_command command="ls '), []);
  assert.deepEqual(labels('/read_file {"p'), []);
  const { from, items } = complete('/read_file path=x st', tools);
  assert.equal('/read_file path=x st'.slice(0, from) + items[0].insert, '/read_file path=x start_line=');
});

test('Mirror shows the request, calls typed tools, and reads results back', () => {
  const request = { model: 'mirror', system: ['be kind'], messages: [{ role: 'user', text: 'hi' }], tools };
  assert.match(reflect(request).text, /"be kind"/);
  assert.deepEqual(reflect({ ...request, messages: [{ role: 'user', text: '/free a=1' }] }).calls, [{ name: 'free', arguments: { a: 1 } }]);
  assert.match(reflect({ ...request, messages: [{ role: 'user', text: '/nope' }] }).text, /\/free/);
  const result = reflect({ ...request, messages: [{ role: 'user', text: '/free' }, { role: 'assistant', text: '', calls: [] }, { role: 'tool', id: '1', name: 'free', text: 'a\n```\nb' }] });
  assert.match(result.text, /````\na\n```\nb\n````/);
});

test('Mirror says why it does not call a tool that there is', () => {
  const request = { model: 'm', system: [], messages: [{ role: 'user', text: '/read_file path=x' }], tools: [tools[2]] };
  for (const [state, words] of [[{ mode: 'deny' }, /set to Deny in Settings → Tools/], [{ enabled: false, mode: 'deny' }, /switched off in Settings → Tools/], [{ state: 'offline' }, /does not run/], [{}, /agent of this chat may not use/]]) {
    const { text, calls } = reflect(request, [{ ...tools[0], ...state }]);
    assert.match(text, words);
    assert.doesNotMatch(text, /Did you mean|There is no tool/);
    assert.deepEqual(calls, []);
  }
  assert.match(reflect(request, []).text, /There is no tool/);
});
