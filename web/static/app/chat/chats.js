// The open conversations: what is known of each, and what can be told from that. Signals of a chat change in stored.js and runner.js only.
import { signal } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { contextOf, estimate, modelMessages } from '../llm/context.js';
import { mirrorProfile } from '../llm/profiles.js';
import { profiles, sessions } from '../store.js';

/** @typedef {import('../types.js').Message} Message @typedef {import('../types.js').StoredFile} StoredFile @typedef {import('../types.js').Profile} Profile @typedef {import('../llm/loop.js').Live} Live */

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

/** Stored chats by id. @type {Map<string, Chat>} */
export const chats = new Map();
/** @type {Chat} */
let fresh = create('');

/** @param {string} id @returns {Chat} */
export function create(id) {
  return {
    id, messages: signal(/** @type {Message[]} */ ([])), more: signal(false), state: signal(/** @type {Chat['state']['value']} */ (id ? 'loading' : 'new')), error: signal(/** @type {any} */ (null)),
    head: signal({ title: '', meta: /** @type {any} */ ({}) }), live: signal(/** @type {Live|null} */ (null)), running: signal(/** @type {Chat['running']['value']} */ ('idle')),
    attached: signal(/** @type {StoredFile[]} */ ([])), version: 0, abort: null, saving: Promise.resolve(), waitingForLock: false, runs: 0,
  };
}

/** The chat that is not begun yet. */
export const freshChat = () => fresh;

/** An empty chat that remembers the agent of the last one, and its model as long as there is that. @param {any} meta of the last one */
function begin({ agent, profile, model }) {
  fresh = create('');
  fresh.head.value = { title: '', meta: { agent, ...(hasModel({ profile, model }) ? { profile, model } : {}) } };
  return fresh;
}

/** Starts over with an empty chat. */
export const newChat = () => begin(fresh.head.value.meta);

/** @param {string} id */
export function forgetChat(id) {
  chats.get(id)?.abort?.abort();
  chats.delete(id);
}

/** A chat has got an id, so that the next new one is another. @param {Chat} chat */
export function settleChat(chat) {
  chats.set(chat.id, chat);
  if (chat === fresh) begin(chat.head.value.meta);
}

/** @param {{profile?: string, model?: string}} choice @returns {Profile|null} null when there is no such provider (any more) */
function chosenProfile({ profile, model }) {
  const found = profiles.value.find(({ id }) => id === profile);
  return found ? { ...found, model: model || found.model } : null;
}

/** @param {{profile?: string, model?: string}} choice */
const hasModel = (choice) => Boolean(chosenProfile(choice)?.model);

/** The profile and model that a chat uses; Mirror, which sends nothing anywhere, where its provider is gone. The model is '' while none is chosen. @param {Chat} chat @returns {Profile} */
export function profileOf(chat) {
  return chosenProfile(chat.head.value.meta ?? {}) ?? profiles.value[0] ?? mirrorProfile;
}

/** Throws while no model is chosen: a provider alone can answer nothing. @param {Profile} profile */
export function requireModel({ model, name }) {
  if (!model) throw Object.assign(new Error(t('model.none', { name })), { code: 'no_model' });
}

/** The live session of a chat. @param {Chat} chat */
export function sessionOf(chat) {
  return chat.id ? Object.values(sessions.value).filter(({ conversation }) => conversation === chat.id).at(-1) ?? null : null;
}

/** Whether a model is offered a tool: on, not denied, its server there. @param {import('../types.js').ToolInfo} tool */
export const usable = ({ enabled, mode, state }) => enabled !== false && mode !== 'deny' && state !== 'offline';

/** Share of the model's context that the conversation fills, 0 to 1, and the tokens. @param {Chat} chat */
export function fullness(chat) {
  const context = contextOf(profileOf(chat));
  // A summary made room; what was used before it says nothing any more.
  const { usage: used } = chat.messages.value.findLast(({ data }) => data.usage?.input || data.kind === 'summary')?.data ?? {};
  const guess = used ? (used.input ?? 0) + (used.output ?? 0) : estimate(modelMessages(chat.messages.value).map((message) => message.text).join('\n'));
  return { used: guess, context, share: Math.min(1, guess / context) };
}
