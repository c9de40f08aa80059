// Reads tool calls that a person types: `/tool {json}` or `/tool key=value key="quoted value"`, several of them on lines of their own.

/** @typedef {import('../types.js').ToolInfo} ToolInfo */
/** @typedef {{name: string, arguments: any}} TypedCall */

const nameAt = /\/([A-Za-z][\w-]{0,63})(?=\s|$)/y;
const keyAt = /([A-Za-z_][\w.-]*)\s*=\s*/y;

/**
 * The calls that a text consists of; null when it is no tool line, `{error}` when it is a broken one.
 * Values follow the type that the tool's schema gives, so path=123 stays text where text is wanted.
 * @param {string} text @param {ToolInfo[]} tools @returns {{calls: TypedCall[]} | {error: string, params: Record<string, any>} | null}
 */
export function parseToolText(text, tools) {
  const input = text.trim();
  if (!input.startsWith('/')) return null;
  /** @type {TypedCall[]} */
  const calls = [];
  let at = 0;
  while (at < input.length) {
    nameAt.lastIndex = at;
    const match = nameAt.exec(input);
    if (!match) return calls.length ? { error: 'line', params: { text: input.slice(at, at + 40) } } : null;
    const name = match[1];
    const tool = tools.find((one) => one.name === name);
    if (!tool) return { error: 'unknown', params: { name, near: nearest(name, tools.map((one) => one.name)) } };
    at = skipBlank(input, nameAt.lastIndex);
    /** @type {any} */
    let value = {};
    if (input[at] === '{') {
      const end = jsonEnd(input, at);
      if (end < 0) return { error: 'json', params: { name } };
      try {
        value = JSON.parse(input.slice(at, end));
      } catch {
        return { error: 'json', params: { name } };
      }
      at = end;
    } else {
      for (;;) {
        keyAt.lastIndex = at;
        const key = keyAt.exec(input);
        if (!key) break;
        const read = readValue(input, keyAt.lastIndex);
        if (!read) return { error: 'quote', params: { key: key[1] } };
        const typed = convert(read, tool.input_schema?.properties?.[key[1]]);
        if (typed === undefined) return { error: 'type', params: { key: key[1], type: typeOf(tool.input_schema?.properties?.[key[1]]) } };
        value[key[1]] = typed;
        at = skipBlank(input, read.end);
      }
    }
    const rest = /^[ \t]*(\r?\n\s*|$)/.exec(input.slice(at));
    if (!rest) return { error: 'rest', params: { text: input.slice(at, at + 40) } };
    at += rest[0].length;
    calls.push({ name, arguments: value });
  }
  return { calls };
}

/** @param {string} text @param {number} at */
function skipBlank(text, at) {
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at;
}

/** Where the JSON object that starts at `at` ends; -1 when it does not. @param {string} text @param {number} at */
function jsonEnd(text, at) {
  let depth = 0;
  let quoted = false;
  for (let i = at; i < text.length; i++) {
    const char = text[i];
    if (quoted) {
      if (char === '\\') i++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') depth++;
    else if ((char === '}' || char === ']') && --depth === 0) return i + 1;
  }
  return -1;
}

/** @param {string} text @param {number} at @returns {{text: string, quoted: boolean, end: number} | null} */
function readValue(text, at) {
  const quote = text[at];
  if (quote === '"' || quote === "'") {
    let value = '';
    for (let i = at + 1; i < text.length; i++) {
      if (text[i] === quote) return { text: value, quoted: true, end: i + 1 };
      if (quote === '"' && text[i] === '\\' && i + 1 < text.length) {
        const next = text[++i];
        value += { n: '\n', t: '\t', r: '\r', '"': '"', '\\': '\\' }[next] ?? `\\${next}`;
      } else value += text[i];
    }
    return null;
  }
  if (quote === '[' || quote === '{') {
    const end = jsonEnd(text, at);
    return end < 0 ? null : { text: text.slice(at, end), quoted: false, end };
  }
  const end = at + /** @type {RegExpExecArray} */ (/^\S*/.exec(text.slice(at)))[0].length;
  return { text: text.slice(at, end), quoted: false, end };
}

/** @param {any} schema */
function typeOf(schema) {
  const type = Array.isArray(schema?.type) ? schema.type.find((/** @type {string} */ one) => one !== 'null') : schema?.type;
  return type ?? '';
}

/** @param {{text: string, quoted: boolean}} value @param {any} schema @returns {any} undefined when the text is not of that type */
function convert({ text, quoted }, schema) {
  const type = typeOf(schema);
  if (type === 'string') return text;
  if (type === '' && quoted) return text;
  /** @type {any} */
  let parsed;
  try {
    parsed = JSON.parse(text);
  } catch {
    return type === '' ? text : undefined;
  }
  if (type === '') return parsed;
  if (type === 'integer') return Number.isInteger(parsed) ? parsed : undefined;
  if (type === 'number') return typeof parsed === 'number' ? parsed : undefined;
  if (type === 'boolean') return typeof parsed === 'boolean' ? parsed : undefined;
  if (type === 'array') return Array.isArray(parsed) ? parsed : undefined;
  return parsed;
}

/** The known name that is closest to a typed one, '' when none is close. @param {string} name @param {string[]} known */
export function nearest(name, known) {
  let best = '';
  let least = Math.max(2, Math.ceil(name.length / 3)) + 1;
  for (const other of known) {
    const distance = edits(name, other);
    if (distance < least) {
      least = distance;
      best = other;
    }
  }
  return best;
}

/** @param {string} a @param {string} b */
function edits(a, b) {
  let row = [...b].map((_, i) => i + 1);
  row.unshift(0);
  [...a].forEach((char, i) => {
    const next = [i + 1];
    [...b].forEach((other, j) => next.push(Math.min(next[j] + 1, row[j + 1] + 1, row[j] + (char === other ? 0 : 1))));
    row = next;
  });
  return row[b.length];
}

/**
 * What can stand at the caret of a tool line: names of tools, then names of arguments not given yet.
 * @param {string} text up to the caret @param {ToolInfo[]} tools
 * @returns {{from: number, items: {insert: string, label: string, hint: string}[]}}
 */
export function complete(text, tools) {
  const start = text.lastIndexOf('\n') + 1;
  const line = text.slice(start);
  const name = /^\/([\w-]*)$/.exec(line);
  if (name) {
    const typed = name[1].toLowerCase();
    const found = tools.filter((tool) => tool.enabled !== false && tool.name.toLowerCase().includes(typed))
      .sort((a, b) => Number(b.name.toLowerCase().startsWith(typed)) - Number(a.name.toLowerCase().startsWith(typed)) || a.name.localeCompare(b.name));
    return { from: start, items: found.slice(0, 50).map((tool) => ({ insert: `/${tool.name} ${firstArgument(tool)}`, label: `/${tool.name}`, hint: firstLine(tool.description) })) };
  }
  const argument = /^\/([\w-]+)\s+(?:.*\s)?([A-Za-z_]\w*)?$/s.exec(line);
  const tool = argument && tools.find((one) => one.name === argument[1]);
  if (!tool || line.includes('{') || oddQuotes(line)) return { from: 0, items: [] };
  const typed = argument[2] ?? '';
  const given = new Set([...line.matchAll(/([A-Za-z_]\w*)=/g)].map((match) => match[1]));
  const items = Object.entries(tool.input_schema?.properties ?? {}).filter(([key]) => !given.has(key) && key.startsWith(typed))
    .map(([key, schema]) => ({ insert: `${key}=`, label: `${key}=`, hint: firstLine(/** @type {any} */ (schema).description ?? typeOf(schema)) }));
  return { from: text.length - typed.length, items: items.length === 1 && items[0].insert === `${typed}=` ? items : items };
}

/** @param {string} line */
function oddQuotes(line) {
  return (line.match(/(?<!\\)"/g)?.length ?? 0) % 2 === 1;
}

/** @param {ToolInfo} tool */
function firstArgument(tool) {
  const required = tool.input_schema?.required;
  return Array.isArray(required) && required.length ? `${required[0]}=` : '';
}

/** @param {any} text */
const firstLine = (text) => String(text ?? '').split('\n')[0].slice(0, 160);
