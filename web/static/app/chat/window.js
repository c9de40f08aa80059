// Which messages of a long chat are drawn: the newest, or those around one that lies far back; at most a thousand.
import { useState } from '../../vendor/preact.js';
import { loadEarlier } from './conversation.js';

/** @typedef {import('./conversation.js').Chat} Chat @typedef {import('../types.js').Message} Message */

/** Messages that are drawn at first, and how many more each step brings. */
const STEP = 200;
export const MOST = 1_000;

/**
 * @param {Chat} chat @param {Message[]} messages all that are drawn if there is room @param {ReturnType<typeof import('./follow.js').useFollow>} scroll
 * `full`: no more are drawn. `toEnd` goes to the newest; `mount` draws one, however far back it lies.
 */
export function useWindow(chat, messages, { toEnd, hold, leave }) {
  const [limit, setLimit] = useState(STEP);
  /** How many at the end are not drawn. */
  const [skip, setSkip] = useState(0);
  const upTo = messages.length - skip;
  return {
    visible: messages.slice(Math.max(0, upTo - limit), upTo),
    earlier: upTo > limit || chat.more.value,
    later: skip > 0,
    full: limit >= MOST && upTo > MOST,
    showEarlier: async () => {
      if (upTo <= limit) await loadEarlier(chat).catch((error) => {
        chat.error.value = error;
      });
      hold();
      setLimit(Math.min(MOST, limit + STEP));
    },
    showLater: () => {
      leave();
      setSkip(Math.max(0, skip - STEP));
      setLimit(Math.min(MOST, limit + Math.min(skip, STEP)));
    },
    toEnd: () => {
      if (skip) {
        setSkip(0);
        setLimit(STEP);
      }
      toEnd();
    },
    /** @param {Message[]} all @param {Message} message */
    mount: (all, message) => {
      const back = all.length - all.indexOf(message);
      if (back > all.length || (back > skip && back <= skip + limit)) return;
      leave();
      setSkip(Math.max(0, back - STEP));
      setLimit(2 * STEP);
    },
  };
}
