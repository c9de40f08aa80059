// What a chat is called before a person names it: by what it began with.
import { t } from '../i18n/index.js';
import { parseToolText } from '../llm/toolline.js';

const LONGEST = 60;

/** A tool line by what it is about, which tells such chats apart: “ls -la · execute_command”. @param {string} line */
function ofToolLine(line) {
  const name = /^\/([A-Za-z][\w-]{0,63})(?=\s|$)/.exec(line)?.[1];
  if (!name) return '';
  const read = parseToolText(line, [{ name }]);
  const args = read && 'calls' in read ? read.calls[0].arguments : {};
  const subject = ['command', 'path', 'query', 'pattern', 'url'].map((key) => args[key]).find((value) => typeof value === 'string' && value.trim())
    ?? Object.values(args).find((value) => typeof value === 'string' && value.trim());
  return subject ? `${subject} · ${name}` : name;
}

/** @param {string} text the first message */
export function titleOf(text) {
  const first = text.trim().split('\n')[0];
  const line = (ofToolLine(first) || first).replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}…` : line || t('chat.untitled');
}
