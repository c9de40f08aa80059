// The services and the configured servers. Answers and events overtake each other; of both the newer counts.
import { batch, signal } from '../vendor/preact.js';
import { api } from './api.js';

/** GET /api/services by id. */
export const services = signal(/** @type {Record<string, any>} */ ({}));
/** GET /api/servers: the configured servers in the order of the file; null until they came. */
export const servers = signal(/** @type {any[]|null} */ (null));
/** Whether configured servers are used at all. */
export const mcpEnabled = signal(true);

/** What went while a list is on its way, one set for each list awaited. @type {Set<Set<string>>} */
const awaited = new Set();

/** A list, and the ids that events said were gone since it was asked for: the list may still hold them. @param {string} path @returns {Promise<{answer: any, gone: Set<string>}>} */
async function getWatched(path) {
  const gone = /** @type {Set<string>} */ (new Set());
  awaited.add(gone);
  try {
    return { answer: await api.get(path), gone };
  } finally {
    awaited.delete(gone);
  }
}

let loadingServices = 0;
/** What came or went by event meanwhile is newer than the list. */
export async function loadServices() {
  const turn = ++loadingServices;
  const before = services.peek();
  const { answer, gone } = await getWatched('/api/services');
  if (turn !== loadingServices) return;
  const came = Object.entries(services.peek()).filter(([id]) => !before[id]);
  const listed = (answer.services ?? []).filter((/** @type {any} */ { id }) => !gone.has(id)).map((/** @type {any} */ service) => [service.id, newerService(service)]);
  services.value = Object.fromEntries([...listed, ...came.filter(([id]) => !listed.some((/** @type {any} */ [one]) => one === id))]);
}

/** The newer of what is known of a service and what came: answers and events overtake each other. @param {any} fresh */
function newerService(fresh) {
  const known = services.value[fresh.id];
  return known?.rev > fresh.rev ? known : fresh;
}

/** What GET /api/servers says of a server and an event does not; a status that comes alone leaves it. */
const BESIDE = ['name', 'enabled'];

/** @param {any} known @param {any} fresh */
function newerServer(known, fresh) {
  if (!known) return fresh;
  const beside = Object.fromEntries(BESIDE.filter((key) => key in fresh || key in known).map((key) => [key, key in fresh ? fresh[key] : known[key]]));
  return { ...(known.rev > fresh.rev ? known : fresh), ...beside };
}

/** A status of one configured server; one that is not listed yet is loaded with the others. @param {any} fresh */
export function mergeServer(fresh) {
  const list = servers.value ?? [];
  if (list.some(({ id }) => id === fresh.id)) servers.value = list.map((one) => (one.id === fresh.id ? newerServer(one, fresh) : one));
  else loadServers().catch(() => {}); // loaded anew with the next connection
}

let loadingServers = 0;
export async function loadServers() {
  const turn = ++loadingServers;
  const { answer, gone } = await getWatched('/api/servers');
  if (turn !== loadingServers) return;
  const known = new Map((servers.peek() ?? []).map((one) => [one.id, one]));
  batch(() => {
    mcpEnabled.value = answer.mcp_enabled !== false;
    servers.value = (answer.servers ?? []).map((/** @type {any} */ one) => ({ id: one.name, ...one })).filter((/** @type {any} */ { id }) => !gone.has(id)).map((/** @type {any} */ one) => newerServer(known.get(one.id), one));
  });
}

/** A status that came by event, of a service or of a configured server. @param {any} fresh */
export function setServiceState(fresh) {
  for (const gone of awaited) gone.delete(fresh.id);
  if (fresh.origin === 'server') mergeServer(fresh);
  else services.value = { ...services.value, [fresh.id]: newerService(fresh) };
}

/** An event said that a service or a server is gone. @param {string} id */
export function dropService(id) {
  for (const gone of awaited) gone.add(id);
  const { [id]: gone, ...rest } = services.value;
  if (gone) services.value = rest;
  if (servers.value?.some((one) => one.id === id)) servers.value = servers.value.filter((one) => one.id !== id);
}

/** Revisions count within one run of the companion, and a new connection may be to the next. */
export function forgetRevisions() {
  services.value = Object.fromEntries(Object.entries(services.value).map(([id, { rev, ...rest }]) => [id, rest]));
  servers.value = servers.value?.map(({ rev, ...rest }) => rest) ?? null;
}
