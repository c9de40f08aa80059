// Conversations as files: JSON holds everything, Markdown is for reading and comes back as words.

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

/**
 * Reads a file made by toJson or toMarkdown, or any Markdown as one message. Throws an error that says what is wrong.
 * @param {string} text @param {string} name the file's name
 * @returns {{title: string, meta: any, messages: Message[]}}
 */
export function fromFile(text, name) {
  const plain = text.replace(/^\ufeff/, '');
  return /\.json$/i.test(name) || plain.trimStart().startsWith('{') ? fromJson(plain) : fromMarkdown(plain, name);
}

/** @param {string} text @returns {{title: string, meta: any, messages: Message[]}} */
function fromJson(text) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('not-json');
  }
  if (value?.format !== FORMAT || !Array.isArray(value.messages)) throw new Error('not-ours');
  const messages = value.messages.filter((/** @type {any} */ one) => ['user', 'assistant', 'tool'].includes(one?.role) && one.data && typeof one.data === 'object')
    .map((/** @type {any} */ one) => ({ id: String(one.id ?? ''), role: one.role, created: one.created, data: one.data }));
  // Calls of another companion cannot be looked up here, and nothing of them may look as if it still ran.
  return { title: String(value.title ?? ''), meta: pick(value.meta), messages };
}

/** @param {any} meta */
const pick = (meta) => (meta && typeof meta === 'object' ? { ...(typeof meta.profile === 'string' ? { profile: meta.profile } : {}), ...(typeof meta.model === 'string' ? { model: meta.model } : {}) } : {});

/** @param {string} text @param {string} name @returns {{title: string, meta: any, messages: Message[]}} */
function fromMarkdown(text, name) {
  const lines = text.split(/\r?\n/);
  const title = /^# (.+)$/.exec(lines[0])?.[1] ?? name.replace(/\.[^.]+$/, '');
  /** @type {{role: 'user'|'assistant', lines: string[]}[]} */
  const found = [];
  let tool = false;
  for (const line of lines) {
    const role = marker.exec(line)?.[1];
    if (role) {
      tool = role === 'tool';
      if (!tool) found.push({ role: /** @type {'user'|'assistant'} */ (role), lines: [] });
    } else found.at(-1)?.lines.push(line);
  }
  if (!found.length) return { title, meta: {}, messages: [{ id: '', role: 'user', data: { text } }, { id: '', role: 'assistant', data: { text: '', stopped: true } }] };
  const messages = found.map(({ role, lines: body }) => ({ id: '', role, data: { text: unguard(body.join('\n').replace(/^## .*\n+/, '').trim()) } }));
  if (messages.at(-1)?.role === 'user') messages.push({ id: '', role: 'assistant', data: /** @type {any} */ ({ text: '', stopped: true }) });
  return { title, meta: {}, messages };
}

/** A name that every system takes for a file. @param {string} title @param {string} ending */
export function fileName(title, ending) {
  return `${title.normalize('NFKC').replace(/[^\p{L}\p{N} _-]+/gu, '').trim().replace(/\s+/g, '-').slice(0, 60) || 'chat'}.${ending}`;
}
