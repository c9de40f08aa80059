// The list of conversations: search, rename, export, import, delete.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { QuestionBadge } from '../calls/approval.js';
import { api, pairing, url } from '../api.js';
import { formatTime, language, t } from '../i18n/index.js';
import { link, navigate, route } from '../router.js';
import { approvals, connection, conversations, loadConversations, moreConversations } from '../store.js';
import { Button, confirmDialog, ErrorBox, Menu, promptDialog } from '../ui.js';
import { chatOf, forgetChat, newChat } from './conversation.js';
import { exportTo, importFrom } from './exchange.js';
import { Hits, searchKeys, useSearch } from './search.js';

/** @typedef {import('../types.js').Conversation} Conversation */

/** The heading that a conversation stands under. @param {string|undefined} time @param {number} [now] @returns {'today'|'yesterday'|'week'|'older'} */
export function groupOf(time, now = Date.now()) {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const age = midnight.getTime() - new Date(time ?? 0).getTime();
  if (age <= 0) return 'today';
  if (age <= 86_400_000) return 'yesterday';
  return age <= 6 * 86_400_000 ? 'week' : 'older';
}

/** What can be done with a conversation. @param {Conversation} conversation @param {(work: () => Promise<any>) => void} guarded */
function actions(conversation, guarded) {
  const rename = async () => {
    const title = await promptDialog({ title: t('history.rename_title'), label: t('history.title'), value: conversation.title, action: t('ui.save') });
    if (!title?.trim()) return;
    await api.patch(url`/api/conversations/${conversation.id}`, { title: title.trim() });
    await loadConversations();
  };
  const remove = async () => {
    if (!(await confirmDialog({ title: t('history.delete_title', { title: conversation.title }), text: t('history.delete_text'), action: t('ui.delete'), danger: true }))) return;
    await api.del(url`/api/conversations/${conversation.id}`);
    forgetChat(conversation.id);
    if (route.peek().parts[0] === conversation.id) navigate(link('chat'));
    await loadConversations();
  };
  return [
    { key: 'rename', label: t('history.rename'), run: () => guarded(rename) },
    { key: 'md', label: t('history.export_md'), run: () => guarded(() => exportTo(conversation, 'md')) },
    { key: 'json', label: t('history.export_json'), run: () => guarded(() => exportTo(conversation, 'json')) },
    { key: 'delete', label: t('ui.delete'), danger: true, run: () => guarded(remove) },
  ];
}

/** @param {{conversation: Conversation, current: boolean, guarded: (work: () => Promise<any>) => void}} props */
function Row({ conversation, current, guarded }) {
  const waiting = approvals.value.filter((approval) => approval.conversation === conversation.id).length;
  return html`<div class="conv-row"><a class="conv" href=${link('chat', conversation.id)} aria-current=${current ? 'page' : undefined} title=${conversation.title}><span>${conversation.title || t('chat.untitled')}</span><${QuestionBadge} n=${waiting} /></a>
    <${Menu} class="btn quiet small icon conv-more" side="right" label="⋯" name=${t('history.actions', { title: conversation.title })} items=${actions(conversation, guarded)} /></div>`;
}

/** The conversations under the days they were last used. @param {{guarded: (work: () => Promise<any>) => void}} props */
function Conversations({ guarded }) {
  const current = route.value.parts[0] ?? '';
  let group = '';
  return html`${conversations.value.map((conversation) => {
    const own = groupOf(conversation.updated ?? conversation.created);
    const heading = own === group ? null : html`<h2 class="group" key=${own}>${t(`history.${own}`)}</h2>`;
    group = own;
    return html`${heading}<${Row} key=${conversation.id} conversation=${conversation} current=${conversation.id === current} guarded=${guarded} />`;
  })}
    ${moreConversations.value ? html`<${Button} kind="quiet" small onClick=${() => guarded(() => loadConversations(true))}>${t('history.more')}<//>` : null}
    ${conversations.value.length ? null : html`<p class="group">${t('history.empty')}</p>`}`;
}

/** The sidebar of the chat. */
export function History() {
  const [query, setQuery] = useState('');
  const search = useSearch(query);
  const [failed, setFailed] = useState(/** @type {any} */ (null));
  const file = useRef(/** @type {HTMLInputElement|null} */ (null));
  const error = search.error ?? failed;
  /** @param {() => Promise<any>} work */
  const guarded = (work) => {
    setFailed(null);
    work().catch(setFailed);
  };
  // What went wrong with one thing does not stay beside the next.
  const busy = chatOf(route.value.parts[0] ?? '').running.value !== 'idle';
  useEffect(() => setFailed(null), [route.value, query]);
  useEffect(() => {
    if (busy) setFailed(null);
  }, [busy]);
  const start = () => {
    newChat();
    navigate(link('chat'));
    requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector('.composer textarea'))?.focus());
  };
  const bring = (/** @type {File|undefined} */ picked) => picked && guarded(async () => navigate(link('chat', await importFrom(picked))));
  return html`<div class="brand"><span class="mark" aria-hidden="true"></span>ZeroClaw</div>
    <${Button} wide onClick=${start}>${t('history.new')}<//>
    <div class="side-list" onKeyDown=${(/** @type {KeyboardEvent} */ event) => query && searchKeys(event, () => setQuery(''))}>
    <input class="field" type="search" value=${query} placeholder=${t('history.search')} aria-label=${t('history.search')} onInput=${(/** @type {any} */ event) => setQuery(event.currentTarget.value)} />
    ${error ? html`<${ErrorBox} error=${error}><${Button} small kind="quiet" onClick=${() => setFailed(null)}>${t('ui.close')}<//><//>` : null}
    <div class="side-scroll">${search.found ? html`<${Hits} found=${search.found} hits=${search.hits} />` : html`<${Conversations} guarded=${guarded} />`}</div></div>
    <div class="side-foot"><input type="file" hidden accept=".json,.md,.markdown,application/json,text/markdown" ref=${file} onChange=${(/** @type {any} */ event) => {
      const picked = event.currentTarget.files?.[0];
      event.currentTarget.value = '';
      bring(picked);
    }} />
      <button type="button" class="conv" onClick=${() => file.current?.click()}><span>${t('history.import')}</span></button>
      <a class="conv" href=${link('settings', 'mcp')}><span>${t('nav.settings')}</span></a><${ConnectionState} /></div>`;
}

/** How this page stands with the companion; also for the sidebar of Settings. */
export function ConnectionState() {
  void language.value;
  const state = connection.value;
  const where = (pairing.value.server ?? '').replace(/^https?:\/\//, '');
  const since = useRef(Date.now());
  useEffect(() => {
    since.current = Date.now();
  }, [state]);
  return html`<div class="status"><span class=${`dot ${state === 'connected' ? 'ok' : state === 'connecting' ? '' : 'no'}`}></span>${state === 'connected' ? `${t('link.connected')} · ${where}` : t(`link.${state}`, { time: formatTime(since.current) })}</div>`;
}
