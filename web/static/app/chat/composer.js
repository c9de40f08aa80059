// Where a message is written: tool lines with completion, attachments, send and stop.
import { html, useEffect, useId, useMemo, useRef, useState } from '../../vendor/preact.js';
import { allowNotifications } from '../calls/attention.js';
import { t } from '../i18n/index.js';
import { complete } from '../llm/toolline.js';
import { link, navigate } from '../router.js';
import { sessions, tools } from '../store.js';
import { Button } from '../ui.js';
import { attach, FileList } from './attachments.js';
import { send, sessionOf, stop } from './conversation.js';

/** @typedef {import('./conversation.js').Chat} Chat */

/** Texts not sent yet, for as long as the tab lives. @type {Map<string, string>} */
const drafts = new Map();

/** The tools that a chat can use now. @param {Chat} chat */
export function toolsOf(chat) {
  void sessions.value;
  const mine = sessionOf(chat)?.tools;
  const modes = new Map(tools.value.map((tool) => [tool.name, tool]));
  return (mine?.length ? mine.map((tool) => ({ ...tool, ...modes.get(tool.name) })) : tools.value).filter((tool) => tool.enabled !== false);
}

/** @param {{chat: Chat}} props */
export function Composer({ chat }) {
  const id = useId();
  const [text, setText] = useState(drafts.get(chat.id) ?? '');
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [closed, setClosed] = useState(false);
  const [drop, setDrop] = useState(false);
  const area = useRef(/** @type {HTMLTextAreaElement|null} */ (null));
  const files = useRef(/** @type {HTMLInputElement|null} */ (null));
  const busy = chat.running.value !== 'idle';
  const available = toolsOf(chat);
  const suggestions = useMemo(() => (closed || !text.startsWith('/') ? { from: 0, items: [] } : complete(text.slice(0, caret), available)), [text, caret, closed, available.length]);
  const open = suggestions.items.length > 0;
  const at = Math.min(chosen, suggestions.items.length - 1);

  useEffect(() => {
    if (matchMedia('(hover: hover)').matches && (document.activeElement === document.body || document.activeElement === null)) area.current?.focus();
  }, [chat]);
  useEffect(() => {
    if (open) document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [at, open]);

  /** @param {string} next @param {number} [position] */
  const write = (next, position = next.length) => {
    drafts.set(chat.id, next);
    setText(next);
    setCaret(position);
    setChosen(0);
    setClosed(false);
  };
  const insert = (/** @type {number} */ index) => {
    const item = suggestions.items[index];
    const next = text.slice(0, suggestions.from) + item.insert + text.slice(caret);
    const position = suggestions.from + item.insert.length;
    write(next, position);
    requestAnimationFrame(() => area.current?.setSelectionRange(position, position));
  };
  const submit = async () => {
    if (busy || (!text.trim() && !chat.attached.value.length)) return;
    allowNotifications();
    const sent = text;
    drafts.delete(chat.id);
    write('');
    try {
      await send(chat, sent, (stored) => navigate(link('chat', stored), !location.hash));
    } catch (error) {
      chat.error.value = error;
      if (!chat.messages.value.some(({ data }) => data.text === sent)) write(sent);
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
    } else if (open && (event.key === 'Tab' || (event.key === 'Enter' && !event.shiftKey)) && !finished(suggestions.items[at].insert)) {
      event.preventDefault();
      insert(at);
    } else if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey) {
      event.preventDefault();
      submit();
    }
  };
  /** A line that needs nothing more is sent, not completed. @param {string} insertion */
  const finished = (insertion) => {
    const tool = available.find(({ name }) => new RegExp(`^/${name}(\\s|$)`).test(text));
    if (!tool) return false;
    const missing = (tool.input_schema?.required ?? []).some((/** @type {string} */ key) => !new RegExp(`(^|\\s)${key}=`).test(text));
    return !missing || (insertion.endsWith('=') && text.endsWith(insertion));
  };
  const take = (/** @type {FileList|null|undefined} */ list) => {
    if (!list?.length) return;
    attach(chat, [...list], (stored) => {
      // The chat moves to an address of its own, and what was typed moves along.
      drafts.set(stored, drafts.get('') ?? '');
      drafts.delete('');
      navigate(link('chat', stored), true);
    });
  };
  // Files may be dropped anywhere: missing the box must not make the browser leave the page.
  const taken = useRef(take);
  taken.current = take;
  useEffect(() => {
    const over = (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setDrop(true);
    };
    const leave = (/** @type {DragEvent} */ event) => {
      if (!event.relatedTarget) setDrop(false);
    };
    const dropped = (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setDrop(false);
      taken.current(event.dataTransfer.files);
    };
    addEventListener('dragover', over);
    addEventListener('dragleave', leave);
    addEventListener('drop', dropped);
    return () => {
      removeEventListener('dragover', over);
      removeEventListener('dragleave', leave);
      removeEventListener('drop', dropped);
    };
  }, []);
  return html`<form class=${`composer ${drop ? 'drop' : ''}`} onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    submit();
  }}>
    ${open ? html`<ul class="suggest" role="listbox" id=${`${id}-list`} aria-label=${t('composer.tools')}>${suggestions.items.map((item, index) => html`<li key=${item.label} id=${`${id}-${index}`} role="option" aria-selected=${index === at} onPointerDown=${(/** @type {Event} */ event) => {
      event.preventDefault();
      insert(index);
    }}><b>${item.label}</b><span class="meta">${item.hint}</span></li>`)}</ul>` : null}
    <${FileList} files=${chat.attached.value} chatId=${chat.id} remove=${(/** @type {any} */ file) => {
      chat.attached.value = chat.attached.value.filter((one) => one !== file);
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
    <div class="row nowrap"><input type="file" multiple hidden ref=${files} onChange=${(/** @type {any} */ event) => {
      take(event.currentTarget.files);
      event.currentTarget.value = '';
    }} /><${Button} kind="quiet" small onClick=${() => files.current?.click()}>${t('composer.attach')}<//>
      <a class="btn quiet small" href=${link('settings', 'tools')}>${t('composer.count', { n: available.length })}</a><span class="grow"></span>
      ${busy ? html`<${Button} onClick=${() => stop(chat)}>${t('composer.stop')}<//>` : html`<${Button} kind="primary" type="submit" keys="⏎" disabled=${!text.trim() && !chat.attached.value.length}>${t('composer.send')}<//>`}</div></form>`;
}
