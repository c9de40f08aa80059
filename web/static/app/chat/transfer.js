// Conversations as files: JSON holds everything, Markdown is for reading and comes back as words.
import { unfinished } from '../llm/loop.js';

/** @typedef {import('../types.js').Message} Message */

const FORMAT = 'zeroclaw-conversation';
const marker = /^<!-- zeroclaw:(user|assistant|tool) -->$/;

/** @param {string} title @param {any} meta @param {Message[]} messages */
export function toJson(title, meta, messages) {
  return `${JSON.stringify({ format: FORMAT, version: 1, title, meta, messages: messages.map(({ id, role, created, data }) => ({ id, role, created, data })) }, null, 2)}\n`;
}

/** A fence longer than any in the text. @param {string} text */
function fence(text) {
  return '`'.repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map((run) => run[0].length)) + 1);
}

/** @param {string} title @param {Message[]} messages @param {{user: string, assistant: string, result: string}} names */
export function toMarkdown(title, messages, names) {
  const parts = [`# ${title.replace(/\n/g, ' ')}`];
  for (const { role, data } of messages) {
    if (role === 'user') parts.push(`<!-- zeroclaw:user -->\n## ${names.user}\n\n${guard(data.text ?? '')}${(data.files ?? []).map((file) => `\n- ${file.path}`).join('')}`);
    else if (role === 'assistant' && (data.text || data.calls?.length)) {
      const calls = (data.calls ?? []).map((call) => {
        const json = JSON.stringify(call.arguments, null, 2);
        const mark = fence(json);
        return `\n\n**${call.tool}**\n${mark}json\n${guard(json)}\n${mark}`;
      });
      parts.push(`<!-- zeroclaw:assistant -->\n## ${names.assistant}\n\n${guard(data.text ?? '')}${calls.join('')}`.trimEnd());
    } else if (role === 'tool') {
      const mark = fence(data.text ?? '');
      parts.push(`<!-- zeroclaw:tool -->\n### ${names.result}: ${data.tool ?? ''}\n\n${mark}\n${guard(data.text ?? '')}\n${mark}`);
    }
  }
  return `${parts.join('\n\n')}\n`;
}

/** A text that quotes our own marker must not be read as one. @param {string} text */
const guard = (text) => text.replace(/^(\\*<!-- zeroclaw:)/gm, '\\$1');
/** @param {string} text */
const unguard = (text) => text.replace(/^\\(\\*<!-- zeroclaw:)/gm, '$1');

/** Why a file is not imported: `not-json`, `not-ours`. */
export class NotAChat extends Error {}

/**
 * Reads the bytes of a file made by toJson or toMarkdown. Throws NotAChat for anything else.
 * @param {Uint8Array} bytes @param {string} name the file's name
 * @returns {{title: string, meta: any, messages: Message[]}}
 */
export function fromFile(bytes, name) {
  let text;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new NotAChat('not-ours');
  }
  const read = /\.json$/i.test(name) || text.trimStart().startsWith('{') ? fromJson(text) : fromMarkdown(text);
  // Nothing may go on by itself with what comes from a file.
  if (unfinished(read.messages)) read.messages.push({ id: '', role: 'assistant', data: { text: '', stopped: true } });
  return read;
}

/** @param {string} text @returns {{title: string, meta: any, messages: Message[]}} */
function fromJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotAChat('not-json');
  }
  if (value?.format !== FORMAT || !Array.isArray(value.messages) || !value.messages.length || !value.messages.every(isMessage)) throw new NotAChat('not-ours');
  return { title: String(value.title ?? ''), meta: pick(value.meta), messages: value.messages.map((/** @type {Message} */ { id, role, created, data }) => ({ id: String(id ?? ''), role, created, data })) };
}

/** @param {any} value @param {string} type */
const isOr = (value, type) => value === undefined || typeof value === type;
/** @param {any} value @param {(one: any) => boolean} fits */
const isListOf = (value, fits) => value === undefined || (Array.isArray(value) && value.every((one) => one && typeof one === 'object' && fits(one)));

/** Whether a message has the shape that the page draws. @param {any} message */
function isMessage(message) {
  const data = message?.data;
  return ['user', 'assistant', 'tool'].includes(message?.role) && data && typeof data === 'object' && !Array.isArray(data)
    && ['text', 'reasoning', 'model', 'call_id', 'tool', 'status', 'provider_id', 'reason', 'server', 'rule'].every((key) => isOr(data[key], 'string'))
    && isListOf(data.calls, (call) => ['id', 'call_id', 'tool'].every((key) => typeof call[key] === 'string') && isOr(call.broken, 'string'))
    && isListOf(data.files, (file) => ['name', 'path', 'mime'].every((key) => typeof file[key] === 'string') && typeof file.size === 'number')
    && isListOf(data.content, (item) => typeof item.type === 'string')
    && (data.error === undefined || typeof data.error?.message === 'string');
}

/** @param {any} meta */
const pick = (meta) => (meta && typeof meta === 'object' ? { ...(typeof meta.profile === 'string' ? { profile: meta.profile } : {}), ...(typeof meta.model === 'string' ? { model: meta.model } : {}) } : {});

/** @param {string} text @returns {{title: string, meta: any, messages: Message[]}} */
function fromMarkdown(text) {
  const lines = text.split(/\r?\n/);
  /** @type {{role: 'user'|'assistant', lines: string[]}[]} */
  const found = [];
  for (const line of lines) {
    const role = marker.exec(line)?.[1];
    // What a tool returned stays with the answer that asked for it, as words.
    if (!role) found.at(-1)?.lines.push(line);
    else if (role !== 'tool') found.push({ role: /** @type {'user'|'assistant'} */ (role), lines: [] });
  }
  const title = /^# (.+)$/.exec(lines[0])?.[1];
  if (!title || !found.length || text.includes('\0')) throw new NotAChat('not-ours');
  return { title, meta: {}, messages: found.map(({ role, lines: body }) => ({ id: '', role, data: { text: unguard(body.join('\n').replace(/^## .*\n+/, '').trim()) } })) };
}

/** Names that Windows keeps for devices. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/i;

/** A name that every system takes for a file, with the words of a title. @param {string} title @param {string} ending */
export function fileName(title, ending) {
  const words = title.normalize('NFKC').replace(/[^\p{L}\p{M}\p{N}_]+/gu, '-').slice(0, 60).replace(/^-+|-+$/g, '');
  return `${!words || reserved.test(words) ? 'chat' : words}.${ending}`;
}
