// Reads and saves entries of the configuration. Each function is one request, all or nothing, saveChanges and saveGrant aside:
// they say how they go on when only a part was saved.
import { api, url } from '../api.js';
import { entryPath } from './config-values.js';

/** @typedef {{version: string, props: import('./presets.js').Prop[], problems: any[], read_only: boolean, file?: string}} Listed */

/** @param {string} section @returns {Promise<Listed>} */
export function loadSection(section) {
  return api.get(url`/api/config/list?prefix=${section}`);
}

/** Sets the settings that the table names, all or none; makes the entry when it is new. @param {string} section @param {string} name @param {Record<string, any>} table @param {string} [version] */
export function saveTable(section, name, table, version) {
  return api.put(url`/api/config/prop?path=${entryPath(section, name)}`, { value: table, ...(version ? { version } : {}) });
}

/** Sets one setting; null takes it out. @param {string} path @param {any} value @param {string} [version] */
export function saveProp(path, value, version) {
  if (value === null) return api.del(url`/api/config/prop?path=${path}`);
  return api.put(url`/api/config/prop?path=${path}`, { value, ...(version ? { version } : {}) });
}

/** Makes an entry without settings. @param {string} section @param {string} name */
export function addEntry(section, name) {
  return api.post(url`/api/config/map-key?path=${section}&key=${name}`);
}

/** @param {string} section @param {string} name */
export function removeEntry(section, name) {
  return api.del(url`/api/config/map-key?path=${section}&key=${name}`);
}

/** Renames an entry, and whatever refers to it. @param {string} section @param {string} from @param {string} to */
export function renameEntry(section, from, to) {
  return api.post('/api/config/rename-map-key', { path: section, from, to });
}

/**
 * Saves what a form changed: its settings in one request, then each secret in one of its own. Where one fails those before it are saved, and the form still holds the rest.
 * @param {string} section @param {string} name @param {{table: Record<string, any>, singles: {path: string[], value: string|null}[]}} changes @param {string} [version]
 */
export async function saveChanges(section, name, { table, singles }, version) {
  if (Object.keys(table).length) await saveTable(section, name, table, version);
  for (const { path, value } of singles) await saveProp(entryPath(section, name, ...path), value);
}

/**
 * Lets an agent use a server by way of a bundle, made when there is none of that name. Each request is made from a version of the file and refused with
 * config_changed_externally when that is not the newest; done again, it goes on where it stopped.
 * @param {import('../types.js').Agents} all @param {{agent: string, server: string, bundle: string}} grant @param {(bundle: string) => void} [onMade] told as soon as a new bundle is saved
 */
export async function saveGrant(all, { agent, server, bundle }, onMade) {
  let now = all;
  const known = now.bundles.find(({ name }) => name === bundle);
  if (!known?.servers?.includes(server)) {
    if (known) await saveProp(entryPath('mcp_bundles', bundle, 'servers'), [...(known.servers ?? []), server], now.version);
    else {
      await saveTable('mcp_bundles', bundle, { servers: [server] }, now.version);
      onMade?.(bundle);
    }
    now = await api.get('/api/agents');
  }
  const own = now.agents.find(({ name }) => name === agent)?.mcp_bundles ?? [];
  if (!own.includes(bundle)) await saveProp(entryPath('agents', agent, 'mcp_bundles'), [...own, bundle], now.version);
}
