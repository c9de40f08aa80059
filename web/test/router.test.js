import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchParts, link, parseRoute } from '../static/app/router.js';
import { loopbackServer } from '../static/app/api.js';

test('routes are read from the fragment', () => {
  for (const [hash, view, parts] of [
    ['', 'chat', []], ['#/', 'chat', []], ['#/chat', 'chat', []], ['#/chat/abc', 'chat', ['abc']], ['#/chat/a%2Fb', 'chat', ['a/b']],
    ['#/settings/mcp', 'settings', ['mcp']], ['#/config/mcp.servers', 'config', ['mcp.servers']], ['#/nonsense/x', 'chat', []], ['#/chat/%zz', 'chat', ['%zz']], ['#main', 'chat', []],
  ]) {
    const route = parseRoute(hash);
    assert.deepEqual([route.view, route.parts], [view, parts], hash);
  }
  assert.equal(parseRoute('#/settings/mcp?new=1').query.get('new'), '1');
});

test('links lead back to their parts', () => {
  assert.deepEqual(parseRoute(link('chat', 'a/b c')).parts, ['a/b c']);
});

test('a launch code is told from a route', () => {
  assert.deepEqual(launchParts('#code=abc'), { code: 'abc', server: '' });
  assert.deepEqual(launchParts('#server=http%3A%2F%2F127.0.0.1%3A6388&code=abc'), { code: 'abc', server: 'http://127.0.0.1:6388' });
  for (const hash of ['', '#', '#/chat/code=1', '#main', '#/settings?code=1']) assert.equal(launchParts(hash), null, hash);
});

test('only a loopback companion is spoken to', () => {
  for (const good of ['http://127.0.0.1:6388', 'http://localhost:1/x']) assert.notEqual(loopbackServer(good), '', good);
  for (const bad of ['https://evil.example', 'http://127.0.0.1.evil.example', 'http://127.0.0.1@evil.example', 'javascript:1', '', 'http://10.0.0.1', 'http://[::1]:1']) assert.equal(loopbackServer(bad), '', bad);
});
