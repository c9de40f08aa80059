// Runs conversations: one tab at a time for each, held by a Web Lock; another takes over what a reload or a closed tab left half-way.
import { batch } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { t } from '../i18n/index.js';
import { contextOf } from '../llm/context.js';
import { openCalls, runLoop, unfinished } from '../llm/loop.js';
import { approvals, callSignal, isFinal, loadApprovals, loadCall, onFinished, onResync, resolved, setCall, ticks } from '../store.js';
import { announce } from '../ui.js';
import { chats, newId, profileOf, sessionOf } from './chats.js';
import { streamOf, textOnly } from './models.js';
import { append, ensureSession, keepPartial, loadContext, readChat } from './stored.js';

/** @typedef {import('./chats.js').Chat} Chat @typedef {import('../types.js').Call} Call */

/** A conversation that stopped half-way goes on by itself when its last message is no older than this. */
const TAKE_OVER_MS = 15 * 60_000;

/** What streams is kept at the companion this often. */
const KEEP_MS = 2_000;

const talk = typeof document === 'undefined' ? null : new BroadcastChannel('zc-chats');

/** Reads a chat anew, and goes on with it when it was left half-way. @param {Chat} chat @param {boolean} [followed] the tab that ran it is gone, and this one watched */
export async function load(chat, followed = false) {
  if (await readChat(chat)) await takeOver(chat, followed);
}

/** Stops at once, in whichever tab it runs. @param {Chat} chat */
export function stop(chat) {
  chat.abort?.abort();
  if (chat.running.value === 'elsewhere') talk?.postMessage({ type: 'stop', id: chat.id });
}

/** Calls wait for their end by event; a look now and then catches what an event missed. @param {() => string} session @param {string} id @param {AbortSignal} signal @returns {Promise<Call|null>} */
async function awaitCall(session, id, signal) {
  const first = await loadCall(session(), id);
  if (!first) return isFinal(callSignal(id).value?.call) ? callSignal(id).value?.call ?? null : null;
  if (isFinal(first)) return first;
  return new Promise((resolve, reject) => {
    const look = () => loadCall(session(), id).then((call) => {
      if (!call) finish(null);
      else if (isFinal(call)) finish(call);
    }, () => {});
    const timer = setInterval(look, 15_000);
    // The tab that reads the events may stand still; this one started the call and must show its question all the same.
    const early = setTimeout(() => loadCall(session(), id).then((call) => {
      if (call?.status === 'waiting' && !approvals.peek().some((one) => one.call_id === id)) return loadApprovals();
      if (call && isFinal(call)) finish(call);
      return undefined;
    }).catch(() => {}), 1_000);
    const offResync = onResync(look);
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
    signal.addEventListener('abort', aborted);
  });
}

/**
 * Runs a conversation in this tab, if no other does. @param {Chat} chat @param {() => Promise<void>} before changes to make once the lock is held
 */
export async function run(chat, before) {
  chat.error.value = null;
  chat.runs++;
  // Said at once, so that a second Enter or an early look finds the chat busy.
  chat.running.value = 'here';
  await navigator.locks.request(`zc-loop-${chat.id}`, { ifAvailable: true }, async (lock) => {
    if (!lock) {
      chat.error.value = new Error(t('chat.elsewhere'));
      chat.running.value = 'elsewhere';
      follow(chat);
      return;
    }
    await runHere(chat, before);
  });
}

/** @param {Chat} chat @param {() => Promise<void>} before */
async function runHere(chat, before) {
  chat.runs++;
  chat.abort = new AbortController();
  const { signal: abort } = chat.abort;
  chat.running.value = 'here';
  const profile = profileOf(chat);
  const key = `${profile.id} ${profile.model}`;
  // “Stop” on a question ends the call and the turn, whichever tab it was pressed in.
  const offStop = resolved.subscribe((ends) => {
    const mine = new Set(openCalls(chat.messages.peek()).map((call) => call.call_id));
    if (Object.values(ends).some((end) => end.decision === 'stop' && end.call_id && mine.has(end.call_id))) chat.abort?.abort();
  });
  let sessionId = '';
  let lastShown = 0;
  /** @type {import('../llm/loop.js').Live|null} what streams now */
  let said = null;
  let kept = '';
  const keep = (/** @type {boolean} */ leaving) => {
    const { text = '', reasoning = '' } = said ?? {};
    if (!(text || reasoning) || (kept === text + reasoning && !leaving)) return;
    kept = text + reasoning;
    keepPartial(chat, { text, reasoning: reasoning || undefined, profile: profile.id, model: profile.model }, leaving);
  };
  const leaving = () => keep(true);
  const keeping = setInterval(() => keep(false), KEEP_MS);
  globalThis.addEventListener('pagehide', leaving);
  try {
    await before();
    const context = contextOf(profile);
    await loadContext(chat, context);
    const end = await runLoop({
      history: () => chat.messages.peek(),
      append: (messages) => append(chat, messages),
      stream: (request, signal, waiting) => streamOf(chat, profile, request, signal, waiting),
      turn: async (message) => {
        try {
          const session = await ensureSession(chat);
          sessionId = session.id;
          return await api.post(url`/api/sessions/${session.id}/turns`, { message });
        } catch (error) {
          if (/** @type {any} */ (error).status !== 404) throw error;
          sessionId = (await ensureSession(chat, true)).id;
          return api.post(url`/api/sessions/${sessionId}/turns`, { message });
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
        if (!session) return isFinal(known?.call) ? known?.call ?? null : null;
        return awaitCall(() => session, id, signal);
      },
      cancelCall: async (id) => {
        const session = callSignal(id).value?.session || sessionId;
        if (session) await api.del(url`/api/sessions/${session}/calls/${id}`);
      },
      show: (live) => {
        chat.live.value = live;
        const now = Date.now();
        said = live?.phase === 'model' ? live : null;
        if (!live || now - lastShown > 200) {
          lastShown = now;
          talk?.postMessage({ type: 'live', id: chat.id, live });
        }
      },
      newId,
      profile: { id: profile.id, model: profile.model, context, text_tools: profile.native_tools === false || textOnly.has(key), compacts: profile.kind !== 'mirror' },
      textToolsNeeded: () => textOnly.add(key),
    }, abort);
    announce(t(end === 'done' ? 'chat.finished' : `chat.end_${end}`));
  } catch (error) {
    chat.error.value = error;
  } finally {
    offStop();
    clearInterval(keeping);
    globalThis.removeEventListener('pagehide', leaving);
    chat.abort = null;
    batch(() => {
      chat.live.value = null;
      chat.running.value = 'idle';
    });
    talk?.postMessage({ type: 'ended', id: chat.id });
  }
}

/**
 * Goes on with a conversation that another tab or a reload left half-way; waits while another tab runs it.
 * An answer that broke off is gone on with only where it was watched: elsewhere a person decides whether it is worth asking again.
 * @param {Chat} chat @param {boolean} followed
 */
async function takeOver(chat, followed) {
  if (chat.running.value === 'here' || chat.waitingForLock) return;
  const { runs } = chat;
  const held = await navigator.locks.query();
  if (chat.runs !== runs) return;
  if (held.held?.some(({ name }) => name === `zc-loop-${chat.id}`)) {
    chat.running.value = 'elsewhere';
    follow(chat);
    return;
  }
  const last = chat.messages.value.at(-1);
  if (!(unfinished(chat.messages.value) || (followed && last?.data.partial)) || Date.now() - new Date(last?.created ?? 0).getTime() > TAKE_OVER_MS) return;
  await navigator.locks.request(`zc-loop-${chat.id}`, { ifAvailable: true }, (lock) => (lock ? runHere(chat, async () => {}) : undefined));
}

/** Waits for the tab that runs a conversation to let go, then looks at what it left. @param {Chat} chat */
async function follow(chat) {
  if (chat.waitingForLock) return;
  chat.waitingForLock = true;
  await navigator.locks.request(`zc-loop-${chat.id}`, async () => {});
  chat.waitingForLock = false;
  if (chat.running.value === 'elsewhere') chat.running.value = 'idle';
  chat.live.value = null;
  if (chats.has(chat.id)) await load(chat, true);
}

talk?.addEventListener('message', ({ data }) => {
  const chat = chats.get(data?.id);
  if (!chat) return;
  if (data.type === 'stop') chat.abort?.abort();
  else if (data.type === 'live' && chat.running.value !== 'here') {
    if (chat.running.value === 'idle') {
      chat.running.value = 'elsewhere';
      follow(chat);
    }
    chat.live.value = data.live;
  }
});

/** Counts of `messages:ID` seen, so that only what changed is loaded again. @type {Record<string, number>} */
const seen = {};
ticks.subscribe((counts) => {
  for (const [id, chat] of chats) {
    const count = counts[`messages:${id}`] ?? 0;
    if (count === (seen[id] ?? 0)) continue;
    seen[id] = count;
    if (chat.running.peek() !== 'here' && chat.state.peek() === 'ready') load(chat);
  }
});
onResync(() => {
  for (const chat of chats.values()) if (chat.running.peek() !== 'here') load(chat);
});
