// The stream of a chat's model: Mirror, Anthropic or an OpenAI-compatible one, with the images that were attached.
import { request, url } from '../api.js';
import { withSlot } from '../llm/slots.js';
import { parseToolText } from '../llm/toolline.js';
import { tools } from '../store.js';
import { requireModel } from './chats.js';

/** @typedef {import('./chats.js').Chat} Chat @typedef {import('../types.js').StoredFile} StoredFile @typedef {import('../types.js').Profile} Profile @typedef {import('../llm/loop.js').ModelRequest} ModelRequest */

/** Images that were attached, for models that see. @param {ModelRequest} request @param {Chat} chat */
async function withImages(request, chat) {
  const messages = await Promise.all(request.messages.map(async (message, at) => {
    if (message.role !== 'user' || !message.files?.some(isImage) || at < request.messages.length - 20) return message;
    const images = await Promise.all(message.files.filter(isImage).slice(0, 8).map(async (file) => {
      const bytes = new Uint8Array(await (await bytesOf(chat, file)).arrayBuffer());
      let binary = '';
      for (let i = 0; i < bytes.length; i += 32_768) binary += String.fromCharCode(...bytes.subarray(i, i + 32_768));
      return { mime: file.mime, base64: btoa(binary) };
    }));
    return { ...message, images };
  }));
  return { ...request, messages };
}

/** @param {Chat} chat @param {StoredFile} file */
const bytesOf = (chat, file) => request(url`/api/conversations/${chat.id}/files/${file.name}`);
/** @param {StoredFile} file */
const isImage = (file) => /^image\/(png|jpeg|gif|webp)$/.test(file.mime) && file.size <= 5_000_000;

/** Models that turned out to have no native tool calls, or not to see images, since the page was loaded. */
export const textOnly = new Set();
const blind = new Set();

/**
 * What a model answers. Only what really goes to a model holds one of the browser's slots; Mirror and typed tool lines never wait.
 * @param {Chat} chat @param {Profile} profile @param {ModelRequest} request @param {AbortSignal} abort @param {() => void} waiting
 * @returns {AsyncIterable<import('../llm/loop.js').Delta>}
 */
export async function* streamOf(chat, profile, request, abort, waiting) {
  const last = request.messages.at(-1);
  const typed = last?.role === 'user' ? parseToolText(last.text, request.tools) : null;
  if (profile.kind === 'mirror' || (typed && 'calls' in typed)) {
    const { streamMirror } = await import('../llm/mirror.js');
    yield* streamMirror(request, abort, tools.peek());
    return;
  }
  // A turn that was taken over may find its provider without a model.
  requireModel(profile);
  yield* slotted(() => remote(chat, profile, request, abort), abort, waiting);
}

/** What a model answers to a request that is no turn of a chat, exactly as it is. @param {Profile} profile @param {ModelRequest} request @param {AbortSignal} abort @param {() => void} waiting @returns {AsyncIterable<import('../llm/loop.js').Delta>} */
export function streamAlone(profile, request, abort, waiting) {
  requireModel(profile);
  return slotted(() => remote(null, profile, request, abort), abort, waiting);
}

/** @param {Chat|null} chat null for a request without files of a chat @param {Profile} profile @param {ModelRequest} request @param {AbortSignal} abort @returns {AsyncIterable<import('../llm/loop.js').Delta>} */
async function* remote(chat, profile, request, abort) {
  const key = `${profile.id} ${profile.model}`;
  const withSight = blind.has(key) || !chat ? request : await withImages(request, chat);
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
