// Conversations out to files and in again.
import { api, url } from '../api.js';
import { formatSize, t } from '../i18n/index.js';
import { copyConversation } from './conversation.js';
import { fileName, fromFile, NotAChat, toJson, toMarkdown } from './transfer.js';

/** @typedef {import('../types.js').Conversation} Conversation @typedef {import('../types.js').Message} Message */

/** The biggest file that is read. */
const BIGGEST = 64_000_000;

/** Every message of a conversation. @param {string} id @returns {Promise<Message[]>} */
async function allMessages(id) {
  /** @type {Message[]} */
  let list = [];
  for (let before = ''; ;) {
    const page = await api.get(`${url`/api/conversations/${id}/messages`}?limit=1000${before ? `&before=${before}` : ''}`);
    const rows = page.messages ?? [];
    list = [...rows, ...list];
    if (!page.more || !rows.length) return list.filter(({ role }) => role !== 'call');
    before = String(rows[0].seq);
  }
}

/** @param {string} name @param {string} text @param {string} type */
function download(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** @param {Conversation} conversation @param {'json'|'md'} kind */
export async function exportTo({ id, title }, kind) {
  const [head, messages] = await Promise.all([api.get(url`/api/conversations/${id}`), allMessages(id)]);
  if (kind === 'json') download(fileName(title, 'json'), toJson(title, head.meta, messages), 'application/json');
  else download(fileName(title, 'md'), toMarkdown(title, messages, { user: t('chat.you'), assistant: t('chat.assistant'), result: t('card.result') }), 'text/markdown');
}

/** Makes a conversation of a file that was exported. @param {File} file @returns {Promise<string>} its id */
export async function importFrom(file) {
  if (file.size > BIGGEST) throw new Error(t('history.import_big', { size: formatSize(BIGGEST) }));
  let read;
  try {
    read = fromFile(new Uint8Array(await file.arrayBuffer()), file.name);
  } catch (failure) {
    if (!(failure instanceof NotAChat)) throw failure;
    throw new Error(t(failure.message === 'not-json' ? 'history.not_json' : 'history.not_ours', { name: file.name }));
  }
  return copyConversation(read.title || file.name, read.meta, read.messages);
}
