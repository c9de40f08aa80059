import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { applyEvent, approvals, loadApprovals, loadReach, loadServers, loadServices, loadSession, loadSessions, reaches, resolved, servers, services, sessions } from '../static/app/store.js';

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
  services.value = {};
  approvals.value = [];
  resolved.value = {};
  sessions.value = {};
  servers.value = null;
});

const event = (/** @type {any} */ service) => applyEvent('service.state', { service: { id: 'a', ...service } });
/** What GET of a list answers, when the test lets it. @param {any[]} list @param {string} [name] */
function answered(list, name = 'services') {
  let open = () => {};
  const gate = new Promise((resolve) => {
    open = () => resolve(undefined);
  });
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ address) => {
    if (!String(address).endsWith(`/api/${name}`)) return new Response('{}');
    await gate;
    return new Response(JSON.stringify({ [name]: list }));
  });
  return open;
}

test('an older status of a service does not overwrite a newer one, by whichever way it comes', async () => {
  event({ state: 'stopped', rev: 7 });
  event({ state: 'stopping', rev: 6 });
  assert.equal(services.value.a.state, 'stopped');
  const open = answered([{ id: 'a', state: 'starting', rev: 8 }, { id: 'b', state: 'stopped', rev: 1 }]);
  const loading = loadServices();
  event({ state: 'running', rev: 9 });
  open();
  await loading;
  assert.deepEqual([services.value.a.state, services.value.b.state], ['running', 'stopped']);
  event({ state: 'failed', rev: 10 });
  assert.equal(services.value.a.state, 'failed');
});

test('a companion that was started again counts from the beginning', async () => {
  event({ state: 'running', rev: 90 });
  answered([{ id: 'a', state: 'stopped', rev: 1 }])();
  applyEvent('hello', {});
  assert.equal(services.value.a.state, 'running', 'shown until the new companion has spoken');
  event({ state: 'starting', rev: 2 });
  assert.equal(services.value.a.state, 'starting');
  await loadServices();
  assert.equal(services.value.a.state, 'starting');
});

test('statuses without a revision are taken as they come', () => {
  event({ state: 'running' });
  event({ state: 'stopped' });
  assert.equal(services.value.a.state, 'stopped');
});

test('a question that comes or goes while the list is on its way is not forgotten and does not come back', async () => {
  const ask = (/** @type {string} */ id) => applyEvent('question.asked', { approval: { id, call_id: `c${id}` } });
  ask('old');
  ask('missed');
  const open = answered([{ id: 'old' }, { id: 'answered' }, { id: 'waits' }], 'approvals');
  const loading = loadApprovals();
  ask('new');
  applyEvent('question.resolved', { id: 'answered', decision: 'deny', by: 'page', outcome: 'answered' });
  open();
  await loading;
  assert.deepEqual(approvals.value.map(({ id }) => id), ['old', 'waits', 'new']);
});

test('a session that is opened or closed while the list is on its way stays so', async () => {
  const opened = (/** @type {string} */ id) => applyEvent('session.opened', { session: { id } });
  opened('a');
  opened('b');
  const open = answered([{ id: 'a' }, { id: 'b' }, { id: 'c' }], 'sessions');
  const loading = loadSessions();
  opened('new');
  applyEvent('session.closed', { id: 'b' });
  open();
  await loading;
  assert.deepEqual(Object.keys(sessions.value).sort(), ['a', 'c', 'new']);
});

test('the status of a configured server is no service, and leaves what only the list says', async () => {
  answered([{ id: 'web', name: 'web', origin: 'server', state: 'stopped', rev: 1, enabled: false }], 'servers')();
  await loadServers();
  event({ id: 'web', origin: 'server', state: 'running', rev: 3 });
  event({ id: 'web', origin: 'server', state: 'starting', rev: 2 });
  assert.deepEqual(services.value, {});
  assert.deepEqual([servers.value?.[0].state, servers.value?.[0].enabled, servers.value?.[0].name], ['running', false, 'web']);
  applyEvent('service.gone', { id: 'web' });
  assert.deepEqual(servers.value, []);
});

test('a service that goes or comes while the list is on its way stays so, and so does a configured server', async () => {
  event({ state: 'running', rev: 1 });
  const open = answered([{ id: 'a', state: 'running', rev: 1 }, { id: 'b', state: 'stopped' }, { id: 'c', state: 'stopped' }]);
  const loading = loadServices();
  applyEvent('service.gone', { id: 'a' });
  applyEvent('service.gone', { id: 'b' });
  applyEvent('service.gone', { id: 'c' });
  event({ id: 'c', state: 'starting', rev: 5 });
  event({ id: 'd', state: 'stopped', rev: 6 });
  open();
  await loading;
  assert.deepEqual(Object.keys(services.value).sort(), ['c', 'd']);

  answered([{ id: 'web', name: 'web', origin: 'server', state: 'running', rev: 1, enabled: true }], 'servers')();
  await loadServers();
  const late = answered([{ id: 'web', name: 'web', origin: 'server', state: 'running', rev: 1, enabled: true }], 'servers');
  const again = loadServers();
  applyEvent('service.gone', { id: 'web' });
  late();
  await again;
  assert.deepEqual(servers.value, []);
});

test('the answer that was asked for last is the list of services, whichever comes last', async () => {
  const first = answered([{ id: 'a', state: 'stopped' }, { id: 'old', state: 'stopped' }]);
  const loading = loadServices();
  answered([{ id: 'a', state: 'stopped' }])();
  await loadServices();
  first();
  await loading;
  assert.deepEqual(Object.keys(services.value), ['a']);
});

test('the tools of a session are those of its last look, and one that was closed meanwhile does not come back', async () => {
  /** @type {((body: any, status?: number) => void)[]} */
  const answers = [];
  globalThis.fetch = /** @type {any} */ (() => new Promise((resolve) => answers.push((body, status = 200) => resolve(new Response(JSON.stringify(body), { status })))));
  const asked = async (/** @type {number} */ n) => {
    while (answers.length < n) await new Promise((resolve) => setTimeout(resolve));
  };
  applyEvent('session.opened', { session: { id: 's', agent: 'a' } });
  const first = loadSession('s');
  await asked(1);
  const second = loadSession('s');
  await asked(2);
  answers[1]({ id: 's', tools: [{ name: 'x' }, { name: 'y' }], warnings: [{ code: 'unmatched_name', message: 'm' }] });
  answers[0]({ id: 's', tools: [{ name: 'x' }] });
  await Promise.all([first, second]);
  assert.equal(sessions.value.s.tools?.length, 2);
  const list = loadSessions();
  await asked(3);
  answers[2]({ sessions: [{ id: 's', agent: 'a', warnings: [] }] });
  await list;
  assert.deepEqual([sessions.value.s.tools?.length, sessions.value.s.warnings?.length], [2, 1], 'the list knows less');
  const third = loadSession('s');
  await asked(4);
  applyEvent('session.closed', { id: 's' });
  answers[3]({ id: 's', tools: [] });
  await third;
  assert.deepEqual(sessions.value, {});
  const gone = loadReach('nobody');
  await asked(5);
  answers[4]({ error: { code: 'unknown_agent', message: 'x' } }, 404);
  await gone;
  assert.deepEqual(reaches.value, { nobody: { tools: [], warnings: [] } });
});
