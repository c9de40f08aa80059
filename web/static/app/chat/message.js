// One message of a conversation, with the calls it asked for.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { Batches } from '../calls/batch.js';
import { CallCard, Whole } from '../calls/card.js';
import { t } from '../i18n/index.js';
import { link, navigate } from '../router.js';
import { Button, CopyButton, ErrorBox } from '../ui.js';
import { FileList } from './attachments.js';
import { branch, regenerate, resend, summariseAndGoOn } from './conversation.js';
import { Markdown } from './markdown.js';

/** @typedef {import('../types.js').Message} Message @typedef {import('../types.js').MessageData} MessageData @typedef {import('./conversation.js').Chat} Chat */

/** Longest text of a person that is shown at once. */
const SHOWN = 20_000;

/** Plain text with `code` in backticks. @param {{text: string}} props */
function PlainText({ text }) {
  const [all, setAll] = useState(false);
  const shown = all ? text : text.slice(0, SHOWN);
  return html`<div>${shown.split(/`([^`\n]{1,400})`/).map((piece, at) => (at % 2 ? html`<code key=${at}>${piece}</code>` : piece))}${text.length > shown.length ? html`… <${Button} small onClick=${() => setAll(true)}>${t('md.show_rest')}<//>` : null}</div>`;
}

/** @param {Chat} chat @param {() => Promise<any>} work */
async function guarded(chat, work) {
  try {
    await work();
  } catch (error) {
    chat.error.value = error;
  }
}

/** @param {{chat: Chat, message: Message}} props */
function BranchButton({ chat, message }) {
  return html`<${Button} kind="quiet" small onClick=${() => guarded(chat, async () => navigate(link('chat', await branch(chat, message.id))))}>${t('chat.branch')}<//>`;
}

/** @param {{chat: Chat, message: Message, busy: boolean}} props */
export function UserMessage({ chat, message, busy }) {
  const [editing, setEditing] = useState(false);
  const text = message.data.text ?? '';
  const id = `message-${message.id}`;
  if (editing) return html`<article class="turn plain" id=${id}><${EditBox} text=${text} onCancel=${() => setEditing(false)} onSave=${(/** @type {string} */ next) => {
    setEditing(false);
    guarded(chat, () => resend(chat, message.id, next));
  }} /></article>`;
  return html`<article class="turn" id=${id}><h2 class="sr">${t('chat.you')}</h2><div class="msg user"><${PlainText} text=${text} />${message.data.files ? html`<${FileList} files=${message.data.files} chatId=${chat.id} />` : null}</div>
    <div class="msg-tools right"><${CopyButton} text=${text} /><${Button} kind="quiet" small disabled=${busy} onClick=${() => setEditing(true)}>${t('chat.edit')}<//><${BranchButton} chat=${chat} message=${message} /></div></article>`;
}

/** @param {{text: string, onSave: (text: string) => void, onCancel: () => void}} props */
function EditBox({ text, onSave, onCancel }) {
  const [value, setValue] = useState(text);
  const box = useRef(/** @type {HTMLTextAreaElement|null} */ (null));
  useEffect(() => box.current?.focus(), []);
  return html`<form class="edit-box" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    onSave(value);
  }} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape') onCancel();
  }}><textarea class="field" ref=${box} aria-label=${t('chat.edit_label')} value=${value} onInput=${(/** @type {any} */ event) => setValue(event.currentTarget.value)}></textarea>
    <div class="row"><span class="meta grow">${t('chat.edit_hint')}</span><${Button} onClick=${onCancel}>${t('ui.cancel')}<//><${Button} kind="primary" type="submit" disabled=${!value.trim()}>${t('chat.resend')}<//></div></form>`;
}

/** @param {{text: string, live?: boolean}} props */
export function Reasoning({ text, live = false }) {
  return html`<details><summary>${t(live ? 'chat.reasoning_live' : 'chat.reasoning')}</summary><div class="reason"><${Markdown} text=${text} live=${live} aside /></div></details>`;
}

/** Whether a model was sent more than it can take. @param {{code?: string, message: string}} error */
const tooLong = ({ code = '', message }) => code === '413' || /context.?(length|window)|too long|maximum.{0,20}tokens/i.test(message);

/** What to do about a model's error, in words. @param {{code?: string, message: string}} error */
export function modelAdvice({ code = '', message }) {
  if (code === 'unreachable') return t('model.companion');
  if (code === 'half_stream') return t('model.half');
  if (code === 'no_model') return '';
  if (code === 'empty') return t('model.empty');
  if (code === '401' || code === '403') return t('model.key');
  if (code === '404') return t('model.not_found');
  if (code === '429') return t('model.rate');
  if (tooLong({ code, message })) return t('model.too_long');
  if (/^5\d\d$/.test(code) || /connection error|failed to fetch|network/i.test(message)) return t('model.endpoint');
  return '';
}

/** Why a turn ended before its end, '' when it did not. @param {MessageData} data @param {boolean} active */
function noticeOf({ stopped, partial, kind }, active) {
  if (stopped) return t('chat.stopped');
  if (kind === 'interrupted' || (partial && !active)) return t('chat.interrupted');
  if (kind === 'branch') return t('chat.branched');
  return kind === 'limit' || kind === 'repeat' ? t(`chat.${kind}`) : '';
}

/** @param {{chat: Chat, message: Message, results: Record<string, MessageData>, busy: boolean, last: boolean}} props */
export function AssistantMessage({ chat, message, results, busy, last }) {
  const { data } = message;
  const id = `message-${message.id}`;
  if (data.kind === 'summary') return html`<article class="turn" id=${id}><details><summary>${t('chat.summary')}</summary><div class="reason"><${Markdown} text=${data.text ?? ''} /></div></details></article>`;
  const active = busy && last;
  const notice = noticeOf(data, active);
  return html`<article class=${`turn ${last ? 'plain' : ''}`} id=${id}><h2 class="sr">${data.model ?? t('chat.assistant')}</h2>
    ${data.reasoning ? html`<${Reasoning} text=${data.reasoning} />` : null}
    ${data.text ? html`<div class="msg"><${Markdown} text=${data.text} /></div>` : null}
    ${data.calls?.length ? html`<div class="stack calls">${data.calls.map((call) => html`<${Whole} key=${call.call_id}><${CallCard} asked=${call} result=${results[call.call_id]} active=${active} /><//>`)}${data.calls.length > 1 ? html`<${Batches} callIds=${data.calls.map((call) => call.call_id)} />` : null}</div>` : null}
    ${data.error ? html`<${ErrorBox} title=${t('model.failed')} error=${[data.error.message.replace(/([^.!?…])$/, '$1.'), modelAdvice(data.error)].filter(Boolean).join(' ')}><${Button} small disabled=${busy} onClick=${() => guarded(chat, () => regenerate(chat, message.id))}>${t('ui.retry')}<//>
      ${last && tooLong(data.error) ? html`<${Button} small disabled=${busy} onClick=${() => guarded(chat, () => summariseAndGoOn(chat))}>${t('chat.summarise_go_on')}<//>` : null}<a class="btn small quiet" href=${link('settings', 'providers')}>${t('chat.providers')}</a><//>` : null}
    ${notice ? html`<p class="divider">${notice}</p>` : null}
    ${data.text && !active ? html`<div class="msg-tools"><${CopyButton} text=${data.text} /><${Button} kind="quiet" small disabled=${busy} onClick=${() => guarded(chat, () => regenerate(chat, message.id))}>${t('chat.regenerate')}<//><${BranchButton} chat=${chat} message=${message} /></div>` : null}</article>`;
}
