// The ceiling of a server and its list of tools that always ask, as ticks and back. Pure.

/** @typedef {import('./config-values.js').Entry} Entry @typedef {{all: string[], offered: Set<string>, asks: Set<string>, known: Set<string>}} Limits */

/** @param {Entry} entry @param {string} key @returns {string[]} */
const listOf = (entry, key) => entry.props[key]?.value ?? [];

/** The ticks of a server: an empty ceiling is none, so all are ticked. @param {Entry} entry @param {string[]} names what the server lists @returns {Limits} */
export function limitsOf(entry, names) {
  const ceiling = listOf(entry, 'tools');
  const asks = listOf(entry, 'require_approval');
  const all = [...new Set([...names, ...ceiling, ...asks])];
  return { all, offered: new Set(ceiling.length ? ceiling : all), asks: new Set(asks), known: new Set(names) };
}

/** What has to be saved: with everything ticked there is no ceiling, so that tools that come later are not left out. @param {Entry} entry @param {Limits} limits @returns {Record<string, string[]|null>} */
export function tableOf(entry, { all, offered, asks, known }) {
  const whole = all.every((name) => offered.has(name) || !known.has(name));
  const wanted = { tools: whole ? [] : all.filter((name) => offered.has(name)), require_approval: all.filter((name) => asks.has(name)) };
  /** @type {Record<string, string[]|null>} */
  const table = {};
  for (const [key, list] of Object.entries(wanted)) {
    const before = listOf(entry, key);
    if (before.length === list.length && before.every((name) => list.includes(name))) continue;
    table[key] = list.length ? list : null;
  }
  return table;
}

/** Names that hold every word. @param {string[]} names @param {string} query */
export function filterNames(names, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return words.length ? names.filter((name) => words.every((word) => name.toLowerCase().includes(word))) : names;
}
