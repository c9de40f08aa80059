// Entries of the configuration as forms hold them, and what a form changes in one. Pure.
import { savedGroups } from './agent-text.js';
import { addressFault, fullAddress, partsOf, pathOf } from './presets.js';

/** @typedef {import('./presets.js').Prop} Prop */

/**
 * An entry with its settings by name; maps of secrets and lists by name stand apart.
 * @typedef {{name: string, props: Record<string, Prop>, maps: Record<string, Record<string, Prop>>}} Entry
 *
 * A key of a map of secrets as a form holds it: `value` undefined leaves what is set, null takes it out.
 * @typedef {{key: string, value: string|null|undefined, known?: boolean, override?: string}} SecretRow
 *
 * What a form holds: texts as typed, lists one entry a line, numbers as typed; `values` has what is ticked or built up.
 * @typedef {{texts: Record<string, string>, flags: Record<string, boolean>, secrets: Record<string, string|null|undefined>, maps: Record<string, SecretRow[]>, values: Record<string, any>}} Draft
 *
 * @typedef {object} Field
 * @property {string} key
 * @property {'text'|'number'|'list'|'choice'|'flag'|'map'|'secret'|'ticks'|'lists'|'groups'} kind `ticks`: an array chosen from a list; `lists`: arrays by name
 * @property {string} group
 * @property {string[]} [transports] where it counts; everywhere without
 * @property {boolean} [required]
 * @property {number} [min]
 * @property {number} [max]
 * @property {string[]} [choices]
 * @property {(choice: string) => any} [choiceText]
 * @property {'url'|'absolute'} [form]
 * @property {boolean} [mono]
 */

const REMOTE = ['http', 'sse', 'jsonrpc'];

/** Every setting of a configured server, in the order in which people fill them in. @type {Field[]} */
export const serverFields = [
  { key: 'transport', kind: 'choice', group: 'basics', choices: ['stdio', 'http', 'sse', 'jsonrpc'] },
  { key: 'command', kind: 'text', group: 'basics', transports: ['stdio'], required: true, mono: true },
  { key: 'args', kind: 'list', group: 'basics', transports: ['stdio'], mono: true },
  { key: 'cwd', kind: 'text', group: 'basics', transports: ['stdio'], mono: true },
  { key: 'url', kind: 'text', group: 'basics', transports: REMOTE, required: true, form: 'url', mono: true },
  { key: 'env', kind: 'map', group: 'basics', transports: ['stdio'] },
  { key: 'headers', kind: 'map', group: 'basics', transports: REMOTE },
  { key: 'tool_timeout_secs', kind: 'number', group: 'time', min: 1, max: 600 },
  { key: 'connect_timeout_secs', kind: 'number', group: 'time', min: 1, max: 600 },
  { key: 'probe_secs', kind: 'number', group: 'time', min: 0, max: 86_400 },
  { key: 'idle_stop_secs', kind: 'number', group: 'time', min: 0, max: 86_400 },
  { key: 'tools', kind: 'list', group: 'reach', mono: true },
  { key: 'require_approval', kind: 'list', group: 'reach', mono: true },
  { key: 'pinned_resources', kind: 'list', group: 'reach', mono: true },
  { key: 'max_response_bytes', kind: 'number', group: 'more', min: 0, max: 1 << 30 },
  { key: 'tls_ca_cert_path', kind: 'text', group: 'more', transports: REMOTE, form: 'absolute', mono: true },
  { key: 'auth', kind: 'text', group: 'signin', transports: REMOTE, mono: true },
  { key: 'auth_header', kind: 'text', group: 'signin', transports: REMOTE, mono: true },
  { key: 'oauth_client_id', kind: 'text', group: 'signin', transports: REMOTE, mono: true },
  { key: 'oauth_client_secret', kind: 'secret', group: 'signin', transports: REMOTE },
  { key: 'oauth_scopes', kind: 'list', group: 'signin', transports: REMOTE, mono: true },
  { key: 'oauth_grant', kind: 'text', group: 'signin', transports: REMOTE, mono: true },
];

/** The settings that count for a transport. @param {string} transport @param {Field[]} [fields] */
export function fieldsFor(transport, fields = serverFields) {
  return fields.filter(({ transports }) => !transports || transports.includes(transport));
}

/**
 * The entries among the properties, in the order of the file.
 * @param {Prop[]} props @param {string} section such as `mcp.servers` @returns {Entry[]}
 */
export function entriesOf(props, section) {
  const head = partsOf(section);
  /** @type {Map<string, Entry>} */
  const found = new Map();
  for (const prop of props) {
    const parts = partsOf(prop.path);
    if (parts.length < head.length + 2 || head.some((part, at) => parts[at] !== part)) continue;
    const [name, field, key] = parts.slice(head.length);
    const entry = found.get(name) ?? { name, props: {}, maps: {} };
    found.set(name, entry);
    if (key === undefined) entry.props[field] = prop;
    else (entry.maps[field] ??= {})[key] = prop;
  }
  return [...found.values()];
}

/** @param {any} value */
const asText = (value) => (value === undefined || value === null ? '' : Array.isArray(value) ? value.join('\n') : String(value));

/** What a form starts with. @param {Field[]} fields @param {Entry|null} entry null for a new one @returns {Draft} */
export function draftOf(fields, entry) {
  /** @type {Draft} */
  const draft = { texts: {}, flags: {}, secrets: {}, maps: {}, values: {} };
  for (const { key, kind, choices } of fields) {
    const prop = entry?.props[key];
    if (kind === 'map') draft.maps[key] = Object.entries(entry?.maps[key] ?? {}).map(([name, { override }]) => ({ key: name, value: undefined, known: true, override }));
    else if (kind === 'secret') draft.secrets[key] = undefined;
    else if (kind === 'flag') draft.flags[key] = prop?.value === true;
    else if (kind === 'ticks' || kind === 'groups') draft.values[key] = structuredClone(prop?.value ?? []);
    else if (kind === 'lists') draft.values[key] = Object.fromEntries(Object.entries(entry?.maps[key] ?? {}).map(([name, { value }]) => [name, [.../** @type {string[]} */ (value ?? [])]]));
    else if (kind === 'choice') draft.texts[key] = asText(prop?.value) || (choices?.[0] ?? '');
    // What is only the default is left to the default: the field shows it as what counts when it is empty.
    else draft.texts[key] = prop?.default ? '' : asText(prop?.value);
  }
  return draft;
}

/** The lines of a list, without empty ones. @param {string} text */
export const linesOf = (text) => text.split('\n').map((line) => line.replace(/\r$/, '')).filter((line) => line.trim() !== '');

/** The value that a form holds for a setting; null for none. @param {Field} field @param {Draft} draft @returns {any} */
export function valueOf({ key, kind, form }, draft) {
  if (kind === 'flag') return draft.flags[key];
  if (kind === 'secret') return draft.secrets[key];
  if (kind === 'lists') return draft.values[key] ?? {};
  if (kind === 'groups') return draft.values[key]?.length ? savedGroups(draft.values[key]) : null;
  if (kind === 'ticks') return draft.values[key]?.length ? draft.values[key] : null;
  const text = draft.texts[key] ?? '';
  if (kind === 'list') return linesOf(text).length ? linesOf(text) : null;
  if (kind === 'number') return text.trim() === '' ? null : Number(text);
  if (form === 'url') return fullAddress(text) || null;
  // A program's name or path may begin or end with a space only by mistake.
  return text.trim() || null;
}

/**
 * What is wrong with a field: a code and what fills its text, null for nothing.
 * @param {Field} field @param {Draft} draft @param {Entry|null} [entry] as the form was opened @returns {{code: string, [hole: string]: any}|null}
 */
export function faultOf(field, draft, entry = null) {
  const { key, kind, min = 0, max = 0, form } = field;
  const text = (draft.texts[key] ?? '').trim();
  if (kind === 'number' && text) {
    if (!/^\d+$/.test(text)) return { code: 'whole' };
    if (Number(text) < min || Number(text) > max) return { code: 'range', min, max };
  }
  if (form === 'url' && text) {
    const fault = addressFault(text);
    if (fault) return { code: `url_${fault}` };
    if (new URL(fullAddress(text)).hash) return { code: 'url_hash' };
  }
  if (form === 'absolute' && text && !/^(\/|[a-z]:[\\/]|\\\\)/i.test(text)) return { code: 'absolute' };
  if (kind === 'groups') {
    const groups = /** @type {import('../types.js').FilterGroup[]} */ (draft.values[key] ?? []);
    if (groups.some(({ tools }) => !tools?.length)) return { code: 'groups_tools' };
    if (groups.some(({ mode, keywords }) => mode !== 'always' && !keywords?.length)) return { code: 'groups_words' };
  }
  if (kind === 'map') {
    const rows = (draft.maps[key] ?? []).filter(({ value }) => value !== null);
    for (const [at, row] of rows.entries()) {
      if (!row.known && !row.key.trim() && row.value) return { code: 'key_empty', at };
      if (row.key.trim() && rows.findIndex((other) => other.key.trim() === row.key.trim()) < at) return { code: 'key_twice', at, key: row.key.trim() };
      if (!row.known && row.key.trim() && !row.value) return { code: 'value_empty', at, key: row.key.trim() };
      if (row.known && row.value === '') return { code: 'secret_empty', at, key: row.key };
    }
  }
  if (kind === 'secret' && draft.secrets[key] === '' && entry?.props[key]?.populated) return { code: 'secret_empty' };
  return null;
}

/** The settings without which the entry does nothing. @param {Field[]} fields @param {Draft} draft @returns {string[]} */
export function missingOf(fields, draft) {
  return fields.filter(({ key, required }) => required && !(draft.texts[key] ?? '').trim()).map(({ key }) => key);
}

/** What stands for a secret that stays as it is. */
const KEPT = '••••••••';

/**
 * What a form changes: one table for a single save, and keys of maps that an environment variable holds in part, which have
 * to be saved one by one.
 * @param {Field[]} fields @param {Draft} draft @param {Entry|null} entry as the form was opened; null for a new one
 * @returns {{table: Record<string, any>, singles: {path: string[], value: string|null}[]}}
 */
export function changesOf(fields, draft, entry) {
  /** @type {Record<string, any>} */
  const table = {};
  /** @type {{path: string[], value: string|null}[]} */
  const singles = [];
  const before = draftOf(fields, entry);
  for (const field of fields) {
    const { key, kind } = field;
    if (entry?.props[key]?.override) continue;
    if (kind === 'map') {
      const rows = draft.maps[key] ?? [];
      const touched = rows.filter((row) => row.value !== undefined && !row.override && (row.known || row.value !== null) && row.key.trim());
      if (!touched.length) continue;
      if (rows.some(({ override }) => override)) singles.push(...touched.map((row) => ({ path: [key, row.key.trim()], value: row.value ?? null })));
      else table[key] = Object.fromEntries(rows.filter((row) => row.value !== null && row.key.trim()).map((row) => [row.key.trim(), row.value ?? KEPT]));
    } else if (kind === 'secret') {
      if (draft.secrets[key] !== undefined && (draft.secrets[key] !== '' || entry?.props[key]?.populated)) table[key] = draft.secrets[key] || null;
    } else {
      const [now, then] = [valueOf(field, draft), valueOf(field, before)];
      if (JSON.stringify(now) !== JSON.stringify(then)) table[key] = now;
    }
  }
  if (!entry) for (const key of Object.keys(table)) if (table[key] === null) delete table[key];
  return { table, singles };
}

/**
 * A draft that goes on upon another state of its entry: keys of secrets that came or went meanwhile come and go, what was
 * typed stays. @param {Field[]} fields @param {Draft} draft @param {Entry|null} entry @returns {Draft}
 */
export function rebased(fields, draft, entry) {
  const maps = { ...draft.maps };
  for (const { key, kind } of fields) {
    if (kind !== 'map') continue;
    const now = entry?.maps[key] ?? {};
    const rows = (maps[key] ?? []).filter((row) => !row.known || row.key in now || row.value).map((row) => ({ ...row, known: row.known && row.key in now }));
    const held = new Set(rows.map((row) => row.key));
    maps[key] = [...rows, ...Object.entries(now).filter(([name]) => !held.has(name)).map(([name, { override }]) => ({ key: name, value: undefined, known: true, override }))];
  }
  return { ...draft, maps };
}

/** Whether two states of an entry look the same to a form. @param {Entry|null|undefined} a @param {Entry|null|undefined} b */
export function sameEntry(a, b) {
  const seen = (/** @type {Entry|null|undefined} */ entry) => JSON.stringify(entry && [entry.props, entry.maps]);
  return seen(a) === seen(b);
}

/** The setting that an error blames, below an entry: `url`, or `env` for one of its keys; '' for none. @param {string|undefined} blamed @param {string} section @param {string} name */
export function blamedIn(blamed, section, name) {
  if (!blamed) return '';
  const head = [...partsOf(section), name];
  const parts = partsOf(blamed);
  return head.every((part, at) => parts[at] === part) ? parts[head.length] ?? '' : '';
}

/** An error's sentence without the path that it begins with, which the place already says. @param {string} message @param {string|undefined} blamed */
export function besideField(message, blamed) {
  if (!blamed || !message.startsWith(`${blamed} `)) return message;
  const rest = message.slice(blamed.length + 1);
  return `${rest.charAt(0).toUpperCase()}${rest.slice(1)}.`.replace(/\.\.$/, '.');
}

/** The name that a copy starts with. @param {string} name @param {string[]} taken */
export function copyName(name, taken) {
  const used = new Set(taken.map((one) => one.toLowerCase()));
  for (let n = 2; ; n++) if (!used.has(`${name}-${n}`.toLowerCase())) return `${name}-${n}`;
}

/** What a copy of an entry starts with; the secrets cannot be copied and wait to be given again. @param {Field[]} fields @param {Entry} entry @returns {Draft} */
export function copyOf(fields, entry) {
  const draft = draftOf(fields, entry);
  for (const key of Object.keys(draft.maps)) draft.maps[key] = draft.maps[key].map((row) => ({ key: row.key, value: '' }));
  return draft;
}

/** The unsaved definition that a test tries: what the form holds; secrets that it does not hold come from the saved one. @param {Field[]} fields @param {Draft} draft */
export function definitionOf(fields, draft) {
  /** @type {Record<string, any>} */
  const out = {};
  for (const field of fields) {
    const { key, kind } = field;
    if (kind === 'map') {
      const given = (draft.maps[key] ?? []).filter((row) => row.value && row.key.trim());
      if (given.length) out[key] = Object.fromEntries(given.map((row) => [row.key.trim(), row.value]));
    } else if (kind !== 'secret') {
      const value = valueOf(field, draft);
      if (value !== null && value !== undefined) out[key] = value;
    }
  }
  return out;
}

/** Path of an entry. @param {string} section @param {string} name @param {...string} parts */
export const entryPath = (section, name, ...parts) => `${section}.${pathOf(name, ...parts)}`;
