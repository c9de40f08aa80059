import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { saveGrant } from '../static/app/settings/config-store.js';

const real = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = real;
});

/** A companion with one file that has a version. `before` runs ahead of each request. @param {(request: string, file: any) => void} [before] */
function companion(before = () => {}) {
  const file = { version: 1, agents: [{ name: 'assistant', mcp_bundles: ['theirs'] }], bundles: [{ name: 'theirs', servers: ['one'] }] };
  /** @type {string[]} */
  const asked = [];
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ address, /** @type {any} */ options = {}) => {
    const { pathname, searchParams } = new URL(String(address), 'http://127.0.0.1');
    const request = `${options.method ?? 'GET'} ${searchParams.get('path') ?? pathname}`;
    asked.push(request);
    before(request, file);
    if (pathname === '/api/agents') return new Response(JSON.stringify({ ...file, version: String(file.version) }));
    const { value, version } = JSON.parse(options.body);
    if (version !== String(file.version)) return new Response(JSON.stringify({ error: { code: 'config_changed_externally', message: 'changed' } }), { status: 409, headers: { 'content-type': 'application/json' } });
    const [section, name, key] = /** @type {string} */ (searchParams.get('path')).split('.');
    if (key === 'mcp_bundles') Object.assign(/** @type {any} */ (file.agents.find((one) => one.name === name)), { mcp_bundles: value });
    else if (key === 'servers') Object.assign(/** @type {any} */ (file.bundles.find((one) => one.name === name)), { servers: value });
    else if (section === 'mcp_bundles') file.bundles.push({ name, ...value });
    file.version++;
    return new Response(null, { status: 204 });
  });
  const read = () => structuredClone({ ...file, version: String(file.version) });
  return { file, read, asked };
}

test('a server is added to the bundle of an agent, or to one that is made for it', async () => {
  const { file, read } = companion();
  await saveGrant(read(), { agent: 'assistant', server: 'post', bundle: 'theirs' });
  assert.deepEqual(file.bundles, [{ name: 'theirs', servers: ['one', 'post'] }]);
  await saveGrant(read(), { agent: 'assistant', server: 'two', bundle: 'mine' });
  assert.deepEqual(file.bundles[1], { name: 'mine', servers: ['two'] });
  assert.deepEqual(file.agents[0].mcp_bundles, ['theirs', 'mine']);
});

test('a list that others changed meanwhile is not written over', async () => {
  const { file, read } = companion();
  const seen = read();
  file.bundles[0].servers.push('added elsewhere');
  file.version++;
  await assert.rejects(saveGrant(seen, { agent: 'assistant', server: 'post', bundle: 'theirs' }), { code: 'config_changed_externally' });
  assert.deepEqual(file.bundles[0].servers, ['one', 'added elsewhere']);
  await saveGrant(read(), { agent: 'assistant', server: 'post', bundle: 'theirs' });
  assert.deepEqual(file.bundles[0].servers, ['one', 'added elsewhere', 'post']);
});

test('after a conflict between the two requests, the bundle that was made is used', async () => {
  let once = true;
  const { file, read, asked } = companion((request, { agents }) => {
    if (once && request === 'PUT agents.assistant.mcp_bundles') {
      once = false;
      agents[0].mcp_bundles.push('elsewhere');
      file.version++;
    }
  });
  /** @type {string[]} */
  const made = [];
  const grant = { agent: 'assistant', server: 'post', bundle: 'mine' };
  await assert.rejects(saveGrant(read(), grant, (name) => made.push(name)), { code: 'config_changed_externally' });
  assert.deepEqual(made, ['mine']);
  asked.length = 0;
  await saveGrant(read(), grant, (name) => made.push(name));
  assert.deepEqual([asked, made], [['PUT agents.assistant.mcp_bundles'], ['mine']]);
  assert.deepEqual(file.agents[0].mcp_bundles, ['theirs', 'elsewhere', 'mine']);
});
