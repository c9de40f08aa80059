// One open conversation: its messages, its session, and the loop that runs it. Signals change only in here.
import { batch, signal } from '../../vendor/preact.js';
import { api, ApiError, request, url } from '../api.js';
import { t } from '../i18n/index.js';
import { contextOf, estimate, modelMessages } from '../llm/context.js';
import { openCalls, runLoop, unfinished } from '../llm/loop.js';
import { mirrorProfile } from '../llm/profiles.js';
import { withSlot } from '../llm/slots.js';
import { parseToolText } from '../llm/toolline.js';
import { callSignal, isFinal, loadCall, loadConversations, onFinished, onResync, profiles, resolved, sessions, setCall, setSession, ticks } from '../store.js';
import { announce } from '../ui.js';

/** @typedef {import('../types.js').Message} Message @typedef {import('../types.js').Call} Call @typedef {import('../types.js').StoredFile} StoredFile @typedef {import('../types.js').Profile} Profile @typedef {import('../llm/loop.js').Live} Live */

/** A conversation that stopped half-way goes on by itself when its last message is no older than this. */
const TAKE_OVER_MS = 15 * 60_000;
const PAGE = 200;

/** @param {string} prefix */
export const newId = (prefix) => `${prefix}_${[...crypto.getRandomValues(new Uint8Array(10))].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;

/**
 * @typedef {object} Chat
 * @property {string} id '' until the first message is sent
 * @property {import('../../vendor/preact.js').Signal<Message[]>} messages
 * @property {import('../../vendor/preact.js').Signal<boolean>} more older messages are stored
 * @property {import('../../vendor/preact.js').Signal<'new'|'loading'|'ready'|'missing'|'error'>} state
 * @property {import('../../vendor/preact.js').Signal<any>} error what went wrong last; stays until the next try
 * @property {import('../../vendor/preact.js').Signal<{title: string, meta: any}>} head
 * @property {import('../../vendor/preact.js').Signal<Live|null>} live
 * @property {import('../../vendor/preact.js').Signal<'idle'|'here'|'elsewhere'>} running
 * @property {import('../../vendor/preact.js').Signal<StoredFile[]>} attached files for the next message
 * @property {number} version
 * @property {AbortController|null} abort
 * @property {Promise<void>} saving
 * @property {boolean} waitingForLock
 * @property {number} runs counts up when this tab begins to run the chat: what was asked for before is then old
 */

/** @type {Map<string, Chat>} */
const chats = new Map();
/** @type {Chat} */
let fresh = create('');

const talk = typeof document === 'undefined' ? null : new BroadcastChannel('zc-chats');

/** @param {string} id @returns {Chat} */
function create(id) {
  return {
    id, messages: signal(/** @type {Message[]} */ ([])), more: signal(false), state: signal(/** @type {Chat['state']['value']} */ (id ? 'loading' : 'new')), error: signal(/** @type {any} */ (null)),
    head: signal({ title: '', meta: /** @type {any} */ ({}) }), live: signal(/** @type {Live|null} */ (null)), running: signal(/** @type {Chat['running']['value']} */ ('idle')),
    attached: signal(/** @type {StoredFile[]} */ ([])), version: 0, abort: null, saving: Promise.resolve(), waitingForLock: false, runs: 0,
  };
}

/** The chat of a route: a stored one, or the one not begun yet. @param {string} id @returns {Chat} */
export function chatOf(id) {
  if (!id) return fresh;
  let chat = chats.get(id);
  if (!chat) {
    chats.set(id, (chat = create(id)));
    load(chat);
  }
  return chat;
}

/** Starts over with an empty chat that remembers the agent and model of the last one. */
export function newChat() {
  const { agent, profile, model } = fresh.head.value.meta;
  fresh = create('');
  fresh.head.value = { title: '', meta: { agent, profile, model } };
  return fresh;
}

/** @param {string} id */
export function forgetChat(id) {
  chats.get(id)?.abort?.abort();
  chats.delete(id);
}

/** The newest messages, and what the companion itself recorded of the calls. @param {Chat} chat */
export async function load(chat) {
  const { runs } = chat;
  try {
    const [head, page, recorded] = await Promise.all([
      api.get(url`/api/conversations/${chat.id}`),
      api.get(`${url`/api/conversations/${chat.id}/messages`}?limit=${PAGE}`),
      api.get(url`/api/conversations/${chat.id}/calls`).catch(() => ({ calls: [] })),
    ]);
    // This tab began to run the chat meanwhile, so what it has is newer than what came.
    if (chat.runs !== runs || chat.running.value === 'here') return;
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
      for (const call of recorded.calls ?? []) if (!isFinal(callSignal(call.call_id).value?.call)) setCall(call, { session: call.session });
      chat.state.value = 'ready';
      chat.error.value = null;
    });
    takeOver(chat);
  } catch (error) {
    chat.state.value = /** @type {any} */ (error).status === 404 ? 'missing' : 'error';
    chat.error.value = error;
  }
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
async function loadContext(chat, tokens) {
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
function append(chat, messages) {
  const created = new Date().toISOString();
  chat.messages.value = [...chat.messages.value, ...messages.map((message) => ({ created, ...message }))];
  return save(chat);
}

/** @param {string} text */
const titleOf = (text) => {
  const line = text.trim().split('\n')[0].replace(/\s+/g, ' ');
  return line.length > 60 ? `${line.slice(0, 57)}…` : line || t('chat.untitled');
};

/** Makes the chat exist at the companion. @param {Chat} chat @param {string} title */
export async function ensureStored(chat, title) {
  if (chat.id) return;
  const answer = await api.post('/api/conversations', { title: titleOf(title), meta: chat.head.value.meta });
  const { id } = answer.conversation ?? answer;
  chat.id = id;
  chat.version = (answer.conversation ?? answer).version ?? 0;
  chat.head.value = { title: titleOf(title), meta: chat.head.value.meta };
  chat.state.value = 'ready';
  chats.set(id, chat);
  if (chat === fresh) {
    fresh = create('');
    fresh.head.value = { title: '', meta: chat.head.value.meta };
  }
  await api.get(url`/api/conversations/${id}`).then((head) => {
    chat.version = head.version ?? chat.version;
  }, () => {});
  loadConversations().catch(() => {});
}

/** @param {Chat} chat @param {any} meta what changes */
export async function setMeta(chat, meta) {
  chat.head.value = { ...chat.head.value, meta: { ...chat.head.value.meta, ...meta } };
  if (chat.id) await api.patch(url`/api/conversations/${chat.id}`, { meta: chat.head.value.meta });
}

/** The profile and model that a chat uses. @param {Chat} chat @returns {Profile} */
export function profileOf(chat) {
  const { profile, model } = chat.head.value.meta ?? {};
  const found = profiles.value.find(({ id }) => id === profile) ?? profiles.value[0] ?? mirrorProfile;
  return model && found.id === profile ? { ...found, model } : found;
}

/** The live session of a chat. @param {Chat} chat */
export function sessionOf(chat) {
  return chat.id ? Object.values(sessions.value).filter(({ conversation }) => conversation === chat.id).at(-1) ?? null : null;
}

/** @param {Chat} chat @param {boolean} [again] the old one is gone */
async function ensureSession(chat, again = false) {
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

/** Sends a message and runs the conversation on; `stored` is told as soon as the chat has an id. @param {Chat} chat @param {string} text @param {(id: string) => void} stored */
export async function send(chat, text, stored) {
  chat.error.value = null;
  const files = chat.attached.value;
  await ensureStored(chat, text || files[0]?.name || '');
  stored(chat.id);
  await run(chat, async () => {
    chat.attached.value = [];
    await append(chat, [{ id: newId('m'), role: 'user', data: { text, ...(files.length ? { files } : {}) } }]);
  });
}

/** Everything from a message on is replaced by another text. @param {Chat} chat @param {string} id @param {string} text */
export function resend(chat, id, text) {
  return run(chat, async () => {
    const at = chat.messages.value.findIndex((message) => message.id === id);
    const { files } = chat.messages.value[at].data;
    chat.messages.value = chat.messages.value.slice(0, at);
    await append(chat, [{ id: newId('m'), role: 'user', data: { text, ...(files ? { files } : {}) } }]);
  });
}

/** Drops the answer to the last message of the person before `id`, and asks again. @param {Chat} chat @param {string} id */
export function regenerate(chat, id) {
  const list = chat.messages.value;
  const at = list.findIndex((message) => message.id === id);
  const user = list.slice(0, at + 1).findLast(({ role }) => role === 'user');
  return user ? resend(chat, user.id, user.data.text ?? '') : Promise.resolve();
}

/** A new conversation with everything up to and including a message. @param {Chat} chat @param {string} id @returns {Promise<string>} its id */
export async function branch(chat, id) {
  while (chat.more.value) await loadEarlier(chat);
  const list = chat.messages.value;
  let at = list.findIndex((message) => message.id === id);
  while (list[at + 1]?.role === 'tool') at++;
  const { title, meta } = chat.head.value;
  return copyConversation(t('chat.branch_title', { title }), { ...meta, branch_of: chat.id }, list.slice(0, at + 1));
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

/** Goes on after a limit, a stop, an error or an interruption. @param {Chat} chat */
export function continueChat(chat) {
  return run(chat, async () => {
    if (openCalls(chat.messages.value).length) return;
    // A notice on top would count as an answer; the person has read it.
    const list = chat.messages.value;
    const last = list.at(-1);
    if (last?.role === 'assistant' && !last.data.text && !last.data.calls?.length && last.data.kind !== 'limit') chat.messages.value = list.slice(0, -1);
  });
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
    const offResync = onResync(look);
    const off = onFinished((call) => {
      if (call.call_id === id) finish(callSignal(id).value?.call ?? call);
    });
    // After Stop the call still ends by itself, killed; it is given a moment to say so.
    const aborted = () => setTimeout(() => fail(new DOMException('stopped', 'AbortError')), 8_000);
    const release = () => {
      clearInterval(timer);
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

/** Images that were attached, for models that see. @param {import('../llm/loop.js').ModelRequest} request @param {Chat} chat */
async function withImages(request, chat) {
  const messages = await Promise.all(request.messages.map(async (message, at) => {
    if (message.role !== 'user' || !message.files?.some(isImage) || at < request.messages.length - 20) return message;
    const images = await Promise.all(message.files.filter(isImage).slice(0, 8).map(async (file) => {
      const bytes = new Uint8Array(await (await request_(chat, file)).arrayBuffer());
      let binary = '';
      for (let i = 0; i < bytes.length; i += 32_768) binary += String.fromCharCode(...bytes.subarray(i, i + 32_768));
      return { mime: file.mime, base64: btoa(binary) };
    }));
    return { ...message, images };
  }));
  return { ...request, messages };
}

/** @param {Chat} chat @param {StoredFile} file */
const request_ = (chat, file) => request(url`/api/conversations/${chat.id}/files/${file.name}`);
/** @param {StoredFile} file */
const isImage = (file) => /^image\/(png|jpeg|gif|webp)$/.test(file.mime) && file.size <= 5_000_000;

/** Models that turned out to have no native tool calls, or not to see images, since the page was loaded. */
const textOnly = new Set();
const blind = new Set();

/** @param {Chat} chat @param {Profile} profile @param {import('../llm/loop.js').ModelRequest} request @param {AbortSignal} abort @returns {AsyncIterable<import('../llm/loop.js').Delta>} */
async function* streamOf(chat, profile, request, abort) {
  const last = request.messages.at(-1);
  const typed = last?.role === 'user' ? parseToolText(last.text, request.tools) : null;
  if (profile.kind === 'mirror' || (typed && 'calls' in typed)) {
    const { streamMirror } = await import('../llm/mirror.js');
    yield* streamMirror(request, abort);
    return;
  }
  const key = `${profile.id} ${profile.model}`;
  const withSight = blind.has(key) ? request : await withImages(request, chat);
  const { streamAnthropic, streamOpenAI } = profile.kind === 'anthropic'
    ? { ...(await import('../llm/anthropic.js')), streamOpenAI: null } : { ...(await import('../llm/openai.js')), streamAnthropic: null };
  const open = (/** @type {any} */ what) => (streamAnthropic ? streamAnthropic(profile.id, what, abort) : /** @type {any} */ (streamOpenAI)(profile.id, what, abort));
  try {
    yield* open(withSight);
  } catch (error) {
    const { status, message } = /** @type {any} */ (error);
    if (withSight === request || abort.aborted || !(status >= 400 && status < 500) || !/image|vision|multimodal|content/i.test(String(message)) || !withSight.messages.some((one) => 'images' in one)) throw error;
    blind.add(key);
    yield* open(request);
  }
}

/** A stream that holds one of the browser's four slots. @param {() => AsyncIterable<any>} open @param {AbortSignal} abort @param {() => void} waiting */
async function* slotted(open, abort, waiting) {
  /** @type {any[]} */
  const queue = [];
  let ended = false;
  /** @type {any} */
  let failure = null;
  let wake = () => {};
  const work = withSlot({ locks: navigator.locks, signal: abort, waiting }, async () => {
    for await (const item of open()) {
      queue.push(item);
      wake();
    }
  }).catch((error) => {
    failure = error;
  }).finally(() => {
    ended = true;
    wake();
  });
  for (;;) {
    while (queue.length) yield queue.shift();
    if (ended) break;
    await new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
      wake = () => resolve(undefined);
      if (queue.length || ended) resolve(undefined);
    });
  }
  await work;
  if (failure) throw failure;
}

/**
 * Runs a conversation in this tab, if no other does. @param {Chat} chat @param {() => Promise<void>} before changes to make once the lock is held
 */
export async function run(chat, before) {
  chat.error.value = null;
  chat.runs++;
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
  try {
    await before();
    const context = contextOf(profile);
    await loadContext(chat, context);
    const end = await runLoop({
      history: () => chat.messages.peek(),
      append: (messages) => append(chat, messages),
      stream: (request, signal, waiting) => slotted(() => streamOf(chat, profile, request, signal), signal, waiting),
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
    chat.abort = null;
    batch(() => {
      chat.live.value = null;
      chat.running.value = 'idle';
    });
    talk?.postMessage({ type: 'ended', id: chat.id });
  }
}

/** Goes on with a conversation that another tab or a reload left half-way; waits while another tab runs it. @param {Chat} chat */
async function takeOver(chat) {
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
  if (!unfinished(chat.messages.value) || Date.now() - new Date(last?.created ?? 0).getTime() > TAKE_OVER_MS) return;
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
  if (chats.has(chat.id)) await load(chat);
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

/** Share of the model's context that the conversation fills, 0 to 1, and the tokens. @param {Chat} chat */
export function fullness(chat) {
  const context = contextOf(profileOf(chat));
  const used = chat.messages.value.findLast(({ data }) => data.usage?.input)?.data.usage;
  const guess = used ? (used.input ?? 0) + (used.output ?? 0) : estimate(modelMessages(chat.messages.value).map((message) => message.text).join('\n'));
  return { used: guess, context, share: Math.min(1, guess / context) };
}
