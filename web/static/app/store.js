// The state that views share. Signals here change only in the named functions below; views read `.value`.
import { batch, computed, signal } from '../vendor/preact.js';
import { api, url } from './api.js';
import { callSignal, isFinal, loadCall, setCall, setOutput } from './store-calls.js';
import { dropService, forgetRevisions, loadServers, loadServices, setServiceState } from './store-servers.js';

export { clock, runClock } from './clock.js';
export { callSignal, isFinal, loadCall, onFinished, setCall } from './store-calls.js';
export { loadServers, loadServices, mcpEnabled, mergeServer, servers, services } from './store-servers.js';

/** @typedef {import('./types.js').Call} Call @typedef {import('./types.js').Approval} Approval @typedef {import('./types.js').ToolInfo} ToolInfo
 * @typedef {import('./types.js').Conversation} Conversation @typedef {import('./types.js').Profile} Profile @typedef {import('./types.js').Session} Session */

/** Link to the companion: the events' state. */
export const connection = signal(/** @type {'connecting'|'connected'|'lost'|'unpaired'} */ ('connecting'));
/** GET /api/status, null until it came. */
export const status = signal(/** @type {any} */ (null));
export const root = computed(() => String(status.value?.root ?? ''));
/** Every known tool, from GET /api/tools. */
export const tools = signal(/** @type {ToolInfo[]} */ ([]));
/** GET /api/agents, null until it came. */
export const agents = signal(/** @type {import('./types.js').Agents|null} */ (null));
/** Questions that wait for a person, oldest first. */
export const approvals = signal(/** @type {Approval[]} */ ([]));
/** How a question ended, by its id: what a card that this or another tab answered says. */
export const resolved = signal(/** @type {Record<string, {decision: string, by: string, outcome: string, reason?: string, mine?: boolean, call_id?: string}>} */ ({}));
export const conversations = signal(/** @type {Conversation[]} */ ([]));
export const moreConversations = signal('');
/** Model profiles; Mirror is always the first. */
export const profiles = signal(/** @type {Profile[]} */ ([]));
/** What a new session of an agent would reach, by the agent's name; loaded by the views that show it. */
export const reaches = signal(/** @type {Record<string, {tools: ToolInfo[], warnings: import('./types.js').Warning[]}>} */ ({}));
/** Sessions by id, with their tools. */
export const sessions = signal(/** @type {Record<string, Session>} */ ({}));
/** Count up whenever something must be loaded again: permissions, config, tokens, conversations, messages:ID. */
export const ticks = signal(/** @type {Record<string, number>} */ ({}));

/** @type {Set<(id: string, lines: any[]) => void>} */
const logListeners = new Set();
/** @type {Set<() => void>} */
const resyncListeners = new Set();

/** @param {string} name */
export function tick(name) {
  ticks.value = { ...ticks.value, [name]: (ticks.value[name] ?? 0) + 1 };
}

/** Lines of services as they come; answers a function that stops it. @param {(id: string, lines: any[]) => void} listen @returns {() => void} */
export function onLog(listen) {
  logListeners.add(listen);
  return () => logListeners.delete(listen);
}

/** After a gap in the events; answers a function that stops it. @param {() => void} listen @returns {() => void} */
export function onResync(listen) {
  resyncListeners.add(listen);
  return () => resyncListeners.delete(listen);
}

/** @param {typeof connection.value} state */
export function setConnection(state) {
  connection.value = state;
}

/** Many changes in a row are one reason to load the list again. @type {ReturnType<typeof setTimeout>|undefined} */
let conversationsSoon;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let configSoon;

/** One event of the companion. @param {string} kind @param {any} data */
export function applyEvent(kind, data) {
  batch(() => {
    switch (kind) {
      case 'hello':
        forgetRevisions();
      // falls through: everything is loaded anew
      case 'resync':
        loadShared();
        if (kind === 'resync') tick('tools');
        tick('tokens');
        for (const listen of resyncListeners) listen();
        break;
      case 'call.started':
        setCall({ ...data.call, session: data.session }, { arguments: data.arguments, session: data.session, conversation: data.conversation, seen: Date.now() });
        break;
      case 'call.output':
        setOutput(data.call_id, [...(callSignal(data.call_id).peek()?.output ?? []), { stream: data.stream, text: data.text, at: data.at }]);
        break;
      case 'call.progress': {
        const entry = callSignal(data.call_id);
        if (entry.value) entry.value = { ...entry.value, progress: data };
        break;
      }
      case 'call.finished':
        if (data.call.partial) loadCall(data.session, data.call.call_id);
        else setCall({ ...data.call, session: data.session }, { session: data.session, conversation: data.conversation });
        dropApprovalsOf(data.call.call_id);
        break;
      case 'question.asked':
        addApproval(data.approval);
        break;
      case 'question.resolved':
        resolveApproval(data);
        break;
      case 'session.opened':
        if (!sessions.value[data.session.id]) sessions.value = { ...sessions.value, [data.session.id]: data.session };
        break;
      case 'session.closed': {
        const { [data.id]: gone, ...rest } = sessions.value;
        if (gone) sessions.value = rest;
        break;
      }
      case 'service.state':
        setServiceState(data.service);
        break;
      case 'service.gone':
        dropService(data.id);
        break;
      case 'service.log':
        for (const listen of logListeners) listen(data.id, data.lines);
        break;
      case 'tools.changed':
        loadTools().catch(() => {}); // loaded anew with the next connection
        tick('tools');
        break;
      case 'permissions.changed':
        loadTools().catch(() => {}); // loaded anew with the next connection
        tick('permissions');
        break;
      case 'config.changed':
        tick('config');
        configSoon ||= setTimeout(() => {
          configSoon = undefined;
          // What is to happen with a tool stands in the configuration, too.
          Promise.allSettled([loadProblems(), loadServers(), loadAgents(), loadTools()]);
        }, 100);
        break;
      case 'tokens.changed':
        tick('tokens');
        break;
      case 'conversations.changed':
        tick('conversations');
        if (data?.id) tick(`messages:${data.id}`);
        conversationsSoon ||= setTimeout(() => {
          conversationsSoon = undefined;
          loadConversations().catch(() => {});
        }, 150);
        break;
      case 'root.changed':
        if (status.value) status.value = { ...status.value, root: data.root };
        tick('permissions');
        break;
    }
  });
}

/** @param {Approval} approval */
function addApproval(approval) {
  if (resolved.value[approval.id] || approvals.value.some(({ id }) => id === approval.id)) return;
  approvals.value = [...approvals.value, approval];
  const entry = approval.call_id ? callSignal(approval.call_id) : null;
  if (entry?.value && !isFinal(entry.value.call)) entry.value = { ...entry.value, call: { ...entry.value.call, status: 'waiting' } };
}

/** @param {{id: string, call_id?: string, decision: string, by: string, outcome: string, reason?: string}} end */
function resolveApproval(end) {
  const before = resolved.value[end.id];
  resolved.value = { ...resolved.value, [end.id]: { ...end, mine: before?.mine } };
  approvals.value = approvals.value.filter(({ id }) => id !== end.id);
  const entry = end.call_id ? callSignal(end.call_id) : null;
  if (entry?.value?.call.status === 'waiting') entry.value = { ...entry.value, since: Date.now(), call: { ...entry.value.call, status: 'running' } };
}

/** @param {string} callId */
function dropApprovalsOf(callId) {
  if (approvals.value.some(({ call_id }) => call_id === callId)) approvals.value = approvals.value.filter(({ call_id }) => call_id !== callId);
}

/**
 * Answers a question. Throws ApiError: already_answered, expired, or the network.
 * @param {Approval} approval @param {string} decision @param {{reason?: string, rule?: string, content?: any}} [more]
 */
export async function answer(approval, decision, more = {}) {
  // Said at once: from the press on, what moves under the pointer is guarded against a second one.
  resolved.value = { ...resolved.value };
  try {
    await api.post(url`/api/approvals/${approval.id}`, { decision, ...more });
  } catch (error) {
    const { code } = /** @type {any} */ (error);
    if (code === 'already_answered' || code === 'expired' || code === 'unknown_question') await loadApprovals().catch(() => {});
    throw error;
  }
  batch(() => resolveApproval({ id: approval.id, call_id: approval.call_id, decision, by: 'page', outcome: 'answered', reason: more.reason }));
  resolved.value = { ...resolved.value, [approval.id]: { ...resolved.value[approval.id], mine: true } };
}

/** Asks for everything that all views need. Errors show in `connection`; the next hello asks again. */
export async function loadShared() {
  await Promise.allSettled([loadStatus(), loadApprovals(), loadTools(), loadServices(), loadServers(), loadAgents(), loadConversations(), loadSessions()]);
}

export async function loadStatus() {
  status.value = await api.get('/api/status');
}

/** What is wrong changes with the configuration; whether this is the first run is decided when the page opens. */
async function loadProblems() {
  const { problems } = await api.get('/api/status');
  patchStatus({ problems });
}

/** What events told while the list was on its way is newer than the list. */
export async function loadApprovals() {
  const before = new Set(approvals.peek().map(({ id }) => id));
  const list = /** @type {Approval[]} */ ((await api.get('/api/approvals')).approvals ?? []).filter(({ id }) => !resolved.peek()[id]);
  const listed = new Set(list.map(({ id }) => id));
  approvals.value = [...list, ...approvals.peek().filter(({ id }) => !before.has(id) && !listed.has(id))];
}

let loadingTools = 0;
export async function loadTools() {
  const turn = ++loadingTools;
  const { tools: list } = await api.get('/api/tools');
  if (turn === loadingTools) tools.value = list ?? [];
}

let loadingAgents = 0;
export async function loadAgents() {
  const turn = ++loadingAgents;
  const answer = await api.get('/api/agents');
  if (turn === loadingAgents) agents.value = answer;
}

/** As with the questions, what was opened or closed meanwhile is newer than the list. */
export async function loadSessions() {
  const before = sessions.peek();
  const list = /** @type {Session[]} */ ((await api.get('/api/sessions')).sessions ?? []);
  const known = sessions.peek();
  const opened = Object.entries(known).filter(([id]) => !before[id]);
  // The list has no tools, and of the remarks not those about tools.
  const listed = list.filter(({ id }) => known[id] || !before[id]).map((session) => [session.id, { ...session, ...(known[session.id]?.tools ? known[session.id] : {}) }]);
  sessions.value = Object.fromEntries([...opened, ...listed]);
}

/** How often each session, each agent was asked for: the last answer counts. @type {Map<string, number>} */
const loadingOne = new Map();
/** @param {string} key @returns {() => boolean} whether nothing was asked for since */
function turnOf(key) {
  const turn = (loadingOne.get(key) ?? 0) + 1;
  loadingOne.set(key, turn);
  return () => loadingOne.get(key) === turn;
}

/** The tools and remarks of a session, as they are now. @param {string} id */
export async function loadSession(id) {
  const newest = turnOf(`session ${id}`);
  try {
    const answer = await api.get(url`/api/sessions/${id}`);
    const known = sessions.peek()[id];
    // One that was closed meanwhile does not come back.
    if (known && newest()) setSession({ ...known, ...(answer.session ?? answer) });
  } catch (error) {
    if (/** @type {any} */ (error).status !== 404) throw error;
  }
}

/** What a new session of an agent would reach: nothing when the agent is gone. @param {string} agent */
export async function loadReach(agent) {
  const newest = turnOf(`agent ${agent}`);
  const answer = await api.get(url`/api/agents/${agent}`).catch((error) => {
    if (error.status !== 404) throw error;
    return {};
  });
  if (newest()) reaches.value = { ...reaches.value, [agent]: { tools: answer.tools ?? [], warnings: answer.warnings ?? [] } };
}

/** @param {Session} session */
export function setSession(session) {
  sessions.value = { ...sessions.value, [session.id]: session };
}

let loadingConversations = 0;
/** The newest page of conversations, or with `more` the next one. @param {boolean} [more] */
export async function loadConversations(more = false) {
  const turn = ++loadingConversations;
  const before = more ? moreConversations.value : '';
  const answer = await api.get(`/api/conversations?limit=50${before ? `&before=${encodeURIComponent(before)}` : ''}`);
  if (turn !== loadingConversations) return;
  conversations.value = more ? [...conversations.value, ...(answer.conversations ?? [])] : answer.conversations ?? [];
  moreConversations.value = answer.next ?? '';
}

/** @param {Profile[]} list */
export function setProfiles(list) {
  profiles.value = list;
}

/** @param {any} next */
export function patchStatus(next) {
  status.value = { ...status.value, ...next };
}
