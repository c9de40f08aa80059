// The model profiles that a conversation can use: Mirror, and the providers of the configuration.
import { api } from '../api.js';
import { setProfiles } from '../store.js';

/** @typedef {import('../types.js').Profile} Profile */

/** The built-in first profile: no key, no network. @type {Profile} */
export const mirrorProfile = { id: 'mirror', kind: 'mirror', name: 'Mirror', model: 'mirror', context: 128_000, native_tools: true };

/**
 * Profiles from the properties below `providers` of the configuration: one for each provider and model.
 * @param {{path: string, value?: any, populated?: boolean}[]} props @returns {Profile[]}
 */
export function profilesFrom(props) {
  /** @type {Record<string, Record<string, any>>} */
  const entries = {};
  for (const { path, value } of props) {
    const match = /^providers\.(?:"([^"]+)"|([^.]+))(?:\.(.+))?$/.exec(path);
    if (!match) continue;
    const entry = (entries[match[1] ?? match[2]] ??= {});
    if (match[3] && value !== undefined) entry[match[3]] = value;
    else if (!match[3] && value && typeof value === 'object') Object.assign(entry, value);
  }
  return Object.entries(entries).filter(([, entry]) => entry.kind || entry.base_url).map(([name, entry]) => {
    const models = [...new Set([entry.model, ...(Array.isArray(entry.models) ? entry.models : [])].filter((model) => typeof model === 'string' && model))];
    return {
      id: name, name, kind: entry.kind === 'anthropic' ? 'anthropic' : 'openai', base_url: entry.base_url, model: models[0] ?? '', models,
      context: Number(entry.context) || undefined, native_tools: entry.native_tools !== false,
    };
  });
}

/** Loads the profiles; Mirror stands first and is there even when the configuration cannot be read. */
export async function loadProfiles() {
  try {
    const { props } = await api.get('/api/config/list?prefix=providers');
    setProfiles([mirrorProfile, ...profilesFrom(props ?? [])]);
  } catch {
    setProfiles([mirrorProfile]);
  }
}
