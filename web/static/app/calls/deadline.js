// How long a question still waits: until when, and for the last minute how much is left.
import { html } from '../../vendor/preact.js';
import { formatTime, t } from '../i18n/index.js';
import { clock } from '../store.js';

/** From here on the time that is left is counted. */
export const COUNTED_MS = 60_000;

/** “1:05”, '' while it is not counted or when it is over. @param {number} left milliseconds */
export function countdown(left) {
  if (left <= 0 || left > COUNTED_MS) return '';
  const seconds = Math.ceil(left / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** Its room is kept from the start, so that nothing moves when the counting begins; it is a timer, so nobody is told each second. @param {{time?: string}} props */
export function Deadline({ time }) {
  if (!time) return null;
  const left = new Date(time).getTime() - clock.value;
  return html`<span class="meta deadline"><span class=${`left ${left < COUNTED_MS / 4 ? 'soon' : ''}`} role="timer" aria-label=${t('ask.left')}>${countdown(left)}</span> <span>${left > 0 ? t('ask.until', { time: formatTime(time) }) : t('ask.over')}</span></span>`;
}
