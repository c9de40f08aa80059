// What a JSON schema asks for and the value that a form holds for it. Pure: schema-form.js draws it.
//
// A value of undefined is left out of the arguments, which is not the same as '' or null. What was typed and is no value
// yet (a half number, broken JSON) is kept as Draft, so that nothing typed is lost.

/** Typed text that is no value yet. */
export class Draft {
  /** @param {string} text @param {string} code why it is none: number, integer, unsafe, json */
  constructor(text, code) {
    this.text = text;
    this.code = code;
  }
}

/**
 * @typedef {'string'|'number'|'integer'|'boolean'|'enum'|'array'|'object'|'union'|'json'} Kind
 * @typedef {object} Widget
 * @property {Kind} kind
 * @property {boolean} nullable
 * @property {any} schema the schema with $ref and single-branch combinations taken away
 * @property {any[]} [choices] of an enum, with their JSON types
 * @property {string[]} [labels] of the choices
 * @property {any} [items] schema of the items of an array
 * @property {any[]} [variants] schemas of a union of scalars
 * @property {{name: string, schema: any, required: boolean}[]} [fields] of an object
 * @typedef {{path: string, code: string, limit?: number|string}} Problem
 */

const DEEPEST = 5;
const MOST_FIELDS = 200;
const MOST_CHOICES = 2_000;
const SCALARS = new Set(['string', 'number', 'integer', 'boolean']);

const isObject = (/** @type {any} */ value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const own = (/** @type {any} */ value, /** @type {string} */ key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined);

/** Follows a reference inside the same document; undefined when it leads nowhere. @param {string} ref @param {any} root */
function lookUp(ref, root) {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let at = root;
  for (const part of ref.slice(2).split('/')) {
    const key = decodeURIComponent(part.replace(/%(?![0-9a-f]{2})/gi, '%25')).replaceAll('~1', '/').replaceAll('~0', '~');
    at = Array.isArray(at) ? at[Number(key)] : own(at, key);
    if (at === undefined) return undefined;
  }
  return at;
}

/** The schema with its references and one-branch combinations taken away. @param {any} schema @param {any} root @returns {any} null when it cannot be */
function plain(schema, root) {
  let now = schema === true ? {} : schema;
  for (let step = 0; step < 16; step++) {
    if (!isObject(now)) return null;
    const { $ref, allOf, ...rest } = now;
    if (typeof $ref === 'string') {
      const target = lookUp($ref, root);
      if (!isObject(target)) return null;
      now = { ...target, ...rest };
    } else if (Array.isArray(allOf) && allOf.length === 1 && isObject(allOf[0])) now = { ...allOf[0], ...rest };
    else return Array.isArray(allOf) ? null : now;
  }
  return null;
}

/** @param {any} schema */
function typesOf(schema) {
  if (Array.isArray(schema.type)) return schema.type.filter((/** @type {any} */ type) => typeof type === 'string');
  if (typeof schema.type === 'string') return [schema.type];
  if (Array.isArray(schema.enum) || 'const' in schema) return ['enum'];
  if (isObject(schema.properties)) return ['object'];
  if (schema.items !== undefined) return ['array'];
  return [];
}

/** @param {any} value */
const scalar = (value) => value === null || ['string', 'number', 'boolean'].includes(typeof value);

/**
 * The widget for a schema. What has no good widget is edited as JSON.
 * @param {any} schema @param {any} [root] the whole document, for $ref @param {number} [depth] @returns {Widget}
 */
export function widgetOf(schema, root = schema, depth = 0) {
  const flat = plain(schema, root);
  const json = (/** @type {any} */ from = flat ?? {}) => /** @type {Widget} */ ({ kind: 'json', nullable: typesOf(from).includes('null'), schema: from });
  if (!flat) return json();
  const branches = flat.anyOf ?? flat.oneOf;
  if (Array.isArray(branches)) {
    const { anyOf, oneOf, ...outer } = flat;
    const all = branches.map((branch) => plain(branch, root));
    if (all.some((branch) => !branch)) return json();
    const isNull = (/** @type {any} */ branch) => branch.type === 'null' || ('const' in branch && branch.const === null);
    const rest = all.filter((branch) => !isNull(branch));
    const nullable = rest.length < all.length;
    if (rest.length === 1) {
      const inner = widgetOf({ ...rest[0], ...outer, type: rest[0].type ?? outer.type }, root, depth);
      return { ...inner, nullable: inner.nullable || nullable };
    }
    if (rest.length && rest.every((branch) => 'const' in branch && scalar(branch.const))) {
      return { kind: 'enum', nullable, schema: outer, choices: rest.map((branch) => branch.const), labels: rest.map((branch) => String(branch.title ?? branch.description ?? branch.const)) };
    }
    const widgets = rest.map((branch) => widgetOf(branch, root, depth + 1));
    if (rest.length && widgets.every(({ kind }) => SCALARS.has(kind) || kind === 'enum')) {
      return { kind: 'union', nullable: nullable || widgets.some((widget) => widget.nullable), schema: outer, variants: rest };
    }
    return { ...json(outer), nullable };
  }
  const types = typesOf(flat);
  const nullable = types.includes('null') || flat.nullable === true;
  const named = types.filter((/** @type {string} */ type) => type !== 'null');
  if ('const' in flat && scalar(flat.const)) return { kind: 'enum', nullable, schema: flat, choices: [flat.const], labels: [String(flat.const)] };
  if (Array.isArray(flat.enum)) {
    if (!flat.enum.length || flat.enum.length > MOST_CHOICES || !flat.enum.every(scalar)) return json();
    const choices = flat.enum.filter((/** @type {any} */ value) => value !== null);
    return { kind: 'enum', nullable: flat.enum.includes(null), schema: flat, choices, labels: choices.map((/** @type {any} */ value, /** @type {number} */ at) => String(flat.enumNames?.[at] ?? value)) };
  }
  if (named.length > 1) {
    if (!named.every((/** @type {string} */ type) => SCALARS.has(type))) return { ...json(), nullable };
    return { kind: 'union', nullable, schema: flat, variants: named.map((/** @type {string} */ type) => ({ ...flat, type, title: undefined, description: undefined, default: undefined })) };
  }
  const type = named[0];
  if (SCALARS.has(type)) return { kind: /** @type {Kind} */ (type), nullable, schema: flat };
  if (type === 'array' && isObject(flat.items) && !flat.prefixItems && depth < DEEPEST) return { kind: 'array', nullable, schema: flat, items: flat.items };
  if (type === 'object' && depth < DEEPEST) {
    const entries = Object.entries(isObject(flat.properties) ? flat.properties : {});
    if (entries.length > MOST_FIELDS) return { ...json(), nullable };
    // Without named properties any may be given, unless the schema says that there are none.
    if (!entries.length && depth > 0 && flat.additionalProperties !== false) return { ...json(), nullable };
    const required = new Set(Array.isArray(flat.required) ? flat.required : []);
    return { kind: 'object', nullable, schema: flat, fields: entries.map(([name, one]) => ({ name, schema: one, required: required.has(name) })) };
  }
  return { ...json(), nullable };
}

/** Choices of a list drawn as boxes at most. */
const MOST_BOXES = 100;

/** Whether an array is several of a few choices, each at most once. @param {Widget} widget @param {any} root */
export function severalOf(widget, root) {
  if (widget.kind !== 'array' || widget.schema?.uniqueItems !== true) return false;
  const { kind, choices = [] } = widgetOf(widget.items, root);
  return kind === 'enum' && choices.length > 0 && choices.length <= MOST_BOXES;
}

/**
 * The value that a form starts with: defaults, and whatever is required of objects.
 * @param {any} schema @param {any} [root] @param {boolean} [required] @param {number} [depth] @returns {any}
 */
export function initialValue(schema, root = schema, required = true, depth = 0) {
  const widget = widgetOf(schema, root, depth);
  if (widget.schema?.default !== undefined) return structuredClone(widget.schema.default);
  if (widget.kind === 'object' && required) {
    /** @type {Record<string, any>} */
    const value = {};
    for (const field of widget.fields ?? []) {
      const one = initialValue(field.schema, root, field.required, depth + 1);
      if (one !== undefined) Object.defineProperty(value, field.name, { value: one, enumerable: true, writable: true, configurable: true });
    }
    return value;
  }
  if (widget.kind === 'array' && required) return [];
  if (widget.kind === 'boolean' && required) return false;
  if (widget.kind === 'enum' && required && widget.choices?.length === 1) return widget.choices[0];
  return undefined;
}

/** What a line means as a number: undefined for nothing typed, a Draft for no number. @param {string} text @param {boolean} whole @returns {number|Draft|undefined} */
export function parseNumber(text, whole) {
  const trimmed = text.trim();
  if (!trimmed) return undefined;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return new Draft(text, whole ? 'integer' : 'number');
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return new Draft(text, 'number');
  if (whole && !Number.isInteger(value)) return new Draft(text, 'integer');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return new Draft(text, 'unsafe');
  return value;
}

/** What a text means as JSON: undefined for nothing typed, a Draft for broken JSON. @param {string} text @returns {any} */
export function parseJson(text) {
  if (!text.trim()) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return new Draft(text, 'json');
  }
}

/** The variant of a union that a value belongs to, 0 when none does. @param {any[]} variants @param {any} value @param {any} root */
export function variantOf(variants, value, root) {
  const fits = variants.findIndex((variant) => {
    const { kind, choices } = widgetOf(variant, root);
    if (value instanceof Draft) return kind === 'number' || kind === 'integer';
    if (kind === 'enum') return choices?.includes(value);
    if (kind === 'integer') return Number.isInteger(value);
    return typeof value === kind;
  });
  return Math.max(0, fits);
}

/** @param {string} path @param {string|number} key */
export function below(path, key) {
  if (typeof key === 'number') return `${path}[${key}]`;
  return path ? `${path}.${key}` : key;
}

/**
 * What is wrong with a value, by the place in it. The companion judges the rest (patterns, formats).
 * @param {any} schema @param {any} value @param {any} [root] @param {boolean} [required] @param {string} [path] @param {number} [depth] @returns {Problem[]}
 */
export function problemsOf(schema, value, root = schema, required = true, path = '', depth = 0) {
  const widget = widgetOf(schema, root, depth);
  if (value === undefined) return required ? [{ path, code: 'required' }] : [];
  if (value instanceof Draft) return [{ path, code: value.code }];
  if (value === null) return widget.nullable || widget.kind === 'json' ? [] : [{ path, code: 'null' }];
  const rules = widget.schema ?? {};
  const wrong = (/** @type {string} */ code, /** @type {number|string} */ limit) => [{ path, code, limit }];
  switch (widget.kind) {
    case 'string':
      if (typeof value !== 'string') return wrong('type', 'string');
      if ([...value].length < rules.minLength) return wrong('min_length', rules.minLength);
      if ([...value].length > rules.maxLength) return wrong('max_length', rules.maxLength);
      return [];
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || (widget.kind === 'integer' && !Number.isInteger(value))) return wrong('type', widget.kind);
      if (value < rules.minimum) return wrong('minimum', rules.minimum);
      if (value > rules.maximum) return wrong('maximum', rules.maximum);
      if (typeof rules.exclusiveMinimum === 'number' && value <= rules.exclusiveMinimum) return wrong('above', rules.exclusiveMinimum);
      if (typeof rules.exclusiveMaximum === 'number' && value >= rules.exclusiveMaximum) return wrong('below', rules.exclusiveMaximum);
      return [];
    case 'boolean':
      return typeof value === 'boolean' ? [] : wrong('type', 'boolean');
    case 'enum':
      return widget.choices?.includes(value) ? [] : [{ path, code: 'choice' }];
    case 'union': {
      const variants = widget.variants ?? [];
      return problemsOf(variants[variantOf(variants, value, root)], value, root, required, path, depth + 1);
    }
    case 'array':
      if (!Array.isArray(value)) return wrong('type', 'array');
      if (value.length < rules.minItems) return wrong('min_items', rules.minItems);
      if (value.length > rules.maxItems) return wrong('max_items', rules.maxItems);
      return value.flatMap((item, at) => problemsOf(widget.items, item, root, true, below(path, at), depth + 1));
    case 'object':
      if (!isObject(value)) return wrong('type', 'object');
      return (widget.fields ?? []).flatMap((field) => problemsOf(field.schema, own(value, field.name), root, field.required, below(path, field.name), depth + 1));
    default:
      return [];
  }
}

/** The value without what is left out, ready to be sent. Drafts become their text. @param {any} value @returns {any} */
export function cleaned(value) {
  if (value instanceof Draft) return value.text;
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : cleaned(item)));
  if (!isObject(value)) return value;
  const out = {};
  for (const [key, one] of Object.entries(value)) {
    if (one !== undefined) Object.defineProperty(out, key, { value: cleaned(one), enumerable: true, writable: true, configurable: true });
  }
  return out;
}

/** A copy of an object with one member set, or left out for undefined. @param {any} object @param {string} key @param {any} value */
export function withMember(object, key, value) {
  const out = {};
  const define = (/** @type {string} */ name, /** @type {any} */ one) => Object.defineProperty(out, name, { value: one, enumerable: true, writable: true, configurable: true });
  let found = false;
  for (const [name, one] of Object.entries(isObject(object) ? object : {})) {
    if (name === key) found = true;
    const next = name === key ? value : one;
    if (next !== undefined) define(name, next);
  }
  if (!found && value !== undefined) define(key, value);
  return out;
}

/** A member of an object, never one of its prototype. @param {any} object @param {string} key */
export function memberOf(object, key) {
  return own(object, key);
}
