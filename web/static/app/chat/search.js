// Full-text search of the conversations: hits by chat, with the words that were found.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { t } from '../i18n/index.js';
import { link } from '../router.js';

/** @typedef {{conversation: string, title: string, seq: number, snippet: string}} Hit @typedef {{id: string, title: string, snippets: string[]}} Found */

/** Snippets that are shown of one chat. */
const SNIPPETS = 3;
/** Characters before a found word, so that the word itself is never cut off. */
const BEFORE = 24;

/** Hits by chat, in the order of each chat's best. @param {Hit[]} hits @returns {Found[]} */
export function byChat(hits) {
  /** @type {Map<string, Found>} */
  const chats = new Map();
  for (const { conversation, title, seq, snippet } of hits) {
    const found = chats.get(conversation) ?? { id: conversation, title, snippets: [] };
    chats.set(conversation, found);
    // A hit in the title shows there.
    if (seq) found.snippets.push(snippet);
  }
  return [...chats.values()];
}

/** The part of a snippet around its first found word (U+2039 and U+203A stand around it). @param {string} snippet */
export function aroundHit(snippet) {
  const text = snippet.replace(/\s+/g, ' ').trim();
  const at = text.indexOf('\u2039');
  if (at <= BEFORE) return text;
  const cut = text.indexOf(' ', at - BEFORE);
  return `…${text.slice(cut >= 0 && cut < at ? cut + 1 : at - BEFORE)}`;
}

/** What a query finds, null without one. @param {string} query @returns {{found: Found[]|null, hits: number, error: any}} */
export function useSearch(query) {
  const [hits, setHits] = useState(/** @type {Hit[]|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    setError(null);
    if (!query.trim()) {
      setHits(null);
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.get(`/api/conversations/search?q=${encodeURIComponent(query.trim())}`, { signal: abort.signal }).then((answer) => setHits(answer.hits ?? []), (failure) => {
        if (!abort.signal.aborted) setError(failure);
      });
    }, 180);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query]);
  return { found: hits && byChat(hits), hits: hits?.length ?? 0, error };
}

/** A text with the found words marked. @param {{text: string}} props */
function Marked({ text }) {
  return text.split(/\u2039([^\u203a]*)\u203a/).map((piece, at) => (at % 2 ? html`<mark key=${at}>${piece}</mark>` : piece));
}

/** @param {{found: Found[], hits: number}} props */
export function Hits({ found, hits }) {
  return html`<p class="group" role="status">${hits ? t('history.hits', { n: hits, chats: t('history.in_chats', { n: found.length }) }) : t('history.no_hits')}</p>
    ${found.map(({ id, title, snippets }) => html`<div class="conv-row hit" key=${id}><a class="conv" href=${link('chat', id)}><span>${title || t('chat.untitled')}</span>
      ${snippets.slice(0, SNIPPETS).map((snippet, at) => html`<span class="snippet" key=${at}><${Marked} text=${aroundHit(snippet)} /></span>`)}
      ${snippets.length > SNIPPETS ? html`<span class="meta">${t('history.more_hits', { n: snippets.length - SNIPPETS })}</span>` : null}</a></div>`)}`;
}

/** Arrow keys go from the search field through the hits and back; Escape ends the search. @param {KeyboardEvent} event @param {() => void} clear */
export function searchKeys(event, clear) {
  const box = /** @type {HTMLElement} */ (event.currentTarget);
  const stops = /** @type {HTMLElement[]} */ ([...box.querySelectorAll('input[type=search], .side-scroll a.conv')]);
  const at = stops.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  if (at < 0) return;
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const next = stops[at + (event.key === 'ArrowDown' ? 1 : -1)];
    if (!next) return;
    event.preventDefault();
    next.focus();
  } else if (event.key === 'Escape') {
    clear();
    stops[0].focus();
  }
}
