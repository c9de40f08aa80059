// The permissions as the companion has them, and the one way in which the page changes them.
import { signal } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { t } from '../i18n/index.js';
import { loadTools, tools } from '../store.js';
import { textOf } from './rule-lines.js';

/** @typedef {{mode: string, enabled: boolean}} ToolSetting */

/** GET /api/permissions, null until it came. */
export const permissions = signal(/** @type {any} */ (null));
/** Why they could not be loaded. */
export const permissionsError = signal(/** @type {any} */ (null));
/** Settings of tools that were just chosen and are being saved. */
export const wanted = signal(/** @type {Record<string, ToolSetting>} */ ({}));

/** Loads the permissions; answers them. */
export async function loadPermissions() {
  try {
    permissions.value = await api.get('/api/permissions');
    permissionsError.value = null;
  } catch (error) {
    permissionsError.value = error;
    throw error;
  }
  return permissions.value;
}

/**
 * Saves a change to what the companion has now. Throws ApiError; `changed_meanwhile` when `version` is no longer the one
 * that the change was made on.
 * @param {{policy?: string, directories?: string[], tools?: Record<string, ToolSetting>}} change @param {any} base the permissions it was made on
 */
export async function savePermissions(change, base) {
  permissions.value = await api.put('/api/permissions', { version: base.version, policy: base.policy, directories: base.directories, tools: {}, ...change });
  permissionsError.value = null;
  return permissions.value;
}

/**
 * Saves a change that means the same whatever else was changed meanwhile.
 * @param {{policy?: string, tools?: Record<string, ToolSetting>}} change
 */
async function saveAnyway(change) {
  for (let attempt = 0; ; attempt++) {
    const base = permissions.value && attempt === 0 ? permissions.value : await loadPermissions();
    try {
      return await savePermissions(change, base);
    } catch (error) {
      if (/** @type {any} */ (error).code !== 'changed_meanwhile' || attempt === 3) throw error;
    }
  }
}

/** Saves rules that were made of those in `before`; when others were saved meanwhile, throws an error with the cause 'conflict'. @param {string[]} directories @param {string[]} before */
export async function saveDirectories(directories, before) {
  for (let attempt = 0; ; attempt++) {
    const base = attempt ? await loadPermissions() : permissions.value;
    if (attempt && textOf(base.directories) !== textOf(before)) throw new Error(t('rules.conflict'), { cause: 'conflict' });
    try {
      return await savePermissions({ directories }, base);
    } catch (error) {
      // Something else was saved meanwhile. Only when it was these rules does it matter here.
      if (/** @type {any} */ (error).code !== 'changed_meanwhile' || attempt === 3) throw error;
    }
  }
}

/** @param {string} policy */
export function savePolicy(policy) {
  return inTurn(() => saveAnyway({ policy }));
}

let queue = Promise.resolve();
/** One save after the other, so that none meets the version of another. @template T @param {() => Promise<T>} work @returns {Promise<T>} */
function inTurn(work) {
  const turn = queue.then(work);
  queue = turn.then(() => {}, () => {});
  return turn;
}

/** How a tool is set, with what was just chosen. @param {import('../types.js').ToolInfo} tool @param {Record<string, ToolSetting>} [chosen] @returns {ToolSetting} */
export function settingOf(tool, chosen = wanted.value) {
  return chosen[tool.name] ?? { mode: tool.mode || 'ask', enabled: tool.enabled !== false };
}

/** Sets tools by full name. The choice shows at once and is taken back when saving fails. @param {Record<string, ToolSetting>} change */
export function setTools(change) {
  wanted.value = { ...wanted.value, ...change };
  return inTurn(async () => {
    try {
      await saveAnyway({ tools: change });
      const before = tools.value;
      await loadTools().catch(() => {});
      // The event that follows loads them, too; until then the list must not fall back.
      if (tools.value === before) tools.value = before.map((tool) => (change[tool.name] ? { ...tool, ...change[tool.name] } : tool));
    } finally {
      const rest = { ...wanted.value };
      for (const [name, setting] of Object.entries(change)) if (rest[name] === setting) delete rest[name];
      wanted.value = rest;
    }
  });
}

/** Accepts the definition of a tool as it is now. @param {string} name */
export async function acceptTool(name) {
  await api.post(url`/api/tools/${name}/accept`);
  await loadTools();
}

/** Lets a relative rule cover the current root, too. @param {string} rule */
export async function useHere(rule) {
  permissions.value = await api.post('/api/permissions/rebase', { rule });
}

/** Takes back one remembered decision. @param {string} id */
export async function revoke(id) {
  await api.del(url`/api/permissions/grants/${id}`);
  await loadPermissions();
}

/** Takes back every remembered decision. */
export async function resetGrants() {
  await api.post('/api/permissions/reset');
  await loadPermissions();
}
