import assert from 'node:assert/strict';
import { test } from 'node:test';
import { besideField, blamedIn, changesOf, copyName, copyOf, definitionOf, draftOf, entriesOf, entryPath, faultOf, fieldsFor, linesOf, missingOf, rebased, sameEntry, serverFields } from '../static/app/settings/config-values.js';

const props = [
  { path: 'mcp.enabled', value: true, kind: 'boolean', default: true },
  { path: 'mcp.servers."a.b".name', value: 'a.b', kind: 'string', populated: true },
  { path: 'mcp.servers."a.b".transport', value: 'stdio', kind: 'string', default: true },
  { path: 'mcp.servers."a.b".command', value: 'npx', kind: 'string', populated: true },
  { path: 'mcp.servers."a.b".args', value: ['-y', 'x y'], kind: 'array', populated: true },
  { path: 'mcp.servers."a.b".env.TOKEN', kind: 'secret', populated: true },
  { path: 'mcp.servers."a.b".env.OTHER', kind: 'secret', populated: true },
  { path: 'mcp.servers."a.b".tool_timeout_secs', value: 180, kind: 'integer', default: true },
  { path: 'mcp.servers."a.b".probe_secs', value: 30, kind: 'integer', populated: true },
  { path: 'mcp.servers.far.transport', value: 'http', kind: 'string', populated: true },
  { path: 'mcp.servers.far.url', value: 'https://x.example/mcp', kind: 'string', populated: true, override: 'ZEROCLAW_mcp__servers__far__url' },
  { path: 'mcp.servers.far.headers.A', kind: 'secret', populated: true, override: 'ZEROCLAW_mcp__servers__far__headers__A' },
  { path: 'mcp.servers.far.headers.B', kind: 'secret', populated: true },
];
const [near, far] = entriesOf(props, 'mcp.servers');

test('entries keep the order of the file, names with dots, and maps apart', () => {
  assert.deepEqual([near.name, far.name], ['a.b', 'far']);
  assert.deepEqual(Object.keys(near.maps.env), ['TOKEN', 'OTHER']);
  assert.equal(near.props.command.value, 'npx');
  assert.equal(entryPath('mcp.servers', 'a.b', 'env', 'X.Y'), 'mcp.servers."a.b".env."X.Y"');
  assert.deepEqual(entriesOf([{ path: 'agents.x.tools.files', value: ['a'] }], 'agents')[0].maps.tools.files.value, ['a']);
});

test('a form that nothing was typed into changes nothing, and a default is no value', () => {
  for (const entry of [near, far]) assert.deepEqual(changesOf(serverFields, draftOf(serverFields, entry), entry), { table: {}, singles: [] });
  const draft = draftOf(serverFields, near);
  assert.equal(draft.texts.tool_timeout_secs, '');
  assert.equal(draft.texts.probe_secs, '30');
  assert.equal(draft.texts.args, '-y\nx y');
});

test('changes are one table: null takes out, kept secrets stay, removed ones go', () => {
  const draft = draftOf(serverFields, near);
  draft.texts = { ...draft.texts, command: '', args: '-y\n\n other ', probe_secs: '', cwd: ' /x ' };
  draft.maps.env = [{ key: 'TOKEN', value: undefined, known: true }, { key: 'OTHER', value: null, known: true }, { key: 'NEW', value: 'v' }, { key: ' ', value: '' }];
  assert.deepEqual(changesOf(serverFields, draft, near), { table: { command: null, args: ['-y', ' other '], cwd: '/x', env: { TOKEN: '••••••••', NEW: 'v' }, probe_secs: null }, singles: [] });
});

test('what an environment variable holds is left alone; the other keys of its map are saved one by one', () => {
  const draft = draftOf(serverFields, far);
  draft.texts.url = 'https://other.example';
  draft.maps.headers = draft.maps.headers.map((row) => ({ ...row, value: row.key === 'B' ? 'new' : undefined }));
  assert.deepEqual(changesOf(serverFields, draft, far), { table: {}, singles: [{ path: ['headers', 'B'], value: 'new' }] });
});

test('a new entry says only what is set', () => {
  const draft = draftOf(serverFields, null);
  assert.deepEqual(changesOf(serverFields, draft, null), { table: {}, singles: [] });
  draft.texts = { ...draft.texts, transport: 'http', url: '127.0.0.1:9/mcp' };
  assert.deepEqual(changesOf(serverFields, draft, null).table, { transport: 'http', url: 'http://127.0.0.1:9/mcp' });
});

test('required fields follow the transport', () => {
  const draft = draftOf(serverFields, null);
  const lacks = (transport) => missingOf(fieldsFor(transport), draft);
  assert.deepEqual([lacks('stdio'), lacks('http'), lacks('sse'), lacks('jsonrpc')], [['command'], ['url'], ['url'], ['url']]);
  assert.ok(!fieldsFor('stdio').some(({ key }) => key === 'headers'));
  assert.ok(!fieldsFor('http').some(({ key }) => key === 'env'));
});

test('what is typed wrongly is named beside its field', () => {
  const of = (key) => serverFields.find((field) => field.key === key);
  const fault = (key, text) => faultOf(of(key), { ...draftOf(serverFields, null), texts: { [key]: text } })?.code;
  for (const [key, text, code] of [
    ['tool_timeout_secs', '0', 'range'], ['tool_timeout_secs', '601', 'range'], ['tool_timeout_secs', '1e2', 'whole'], ['tool_timeout_secs', '-1', 'whole'], ['tool_timeout_secs', ' 60 ', undefined], ['tool_timeout_secs', '', undefined],
    ['url', 'ftp://x', 'url_scheme'], ['url', 'https://a:b@x', 'url_user'], ['url', 'https://x/#y', 'url_hash'], ['url', 'https://', 'url_form'], ['url', 'example.com/mcp', undefined], ['url', '', undefined],
    ['tls_ca_cert_path', 'ca.pem', 'absolute'], ['tls_ca_cert_path', '/ca.pem', undefined], ['tls_ca_cert_path', 'C:\\ca.pem', undefined], ['tls_ca_cert_path', '~/ca.pem', 'absolute'],
  ]) assert.equal(fault(key, text), code, `${key} = ${text}`);
  const rows = (list) => faultOf(of('env'), { ...draftOf(serverFields, null), maps: { env: list } })?.code;
  assert.equal(rows([{ key: 'A', value: undefined, known: true }, { key: 'A', value: 'x' }]), 'key_twice');
  assert.equal(rows([{ key: 'A', value: null, known: true }, { key: 'A', value: 'x' }]), undefined);
  assert.equal(rows([{ key: '', value: 'x' }]), 'key_empty');
  assert.equal(rows([{ key: 'A', value: '' }]), 'value_empty');
  assert.equal(rows([{ key: '', value: '' }]), undefined);
});

test('what others saved meanwhile is seen, and mine can go on upon it', () => {
  const other = { ...near, maps: { env: { TOKEN: near.maps.env.TOKEN, CAME: { path: '', kind: 'secret', populated: true } } } };
  assert.ok(sameEntry(near, structuredClone(near)));
  assert.ok(!sameEntry(near, other) && !sameEntry(near, null));
  const draft = draftOf(serverFields, near);
  draft.maps.env = [...draft.maps.env, { key: 'MINE', value: 'v' }];
  assert.deepEqual(rebased(serverFields, draft, other).maps.env.map(({ key, known }) => [key, Boolean(known)]), [['TOKEN', true], ['MINE', false], ['CAME', true]]);
});

test('an error is shown beside the field that it blames, without its path', () => {
  assert.equal(blamedIn('mcp.servers."a.b".url', 'mcp.servers', 'a.b'), 'url');
  assert.equal(blamedIn('mcp.servers.x.env.KEY', 'mcp.servers', 'x'), 'env');
  assert.equal(blamedIn('mcp.servers.y.url', 'mcp.servers', 'x'), '');
  assert.equal(blamedIn(undefined, 'mcp.servers', 'x'), '');
  assert.equal(besideField('mcp.servers.x.url must use http or https', 'mcp.servers.x.url'), 'Must use http or https.');
  assert.equal(besideField('something else', 'mcp.servers.x.url'), 'something else');
});

test('a copy has another name and no secrets; a test of a form sends what the form holds', () => {
  assert.equal(copyName('files', ['files', 'FILES-2']), 'files-3');
  const copy = copyOf(serverFields, near);
  assert.deepEqual(copy.maps.env, [{ key: 'TOKEN', value: '' }, { key: 'OTHER', value: '' }]);
  assert.deepEqual(definitionOf(fieldsFor('stdio'), copy), { transport: 'stdio', command: 'npx', args: ['-y', 'x y'], probe_secs: 30 });
  copy.maps.env[0].value = 'typed';
  assert.deepEqual(definitionOf(fieldsFor('stdio'), copy).env, { TOKEN: 'typed' });
  assert.deepEqual(linesOf('a\r\n\n  \n b'), ['a', ' b']);
});

test('ticks, lists by name and groups are values, too', () => {
  const fields = [{ key: 'mcp_bundles', kind: 'ticks', group: 'g' }, { key: 'tools', kind: 'lists', group: 'g' }, { key: 'groups', kind: 'groups', group: 'g' }];
  const [entry] = entriesOf([{ path: 'agents.x.mcp_bundles', value: ['a'], populated: true }, { path: 'agents.x.tools.files', value: ['r'], populated: true }], 'agents');
  const draft = draftOf(fields, entry);
  assert.deepEqual(draft.values, { mcp_bundles: ['a'], tools: { files: ['r'] }, groups: [] });
  draft.values = { mcp_bundles: [], tools: {}, groups: [{ mode: 'dynamic', tools: ['b__*'], keywords: ['k'], typedTools: 'b__*\n' }] };
  assert.deepEqual(changesOf(fields, draft, entry).table, { mcp_bundles: null, tools: {}, groups: [{ mode: 'dynamic', tools: ['b__*'], keywords: ['k'] }] });
  assert.equal(faultOf(fields[2], { ...draft, values: { groups: [{ tools: [] }] } })?.code, 'groups_tools');
  assert.equal(faultOf(fields[2], { ...draft, values: { groups: [{ tools: ['a'], keywords: [] }] } })?.code, 'groups_words');
  assert.equal(faultOf(fields[2], { ...draft, values: { groups: [{ mode: 'always', tools: ['a'] }] } }), null);
});

test('a secret that is to be replaced needs a value; one that nothing was set for does not', () => {
  const env = serverFields.find(({ key }) => key === 'env');
  const draft = draftOf(serverFields, near);
  draft.maps.env[1].value = '';
  assert.deepEqual(faultOf(env, draft, near), { code: 'secret_empty', at: 1, key: 'OTHER' });
  draft.maps.env[1].value = 'x';
  assert.equal(faultOf(env, draft, near), null);
  const field = { key: 'oauth_client_secret', kind: 'secret', group: 'g' };
  const [entry] = entriesOf([{ path: 'mcp.servers.x.oauth_client_secret', kind: 'secret', populated: true }], 'mcp.servers');
  const one = draftOf([field], entry);
  assert.equal(faultOf(field, one, entry), null);
  one.secrets.oauth_client_secret = '';
  assert.deepEqual(faultOf(field, one, entry), { code: 'secret_empty' });
  assert.equal(faultOf(field, one, null), null);
});
