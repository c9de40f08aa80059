// What is written and not sent yet, by chat. It outlives a reload and goes with the tab.

/** @typedef {import('../types.js').StoredFile} StoredFile @typedef {{text: string, files: StoredFile[]}} Draft */

const PREFIX = 'zc.draft.';
/** Longest text that is kept over a reload. */
const LONGEST = 200_000;

/** @type {Map<string, Draft>} */
const drafts = new Map();

/** What was written for a chat, '' for the one not begun yet. @param {string} chatId @returns {Draft} */
export function draftOf(chatId) {
  const known = drafts.get(chatId);
  if (known) return known;
  try {
    const { text = '', files = [] } = JSON.parse(sessionStorage.getItem(PREFIX + chatId) ?? '{}');
    return { text: String(text), files: Array.isArray(files) ? files : [] };
  } catch {
    return { text: '', files: [] };
  }
}

/** @param {string} chatId @param {Draft} draft */
export function keepDraft(chatId, draft) {
  const empty = !draft.text && !draft.files.length;
  if (empty) drafts.delete(chatId);
  else drafts.set(chatId, draft);
  try {
    if (empty || draft.text.length > LONGEST) sessionStorage.removeItem(PREFIX + chatId);
    else sessionStorage.setItem(PREFIX + chatId, JSON.stringify(draft));
  } catch {
    // Without storage, or with a full one, the draft lasts until the next reload.
  }
}
