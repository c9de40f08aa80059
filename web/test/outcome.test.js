import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { ownName, toolLabel } from '../static/app/calls/names.js';
import { ending, textsOf, unframed } from '../static/app/calls/outcome.js';
import { isMedia } from '../static/app/calls/renderers/image.js';
import { setLanguage } from '../static/app/i18n/index.js';
import { services, tools } from '../static/app/store.js';

afterEach(() => {
  setLanguage('en');
  services.value = {};
  tools.value = [];
});

const call = (/** @type {any} */ more) => ({ call_id: 'c', tool: 'read_file', status: 'ok', is_error: true, ...more });

test('whatever fails says why in its line', () => {
  const binary = 'pic.png is not text: image/png, 67 bytes. It was not read.\nmore';
  assert.deepEqual(ending(call({ content: [{ type: 'text', text: binary }] })), ['Failed', binary.split('\n')[0]]);
  const framed = `<tool-result server="local" tool="read_file" trust="untrusted-external" boundary="abc2">\n${binary}\n</tool-result boundary="abc2">`;
  assert.deepEqual(ending(call({ model_text: framed })), ['Failed', binary.split('\n')[0]], 'after a restart, too');
  setLanguage('es');
  assert.deepEqual(ending(call({ content: [{ type: 'text', text: binary }], structured: { error: 'binary', mime_type: 'image/png', size: 67 } })), ['Falló', 'No es texto sino image/png (67 B), así que no se leyó.']);
  setLanguage('en');
  assert.deepEqual(ending(call({ content: [{ type: 'text', text: binary }], structured: { error: 'of_a_newer_companion' } }))[1], binary.split('\n')[0]);
  assert.deepEqual(ending(call({ status: 'error', reason: 'it broke' })), ['Failed', 'it broke']);
  assert.deepEqual(ending(call({ status: 'error', key: 'tool_gone', args: { tool: 'x' } })), ['Failed', 'The server of the tool “x” no longer offers it.']);
  assert.equal(ending(call({ content: [{ type: 'text', text: 'x'.repeat(9_000) }] }))[1].length, 238);
});

test('a frame is taken off only when it is whole', () => {
  assert.equal(unframed('<a boundary="x1">\nhello\nthere\n</a boundary="x1">'), 'hello\nthere');
  for (const text of ['<a boundary="x1">\nhello\n</a boundary="x2">', 'hello', '<b>hello</b>']) assert.equal(unframed(text), text);
  assert.deepEqual(textsOf(call({ content: [{ type: 'image', mimeType: 'image/png', result_id: 'r' }], model_text: 'x' })), [], 'a picture is not followed by what a model read of it');
});

test('tools are named as people know them', () => {
  services.value = { dummy_mcp: { id: 'dummy_mcp', display_name: { en: 'Dummy MCP', es: 'MCP de prueba' } } };
  assert.equal(toolLabel({ tool: 'mcp_dummy_mcp_slow', server: 'dummy_mcp' }), 'Dummy MCP · slow');
  setLanguage('es');
  assert.equal(toolLabel({ tool: 'mcp_dummy_mcp_slow', server: 'dummy_mcp' }), 'MCP de prueba · slow');
  tools.value = /** @type {any} */ ([{ name: 'mcp_a_b_c-0123abcd', server: 'a', own_name: 'b c' }]);
  assert.equal(ownName('mcp_a_b_c-0123abcd', 'a'), 'b c');
  assert.equal(ownName('files__read', 'files'), 'read');
  assert.equal(ownName('read_file'), 'read_file');
  assert.equal(toolLabel({ tool: 'odd', server: 'gone' }), 'gone · odd');
});

test('only images and sounds in which nothing runs are media', () => {
  const item = (/** @type {any} */ more) => isMedia({ type: 'image', mimeType: 'image/png', result_id: 'r', ...more });
  assert.equal(item({}), true);
  assert.equal(item({ type: 'audio', mimeType: 'audio/wav' }), true);
  for (const bad of [{ mimeType: 'image/svg+xml' }, { mimeType: 'text/html" onerror="x' }, { type: 'resource' }, { type: 'audio' }, { result_id: undefined }, { mimeType: undefined }]) assert.equal(item(bad), false, JSON.stringify(bad));
});
