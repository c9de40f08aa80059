// What a server asks a person for, read so that a form can be made of it: the schema, the address, what of the answer is wrong. Pure.

/** @typedef {import('../settings/schema-values.js').Problem} Problem */

const isObject = (/** @type {any} */ value) => value !== null && typeof value === 'object' && !Array.isArray(value);

/** Whether a server wants a page to be opened, not a form to be filled in. @param {{kind?: string, arguments?: any, schema?: any}} approval */
export function isAddress({ kind, arguments: args, schema }) {
  return kind === 'elicitation' && (args?.mode === 'url' || (args?.mode !== 'form' && typeof args?.url === 'string' && !isObject(schema?.properties)));
}

/**
 * The schema of a form. The protocol knows flat objects only; lists of choices are boxes to tick.
 * @param {any} schema @returns {any}
 */
export function formSchema(schema) {
  if (!isObject(schema) || !isObject(schema.properties)) return { type: 'object', properties: {} };
  const properties = Object.fromEntries(Object.entries(schema.properties).map(([name, one]) => [name, isObject(one) && one.type === 'array' ? { ...one, uniqueItems: true } : one]));
  return { ...schema, type: 'object', properties };
}

/** @type {Record<string, (text: string) => boolean>} */
const formats = {
  email: (text) => /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text),
  uri: (text) => /^[a-z][a-z0-9+.-]*:\S+$/i.test(text) && URL.canParse(text),
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(`${text}T00:00:00Z`)) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text),
  'date-time': (text) => /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(Date.parse(text)),
};

/** What does not fit the formats that the protocol names. @param {any} schema @param {any} value @returns {Problem[]} */
export function formatProblems(schema, value) {
  if (!isObject(value)) return [];
  return Object.entries(schema?.properties ?? {}).flatMap(([path, one]) => {
    const fits = isObject(one) && typeof one.format === 'string' && Object.hasOwn(formats, one.format) ? formats[one.format] : null;
    const text = Object.hasOwn(value, path) ? value[path] : undefined;
    return fits && typeof text === 'string' && text !== '' && !fits(text) ? [{ path, code: `format_${one.format.replace('-', '_')}` }] : [];
  });
}

/** Names that ask for what nobody should give to a server. */
const secret = /\b(pass(word|wd|phrase|code)?s?|contraseñas?|pin|secrets?|api[- ]?keys?|tokens?|card[- ]?number|cvv?|ssn)\b/i;

/** Whether a form seems to ask for a password or a key. @param {any} schema */
export function asksSecret(schema) {
  return Object.entries(isObject(schema?.properties) ? schema.properties : {}).some(([name, one]) => secret.test(`${name} ${one?.title ?? ''} ${one?.description ?? ''}`.replace(/([a-z])([A-Z])/g, '$1 $2').replaceAll('_', ' ')));
}

/**
 * An address in pieces, with the host apart: where it really leads.
 * @param {string} address @returns {{usable: boolean, before: string, host: string, after: string, user: boolean, plain: boolean}} `usable`: http or https; `user`: it has a part before @, which often hides the host; `plain`: not encrypted
 */
export function addressParts(address) {
  try {
    const url = new URL(address);
    const usable = url.protocol === 'https:' || url.protocol === 'http:';
    const login = url.username || url.password ? `${url.username}${url.password ? `:${url.password}` : ''}@` : '';
    return { usable, before: `${url.protocol}//${login}`, host: url.host, after: `${url.pathname}${url.search}${url.hash}`, user: Boolean(login), plain: url.protocol === 'http:' };
  } catch {
    return { usable: false, before: '', host: '', after: address, user: false, plain: false };
  }
}
