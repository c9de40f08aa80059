// What a person reads of a configured server: its state in a word, its facts, what can be done with it. Pure.
import { draftOf, fieldsFor, missingOf, serverFields } from './config-values.js';

/** @typedef {{dot: string, pill: ''|'ok'|'ask'|'danger', word: string}} Look */

/** The state as dot, pill and the end of a text's key (`srv.state_…`). @param {any} server @returns {Look} */
export function serverLook(server) {
  if (server.enabled === false) return { dot: '', pill: '', word: 'off' };
  if ((server.missing ?? []).length) return { dot: 'wait', pill: 'ask', word: 'incomplete' };
  if (server.error) return { dot: 'no', pill: 'danger', word: 'invalid' };
  switch (server.state) {
    case 'running': return server.breaker?.state === 'open' ? { dot: 'wait', pill: 'ask', word: 'paused' } : { dot: 'ok', pill: 'ok', word: 'running' };
    case 'starting': return { dot: 'wait', pill: '', word: 'starting' };
    case 'stopping': return { dot: 'wait', pill: '', word: 'stopping' };
    case 'failed': return { dot: 'no', pill: 'danger', word: 'failed' };
    default: return { dot: '', pill: '', word: server.on_demand ? 'idle' : 'stopped' };
  }
}

/**
 * A status with what only the settings of the server say: what it still lacks.
 * @param {any} server @param {import('./config-values.js').Entry|undefined} entry
 */
export function withSettings(server, entry) {
  if (!entry) return server;
  const draft = draftOf(serverFields, entry);
  return { ...server, missing: missingOf(fieldsFor(draft.texts.transport), draft) };
}

/** What the buttons do in a state, the likeliest first. @param {any} server @returns {{act: string, kind: ''|'primary'|'quiet'}[]} */
export function serverActs(server) {
  const { word } = serverLook(server);
  switch (word) {
    case 'running': return [{ act: 'disconnect', kind: '' }, { act: 'restart', kind: 'quiet' }];
    case 'paused': return [{ act: 'retry', kind: '' }, { act: 'disconnect', kind: 'quiet' }];
    case 'failed': return [{ act: 'retry', kind: '' }, { act: 'disconnect', kind: 'quiet' }];
    case 'starting': return [{ act: 'disconnect', kind: '' }];
    case 'idle': return [{ act: 'connect', kind: '' }];
    case 'stopped': return [{ act: 'connect', kind: 'primary' }];
    default: return [];
  }
}

/** Where a server is, as one line: its address, or its command. @param {any} server */
export function addressOf(server) {
  if (server.url) return String(server.url);
  return (server.command ?? []).map((/** @type {string} */ part) => (/^[\w@%+=:,./~-]+$/.test(part) ? part : JSON.stringify(part))).join(' ');
}

/** Whether a list of tools comes from memory, because the server does not run. @param {any} server */
export const remembered = (server) => server.tools_from === 'remembered' && server.state !== 'running';

/** How many lines of a change are shown for one field. */
const MOST = 400;

/** A change of one field as the lines of a difference. @param {{old?: string, new?: string}} change */
export function changeText({ old = '', new: fresh = '' }) {
  const lines = (/** @type {string} */ text, /** @type {string} */ sign) => (text === '' ? [] : pretty(text).split('\n').slice(0, MOST).map((line) => sign + line));
  return [...lines(old, '-'), ...lines(fresh, '+')].join('\n');
}

/** JSON by lines, so that a difference can be seen; any other text as it is. @param {string} text */
function pretty(text) {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** Whether a discovery found no difference. @param {any} found */
export const unchanged = (found) => !(found.added?.length || found.removed?.length || found.changed?.length);

/**
 * How an agent can be given a server: the bundles that it has, which of them others have, too, and what keeps the server out.
 * @param {import('../types.js').Agents} all @param {string} agent @param {string} server
 */
export function grantOf(all, agent, server) {
  const one = all.agents.find(({ name }) => name === agent);
  const mine = all.bundles.filter(({ name }) => one?.mcp_bundles?.includes(name));
  return {
    reaches: Boolean(one?.servers?.includes(server)),
    bundles: mine.map((bundle) => ({ name: bundle.name, has: Boolean(bundle.servers?.includes(server)), others: all.agents.filter(({ name, mcp_bundles }) => name !== agent && mcp_bundles?.includes(bundle.name)).map(({ name }) => name) })),
    excludedBy: mine.filter(({ exclude }) => exclude?.includes(server)).map(({ name }) => name),
  };
}

/** A name for a new bundle that no bundle has. @param {string} server @param {string[]} taken */
export function bundleName(server, taken) {
  const used = new Set(taken.map((name) => name.toLowerCase()));
  const base = server.replace(/[/\\\p{Cc}\p{Cf}]/gu, '').trim() || 'bundle';
  if (!used.has(base.toLowerCase())) return base;
  for (let n = 2; ; n++) if (!used.has(`${base}_${n}`.toLowerCase())) return `${base}_${n}`;
}
