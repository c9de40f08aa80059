// Says that questions wait for a person, and brings them into view, wherever they belong.
import { html, useEffect } from '../../vendor/preact.js';
import { Question, showQuestion } from '../calls/approval.js';
import { t } from '../i18n/index.js';
import { link, navigate } from '../router.js';
import { approvals } from '../store.js';
import { Dialog, openDialog, Sign } from '../ui.js';
import { useUnseen } from './follow.js';

/** @typedef {import('./conversation.js').Chat} Chat */

const nowhere = { current: null };

/**
 * At the lower edge of what scrolls: says that questions wait, and brings the next one into view, in whichever chat it is.
 * It lies over the end of a chat, where there is room for it; elsewhere it has a line of its own.
 * While all of them can be seen it shows for the keyboard only.
 * @param {{chat?: Chat, box?: {current: HTMLElement|null}, children?: any}} props
 */
export function WaitingBar({ chat, box = nowhere, children }) {
  const waiting = approvals.value;
  const unseen = useUnseen(box, waiting.map(({ id }) => id));
  const show = () => {
    const here = waiting.filter(({ id }) => document.getElementById(`question-${id}`));
    const next = here.find(({ id }) => unseen.includes(id)) ?? here[0];
    if (next) showQuestion(next.id);
    else if (waiting[0].conversation !== chat?.id) {
      // A question without a conversation is shown by every chat.
      const { id, conversation } = waiting[0];
      navigate(conversation ? link('chat', conversation) : link('chat'));
      let tries = 0;
      const look = setInterval(() => {
        if (showQuestion(id) || ++tries > 40) clearInterval(look);
      }, 100);
    } else openDialog((close) => html`<${LooseQuestions} onClose=${close} />`).catch(() => {});
  };
  if (!waiting.length && !children) return null;
  return html`<div class=${`pills ${!chat && unseen.length ? 'docked' : ''}`}><div>${children}${waiting.length ? html`<button type="button" class=${`waiting ${unseen.length ? '' : 'seen'}`} onClick=${show}><${Sign} kind="wait" /><span>${t('ask.waiting', { n: waiting.length })}</span> <u>${t('ask.show')}</u></button>` : null}</div></div>`;
}

/** Questions that belong to no chat: a call run from Settings, another program. @param {{onClose: () => void}} props */
function LooseQuestions({ onClose }) {
  const waiting = approvals.value;
  useEffect(() => {
    if (waiting.length) requestAnimationFrame(() => showQuestion(waiting[0].id));
    else onClose();
  }, [waiting.length]);
  return html`<${Dialog} title=${t('ask.waiting', { n: waiting.length })} onClose=${onClose}><div class="stack">${waiting.map((approval) => html`<${Question} key=${approval.id} approval=${approval} />`)}</div><//>`;
}
