// Where a message is written: tool lines with completion, attachments, send and stop.
import { html, useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from '../../vendor/preact.js';
import { allowNotifications } from '../calls/attention.js';
import { t } from '../i18n/index.js';
import { complete } from '../llm/toolline.js';
import { link, navigate } from '../router.js';
import { Button } from '../ui.js';
import { attach, FileList, useDroppedFiles } from './attachments.js';
import { send, stop } from './conversation.js';
import { draftOf, keepDraft } from './drafts.js';
import { toolsOf, useReach } from './reach.js';

/** @typedef {import('./conversation.js').Chat} Chat @typedef {import('../types.js').ToolInfo} ToolInfo */

/** Whether a tool line needs nothing more, so that Enter sends it instead of completing it. @param {string} text @param {string} insertion @param {ToolInfo[]} known */
function finished(text, insertion, known) {
  const tool = known.find(({ name }) => new RegExp(`^/${name}(\\s|$)`).test(text));
  if (!tool) return false;
  const missing = (tool.input_schema?.required ?? []).some((/** @type {string} */ key) => !new RegExp(`(^|\\s)${key}=`).test(text));
  return !missing || (insertion.endsWith('=') && text.endsWith(insertion));
}

/** @param {{id: string, items: {label: string, hint: string}[], at: number, insert: (index: number) => void}} props */
function Suggestions({ id, items, at, insert }) {
  const list = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at, items]);
  // It scrolls, so that it takes the focus, too; from the message field, Tab completes instead of coming here.
  return html`<ul class="suggest" role="listbox" tabindex="0" ref=${list} id=${`${id}-list`} aria-label=${t('composer.tools')}>${items.map((item, index) => html`<li key=${item.label} id=${`${id}-${index}`} role="option" aria-selected=${index === at} onPointerDown=${(/** @type {Event} */ event) => {
    event.preventDefault();
    insert(index);
  }}><b>${item.label}</b><span class="meta">${item.hint}</span></li>`)}</ul>`;
}

/** @param {{chat: Chat}} props */
export function Composer({ chat }) {
  const id = useId();
  const draft = useMemo(() => draftOf(chat.id), [chat]);
  const [text, setText] = useState(draft.text);
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [closed, setClosed] = useState(false);
  const [early, setEarly] = useState(false);
  const area = useRef(/** @type {HTMLTextAreaElement|null} */ (null));
  const files = useRef(/** @type {HTMLInputElement|null} */ (null));
  const attached = chat.attached.value;
  const busy = chat.running.value !== 'idle';
  const empty = !text.trim() && !attached.length;
  useReach(chat);
  const known = toolsOf(chat);
  const names = known?.map(({ name }) => name).join() ?? '';
  const available = known ?? [];
  const suggestions = useMemo(() => (closed || !text.startsWith('/') ? { from: 0, items: [] } : complete(text.slice(0, caret), available)), [text, caret, closed, names]);
  const open = suggestions.items.length > 0;
  const at = Math.min(chosen, suggestions.items.length - 1);

  // Before the next event, not after the next picture: a reload right behind a key takes nothing along.
  useLayoutEffect(() => {
    if (!chat.attached.value.length) chat.attached.value = draft.files;
  }, [chat]);
  useLayoutEffect(() => keepDraft(chat.id, { text, files: attached }), [text, attached]);
  useEffect(() => {
    const take = () => {
      if (matchMedia('(hover: hover)').matches && (document.activeElement === document.body || document.activeElement === null)) area.current?.focus();
    };
    take();
    // What had the focus may be on its way out of the page.
    const later = setTimeout(take, 100);
    return () => clearTimeout(later);
  }, [chat]);
  useEffect(() => {
    if (open) document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [at, open]);
  useEffect(() => {
    if (!busy) setEarly(false);
  }, [busy]);

  /** @param {string} next @param {number} [position] */
  const write = (next, position = next.length) => {
    setText(next);
    setCaret(position);
    setChosen(0);
    setClosed(false);
  };
  const insert = (/** @type {number} */ index) => {
    const item = suggestions.items[index];
    const position = suggestions.from + item.insert.length;
    write(text.slice(0, suggestions.from) + item.insert + text.slice(caret), position);
    requestAnimationFrame(() => area.current?.setSelectionRange(position, position));
  };
  const submit = async () => {
    if (empty) return;
    if (busy) {
      setEarly(true);
      return;
    }
    allowNotifications();
    const sent = text;
    const before = chat.messages.value.length;
    // Before the chat gets an address of its own: what is sent is no draft of the next chat.
    keepDraft(chat.id, { text: '', files: [] });
    write('');
    try {
      await send(chat, sent, (stored) => navigate(link('chat', stored), !location.hash));
    } catch (error) {
      chat.error.value = error;
      if (chat.messages.value.length === before) write(sent);
    }
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return;
    if (open && (event.key === 'ArrowDown' || event.key === 'ArrowUp')) {
      event.preventDefault();
      setChosen((at + (event.key === 'ArrowDown' ? 1 : -1) + suggestions.items.length) % suggestions.items.length);
    } else if (open && event.key === 'Escape') {
      event.preventDefault();
      setClosed(true);
    } else if (open && (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)) && !finished(text, suggestions.items[at].insert, available)) {
      event.preventDefault();
      insert(at);
    } else if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey) {
      event.preventDefault();
      submit();
    }
  };
  const take = (/** @type {FileList|null|undefined} */ list) => {
    if (!list?.length) return;
    attach(chat, [...list], (stored) => {
      // The chat moves to an address of its own, and what was typed moves along.
      keepDraft(stored, draftOf(''));
      keepDraft('', { text: '', files: [] });
      navigate(link('chat', stored), true);
    });
  };
  const drop = useDroppedFiles(take);
  return html`<form class=${`composer ${drop ? 'drop' : ''}`} onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  }}>
    ${open ? html`<${Suggestions} id=${id} items=${suggestions.items} at=${at} insert=${insert} />` : null}
    <${FileList} files=${attached} chatId=${chat.id} remove=${(/** @type {any} */ file) => {
      chat.attached.value = attached.filter((one) => one !== file);
    }} />
    <textarea ref=${area} rows="2" value=${text} aria-label=${t('composer.message')} placeholder=${t('composer.placeholder')} aria-controls=${open ? `${id}-list` : undefined}
      aria-activedescendant=${open ? `${id}-${at}` : undefined} aria-autocomplete="list" spellcheck=${!text.startsWith('/')}
      onInput=${(/** @type {any} */ event) => write(event.currentTarget.value, event.currentTarget.selectionStart)}
      onSelect=${(/** @type {any} */ event) => setCaret(event.currentTarget.selectionStart)} onKeyDown=${onKey}
      onPaste=${(/** @type {ClipboardEvent} */ event) => {
        if (event.clipboardData?.files.length) {
          event.preventDefault();
          take(event.clipboardData.files);
        }
      }}></textarea>
    <p class="meta" role="status">${early && busy ? t('composer.early') : ''}</p>
    <div class="row nowrap"><input type="file" multiple hidden ref=${files} onChange=${(/** @type {any} */ event) => {
      take(event.currentTarget.files);
      event.currentTarget.value = '';
    }} /><${Button} kind="quiet" small onClick=${() => files.current?.click()}>${t('composer.attach')}<//>
      <a class="btn quiet small" href=${link('settings', 'tools')}><span>${known ? t('composer.count', { n: known.length }) : t('mcp.tools')}</span></a><span class="grow"></span>
      ${busy ? html`<${Button} onClick=${() => stop(chat)}>${t('composer.stop')}<//>` : html`<${Button} kind="primary" type="submit" keys="⏎" disabled=${empty}>${t('composer.send')}<//>`}</div></form>`;
}
