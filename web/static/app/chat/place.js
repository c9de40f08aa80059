// Brings the message that the address names into view: #/chat/ID?at=SEQ, where a hit of the search leads.
import { useEffect } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { link, navigate, route } from '../router.js';
import { announce } from '../ui.js';
import { loadEarlier } from './conversation.js';

/** @typedef {import('./conversation.js').Chat} Chat @typedef {import('../types.js').Message} Message */

/** How long what was looked for stays marked. */
const MARKED_MS = 2_500;

/** The message that is drawn for a place: a result shows in the card of its call. @param {Message[]} messages @param {number} seq @returns {{message: Message, callId: string}|null} */
export function drawnAt(messages, seq) {
  const message = messages.find((one) => one.seq === seq);
  if (message?.role !== 'tool') return message ? { message, callId: '' } : null;
  const callId = message.data.call_id ?? '';
  const asking = messages.find(({ data }) => data.calls?.some((call) => call.call_id === callId));
  return asking ? { message: asking, callId } : null;
}

/** @param {{message: Message, callId: string}} target */
function elementOf({ message, callId }) {
  const card = callId ? document.getElementById(`call-${callId}`) : null;
  // The words that were found lie in the result.
  /** @type {HTMLElement|null|undefined} */ (card?.querySelector('.line[aria-expanded="false"]'))?.click();
  return card ?? document.getElementById(`message-${message.id}`);
}

/**
 * Goes where the address leads, once; then the address is that of the chat alone.
 * @param {Chat} chat @param {(message: Message) => void} mount draws a message, however far back it lies @param {(element: HTMLElement) => void} bring
 */
export function usePlace(chat, mount, bring) {
  const seq = Number(route.value.query.get('at') ?? 0);
  const ready = chat.state.value === 'ready';
  useEffect(() => {
    if (!seq || !ready) return undefined;
    let current = true;
    const go = async () => {
      while (current && chat.more.peek() && !chat.messages.peek().some((one) => one.seq !== undefined && one.seq <= seq)) await loadEarlier(chat);
      const target = drawnAt(chat.messages.peek(), seq);
      if (!current) return;
      if (target) mount(target.message);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      if (!current) return;
      navigate(link('chat', chat.id), true);
      const element = target ? elementOf(target) : null;
      if (!element) return;
      bring(element);
      element.dataset.found = '';
      setTimeout(() => delete element.dataset.found, MARKED_MS);
      announce(t('chat.found'));
    };
    go().catch((error) => {
      chat.error.value = error;
    });
    return () => {
      current = false;
    };
  }, [seq, ready]);
}
