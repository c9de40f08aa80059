import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressParts, asksSecret, formatProblems, formSchema, isAddress } from '../static/app/calls/elicit-values.js';
import { messagesOf, replyOf, requestOf, wishesOf } from '../static/app/calls/sampling-request.js';
import { initialValue, problemsOf, severalOf, widgetOf } from '../static/app/settings/schema-values.js';

test('a form is made of any schema that a server sends, and of none', () => {
  for (const bad of [undefined, null, 'x', [], { type: 'array' }, { properties: 'x' }]) assert.deepEqual(formSchema(bad), { type: 'object', properties: {} });
  const schema = formSchema({ properties: { name: { type: 'string', default: 'Ann' }, ok: { type: 'boolean' }, colours: { type: 'array', items: { anyOf: [{ const: 'r', title: 'Red' }, { const: 'g', title: 'Green' }] }, minItems: 1 } }, required: ['name', 'colours'] });
  assert.deepEqual(initialValue(schema), { name: 'Ann', colours: [] });
  assert.ok(severalOf(widgetOf(schema.properties.colours), schema));
  assert.deepEqual(problemsOf(schema, { name: 'Ann', colours: [] }), [{ path: 'colours', code: 'min_items', limit: 1 }]);
  assert.ok(!severalOf(widgetOf({ type: 'array', items: { type: 'string' }, uniqueItems: true }), {}));
});

test('formats that the protocol names are judged, with nothing that a server could make slow', () => {
  const code = (format, text) => formatProblems({ properties: { a: { type: 'string', format } } }, { a: text })[0]?.code;
  for (const [format, good, bad] of [['email', 'a@b.co', 'a@b'], ['uri', 'https://x.y/z', 'x.y'], ['date', '2026-02-28', '2026-02-30'], ['date-time', '2026-01-31T12:00:00Z', '2026-01-31']]) {
    assert.equal(code(format, good), undefined, good);
    assert.equal(code(format, bad), `format_${format.replace('-', '_')}`, bad);
  }
  assert.equal(code('constructor', 'x'), undefined);
  assert.deepEqual(formatProblems({ properties: { a: { type: 'string', format: 'email' } } }, {}), []);
});

test('an address to open is told from a form to fill in', () => {
  const schema = { type: 'object', properties: { a: {} } };
  for (const [approval, is] of /** @type {[any, boolean][]} */ ([
    [{ arguments: { mode: 'url', url: 'https://a' } }, true], [{ arguments: { mode: 'url' }, schema }, true], [{ arguments: { url: 'https://a' } }, true], [{ arguments: { url: 'https://a' }, schema: {} }, true],
    [{ arguments: { mode: 'form', url: 'https://a' } }, false], [{ arguments: { url: 'https://a' }, schema }, false], [{ arguments: {}, schema }, false], [{ arguments: null }, false],
  ])) assert.equal(isAddress({ kind: 'elicitation', ...approval }), is, JSON.stringify(approval));
  assert.equal(isAddress({ kind: 'call', arguments: { url: 'https://a' } }), false);
});

test('a form that asks for a secret is noticed', () => {
  for (const [name, schema] of [['password', {}], ['userPassword', {}], ['x', { title: 'API key' }], ['x', { description: 'Tu contraseña' }], ['api_token', {}], ['pin', {}]]) assert.ok(asksSecret({ properties: { [name]: schema } }), name);
  for (const [name, schema] of [['name', {}], ['shopping', {}], ['spin', {}], ['tokenizer', { title: 'Compass' }]]) assert.ok(!asksSecret({ properties: { [name]: schema } }), name);
});

test('of an address the host is told apart, and only http and https open', () => {
  const of = (text) => addressParts(text);
  assert.deepEqual(of('https://example.com/a?b#c'), { usable: true, before: 'https://', host: 'example.com', after: '/a?b#c', user: false, plain: false });
  assert.deepEqual([of('https://bank.com@evil.example/x').host, of('https://bank.com@evil.example/x').user], ['evil.example', true]);
  assert.equal(of('https://аpple.com').host, 'xn--pple-43d.com');
  assert.ok(of('http://127.0.0.1:1/').plain);
  for (const text of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'not one', '']) assert.ok(!of(text).usable, text);
});

test('a model gets exactly what the server sent, and the server what the person sends', () => {
  const params = { systemPrompt: 'Be brief', maxTokens: 100, temperature: 0.5, modelPreferences: { hints: [{ name: 'small' }] }, messages: [
    { role: 'user', content: { type: 'text', text: '/read_file path=x' } }, { role: 'assistant', content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] },
    { role: 'user', content: [{ type: 'image', mimeType: 'image/png', data: 'AA==' }, { type: 'audio', mimeType: 'audio/wav', data: 'AA==' }, { type: 'image', mimeType: 'image/svg+xml', data: 'AA==' }] },
  ] };
  assert.deepEqual(requestOf(params, 'm'), { model: 'm', system: ['Be brief'], tools: [], messages: [{ role: 'user', text: '/read_file path=x' }, { role: 'assistant', text: 'a\n\nb' }, { role: 'user', text: '', images: [{ mime: 'image/png', base64: 'AA==' }] }] });
  assert.deepEqual(messagesOf(params)[2].pieces.map(({ type }) => type), ['image', 'other', 'other']);
  assert.deepEqual(wishesOf(params).map(({ key, value }) => [key, value]), [['model', 'small'], ['tokens', '100'], ['temperature', '0.5']]);
  for (const bad of [undefined, {}, { messages: 'x' }, { messages: [null, {}] }]) assert.doesNotThrow(() => requestOf(bad, 'm'));
  assert.deepEqual(replyOf('hi', 'm'), { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' }, stopReason: 'endTurn' });
  assert.equal(replyOf('hi', '').model, 'human');
});
