import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LEVELS, serversOf, silence, standing, usersOf, withAccess } from '../static/app/settings/agent-text.js';
import { filterNames, limitsOf, tableOf } from '../static/app/settings/limit-values.js';
import { addressOf, bundleName, changeText, grantOf, serverActs, serverLook, unchanged, withSettings } from '../static/app/settings/server-text.js';
import { runAgents } from '../static/app/settings/run-agents.js';
import { editedServer } from '../static/app/settings/mcp.js';
import { parseRoute } from '../static/app/router.js';

test('each state of a server has a word and fitting actions', () => {
  for (const [server, word, acts] of [
    [{ state: 'running' }, 'running', ['disconnect', 'restart']],
    [{ state: 'running', breaker: { state: 'open' } }, 'paused', ['retry', 'disconnect']],
    [{ state: 'running', breaker: { state: 'closed' } }, 'running', ['disconnect', 'restart']],
    [{ state: 'failed' }, 'failed', ['retry', 'disconnect']],
    [{ state: 'stopped' }, 'stopped', ['connect']],
    [{ state: 'starting' }, 'starting', ['disconnect']],
    [{ state: 'stopped', on_demand: true }, 'idle', ['connect']],
    [{ state: 'stopped', enabled: false }, 'off', []],
    [{ state: 'failed', error: { message: 'x' }, missing: ['command'] }, 'incomplete', []],
    [{ state: 'failed', error: { message: 'x' } }, 'invalid', []],
  ]) {
    assert.equal(serverLook(server).word, word);
    assert.deepEqual(serverActs(server).map(({ act }) => act), acts, word);
  }
  assert.equal(addressOf({ command: ['npx', '-y', 'a b'] }), 'npx -y "a b"');
  assert.equal(addressOf({ url: 'https://x', command: [] }), 'https://x');
});

test('what only the settings say: what is still lacking; whether it is on comes with the status', () => {
  const entry = { name: 'x', props: { transport: { path: '', value: 'http', populated: true }, enabled: { path: '', value: false } }, maps: {} };
  assert.deepEqual(withSettings({ state: 'failed', enabled: true }, entry), { state: 'failed', enabled: true, missing: ['url'] });
  assert.deepEqual(withSettings({ state: 'failed' }, undefined), { state: 'failed' });
});

test('a discovery shows each field as a difference', () => {
  assert.ok(unchanged({ added: [], removed: [], changed: [] }) && !unchanged({ removed: ['a'] }));
  assert.equal(changeText({ old: 'reads\nfiles', new: 'deletes files' }), '-reads\n-files\n+deletes files');
  assert.equal(changeText({ old: '{"a":1}', new: '' }), '-{\n-  "a": 1\n-}');
  assert.equal(changeText({ old: '{broken', new: 'x' }), '-{broken\n+x');
});

const all = {
  agents: [{ name: 'assistant', mcp_bundles: ['one', 'two'], servers: ['files'] }, { name: 'coder', mcp_bundles: ['two'], servers: [], risk_profile: 'careful' }],
  bundles: [{ name: 'one', servers: ['files', 'web'], exclude: [] }, { name: 'two', servers: ['mail'], exclude: ['web'] }], risk_profiles: [], runtime_profiles: [],
};

test('how an agent can get a server: its bundles, who else has them, what keeps it out', () => {
  assert.deepEqual(grantOf(all, 'assistant', 'web'), { reaches: false, bundles: [{ name: 'one', has: true, others: [] }, { name: 'two', has: false, others: ['coder'] }], excludedBy: ['two'] });
  assert.equal(grantOf(all, 'assistant', 'files').reaches, true);
  assert.deepEqual(grantOf(all, 'nobody', 'files').bundles, []);
  assert.equal(bundleName('files', ['FILES', 'files_2']), 'files_3');
  assert.deepEqual(serversOf(all, ['one', 'two']), ['files', 'mail']);
  assert.deepEqual(usersOf(all, 'mcp_bundles', 'two'), ['assistant', 'coder']);
  assert.deepEqual(usersOf(all, 'risk_profile', 'careful'), ['coder']);
  assert.deepEqual(withAccess({ a: ['x'] }, 'b', []), { a: ['x'], b: [] });
  assert.deepEqual(withAccess({ a: ['x'] }, 'a', undefined), {});
  assert.deepEqual([{ enabled: false, mode: 'allow' }, { mode: 'deny' }, { mode: 'allow' }, {}].map((tool) => standing(tool)), ['off', 'deny', 'allow', 'ask']);
  assert.equal(LEVELS.length, 3);
});

test('all ticked is no ceiling; what is not listed now stays named', () => {
  const entry = (tools, asks = []) => ({ name: 's', props: { tools: { path: '', value: tools }, require_approval: { path: '', value: asks } }, maps: {} });
  const open = limitsOf(entry([]), ['a', 'b']);
  assert.deepEqual([...open.offered], ['a', 'b']);
  assert.deepEqual(tableOf(entry([]), open), {});
  open.offered.delete('b');
  open.asks.add('a');
  assert.deepEqual(tableOf(entry([]), open), { tools: ['a'], require_approval: ['a'] });
  const some = limitsOf(entry(['a', 'gone'], ['x']), ['a', 'b']);
  assert.deepEqual(some.all, ['a', 'b', 'gone', 'x']);
  assert.deepEqual(tableOf(entry(['a', 'gone'], ['x']), some), {});
  some.offered.add('b');
  assert.deepEqual(tableOf(entry(['a', 'gone'], ['x']), some), { tools: null });
  assert.deepEqual(filterNames(['read_file', 'write_file'], 'FILE re'), ['read_file']);
});

test('the settings of one server have a route, with a slash or with dots', () => {
  for (const [hash, name] of [['#/config/mcp.servers/a.b', 'a.b'], ['#/config/mcp.servers.files', 'files'], ['#/config/mcp.servers', ''], ['#/settings/mcp', ''], ['#/config/providers/x', ''], [`#/config/mcp.servers/${encodeURIComponent('a/ñ b')}`, 'a/ñ b']]) assert.equal(editedServer(parseRoute(hash)), name, hash);
});

test('a tool is run by hand with an agent that reaches it, the built-in one first', () => {
  const agents = { ...all, agents: [{ name: 'coder', servers: ['mail'] }, { name: 'assistant', builtin: true, mcp_bundles: ['two'], servers: ['files'] }] };
  assert.deepEqual(runAgents(agents, {}), ['assistant', 'coder']);
  assert.deepEqual(runAgents(agents, { server: 'mail', origin: 'server' }), ['coder']);
  assert.deepEqual(runAgents(agents, { server: 'nobodys', origin: 'server' }), []);
  assert.deepEqual(runAgents(agents, { server: 'dummy', origin: 'service' }), ['assistant'], 'every service that runs');
  assert.deepEqual(runAgents(agents, { server: 'web', origin: 'service' }), [], 'but those that a bundle keeps out');
  assert.deepEqual(runAgents(null, { server: 'mail', origin: 'server' }), ['assistant'], 'not known yet');
});

test('a server that brings an agent no tool says why', () => {
  for (const [server, known, word] of [[{ state: 'stopped', on_demand: true }, 0, 'when_needed'], [null, 0, 'when_needed'], [{ state: 'starting' }, 0, 'when_needed'], [{ state: 'running' }, 0, 'has_none'], [{ state: 'running' }, 3, 'none_of_it'], [{ state: 'stopped' }, 0, 'not_running'], [{ state: 'failed' }, 0, 'has_failed']]) assert.equal(silence(server, known), word);
});
