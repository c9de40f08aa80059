// The list of conversations: search, rename, export, import, delete.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { QuestionBadge } from '../calls/approval.js';
import { api, pairing, url } from '../api.js';
import { formatTime, language, t } from '../i18n/index.js';
import { link, navigate, route } from '../router.js';
import { approvals, connection, conversations, loadConversations, moreConversations } from '../store.js';
import { Button, confirmDialog, ErrorBox, Menu, promptDialog } from '../ui.js';
import { copyConversation, forgetChat, newChat } from './conversation.js';
import { fileName, fromFile, toJson, toMarkdown } from './transfer.js';

/** @typedef {import('../types.js').Conversation} Conversation @typedef {import('../types.js').Message} Message */

/** The heading that a conversation stands under. @param {string|undefined} time @param {number} [now] @returns {'today'|'yesterday'|'week'|'older'} */
export function groupOf(time, now = Date.now()) {
  const midnight = new Date(now);
  midnight.setHours(0, 0, 0, 0);
  const age = midnight.getTime() - new Date(time ?? 0).getTime();
  if (age <= 0) return 'today';
  if (age <= 86_400_000) return 'yesterday';
  return age <= 6 * 86_400_000 ? 'week' : 'older';
}

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
async function exportTo({ id, title }, kind) {
  const [head, messages] = await Promise.all([api.get(url`/api/conversations/${id}`), allMessages(id)]);
  if (kind === 'json') download(fileName(title, 'json'), toJson(title, head.meta, messages), 'application/json');
  else download(fileName(title, 'md'), toMarkdown(title, messages, { user: t('chat.you'), assistant: t('chat.assistant'), result: t('card.result') }), 'text/markdown');
}

/** The sidebar of the chat. */
export function History() {
  const [query, setQuery] = useState('');
  const [hits, setHits] = useState(/** @type {any[]|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const file = useRef(/** @type {HTMLInputElement|null} */ (null));
  const current = route.value.parts[0] ?? '';
  useEffect(() => {
    if (!query.trim()) {
      setHits(null);
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.get(`/api/conversations/search?q=${encodeURIComponent(query.trim())}`, { signal: abort.signal }).then(({ hits: found }) => {
        setHits(found ?? []);
        setError(null);
      }, (failure) => {
        if (!abort.signal.aborted) setError(failure);
      });
    }, 180);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query]);
  /** @param {() => Promise<any>} work */
  const guarded = (work) => work().then(() => setError(null), setError);
  const start = () => {
    newChat();
    navigate(link('chat'));
    requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector('.composer textarea'))?.focus());
  };
  const importFrom = async (/** @type {File} */ picked) => {
    if (picked.size > 64 * 1024 * 1024) throw new Error(t('history.import_big'));
    let read;
    try {
      read = fromFile(await picked.text(), picked.name);
    } catch (failure) {
      const { message } = /** @type {Error} */ (failure);
      throw new Error(t(message === 'not-json' ? 'history.not_json' : 'history.not_ours', { name: picked.name }));
    }
    navigate(link('chat', await copyConversation(read.title || picked.name, read.meta, read.messages)));
  };
  let group = '';
  return html`<div class="brand"><span class="mark" aria-hidden="true"></span>ZeroClaw</div>
    <${Button} wide onClick=${start}>${t('history.new')}<//>
    <input class="field" type="search" value=${query} placeholder=${t('history.search')} aria-label=${t('history.search')} onInput=${(/** @type {any} */ event) => setQuery(event.currentTarget.value)} />
    ${error ? html`<${ErrorBox} error=${error} />` : null}
    <div class="side-scroll">${hits ? html`<p class="group" role="status">${t('history.hits', { n: hits.length })}</p>${hits.map((hit, at) => html`<div class="conv-row hit" key=${at}><a class="conv" href=${link('chat', hit.conversation)}><span>${hit.title}</span><${Snippet} text=${hit.snippet} /></a></div>`)}`
      : conversations.value.map((conversation) => {
        const own = groupOf(conversation.updated ?? conversation.created);
        const heading = own === group ? null : html`<h2 class="group" key=${own}>${t(`history.${own}`)}</h2>`;
        group = own;
        const waiting = approvals.value.filter((approval) => approval.conversation === conversation.id).length;
        return html`${heading}<div class="conv-row" key=${conversation.id}><a class="conv" href=${link('chat', conversation.id)} aria-current=${conversation.id === current ? 'page' : undefined} title=${conversation.title}><span>${conversation.title || t('chat.untitled')}</span><${QuestionBadge} n=${waiting} /></a>
          <${Menu} class="btn quiet small icon conv-more" side="right" label="⋯" name=${t('history.actions', { title: conversation.title })} items=${[
            { key: 'rename', label: t('history.rename'), run: () => guarded(async () => {
              const title = await promptDialog({ title: t('history.rename'), label: t('history.title'), value: conversation.title, action: t('ui.save') });
              if (!title?.trim()) return;
              await api.patch(url`/api/conversations/${conversation.id}`, { title: title.trim() });
              await loadConversations();
            }) },
            { key: 'md', label: t('history.export_md'), run: () => guarded(() => exportTo(conversation, 'md')) },
            { key: 'json', label: t('history.export_json'), run: () => guarded(() => exportTo(conversation, 'json')) },
            { key: 'delete', label: t('ui.delete'), danger: true, run: () => guarded(async () => {
              if (!(await confirmDialog({ title: t('history.delete_title', { title: conversation.title }), text: t('history.delete_text'), action: t('ui.delete'), danger: true }))) return;
              await api.del(url`/api/conversations/${conversation.id}`);
              forgetChat(conversation.id);
              if (current === conversation.id) navigate(link('chat'));
              await loadConversations();
            }) },
          ]} /></div>`;
      })}
      ${!hits && moreConversations.value ? html`<${Button} kind="quiet" small onClick=${() => guarded(() => loadConversations(true))}>${t('history.more')}<//>` : null}
      ${!hits && !conversations.value.length ? html`<p class="group">${t('history.empty')}</p>` : null}</div>
    <div class="side-foot"><input type="file" hidden accept=".json,.md,.markdown,application/json,text/markdown" ref=${file} onChange=${(/** @type {any} */ event) => {
      const picked = event.currentTarget.files[0];
      event.currentTarget.value = '';
      if (picked) guarded(() => importFrom(picked));
    }} />
      <button type="button" class="conv" onClick=${() => file.current?.click()}><span>${t('history.import')}</span></button>
      <a class="conv" href=${link('settings', 'mcp')}><span>${t('nav.settings')}</span></a><${ConnectionState} /></div>`;
}

/** A hit with its words marked (U+2039 and U+203A around them). @param {{text: string}} props */
function Snippet({ text }) {
  return html`<span class="snippet">${String(text ?? '').split(/\u2039([^\u203a]*)\u203a/).map((piece, at) => (at % 2 ? html`<mark key=${at}>${piece}</mark>` : piece))}</span>`;
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
