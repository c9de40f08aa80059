import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { create } from '../static/app/chat/chats.js';
import { lacks, offered, toolsOf } from '../static/app/chat/reach.js';
import { closeRemarks, isClosed } from '../static/app/chat/remarks.js';
import { reaches, sessions, tools } from '../static/app/store.js';

afterEach(() => {
  sessions.value = {};
  reaches.value = {};
  tools.value = [];
});

const names = (/** @type {any} */ list) => list?.map((/** @type {any} */ { name }) => name).join();

test('a chat without a session offers what its agent would get, with the settings of now; one with a session what that has', () => {
  const chat = create('');
  chat.head.value = { title: '', meta: { agent: 'postman' } };
  tools.value = [{ name: 'read_file', mode: 'deny' }, { name: 'execute_command' }, { name: 'post__echo', server: 'post' }];
  assert.equal(toolsOf(chat), null, 'not known yet');
  reaches.value = { assistant: { tools: tools.value, warnings: [] }, postman: { tools: [{ name: 'read_file', mode: 'ask' }, { name: 'post__echo', server: 'post' }], warnings: [] } };
  assert.equal(names(toolsOf(chat)), 'post__echo');
  chat.id = 'c';
  sessions.value = { s: { id: 's', agent: 'postman', conversation: 'c' } };
  assert.equal(toolsOf(chat), null, 'the session has not told its tools yet');
  sessions.value = { s: { id: 's', agent: 'postman', conversation: 'c', tools: [{ name: 'execute_command' }] } };
  assert.equal(names(toolsOf(chat)), 'execute_command');
  assert.equal(names(offered([{ name: 'a' }, { name: 'b', state: 'offline' }, { name: 'c' }], [{ name: 'c', enabled: false }, { name: 'd' }])), 'a');
});

test('a server is offered to a chat whose session lacks it and whose agent would get it now, whatever started when', () => {
  const has = [{ name: 'post__echo', server: 'post' }];
  const session = (/** @type {any} */ tools) => ({ id: 's', agent: 'a', created: '2026-01-01T00:00:00Z', tools });
  assert.equal(lacks(session([{ name: 'read_file' }]), { tools: has }, 'post'), true);
  assert.equal(lacks(session(has), { tools: has }, 'post'), false, 'started by the first call of the chat');
  assert.equal(lacks(session([]), { tools: [] }, 'post'), false, 'not granted');
  assert.equal(lacks(session(undefined), { tools: has }, 'post'), false, 'not known yet');
  assert.equal(lacks(session([]), undefined, 'post'), false);
  assert.equal(lacks(null, { tools: has }, 'post'), false);
});

test('remarks that were closed stay closed until there are others', () => {
  const [one, two] = [{ code: 'a', message: 'x' }, { code: 'b', message: 'y' }];
  assert.equal(isClosed('config', [one, two]), false);
  closeRemarks('config', [one, two]);
  assert.equal(isClosed('config', [two, one]), true);
  assert.equal(isClosed('config', [one]), false);
  assert.equal(isClosed('config', [one, { ...two, message: 'z' }]), false);
  assert.equal(isClosed('chat c', [one, two]), false);
});
