// With which agent a tool can be run by hand. Pure.

/** @typedef {import('../types.js').Agents} Agents @typedef {import('../types.js').ToolInfo} ToolInfo */

/**
 * The agents whose sessions may reach a tool, the built-in one first; whether its profile leaves them the tool is seen in the session.
 * @param {Agents|null} all null: not known yet @param {Pick<ToolInfo, 'server'|'origin'>} tool @returns {string[]}
 */
export function runAgents(all, { server, origin }) {
  if (!all) return ['assistant'];
  const excluded = (/** @type {string[]} */ bundles) => all.bundles.some(({ name, exclude }) => bundles.includes(name) && exclude?.includes(server ?? ''));
  const reaches = all.agents.filter(({ builtin, servers, mcp_bundles: bundles = [] }) => !server || servers?.includes(server) || (builtin && origin === 'service' && !excluded(bundles)));
  return [...reaches.filter(({ builtin }) => builtin), ...reaches.filter(({ builtin }) => !builtin)].map(({ name }) => name);
}
