// What a person does with a conversation: begin, send, edit, regenerate, go on. Views take everything of a chat from here.
import { t } from '../i18n/index.js';
import { compactNow, openCalls, runLoop, unfinished } from '../llm/loop.js';
import { chats, create, freshChat, newId, profileOf, requireModel } from './chats.js';
import { load, run } from './runner.js';
import { append, copyConversation, ensureStored, loadEarlier, nameByText } from './stored.js';

export { forgetChat, fullness, newChat, newId, profileOf, sessionOf } from './chats.js';
export { load, stop } from './runner.js';
export { copyConversation, ensureStored, loadEarlier, renewSession, setMeta } from './stored.js';

/** @typedef {import('./chats.js').Chat} Chat */

/** The chat of a route: a stored one, or the one not begun yet. @param {string} id @returns {Chat} */
export function chatOf(id) {
  if (!id) return freshChat();
  let chat = chats.get(id);
  if (!chat) {
    chats.set(id, (chat = create(id)));
    load(chat);
  }
  return chat;
}

/** Sends a message and runs the conversation on; `stored` is told as soon as the chat has an id. @param {Chat} chat @param {string} text @param {(id: string) => void} stored */
export async function send(chat, text, stored) {
  requireModel(profileOf(chat));
  chat.error.value = null;
  const files = chat.attached.value;
  chat.running.value = 'here';
  try {
    await ensureStored(chat, text);
    await nameByText(chat, text);
  } catch (error) {
    chat.running.value = 'idle';
    throw error;
  }
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
  const copied = list.slice(0, at + 1);
  // A person goes on with a branch, or writes something else.
  if (unfinished(copied)) copied.push({ id: newId('m'), role: 'assistant', data: { text: '', kind: 'branch' } });
  return copyConversation(t('chat.branch_title', { title }), { ...meta, branch_of: chat.id }, copied);
}

/** Goes on after a limit, a stop, an error or an interruption. @param {Chat} chat */
export function continueChat(chat) {
  return run(chat, async () => dropNotice(chat));
}

/** A notice on top would count as an answer; the person has read it. @param {Chat} chat */
function dropNotice(chat) {
  const list = chat.messages.value;
  const last = list.at(-1);
  if (!openCalls(list).length && last?.role === 'assistant' && !last.data.text && !last.data.calls?.length && last.data.kind !== 'limit') chat.messages.value = list.slice(0, -1);
}

/** Puts a summary in the place of what came before, so that the model has room again. @param {Chat} chat */
export function summarise(chat) {
  const refusal = refusalOf(chat);
  return run(chat, async () => {}, async (deps, signal) => {
    const end = await compactNow(deps, signal, refusal);
    if (end === 'nothing') chat.error.value = new Error(t('chat.end_nothing'));
    return end;
  });
}

/** After a model was sent more than it can take: a summary first, then the same once more. @param {Chat} chat */
export function summariseAndGoOn(chat) {
  const refusal = refusalOf(chat);
  return run(chat, async () => dropNotice(chat), async (deps, signal) => {
    const end = await compactNow(deps, signal, refusal);
    return end === 'stopped' ? end : runLoop(deps, signal);
  });
}

/** What the model said last about why it did not answer. @param {Chat} chat */
const refusalOf = (chat) => chat.messages.value.findLast(({ data }) => data.error)?.data.error?.message ?? '';
