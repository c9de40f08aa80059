// Agents, bundles and profiles as people read and choose them. Pure.

/** @typedef {import('../types.js').Agents} Agents @typedef {import('./config-values.js').Field} Field @typedef {import('../types.js').ToolInfo & {own_name?: string}} Tool */

export const LEVELS = ['readonly', 'supervised', 'full'];

/** @type {Field[]} */
export const bundleFields = [{ key: 'servers', kind: 'ticks', group: 'basics' }, { key: 'exclude', kind: 'ticks', group: 'basics' }];
/** @type {Field[]} */
export const riskFields = [
  { key: 'level', kind: 'choice', group: 'basics', choices: ['supervised', 'readonly', 'full'] },
  { key: 'auto_approve', kind: 'list', group: 'basics', mono: true },
  { key: 'always_ask', kind: 'list', group: 'basics', mono: true },
  { key: 'allowed_tools', kind: 'list', group: 'basics', mono: true },
  { key: 'excluded_tools', kind: 'list', group: 'basics', mono: true },
];
/** @type {Field[]} */
export const runtimeFields = [
  { key: 'max_tool_result_chars', kind: 'number', group: 'basics', min: 1, max: 10_000_000 },
  { key: 'tool_filter_groups', kind: 'groups', group: 'basics' },
];

/** The settings of an agent; its profiles are chosen among those that there are. @param {Agents} all @returns {Field[]} */
export function agentFields(all) {
  return [
    { key: 'risk_profile', kind: 'choice', group: 'basics', choices: ['', ...all.risk_profiles.map(({ name }) => name)] },
    { key: 'runtime_profile', kind: 'choice', group: 'basics', choices: ['', ...all.runtime_profiles.map(({ name }) => name)] },
    { key: 'mcp_bundles', kind: 'ticks', group: 'reach' },
    { key: 'tools', kind: 'lists', group: 'reach' },
    { key: 'media', kind: 'ticks', group: 'reach' },
  ];
}

/** The servers that bundles grant: what they hold without what any of them keeps out. @param {Agents} all @param {string[]} names @returns {string[]} */
export function serversOf(all, names) {
  const mine = all.bundles.filter(({ name }) => names.includes(name));
  const out = new Set(mine.flatMap(({ exclude }) => exclude ?? []));
  return [...new Set(mine.flatMap(({ servers }) => servers ?? []))].filter((server) => !out.has(server));
}

/** Who uses a bundle or a profile. @param {Agents} all @param {'mcp_bundles'|'risk_profile'|'runtime_profile'} key @param {string} name @returns {string[]} */
export function usersOf(all, key, name) {
  return all.agents.filter((agent) => (Array.isArray(agent[key]) ? agent[key]?.includes(name) : agent[key] === name)).map((agent) => agent.name);
}

/** The names with those that are set though nothing of the name is there. @param {string[]} known @param {string[]} set */
export const withSet = (known, set) => [...new Set([...known, ...set])];

/** A list with one value in or out. @param {string[]} list @param {string} value @param {boolean} on */
export const ticked = (list, value, on) => (on ? [...list.filter((one) => one !== value), value] : list.filter((one) => one !== value));

/**
 * The access to one server in a map of lists: undefined means all of its tools.
 * @param {Record<string, string[]>} access @param {string} server @param {string[]|undefined} names
 */
export function withAccess(access, server, names) {
  const { [server]: gone, ...rest } = access;
  return names === undefined ? rest : { ...rest, [server]: names };
}

/** Groups as they are saved: without what is empty. @param {import('../types.js').FilterGroup[]} groups */
export function savedGroups(groups) {
  return groups.filter(({ tools }) => tools?.length).map(({ mode, tools, keywords }) => ({ mode: mode === 'always' ? 'always' : 'dynamic', tools, ...(mode === 'always' ? {} : { keywords: keywords ?? [] }) }));
}

/** What a tool of an agent is for a model: usable at once, after a question, or not at all. @param {Tool} tool @returns {'off'|'deny'|'ask'|'allow'} */
export function standing({ enabled, mode }) {
  if (enabled === false) return 'off';
  return mode === 'deny' || mode === 'allow' ? mode : 'ask';
}

/** Why a server that an agent reaches brings it no tool: the end of a text's key. @param {any} server its status, null where there is none @param {number} known how many tools it is known to have */
export function silence(server, known) {
  if (known) return 'none_of_it';
  if (server?.state === 'running') return 'has_none';
  return server?.state === 'stopped' && !server.on_demand ? 'not_running' : server?.state === 'failed' ? 'has_failed' : 'when_needed';
}
