import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLanguage, t } from '../static/app/i18n/index.js';
import { addressFault, fullAddress, nameFault } from '../static/app/settings/presets.js';
import { faultOf } from '../static/app/settings/tester.js';

test('an address without a scheme is asked plainly on this computer, else encrypted', () => {
  const rows = [
    ['127.0.0.1:47811/v1', 'http://127.0.0.1:47811/v1'], ['localhost:1234/v1', 'http://localhost:1234/v1'], [' LOCALHOST ', 'http://LOCALHOST'], ['[::1]:80/v1', 'http://[::1]:80/v1'], ['models.localhost/v1', 'http://models.localhost/v1'],
    ['api.example.com/v1', 'https://api.example.com/v1'], ['localhost.example.com', 'https://localhost.example.com'], ['127.0.0.1.example.com/v1', 'https://127.0.0.1.example.com/v1'], ['127.0.0.1@example.com', 'https://127.0.0.1@example.com'],
    ['http://a/v1', 'http://a/v1'], ['HTTPS://a', 'HTTPS://a'], ['ftp://a', 'ftp://a'], ['', ''],
  ];
  for (const [typed, meant] of rows) assert.equal(fullAddress(typed), meant, typed);
  assert.deepEqual(['127.0.0.1:47811/v1', 'api.example.com', 'ftp://a', 'me:x@example.com', '/v1', 'not an address', ''].map(addressFault), ['', '', 'scheme', 'user', 'form', 'form', '']);
});

test('what makes a query impossible stands beside its field', () => {
  const answer = (/** @type {any} */ asked, /** @type {any} */ more = {}) => faultOf({ verdict: 'error', key: 'bad_path', args: { path: '/nope', why: 'it is not an existing folder' }, ...more, asked });
  assert.deepEqual(answer({ command: 'ls', cwd: '/nope' }), { field: 'cwd', text: 'The path “/nope” cannot be used: it is not an existing folder.' });
  assert.equal(answer({ op: 'read', path: '/nope' })?.field, 'path');
  assert.equal(answer({ command: 'ls /nope' })?.field, 'command');
  assert.equal(answer({ command: 'ls' }, { key: undefined }), null);
  assert.equal(answer({ op: 'read', path: '/nope' }, { verdict: 'ask' }), null);
});

test('the name of a server is judged as its hint says, and as the companion does', () => {
  for (const [name, fault] of [['my server', ''], ['a.b-c', ''], ['año', ''], ['', 'empty'], ['  ', 'empty'], [' a', 'form'], ['a__b', 'form'], ['a/b', 'form'], ['a\\b', 'form'], ['..', 'form'], ['ñ'.repeat(65), 'form'], ['_a', 'edge'], ['a_', 'edge'], ['FILES', 'taken']]) assert.equal(nameFault(name, ['files'], true), fault, name);
  assert.equal(nameFault('_a', []), '', 'only servers give their names to tools');
  setLanguage('en');
  assert.match(t('srv.f_name_hint'), /Anything but \/ and \\, two underscores in a row, and underscores or spaces at the ends/);
});
