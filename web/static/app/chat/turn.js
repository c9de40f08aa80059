// What the loop of a conversation needs from outside: its model, the companion's calls, the store, the screen.
import { api, url } from '../api.js';
import { contextOf } from '../llm/context.js';
import { approvals, callSignal, isFinal, loadApprovals, loadCall, onFinished, onResync, setCall } from '../store.js';
import { newId, profileOf, sessionOf } from './chats.js';
import { streamOf, textOnly } from './models.js';
import { append, ensureSession, keepPartial, recordOf } from './stored.js';

/** @typedef {import('./chats.js').Chat} Chat @typedef {import('../types.js').Call} Call @typedef {import('../llm/loop.js').Live} Live @typedef {import('../llm/loop.js').Deps} Deps */

/** What streams is kept at the companion this often. */
const KEEP_MS = 2_000;
/** Other tabs are shown what streams this often. */
const SHOW_MS = 200;

/** Calls wait for their end by event; a look now and then catches what an event missed. @param {Chat} chat @param {string} session @param {string} id @param {AbortSignal} signal @returns {Promise<Call|null>} */
async function awaitCall(chat, session, id, signal) {
  const first = await loadCall(session, id);
  if (!first) return recordOf(chat, id);
  if (isFinal(first)) return first;
  return new Promise((resolve, reject) => {
    const look = async () => {
      const call = await loadCall(session, id);
      if (!call) finish(await recordOf(chat, id));
      else if (isFinal(call)) finish(call);
    };
    const lookAgain = () => look().catch(() => {}); // the next look, or the next connection, tells
    const timer = setInterval(lookAgain, 15_000);
    // The tab that reads the events may stand still; this one started the call and must show its question all the same.
    const early = setTimeout(() => loadCall(session, id).then((call) => {
      if (call?.status === 'waiting' && !approvals.peek().some((one) => one.call_id === id)) return loadApprovals();
      if (call && isFinal(call)) finish(call);
      return undefined;
    }).catch(() => {}), 1_000);
    const offResync = onResync(lookAgain);
    const off = onFinished((call) => {
      if (call.call_id === id) finish(callSignal(id).value?.call ?? call);
    });
    // After Stop the call still ends by itself, killed; it is given a moment to say so.
    const aborted = () => setTimeout(() => fail(new DOMException('stopped', 'AbortError')), 8_000);
    const release = () => {
      clearInterval(timer);
      clearTimeout(early);
      offResync();
      off();
      signal.removeEventListener('abort', aborted);
    };
    /** @param {Call|null} call */
    const finish = (call) => {
      release();
      resolve(call);
    };
    /** @param {any} error */
    const fail = (error) => {
      release();
      reject(error);
    };
    if (signal.aborted) aborted();
    else signal.addEventListener('abort', aborted);
  });
}

/**
 * Keeps what streams, so that neither a reload nor a crash takes it along.
 * @param {Chat} chat @param {{profile: string, model: string}} by @returns {{saw: (live: Live|null) => void, end: () => void}}
 */
function keeper(chat, by) {
  /** @type {Live|null} */
  let streams = null;
  let kept = '';
  const keep = (/** @type {boolean} */ leaving) => {
    const { text = '', reasoning = '' } = streams ?? {};
    if (!(text || reasoning) || (kept === text + reasoning && !leaving)) return;
    kept = text + reasoning;
    keepPartial(chat, { text, reasoning: reasoning || undefined, ...by }, leaving);
  };
  const leave = () => keep(true);
  const timer = setInterval(() => keep(false), KEEP_MS);
  globalThis.addEventListener('pagehide', leave);
  return {
    saw: (live) => {
      streams = live?.phase === 'model' ? live : null;
    },
    end: () => {
      clearInterval(timer);
      globalThis.removeEventListener('pagehide', leave);
    },
  };
}

/** @param {Chat} chat @param {(live: Live|null) => void} showOthers @returns {{deps: Deps, end: () => void}} `end` lets go of what runs beside the loop */
export function turnOf(chat, showOthers) {
  const profile = profileOf(chat);
  const key = `${profile.id} ${profile.model}`;
  const keeping = keeper(chat, { profile: profile.id, model: profile.model });
  let sessionId = '';
  let lastShown = 0;
  /** @type {Deps} */
  const deps = {
    history: () => chat.messages.peek(),
    append: (messages) => append(chat, messages),
    stream: (request, signal, waiting) => streamOf(chat, profile, request, signal, waiting),
    turn: async (message) => {
      const ask = async (/** @type {boolean} */ again) => {
        sessionId = (await ensureSession(chat, again)).id;
        return api.post(url`/api/sessions/${sessionId}/turns`, { message });
      };
      try {
        return await ask(false);
      } catch (error) {
        if (/** @type {any} */ (error).status !== 404) throw error;
        return ask(true);
      }
    },
    asked: (call) => setCall({ call_id: call.call_id, tool: call.tool, status: 'running', arguments: call.arguments }, { session: sessionId, conversation: chat.id, seen: Date.now() }),
    startCall: async (call) => {
      if (!sessionId) sessionId = (await ensureSession(chat)).id;
      try {
        await api.post(url`/api/sessions/${sessionId}/calls`, call, { headers: { Prefer: 'respond-async' } });
      } catch (error) {
        setCall({ call_id: call.call_id, tool: call.tool, status: 'error', is_error: true, reason: String(/** @type {any} */ (error).message) });
        throw error;
      }
    },
    awaitCall: async (id, signal) => {
      const known = callSignal(id).value;
      const session = known?.session || sessionId || sessionOf(chat)?.id || '';
      return session ? awaitCall(chat, session, id, signal) : recordOf(chat, id);
    },
    cancelCall: async (id) => {
      const session = callSignal(id).value?.session || sessionId;
      if (session) await api.del(url`/api/sessions/${session}/calls/${id}`);
    },
    show: (live) => {
      chat.live.value = live;
      keeping.saw(live);
      const now = Date.now();
      if (live && now - lastShown < SHOW_MS) return;
      lastShown = now;
      showOthers(live);
    },
    newId,
    profile: { id: profile.id, model: profile.model, context: contextOf(profile), text_tools: profile.native_tools === false || textOnly.has(key), compacts: profile.kind !== 'mirror' },
    textToolsNeeded: () => textOnly.add(key),
  };
  return { deps, end: keeping.end };
}
