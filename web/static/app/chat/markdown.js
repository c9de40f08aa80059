// Markdown to elements: the only place of the page where HTML is made, through DOMPurify and Trusted Types.
// Bounded, so that no text can hold the page up: long blocks, deep nesting and long messages fall back to plain text.
import DOMPurify from '../../vendor/dompurify.js';
import { Lexer, Parser, Renderer } from '../../vendor/marked.js';
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { Button } from '../ui.js';

/** Longest text that is read as markdown, longest block, most lines, deepest nesting, most items (a row of a table counts as two). */
export const LIMITS = { text: 60_000, block: 4_000, lines: 2_000, depth: 12, items: 500 };

/** Blocks drawn at once; a long text comes in steps, so that keys and clicks get through in between. */
const STEP = 40;

/** HTML that models write for layout and that carries nothing: kept when it has no attributes. */
const harmless = /^<\/?(?:br|sub|sup|kbd|b|i|u|s|mark)\s*\/?>$/i;

/** @param {string} text */
export function escapeHtml(text) {
  return text.replace(/[&<>"']/g, (char) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[char] ?? char);
}

/** A link's address when a click on it can do no harm: http, https, mailto, or a place in the page's own routes. @param {string} href @returns {string|null} */
export function safeHref(href) {
  // Browsers drop tabs and line breaks inside a scheme, so what is judged has none either.
  const text = String(href).replace(/[\u0000-\u0020\u007f-\u00a0]/g, '');
  return /^(?:https?:\/\/[^\s]|mailto:)/i.test(text) ? text : null;
}

const renderer = new Renderer();
renderer.html = ({ text }) => (harmless.test(text.trim()) ? text : escapeHtml(text));
renderer.link = function link({ href, title, tokens }) {
  const body = this.parser.parseInline(tokens);
  const safe = safeHref(href);
  return safe ? `<a href="${escapeHtml(safe)}"${title ? ` title="${escapeHtml(title)}"` : ''} target="_blank" rel="noopener noreferrer">${body}</a>` : `${body} <code>${escapeHtml(String(href).slice(0, 200))}</code>`;
};
// A remote image would tell its server what the model put into the address: it becomes a link that a person may follow.
renderer.image = ({ href, text }) => {
  if (/^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/.test(href)) return `<img src="${href}" alt="${escapeHtml(text)}">`;
  const safe = safeHref(href);
  const name = escapeHtml(text ? `${text} (${t('md.image')})` : t('md.image'));
  return safe ? `<a href="${escapeHtml(safe)}" target="_blank" rel="noopener noreferrer">${name}</a>` : name;
};
renderer.code = ({ text, lang }) => `<pre data-lang="${escapeHtml((lang ?? '').split(/\s/)[0].slice(0, 40))}"><code>${escapeHtml(text)}\n</code></pre>`;
renderer.checkbox = ({ checked }) => `<input type="checkbox" disabled${checked ? ' checked' : ''}> `;
const cell = renderer.tablecell;
renderer.tablecell = function tablecell(token) {
  return cell.call(this, token).replace(/ align="(left|right|center)"/, ' class="$1"');
};

const options = { gfm: true, breaks: false, async: false, pedantic: false, renderer };

/** A lexer that never reads inline markup of an overlong block. */
class BoundedLexer extends Lexer {
  /** @param {string} src @param {any[]} [tokens] */
  inline(src, tokens = []) {
    if (src.length > LIMITS.block) tokens.push({ type: 'text', raw: src, text: escapeHtml(src), escaped: true });
    else super.inline(src, tokens);
    return tokens;
  }
}

/** Quote marks beyond the limit become text. */
const deepQuote = new RegExp(`^((?:[ \\t]{0,3}>[ \\t]?){${LIMITS.depth}})([ \\t]*(?:>[ \\t]*)+)`);
const deepIndent = new RegExp(`^[ \\t]{${LIMITS.depth * 4},}(?=[-*+]|\\d+[.)])`);

/** @param {string} text */
function tame(text) {
  let fence = '';
  return text.split('\n').map((line) => {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    if (fence ? mark.startsWith(fence) : mark) fence = fence ? '' : mark;
    else if (!fence && /^[ \t>]*(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)/.test(line)) {
      // Several markers on one line nest as deep as there are markers.
      const run = /^((?:[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+){4})((?:(?:[-*+]|\d{1,9}[.)])[ \t]+)+)/.exec(line);
      if (run) line = run[1] + run[2].replace(/([-*+]|\d+[.)])/g, '\\$1') + line.slice(run[0].length);
    }
    if (fence) return line;
    line = line.replace(deepIndent, ' '.repeat(LIMITS.depth * 4 - 2));
    return line.replace(deepQuote, (_, kept, rest) => kept + rest.replace(/>/g, '\\>'));
  }).join('\n');
}

/** The part of a text that is read as markdown; the rest is offered as plain text. @param {string} text @returns {{text: string, rest: string}} */
export function bounded(text) {
  let end = Math.min(text.length, LIMITS.text);
  let lines = 0;
  let items = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < end; at = text.indexOf('\n', at + 1)) {
    const start = text.slice(at + 1, at + 60);
    if (/^[ \t]{0,40}(?:[-*+]|\d{1,9}[.)])\s/.test(start)) items++;
    else if (/^ {0,3}\|/.test(start)) items += 2;
    if (++lines >= LIMITS.lines || items > LIMITS.items) end = at;
  }
  return { text: text.slice(0, end), rest: text.slice(end) };
}

/** @typedef {{raw: string, tokens: any[], end: number}} MarkdownBlock `end`: where it ends in the tamed text @typedef {{source: string, blocks: MarkdownBlock[]}} Reading */

/**
 * Reads a text; of a text that only grew, everything but the last two blocks is taken from the reading before.
 * @param {string} text @param {Reading|null} [before] @returns {Reading}
 */
export function read(text, before = null) {
  const source = tame(text.replace(/\r\n?/g, '\n'));
  let kept = before?.blocks.slice(0, -2) ?? [];
  let end = kept.at(-1)?.end ?? 0;
  // The definition of a link reaches everywhere, so a text that has one is read whole.
  if (!before || before.source.slice(0, end) !== source.slice(0, end) || /^ {0,3}\[[^\]\n]+\]:/m.test(source)) [kept, end] = [[], 0];
  const lexer = new BoundedLexer(/** @type {any} */ (options));
  const tokens = /** @type {any} */ (lexer.lex(source.slice(end)));
  const blocks = [...kept];
  for (const token of tokens) {
    end += token.raw.length;
    if (token.type !== 'space' && token.type !== 'def') blocks.push({ raw: token.raw, tokens: [token], end });
  }
  return { source, blocks };
}

/** Blocks of a text, each with the source it came from; equal sources need no new drawing. @param {string} text */
export const blocksOf = (text) => read(text).blocks;

/** HTML of blocks, not yet sanitised. @param {any[]} tokens */
export function htmlOf(tokens) {
  return /** @type {string} */ (new Parser(/** @type {any} */ (options)).parse(tokens));
}

const policy = {
  ALLOWED_TAGS: ['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'ul', 'ol', 'li', 'blockquote', 'pre', 'code', 'em', 'strong', 'del', 'a', 'img', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'input', 'sub', 'sup', 'kbd', 'b', 'i', 'u', 's', 'mark'],
  ALLOWED_ATTR: ['href', 'title', 'target', 'rel', 'src', 'alt', 'class', 'data-lang', 'type', 'checked', 'disabled', 'start'],
  ALLOW_DATA_ATTR: false,
  FORBID_ATTR: ['style'],
  RETURN_DOM_FRAGMENT: true,
};

/** @param {any[]} tokens @returns {DocumentFragment} */
function fragmentOf(tokens) {
  return /** @type {any} */ (DOMPurify.sanitize(htmlOf(tokens), /** @type {any} */ (policy)));
}

/** What streams now, and its blocks as elements: the message that takes its place is drawn whole and at once from them. */
const streamed = { text: '', at: 0, blocks: /** @type {Map<string, DocumentFragment>} */ (new Map()) };

/** Whether a text has just streamed here. @param {string} text */
const justStreamed = (text) => streamed.text !== '' && Date.now() - streamed.at < 5_000 && text.slice(0, 500) === streamed.text.slice(0, 500);

/** @param {{block: {raw: string, tokens: any[]}, closed: boolean, live: boolean}} props */
function Block({ block, closed, live }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const token = block.tokens[0];
  useLayoutEffect(() => {
    if (token.type === 'code') return;
    const known = live ? undefined : streamed.blocks.get(block.raw);
    const fragment = known ? /** @type {DocumentFragment} */ (known.cloneNode(true)) : fragmentOf(block.tokens);
    if (live && closed) streamed.blocks.set(block.raw, /** @type {DocumentFragment} */ (fragment.cloneNode(true)));
    for (const pre of fragment.querySelectorAll('pre')) pre.tabIndex = 0;
    for (const table of fragment.querySelectorAll('table')) table.tabIndex = 0;
    for (const box of fragment.querySelectorAll('input')) box.setAttribute('aria-label', box.checked ? t('md.done') : t('md.todo'));
    box.current?.replaceChildren(fragment);
  }, [block.raw, live && closed]);
  if (token.type === 'code') return html`<${CodeBlock} text=${token.text} lang=${(token.lang ?? '').split(/\s/)[0]} closed=${closed} />`;
  return html`<div class="md-block" ref=${box}></div>`;
}

/** Longest code that is coloured. */
const COLOURED = 10_000;

/** The highlighter's spans as elements; its output holds nothing but spans with a class and escaped text. @param {string} markup */
function coloured(markup) {
  const top = document.createDocumentFragment();
  /** @type {Node} */
  let at = top;
  const signs = /** @type {Record<string, string>} */ ({ lt: '<', gt: '>', amp: '&', quot: '"', '#x27': "'" });
  for (const [piece, names] of markup.matchAll(/<span class="([^"<>]*)">|<\/span>|[^<]+|</g)) {
    if (names !== undefined) {
      const span = document.createElement('span');
      span.className = names;
      at = at.appendChild(span);
    } else if (piece === '</span>') at = at.parentNode ?? top;
    else at.appendChild(document.createTextNode(piece.replace(/&(lt|gt|amp|quot|#x27);/g, (_, name) => signs[name])));
  }
  return top;
}

/** Code with its language, a copy button, and colours once it is complete. @param {{text: string, lang?: string, closed?: boolean}} props */
export function CodeBlock({ text, lang = '', closed = true }) {
  const code = useRef(/** @type {HTMLElement|null} */ (null));
  const [copied, setCopied] = useState(false);
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (code.current);
    element.textContent = text;
    let current = true;
    if (closed && lang && text.length < COLOURED) {
      import('../../vendor/highlight.js').then(({ default: hljs }) => {
        if (!current || !hljs.getLanguage(lang)) return;
        element.replaceChildren(coloured(hljs.highlight(text, { language: lang, ignoreIllegals: true }).value));
      }, () => {});
    }
    return () => {
      current = false;
    };
  }, [text, lang, closed]);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return html`<div class="codebox"><div class="bar"><span>${lang}</span><${Button} kind="quiet" small onClick=${copy}>${copied ? t('ui.copied') : t('ui.copy')}<//></div>
    <pre tabindex="0" role="group" aria-label=${lang ? t('md.code_in', { lang }) : t('md.code')}><code ref=${code}></code></pre></div>`;
}

/**
 * A text as markdown. While it streams only its last block changes; closed blocks keep their elements.
 * @param {{text: string, live?: boolean, aside?: boolean}} props `aside`: what streams beside the answer, such as reasoning
 */
export function Markdown({ text, live = false, aside = false }) {
  const [all, setAll] = useState(false);
  const part = useMemo(() => bounded(text), [text]);
  const reading = useRef(/** @type {Reading|null} */ (null));
  const { blocks } = useMemo(() => (reading.current = read(part.text, live ? reading.current : null)), [part.text, live]);
  const [drawn, setDrawn] = useState(live || justStreamed(text) ? Infinity : STEP);
  useLayoutEffect(() => {
    if (!live || aside) return;
    if (!text.startsWith(streamed.text.slice(0, 500))) streamed.blocks.clear();
    Object.assign(streamed, { text, at: Date.now() });
  }, [text, live]);
  useEffect(() => {
    if (drawn >= blocks.length) return undefined;
    const timer = setTimeout(() => setDrawn(drawn + STEP));
    return () => clearTimeout(timer);
  }, [drawn, blocks.length]);
  const rest = part.rest;
  return html`<div class="md">${blocks.slice(0, drawn).map((block, at) => html`<${Block} key=${at} block=${block} closed=${!live || at < blocks.length - 1} live=${live && !aside} />`)}
    ${rest && (all ? html`<pre class="code" tabindex="0">${rest.slice(0, 2_000_000)}</pre>` : html`<p class="row"><span class="meta">${t('md.long', { n: rest.length })}</span><${Button} small onClick=${() => setAll(true)}>${t('md.show_rest')}<//></p>`)}</div>`;
}
