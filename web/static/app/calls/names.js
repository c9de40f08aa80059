// What people read for a tool: its own name, behind the name of its server. Settings and rules go by the full name.
import { computed } from '../../vendor/preact.js';
import { localText } from '../i18n/index.js';
import { servers, services, tools } from '../store.js';

const serversOf = computed(() => new Map(tools.value.map((tool) => [tool.name, tool.server ?? ''])));
const ownNames = computed(() => new Map(tools.value.map((tool) => [tool.name, String(/** @type {any} */ (tool).own_name || tool.name)])));

/** The name that a person knows a server by. @param {string} server */
export function serverName(server) {
  return localText(services.value[server]?.display_name) || server;
}

/** The status of a service or a configured server, null where there is none. @param {string} server @returns {any} */
export function serverOf(server) {
  return services.value[server] ?? servers.value?.find(({ id }) => id === server) ?? null;
}

/** The server of a tool by the tool's full name, '' for one of the companion's own. @param {string} full */
export const serverOfTool = (full) => serversOf.value.get(full) ?? '';

/** The name of a tool without what makes it unique among all servers. @param {string} full @param {string} [server] */
export function ownName(full, server = '') {
  if (!server) return full;
  const known = ownNames.value.get(full);
  if (known) return known;
  const front = [`mcp_${server}_`, `${server}__`].find((start) => full.startsWith(start) && full.length > start.length);
  return front ? full.slice(front.length) : full;
}

/** “Dummy MCP · slow”, or the bare name of a tool of the companion itself. @param {{tool: string, server?: string}} call */
export function toolLabel({ tool, server = '' }) {
  return server ? `${serverName(server)} · ${ownName(tool, server)}` : tool;
}
