import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cleaned, Draft, initialValue, memberOf, parseJson, parseNumber, problemsOf, variantOf, widgetOf, withMember } from '../static/app/settings/schema-values.js';

test('each schema gets its widget', () => {
  const rows = [
    [{ type: 'string' }, 'string', false],
    [{ type: ['string', 'null'] }, 'string', true],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'string', true],
    [{ oneOf: [{ type: 'null' }, { type: 'integer' }] }, 'integer', true],
    [{ anyOf: [{ $ref: '#/$defs/Colour' }, { type: 'null' }], $defs: { Colour: { enum: ['red', 'blue'] } } }, 'enum', true],
    [{ enum: ['a', null] }, 'enum', true],
    [{ enum: [1, 2.5, true, 'x'] }, 'enum', false],
    [{ oneOf: [{ const: 1, title: 'low' }, { const: 2, title: 'high' }] }, 'enum', false],
    [{ const: 'fixed' }, 'enum', false],
    [{ type: ['string', 'integer'] }, 'union', false],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'null' }] }, 'union', true],
    [{ anyOf: [{ type: 'object', properties: { a: {} } }, { type: 'string' }] }, 'json', false],
    [{ anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }] }, 'array', true],
    [{ type: 'array', items: { type: 'string' } }, 'array', false],
    [{ type: 'array', prefixItems: [{ type: 'string' }] }, 'json', false],
    [{ type: 'array' }, 'json', false],
    [{ properties: { a: { type: 'string' } } }, 'object', false],
    [{ allOf: [{ type: 'boolean' }], description: 'x' }, 'boolean', false],
    [{ allOf: [{ type: 'string' }, { minLength: 2 }] }, 'json', false],
    [{ $ref: 'https://example.org/x' }, 'json', false],
    [{ $ref: '#/nowhere' }, 'json', false],
    [{}, 'json', false],
    [true, 'json', false],
    [false, 'json', false],
    [null, 'json', false],
    [{ type: 'object' }, 'object', false],
    [{ enum: [{ a: 1 }] }, 'json', false],
    [{ enum: [] }, 'json', false],
  ];
  for (const [schema, kind, nullable] of rows) {
    const widget = widgetOf(schema);
    assert.equal(widget.kind, kind, JSON.stringify(schema));
    assert.equal(Boolean(widget.nullable), nullable, JSON.stringify(schema));
  }
});

test('recursive and deep schemas end as JSON', () => {
  const tree = { $defs: { Node: { type: 'object', properties: { left: { $ref: '#/$defs/Node' } } } }, type: 'object', properties: { root: { $ref: '#/$defs/Node' } }, required: ['root'] };
  let widget = widgetOf(tree);
  let depth = 0;
  while (widget.kind === 'object') widget = widgetOf(widget.fields[0].schema, tree, ++depth);
  assert.equal(widget.kind, 'json');
  assert.equal(widgetOf({ $ref: '#' }).kind, 'json');
  assert.deepEqual(initialValue(tree), { root: {} });
  const many = { type: 'object', properties: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, {}])) };
  assert.equal(widgetOf(many).kind, 'json');
});

test('enums keep the types of their values', () => {
  const { choices, labels } = widgetOf({ enum: [1, '1', true] });
  assert.deepEqual(choices, [1, '1', true]);
  assert.deepEqual(labels, ['1', '1', 'true']);
  assert.deepEqual(problemsOf({ enum: [1, 2] }, '1').map(({ code }) => code), ['choice']);
  assert.deepEqual(problemsOf({ enum: [1, 2] }, 1), []);
});

test('a form starts with the defaults, and leaves out what is optional', () => {
  const schema = {
    type: 'object', required: ['path', 'flag', 'tags', 'box'],
    properties: { path: { type: 'string' }, lines: { type: 'integer', default: 10 }, flag: { type: 'boolean' }, tags: { type: 'array', items: { type: 'string' } }, note: { type: 'string' }, maybe: { type: 'boolean' }, box: { type: 'object', properties: { a: { type: 'string', default: 'x' }, b: { type: 'string' } } }, spare: { type: 'object', properties: { a: { type: 'string' } } } },
  };
  assert.deepEqual(initialValue(schema), { lines: 10, flag: false, tags: [], box: { a: 'x' } });
  assert.deepEqual(problemsOf(schema, initialValue(schema)), [{ path: 'path', code: 'required' }]);
});

test('left out, empty and null are three things', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: ['string', 'null'] } } };
  assert.deepEqual(cleaned(withMember({ a: 'x' }, 'a', undefined)), {});
  assert.deepEqual(cleaned(withMember({}, 'a', '')), { a: '' });
  assert.deepEqual(cleaned(withMember({}, 'b', null)), { b: null });
  assert.deepEqual(problemsOf(schema, { a: null }), [{ path: 'a', code: 'null' }]);
  assert.deepEqual(problemsOf(schema, { a: '', b: null }), []);
});

test('typed numbers', () => {
  assert.equal(parseNumber('', false), undefined);
  assert.equal(parseNumber(' 1.50 ', false), 1.5);
  assert.equal(parseNumber('-2e3', true), -2000);
  for (const [text, whole, code] of [['1.5', true, 'integer'], ['x', false, 'number'], ['1e999', false, 'number'], ['12345678901234567890', true, 'unsafe'], ['0x10', false, 'number'], ['NaN', false, 'number'], ['1 2', true, 'integer']]) {
    const draft = parseNumber(text, whole);
    assert.ok(draft instanceof Draft, text);
    assert.equal(draft.code, code, text);
    assert.equal(draft.text, text);
  }
});

test('typed JSON', () => {
  assert.equal(parseJson('  '), undefined);
  assert.deepEqual(parseJson('{"a":[1]}'), { a: [1] });
  assert.equal(parseJson('{a:1}').code, 'json');
});

test('limits are named with their value and place', () => {
  const rows = [
    [{ type: 'string', minLength: 2 }, 'é', 'min_length', 2],
    [{ type: 'string', maxLength: 1 }, '😀😀', 'max_length', 1],
    [{ type: 'integer', minimum: 1 }, 0, 'minimum', 1],
    [{ type: 'number', maximum: 1 }, 2, 'maximum', 1],
    [{ type: 'number', exclusiveMinimum: 0 }, 0, 'above', 0],
    [{ type: 'number', exclusiveMaximum: 0 }, 0, 'below', 0],
    [{ type: 'array', items: { type: 'string' }, minItems: 1 }, [], 'min_items', 1],
    [{ type: 'array', items: { type: 'string' }, maxItems: 1 }, ['a', 'b'], 'max_items', 1],
    [{ type: 'boolean' }, 'yes', 'type', 'boolean'],
    [{ type: 'object', properties: {} }, [], 'type', 'object'],
  ];
  for (const [schema, value, code, limit] of rows) assert.deepEqual(problemsOf(schema, value), [{ path: '', code, limit }], JSON.stringify(schema));
  const nested = { type: 'object', properties: { list: { type: 'array', items: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } } } };
  assert.deepEqual(problemsOf(nested, { list: [{ id: 1 }, {}, { id: new Draft('x', 'integer') }] }), [{ path: 'list[1].id', code: 'required' }, { path: 'list[2].id', code: 'integer' }]);
});

test('unions keep the variant of their value', () => {
  const variants = [{ type: 'string' }, { type: 'integer' }, { type: 'boolean' }];
  assert.equal(variantOf(variants, 'a'), 0);
  assert.equal(variantOf(variants, 3), 1);
  assert.equal(variantOf(variants, false), 2);
  assert.equal(variantOf(variants, undefined), 0);
  assert.deepEqual(problemsOf({ anyOf: variants }, 3), []);
});

test('hostile names are members like any other', () => {
  const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}}}');
  assert.equal(memberOf({}, 'constructor'), undefined);
  assert.deepEqual(problemsOf(schema, {}), []);
  const value = withMember(withMember({}, '__proto__', 'x'), 'constructor', 'y');
  assert.equal(JSON.stringify(cleaned(value)), '{"__proto__":"x","constructor":"y"}');
  assert.equal(memberOf(value, '__proto__'), 'x');
  assert.equal({}.x, undefined);
});
