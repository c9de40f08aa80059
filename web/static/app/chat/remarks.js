// What is not as it should be with the companion, its configuration or the session of a chat, above the chat. Remarks can be
// closed and stay so in this tab until there are others.
import { html, signal, useState } from '../../vendor/preact.js';
import { warningText } from '../calls/reasons.js';
import { Visible } from '../calls/text.js';
import { t } from '../i18n/index.js';
import { link } from '../router.js';
import { connection, status } from '../store.js';
import { Button } from '../ui.js';
import { sessionOf } from './chats.js';

/** Which remarks were closed, by what they are about. */
const closed = signal(/** @type {Record<string, string>} */ ({}));

/** The same for the same remarks in any order. @param {{code?: string, message: string}[]} list */
export const markOf = (list) => JSON.stringify(list.map(({ code = '', message }) => [code, message]).sort());

/** Whether these remarks were closed as they are now. @param {string} about @param {{code?: string, message: string}[]} list */
export const isClosed = (about, list) => closed.value[about] === markOf(list);

/** @param {string} about @param {{code?: string, message: string}[]} list */
export function closeRemarks(about, list) {
  closed.value = { ...closed.value, [about]: markOf(list) };
}

/** @param {{about: string, list: {code?: string, message: string}[], name: string}} props */
function CloseButton({ about, list, name }) {
  return html`<${Button} kind="quiet" small class="icon" aria-label=${t('chat.remarks_close', { name })} title=${t('ui.close')} onClick=${() => {
    closeRemarks(about, list);
    /** @type {HTMLElement|null} */ (document.querySelector('.composer textarea'))?.focus({ preventScroll: true });
  }}>✕<//>`;
}

/** What is wrong with the companion itself stays until it is right. */
export function Banner() {
  const problems = /** @type {{code: string, message: string}[]} */ (status.value?.problems ?? []);
  if (connection.value === 'lost') return html`<div class="banner" role="status"><span class="dot no"></span><span>${t('link.banner')}</span></div>`;
  const remarks = problems.filter(({ code }) => code === 'config');
  // Remarks about the configuration can be many; they are listed where there is room for them.
  const said = remarks.length > 1 ? t('chat.remarks', { n: remarks.length }) : remarks[0]?.message;
  return html`${problems.filter(({ code }) => code !== 'config').map((problem, at) => html`<div class="banner soft" role="status" key=${at}>${problem.message}</div>`)}
    ${remarks.length && !isClosed('config', remarks) ? html`<div class="banner soft" role="status"><span class="grow">${said}${remarks.length > 1 ? html` <a href=${link('settings', 'about')}>${t('ask.show')}</a>` : null}</span><${CloseButton} about="config" list=${remarks} name=${t('chat.remarks', { n: remarks.length })} /></div>` : null}`;
}

/** What a session could not give its chat: one quiet line that opens. @param {{chat: import('./chats.js').Chat}} props */
export function SessionRemarks({ chat }) {
  const [open, setOpen] = useState(false);
  const list = sessionOf(chat)?.warnings ?? [];
  const about = `chat ${chat.id}`;
  if (!list.length || isClosed(about, list)) return null;
  const name = t('chat.session_remarks', { n: list.length });
  return html`<section class="remarks" aria-label=${name}><div class="row nowrap"><button type="button" class="remarks-open" aria-expanded=${open} onClick=${() => setOpen(!open)}>${name}</button><span class="grow"></span><${CloseButton} about=${about} list=${list} name=${name} /></div>
    ${open ? html`<ul>${list.map((warning, at) => html`<li key=${`${warning.code} ${at}`}><${Visible} text=${warningText(warning)} /></li>`)}</ul>` : null}</section>`;
}
