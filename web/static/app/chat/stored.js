// What the companion keeps of a conversation: its messages, its title and choices, its session.
import { batch } from '../../vendor/preact.js';
import { api, ApiError, url } from '../api.js';
import { estimate } from '../llm/context.js';
import { callSignal, isFinal, loadCall, loadConversations, sessions, setCall, setSession } from '../store.js';
import { newId, sessionOf, settleChat } from './chats.js';
import { titleOf } from './titles.js';

/** @typedef {import('./chats.js').Chat} Chat @typedef {import('../types.js').Message} Message */

const PAGE = 200;

/**
 * The newest messages, and what the companion itself recorded of the calls.
 * @param {Chat} chat @returns {Promise<boolean>} whether they are in the chat now
 */
export async function readChat(chat) {
  const { runs } = chat;
  try {
    const [head, page, recorded] = await Promise.all([
      api.get(url`/api/conversations/${chat.id}`),
      api.get(`${url`/api/conversations/${chat.id}/messages`}?limit=${PAGE}`),
      api.get(url`/api/conversations/${chat.id}/calls`).catch(() => ({ calls: [] })),
    ]);
    // This tab began to run the chat meanwhile, so what it has is newer than what came.
    if (chat.runs !== runs || chat.running.value === 'here') return false;
    batch(() => {
      chat.head.value = { title: (head.conversation ?? head).title ?? '', meta: head.meta ?? head.conversation?.meta ?? {} };
      chat.version = page.version;
      const before = chat.messages.value;
      const known = new Map(before.map((message) => [message.id, message]));
      const first = page.messages?.[0]?.seq ?? 0;
      // Older pages that are shown stay, and what did not change stays the same object, so that nothing is drawn again.
      const earlier = before.filter(({ seq }) => seq !== undefined && seq < first);
      chat.messages.value = [...earlier, ...own(page.messages).map((/** @type {Message} */ message) => (known.get(message.id)?.seq === message.seq ? known.get(message.id) ?? message : message))];
      if (!earlier.length) chat.more.value = Boolean(page.more);
      takeRecords(recorded.calls);
      chat.state.value = 'ready';
      chat.error.value = null;
    });
    return true;
  } catch (error) {
    chat.state.value = /** @type {any} */ (error).status === 404 ? 'missing' : 'error';
    chat.error.value = error;
    return false;
  }
}

/** What the companion recorded of the calls of a chat; one that it did not live to see the end of is interrupted there. @param {import('../types.js').Call[]} [calls] */
function takeRecords(calls = []) {
  for (const call of calls) {
    const known = callSignal(call.call_id).peek()?.call;
    if (!isFinal(known) || call.undone) setCall(call, { session: call.session });
    // The record has no output before the end; the call itself has.
    if (!isFinal(known) && !isFinal(call)) loadCall(call.session ?? '', call.call_id).catch(() => {});
  }
}

/** How a call ended that no session knows any more, as after a restart; null when that is not recorded. @param {Chat} chat @param {string} id @returns {Promise<import('../types.js').Call|null>} */
export async function recordOf(chat, id) {
  takeRecords((await api.get(url`/api/conversations/${chat.id}/calls`)).calls);
  const call = callSignal(id).peek()?.call;
  return call && isFinal(call) ? call : null;
}

/** Rows of ours; the companion's own records of calls come by another way. @param {Message[]} [rows] */
const own = (rows = []) => rows.filter(({ role }) => role !== 'call');

/** @param {Chat} chat @returns {Promise<boolean>} whether there were older messages */
export async function loadEarlier(chat) {
  const first = chat.messages.value.find(({ seq }) => seq !== undefined)?.seq;
  if (!chat.more.value || first === undefined) return false;
  const page = await api.get(`${url`/api/conversations/${chat.id}/messages`}?before=${first}&limit=1000`);
  batch(() => {
    chat.messages.value = [...own(page.messages), ...chat.messages.value];
    chat.more.value = Boolean(page.more) && (page.messages ?? []).length > 0;
  });
  return true;
}

/** The model needs what lies before the newest page too, back to the last summary or to what its context can hold. @param {Chat} chat @param {number} tokens */
export async function loadContext(chat, tokens) {
  while (chat.more.value && !chat.messages.value.some(({ data }) => data.kind === 'summary')
    && estimate(JSON.stringify(chat.messages.value.map(({ data }) => data))) < tokens) {
    if (!(await loadEarlier(chat))) break;
  }
}

/** Stores every message that is not stored yet, behind the last one that is. One save at a time. @param {Chat} chat */
function save(chat) {
  const next = chat.saving.catch(() => {}).then(async () => {
    for (let attempt = 0; ; attempt++) {
      const list = chat.messages.value;
      const from = list.findLastIndex(({ seq }) => seq !== undefined) + 1;
      const unsaved = list.slice(from);
      if (!unsaved.length) return;
      const after = from > 0 ? list[from - 1].seq : 0;
      try {
        const answer = await api.post(url`/api/conversations/${chat.id}/messages`, { version: chat.version, after, messages: unsaved.map(({ id, role, data }) => ({ id, role, data })) });
        chat.version = answer.version;
        const seqs = new Map(unsaved.map((message, at) => [message.id, answer.seq[at]]));
        chat.messages.value = chat.messages.value.map((message) => (seqs.has(message.id) ? { ...message, seq: seqs.get(message.id) } : message));
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'changed_meanwhile' || attempt > 1) throw error;
        // Only the tab that runs the conversation writes, so the list here is right and only the version is old.
        chat.version = (await api.get(url`/api/conversations/${chat.id}`)).version ?? chat.version;
      }
    }
  });
  chat.saving = next;
  return next;
}

/** @param {Chat} chat @param {Omit<Message, 'seq'>[]} messages */
export function append(chat, messages) {
  const created = new Date().toISOString();
  chat.messages.value = [...chat.messages.value, ...messages.map((message) => ({ created, ...message }))];
  return save(chat);
}

/** Said only while the page goes away: a request that outlives it. */
const LAST_BYTES = 60_000;

/**
 * Keeps what a model has said so far behind the last stored message, where the whole answer will take its place.
 * Without it a reload or a crash would lose what a person has already read. `leaving`: the page goes away now.
 * @param {Chat} chat @param {import('../types.js').MessageData} data @param {boolean} [leaving]
 */
export function keepPartial(chat, data, leaving = false) {
  const message = { id: newId('m'), role: 'assistant', data: { ...data, partial: true } };
  const post = (/** @type {boolean} */ keepalive) => {
    const after = chat.messages.peek().findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
    return api.post(url`/api/conversations/${chat.id}/messages`, { version: chat.version, after, messages: [message] }, { keepalive });
  };
  if (leaving) {
    if (JSON.stringify(message).length < LAST_BYTES) post(true).catch(() => {});
    return;
  }
  chat.saving = chat.saving.catch(() => {}).then(async () => {
    // What ended meanwhile is stored whole, and nothing may be put in its place.
    if (chat.live.peek()?.phase === 'model') chat.version = (await post(false)).version;
  }).catch(() => {});
}

/** Makes the chat exist at the companion. @param {Chat} chat @param {string} words what it begins with @param {boolean} [forNow] its first text names it anew */
export async function ensureStored(chat, words, forNow = false) {
  if (chat.id) return;
  const named = titleOf(words);
  const head = { title: named, meta: { ...chat.head.value.meta, ...(forNow ? { title_for_now: named } : {}) } };
  const answer = await api.post('/api/conversations', head);
  const { id } = answer.conversation ?? answer;
  chat.id = id;
  chat.version = (answer.conversation ?? answer).version ?? 0;
  chat.head.value = head;
  chat.state.value = 'ready';
  settleChat(chat);
  await api.get(url`/api/conversations/${id}`).then((head) => {
    chat.version = head.version ?? chat.version;
  }, () => {});
  loadConversations().catch(() => {});
}

/** A chat that began with a file is named by its first text, unless a person has named it. @param {Chat} chat @param {string} text */
export async function nameByText(chat, text) {
  const { title, meta: { title_for_now: forNow, ...meta } } = chat.head.value;
  if (forNow === undefined || !text.trim()) return;
  const named = title === forNow ? titleOf(text) : title;
  await api.patch(url`/api/conversations/${chat.id}`, { title: named, meta });
  chat.head.value = { title: named, meta };
}

/** @param {Chat} chat @param {any} meta what changes */
export async function setMeta(chat, meta) {
  chat.head.value = { ...chat.head.value, meta: { ...chat.head.value.meta, ...meta } };
  if (chat.id) await api.patch(url`/api/conversations/${chat.id}`, { meta: chat.head.value.meta });
}

/** @param {Chat} chat @param {boolean} [again] the old one is gone */
export async function ensureSession(chat, again = false) {
  const known = again ? null : sessionOf(chat);
  if (known?.tools) return known;
  if (known) {
    const full = await api.get(url`/api/sessions/${known.id}`).catch(() => null);
    if (full) {
      setSession(full.session ?? full);
      return full.session ?? full;
    }
  }
  const answer = await api.post('/api/sessions', { conversation: chat.id, ...(chat.head.value.meta?.agent ? { agent: chat.head.value.meta.agent } : {}) });
  const session = { conversation: chat.id, ...(answer.session ?? answer) };
  setSession(session);
  return session;
}

/** Ends the session, so that the next message starts one with the folder, agent and tools of now. @param {Chat} chat */
export async function renewSession(chat) {
  const session = sessionOf(chat);
  if (!session) return;
  await api.del(url`/api/sessions/${session.id}`).catch(() => {});
  const { [session.id]: gone, ...rest } = sessions.value;
  if (gone) sessions.value = rest;
}

/** @param {string} title @param {any} meta @param {Message[]} messages @returns {Promise<string>} */
export async function copyConversation(title, meta, messages) {
  const answer = await api.post('/api/conversations', { title, meta });
  const { id } = answer.conversation ?? answer;
  let { version } = await api.get(url`/api/conversations/${id}`);
  let after = 0;
  for (let at = 0; at < messages.length; at += 200) {
    const page = messages.slice(at, at + 200).map(({ role, data }) => ({ id: newId('m'), role, data }));
    const saved = await api.post(url`/api/conversations/${id}/messages`, { version: version ?? 0, after, messages: page });
    version = saved.version;
    after = saved.seq.at(-1);
  }
  loadConversations().catch(() => {});
  return id;
}
