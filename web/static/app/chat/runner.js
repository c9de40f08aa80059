// Runs conversations: one tab at a time for each, held by a Web Lock; another takes over what a reload or a closed tab left half-way.
import { batch } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { openCalls, runLoop, settleCalls, unfinished } from '../llm/loop.js';
import { callSignal, isFinal, onResync, resolved, ticks } from '../store.js';
import { announce } from '../ui.js';
import { chats, profileOf, requireModel } from './chats.js';
import { loadContext, readChat } from './stored.js';
import { turnOf } from './turn.js';

/** @typedef {import('./chats.js').Chat} Chat @typedef {(deps: import('../llm/loop.js').Deps, signal: AbortSignal) => Promise<'done'|'stopped'|'limit'|'repeat'|'interrupted'|'error'|'summarised'|'nothing'>} Work */

const talk = typeof document === 'undefined' ? null : new BroadcastChannel('zc-chats');

/** Reads a chat anew, and sees to a turn that was left half-way. @param {Chat} chat @param {boolean} [followed] the tab that ran it is gone, and this one watched */
export async function load(chat, followed = false) {
  if (await readChat(chat)) await takeOver(chat, followed);
}

/** Stops at once, in whichever tab it runs. @param {Chat} chat */
export function stop(chat) {
  chat.abort?.abort();
  if (chat.running.value === 'elsewhere') talk?.postMessage({ type: 'stop', id: chat.id });
}

/**
 * Runs a conversation in this tab; throws when another does. @param {Chat} chat @param {() => Promise<void>} before changes to make once the lock is held
 * @param {Work} [work] what is done then
 */
export async function run(chat, before, work = runLoop) {
  requireModel(profileOf(chat));
  chat.error.value = null;
  chat.runs++;
  // Said at once, so that a second Enter or an early look finds the chat busy.
  chat.running.value = 'here';
  await navigator.locks.request(`zc-loop-${chat.id}`, { ifAvailable: true }, async (lock) => {
    if (!lock) {
      chat.running.value = 'elsewhere';
      follow(chat);
      throw new Error(t('chat.elsewhere'));
    }
    await runHere(chat, before, work);
  });
}

/** @param {Chat} chat @param {() => Promise<void>} before @param {Work} work */
async function runHere(chat, before, work) {
  chat.runs++;
  chat.abort = new AbortController();
  chat.running.value = 'here';
  // “Stop” on a question ends the call and the turn, whichever tab it was pressed in.
  const offStop = resolved.subscribe((ends) => {
    const mine = new Set(openCalls(chat.messages.peek()).map((call) => call.call_id));
    if (Object.values(ends).some((end) => end.decision === 'stop' && end.call_id && mine.has(end.call_id))) chat.abort?.abort();
  });
  const turn = turnOf(chat, (live) => talk?.postMessage({ type: 'live', id: chat.id, live }));
  try {
    await before();
    await loadContext(chat, turn.deps.profile.context);
    announce(t(`chat.end_${await work(turn.deps, chat.abort.signal)}`));
  } catch (error) {
    chat.error.value = error;
  } finally {
    offStop();
    turn.end();
    chat.abort = null;
    batch(() => {
      chat.live.value = null;
      chat.running.value = 'idle';
    });
  }
}

/**
 * Sees to a conversation that another tab or a reload left half-way; waits while another tab runs it.
 * The turn goes on where it was watched, and while one of its calls still waits or runs. Elsewhere a person decides whether
 * to go on: nothing reaches a model because a page was opened.
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
  const work = workLeft(chat.messages.value, followed);
  if (work) await navigator.locks.request(`zc-loop-${chat.id}`, { ifAvailable: true }, (lock) => (lock ? runHere(chat, async () => {}, work) : undefined));
}

/** What is to be done by itself about a turn that was left half-way. @param {import('../types.js').Message[]} messages @param {boolean} followed @returns {Work|null} */
export function workLeft(messages, followed) {
  const halfWay = unfinished(messages);
  const open = halfWay ? openCalls(messages) : [];
  const live = open.some(({ call_id }) => {
    const known = callSignal(call_id).peek()?.call;
    return known && !isFinal(known);
  });
  if (live || (followed && (halfWay || messages.at(-1)?.data.partial))) return (deps, signal) => runLoop(deps, signal, true);
  return open.length ? settleCalls : null;
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
