// What a chat is called before a person names it: by what it began with.
import { serverOfTool, toolLabel } from '../calls/names.js';
import { t } from '../i18n/index.js';
import { parseToolText } from '../llm/toolline.js';

const LONGEST = 60;

/** The last part of a path, which says more than where it lies. @param {string} path */
const fileOf = (path) => /[^\\/]+(?=[\\/]*$)/.exec(path)?.[0] ?? path;

/** A tool line by the tool and what it is about, which tells such chats apart: “execute_command · ls -la”, “read_file · README.md”. @param {string} line */
function ofToolLine(line) {
  const name = /^\/([A-Za-z][\w-]{0,63})(?=\s|$)/.exec(line)?.[1];
  if (!name) return '';
  const read = parseToolText(line, [{ name }]);
  const args = read && 'calls' in read ? read.calls[0].arguments : {};
  const said = (/** @type {string} */ key) => typeof args[key] === 'string' && args[key].trim();
  const key = ['command', 'path', 'query', 'pattern', 'url', ...Object.keys(args)].find(said);
  const label = toolLabel({ tool: name, server: serverOfTool(name) });
  return key ? `${label} · ${key === 'path' ? fileOf(args[key].trim()) : args[key]}` : label;
}

/** @param {string} text the first message */
export function titleOf(text) {
  const first = text.trim().split('\n')[0];
  const line = (ofToolLine(first) || first).replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 3)}…` : line || t('chat.untitled');
}
