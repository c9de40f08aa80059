// Shows text so that nothing in it can hide: control, bidirectional and invisible characters, long runs of spaces and lines.
import { html } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';

/** Names of characters that people cannot see; the rest are shown as U+XXXX. @type {Record<number, string>} */
const names = { 0: 'NUL', 7: 'BEL', 8: 'BS', 9: '⇥', 13: 'CR', 27: 'ESC', 127: 'DEL', 0xa0: 'NBSP', 0xad: 'SHY', 0x200b: 'ZWSP', 0x200c: 'ZWNJ', 0x200d: 'ZWJ', 0x200e: 'LRM', 0x200f: 'RLM', 0x202a: 'LRE', 0x202b: 'RLE', 0x202c: 'PDF', 0x202d: 'LRO', 0x202e: 'RLO', 0x2060: 'WJ', 0x2066: 'LRI', 0x2067: 'RLI', 0x2068: 'FSI', 0x2069: 'PDI', 0xfeff: 'BOM' };

const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff\ud800-\udfff]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;
const special = new RegExp(` {9,}|\\n{4,}|${hidden.source}`, 'gu');

/** More spaces than this push what follows out of sight; fewer at the start of a line are how code is indented. */
const INDENT = 64;

/** Whether a run of spaces is where and as long as people put them. @param {string} text @param {number} at @param {number} length @param {boolean} columns */
function ordinary(text, at, length, columns) {
  if (length > INDENT) return false;
  const before = text.slice(Math.max(0, at - 2), at);
  return columns || at === 0 || /\n[+-]?$/.test(before) || /^[+-]$/.test(before);
}

/**
 * The pieces of a text: plain, or a sign that stands for what cannot be seen.
 * @param {string} text @param {boolean} [columns] spaces inside lines set columns, as in what programs print
 * @returns {{text: string, sign?: boolean, at: number, length: number}[]}
 */
export function pieces(text, columns = false) {
  const found = [];
  let last = 0;
  for (const match of text.matchAll(special)) {
    if (match[0].startsWith(' ') && ordinary(text, match.index, match[0].length, columns)) continue;
    if (match.index > last) found.push({ text: text.slice(last, match.index), at: last, length: match.index - last });
    found.push({ text: signOf(match[0]), sign: true, at: match.index, length: match[0].length });
    last = match.index + match[0].length;
  }
  if (last < text.length) found.push({ text: text.slice(last), at: last, length: text.length - last });
  return found;
}

/** @param {string} hit */
function signOf(hit) {
  if (hit.startsWith(' ')) return `␠×${hit.length}`;
  if (hit.startsWith('\n')) return `↵×${hit.length}`;
  const code = /** @type {number} */ (hit.codePointAt(0));
  return names[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Whether a text holds something that cannot be seen. @param {string} text */
export function hides(text) {
  return pieces(text).some(({ sign }) => sign);
}

/**
 * Text with everything visible; `marks` (UTF-16 offsets) are highlighted.
 * @param {{text: string, marks?: {start: number, end: number}[], columns?: boolean}} props
 */
export function Visible({ text, marks = [], columns = false }) {
  const edges = new Set(marks.flatMap(({ start, end }) => [start, end]));
  const marked = (/** @type {number} */ at) => marks.some(({ start, end }) => at >= start && at < end);
  return pieces(text, columns).flatMap((piece) => {
    if (piece.sign) return html`<span class="ctl" title=${t('text.hidden')}>${piece.text}</span>`;
    const cuts = [...edges].filter((edge) => edge > piece.at && edge < piece.at + piece.length).sort((a, b) => a - b);
    const parts = [];
    let from = piece.at;
    for (const to of [...cuts, piece.at + piece.length]) {
      const part = text.slice(from, to);
      parts.push(marked(from) ? html`<mark>${part}</mark>` : part);
      from = to;
    }
    return parts;
  });
}

/** The companion's sentence, with what it puts in backticks as code. @param {{text: string}} props */
export function Sentence({ text }) {
  return text.split(/`([^`\n]+)`/).map((piece, at) => (at % 2 ? html`<code key=${at}><${Visible} text=${piece} /></code>` : html`<${Visible} key=${at} text=${piece} />`));
}
