// Tells a person who looks elsewhere that a question waits: title, icon, notification, and the polite live region.
import { effect } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { approvals } from '../store.js';
import { announce } from '../ui.js';

/** The title without what this module puts in front. */
let title = 'ZeroClaw';

/** @param {string} name the conversation or section shown, '' for none */
export function setTitle(name) {
  title = name ? `${name} · ZeroClaw` : 'ZeroClaw';
  show();
}

function show() {
  const waiting = approvals.peek().length;
  document.title = waiting ? `(${waiting}) ${title}` : title;
  const icon = /** @type {HTMLLinkElement|null} */ (document.getElementById('icon'));
  const wanted = waiting ? 'icon-ask.svg' : 'icon.svg';
  if (icon && !icon.href.endsWith(`/${wanted}`)) icon.href = wanted;
}

/** Asks for notifications; call it from a click only. */
export function allowNotifications() {
  if (typeof Notification !== 'undefined' && Notification.permission === 'default') Notification.requestPermission().catch(() => {});
}

/** Starts watching the questions. */
export function watchQuestions() {
  /** @type {Set<string>} */
  let known = new Set();
  effect(() => {
    const list = approvals.value;
    const fresh = list.filter(({ id }) => !known.has(id));
    known = new Set(list.map(({ id }) => id));
    show();
    if (!fresh.length) return;
    announce(t('ask.announce', { n: list.length, tool: fresh[0].tool }));
    if (document.visibilityState === 'hidden' && typeof Notification !== 'undefined' && Notification.permission === 'granted') {
      // The text of a call may be secret and a lock screen is public: the tool's name is all that is shown.
      const note = new Notification(t('ask.waiting', { n: list.length }), { body: fresh[0].tool, tag: 'zeroclaw-question' });
      note.onclick = () => {
        focus();
        note.close();
      };
    }
  });
}
