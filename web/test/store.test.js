import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { applyEvent, loadServices, services } from '../static/app/store.js';

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
  services.value = {};
});

const event = (/** @type {any} */ service) => applyEvent('service.state', { service: { id: 'a', ...service } });
/** What GET /api/services answers, when the test lets it. @param {any[]} list */
function answered(list) {
  let open = () => {};
  const gate = new Promise((resolve) => {
    open = () => resolve(undefined);
  });
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ address) => {
    if (!String(address).endsWith('/api/services')) return new Response('{}');
    await gate;
    return new Response(JSON.stringify({ services: list }));
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
