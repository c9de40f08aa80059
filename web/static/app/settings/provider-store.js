// Reads and saves the providers of the configuration, one setting at a time, as the API has it.
import { api, url } from '../api.js';
import { pathOf } from './presets.js';

/** @typedef {{kind?: string, base_url?: string, model?: string, models?: string[], api_key?: string|null}} Values `api_key`: a text sets it, null clears it, undefined leaves it */

/** @param {string} path */
const propAt = (path) => url`/api/config/prop?path=${path}`;

/** GET /api/config/list for providers. @returns {Promise<{version: string, props: any[], problems: any[], read_only: boolean, file?: string}>} */
export function loadProviders() {
  return api.get('/api/config/list?prefix=providers');
}

/**
 * Saves what differs. The first save carries the version that the form was opened on, so that a change made elsewhere
 * meanwhile is noticed before anything is overwritten.
 * @param {string} name @param {Values} values @param {Record<string, import('./presets.js').Prop>} before @param {string} [version]
 */
export async function saveProvider(name, values, before, version) {
  let known = version;
  for (const [key, value] of Object.entries(values)) {
    const old = before[key];
    if (value === undefined || (key !== 'api_key' && old && JSON.stringify(old.value ?? (key === 'models' ? [] : '')) === JSON.stringify(value))) continue;
    const path = pathOf('providers', name, key);
    const empty = value === null || value === '' || (Array.isArray(value) && !value.length);
    if (empty && !old?.populated) continue;
    if (empty) await api.del(propAt(path));
    else await api.put(propAt(path), { value, ...(known ? { version: known } : {}) });
    known = undefined;
  }
}

/** Makes a provider; when a value is refused, nothing of it stays. @param {string} name @param {Values} values */
export async function addProvider(name, values) {
  await api.post(url`/api/config/map-key?path=providers&key=${name}`);
  try {
    await saveProvider(name, values, {});
  } catch (error) {
    await removeProvider(name).catch(() => {});
    throw error;
  }
}

/** @param {string} name */
export function removeProvider(name) {
  return api.del(url`/api/config/map-key?path=providers&key=${name}`);
}

/** Asks the provider for its models. @param {string} name @returns {Promise<{ok: boolean, models?: string[], latency_ms?: number, reason?: string, hint?: string}>} */
export function testProvider(name) {
  return api.post(url`/api/providers/${name}/test`);
}
