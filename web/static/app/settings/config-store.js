// Reads and saves entries of the configuration. Each function is one request, so that nothing is saved by halves.
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
 * Saves what a form changed. @param {string} section @param {string} name @param {{table: Record<string, any>, singles: {path: string[], value: string|null}[]}} changes @param {string} [version]
 */
export async function saveChanges(section, name, { table, singles }, version) {
  if (Object.keys(table).length) await saveTable(section, name, table, version);
  for (const { path, value } of singles) await saveProp(entryPath(section, name, ...path), value);
}
