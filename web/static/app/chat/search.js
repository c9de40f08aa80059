// Full-text search of the conversations: hits by chat, with the words that were found.
import { html, useEffect, useMemo, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { t } from '../i18n/index.js';
import { link } from '../router.js';

/** `seq`: the place of the message, 0 for the title. @typedef {{conversation: string, title: string, seq: number, snippet: string}} Hit @typedef {{id: string, title: string, inTitle: boolean, places: {seq: number, snippet: string}[]}} Found */

/** Snippets that are shown of one chat. */
const SNIPPETS = 3;
/** Characters before a found word, so that the word itself is never cut off. */
const BEFORE = 24;

/** So many words in common, and nothing different behind the hit, are the same text at two places. */
const SAME_WORDS = 5;

/** @param {string} text */
const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** How many words two lists begin with in common. @param {string[]} a @param {string[]} b */
function common(a, b) {
  const end = a.findIndex((word, at) => word !== b[at]);
  return end < 0 ? a.length : end;
}

/** Whether two snippets show the same, such as a result and the answer that repeats it. @param {string} one @param {string} other */
function sameText(one, other) {
  if (aroundHit(one) === aroundHit(other)) return true;
  const [[before, after], [otherBefore, otherAfter]] = [one, other].map((snippet) => {
    const at = snippet.indexOf('\u2039');
    return [wordsOf(snippet.slice(0, Math.max(0, at))).reverse(), wordsOf(snippet.slice(at))];
  });
  const behind = common(after, otherAfter);
  return behind === Math.min(after.length, otherAfter.length) && behind + common(before, otherBefore) >= SAME_WORDS;
}

/** Hits by chat, in the order of each chat's best; the same text in several messages is one, at the last of them. @param {Hit[]} hits @returns {Found[]} */
export function byChat(hits) {
  /** @type {Map<string, Found>} */
  const chats = new Map();
  for (const { conversation, title, seq, snippet } of hits) {
    const found = chats.get(conversation) ?? { id: conversation, title, inTitle: false, places: [] };
    chats.set(conversation, found);
    const same = found.places.find((place) => sameText(place.snippet, snippet));
    if (!seq) found.inTitle = true;
    else if (same) same.seq = Math.max(same.seq, seq);
    else found.places.push({ seq, snippet });
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
  const found = useMemo(() => hits && byChat(hits), [hits]);
  return { found, hits: (found ?? []).reduce((sum, { inTitle, places }) => sum + Number(inTitle) + places.length, 0), error };
}

/** A text with the found words marked. @param {{text: string}} props */
function Marked({ text }) {
  return text.split(/\u2039([^\u203a]*)\u203a/).map((piece, at) => (at % 2 ? html`<mark key=${at}>${piece}</mark>` : piece));
}

/** A chat at one of its messages, 0 for its end. @param {string} id @param {number} seq */
const placeLink = (id, seq) => link('chat', id) + (seq ? `?at=${seq}` : '');

/** @param {{found: Found[], hits: number}} props */
export function Hits({ found, hits }) {
  return html`<p class="group" role="status">${hits ? t('history.hits', { n: hits, chats: t('history.in_chats', { n: found.length }) }) : t('history.no_hits')}</p>
    ${found.map(({ id, title, inTitle, places }) => html`<div class="conv-row hit" key=${id}><a class="conv" href=${placeLink(id, inTitle ? 0 : places[0].seq)}><span>${title || t('chat.untitled')}</span></a>
      ${places.slice(0, SNIPPETS).map(({ seq, snippet }) => html`<a class="snippet" key=${seq} href=${placeLink(id, seq)}><${Marked} text=${aroundHit(snippet)} /></a>`)}
      ${places.length > SNIPPETS ? html`<span class="meta">${t('history.more_hits', { n: places.length - SNIPPETS })}</span>` : null}</div>`)}`;
}

/** Arrow keys go from the search field through the hits and back; Escape ends the search. @param {KeyboardEvent} event @param {() => void} clear */
export function searchKeys(event, clear) {
  const box = /** @type {HTMLElement} */ (event.currentTarget);
  const stops = /** @type {HTMLElement[]} */ ([...box.querySelectorAll('input[type=search], .side-scroll a')]);
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
