// One event stream for all tabs of a browser. A leader, held by a Web Lock, reads the companion's stream and feeds the others
// through a BroadcastChannel. It beats every 5 s; a visible tab that hears nothing for 20 s takes the lock away from it.
import { createParser } from '../vendor/eventsource-parser.js';

export const BEAT_MS = 5_000;
export const SILENCE_MS = 20_000;
/** The companion sends a comment each 15 s; a stream silent for longer than this is dead, for example after a sleep. */
const STREAM_SILENCE_MS = 40_000;

/** Whether a tab takes the lock from a leader that it no longer hears. @param {{leading: boolean, visible: boolean, heard: number, now: number}} tab */
export function shouldSteal({ leading, visible, heard, now }) {
  return !leading && visible && now - heard >= SILENCE_MS;
}

/** Milliseconds before the next attempt to connect. @param {number} failures */
export function retryDelay(failures) {
  return Math.min(8_000, 250 * 2 ** Math.min(failures, 5));
}

/**
 * Feeds bytes of an event stream to `deliver(id, kind, data)`; a payload that is no JSON is dropped.
 * @param {(id: string, kind: string, data: any) => void} deliver
 */
export function eventReader(deliver) {
  const decoder = new TextDecoder();
  const parser = createParser({
    onEvent(event) {
      let data;
      try {
        data = JSON.parse(event.data);
      } catch {
        return;
      }
      deliver(event.id ?? '', event.event ?? 'message', data);
    },
  });
  return (/** @type {Uint8Array} */ bytes) => parser.feed(decoder.decode(bytes, { stream: true }));
}

/**
 * @typedef {object} Wiring
 * @property {(headers: Record<string, string>, signal: AbortSignal) => Promise<Response>} open connects; throws an error with `status` 401 when the token is no good
 * @property {(kind: string, data: any) => void} deliver
 * @property {(state: 'connecting'|'connected'|'lost'|'unpaired') => void} report
 * @property {LockManager} [locks]
 * @property {BroadcastChannel} [channel]
 * @property {() => boolean} [visible]
 * @property {() => number} [now]
 */

/** Starts the shared stream; answers a function that ends it. @param {Wiring} wiring @returns {() => void} */
export function followEvents({ open, deliver, report, locks, channel, visible = () => true, now = Date.now }) {
  const ended = new AbortController();
  let leading = false;
  let lastId = '';
  let heard = now();
  let shown = visible();
  /** @type {'connecting'|'connected'|'lost'|'unpaired'} */
  let state = 'connecting';

  /** @param {typeof state} next @param {boolean} [quiet] */
  const become = (next, quiet) => {
    state = next;
    report(next);
    if (!quiet) channel?.postMessage({ type: 'beat', state, lastId });
  };

  /** @param {AbortSignal} signal */
  const lead = async (signal) => {
    leading = true;
    const beat = setInterval(() => channel?.postMessage({ type: 'beat', state, lastId }), BEAT_MS);
    try {
      for (let failures = 0; !signal.aborted; ) {
        try {
          await stream(signal, () => {
            failures = 0;
          });
        } catch (error) {
          if (signal.aborted) break;
          if (/** @type {any} */ (error)?.status === 401) {
            refused = true;
            become('unpaired');
            return;
          }
        }
        if (signal.aborted) break;
        become('lost');
        await pause(retryDelay(failures++), signal);
      }
    } finally {
      clearInterval(beat);
      leading = false;
      heard = now();
    }
  };

  /** @param {AbortSignal} outer @param {() => void} connected */
  const stream = async (outer, connected) => {
    const dead = new AbortController();
    const signal = AbortSignal.any([outer, dead.signal]);
    let silence = setTimeout(() => dead.abort(), STREAM_SILENCE_MS);
    try {
      /** @type {Record<string, string>} */
      const headers = { Accept: 'text/event-stream' };
      if (lastId) headers['Last-Event-ID'] = lastId;
      const response = await open(headers, signal);
      const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      connected();
      become('connected');
      const feed = eventReader((id, kind, data) => {
        if (id) lastId = id;
        channel?.postMessage({ type: 'event', id, kind, data });
        deliver(kind, data);
      });
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(() => dead.abort(), STREAM_SILENCE_MS);
        feed(value);
      }
    } finally {
      clearTimeout(silence);
      dead.abort();
    }
  };

  if (!locks) {
    lead(ended.signal);
    return () => ended.abort();
  }

  let refused = false;
  let stealing = false;
  let waiting = new AbortController();

  const compete = async () => {
    while (!ended.signal.aborted && !refused) {
      const mine = new AbortController();
      waiting = new AbortController();
      const options = stealing ? { steal: true } : { signal: AbortSignal.any([ended.signal, waiting.signal]) };
      stealing = false;
      try {
        await locks.request('zc-events', options, () => lead(AbortSignal.any([ended.signal, mine.signal])));
      } catch {
        // Stolen by another tab, about to steal, or ended: either way this tab does not lead now.
      }
      mine.abort();
      await pause(20, ended.signal);
    }
  };

  channel?.addEventListener('message', ({ data }) => {
    if (ended.signal.aborted) return;
    if (data?.type === 'here') {
      if (leading) channel?.postMessage({ type: 'beat', state, lastId });
      return;
    }
    if (leading) return;
    heard = now();
    if (data?.id) lastId = data.id;
    if (data?.type === 'beat') {
      lastId = data.lastId || lastId;
      become(data.state, true);
    } else if (data?.type === 'event') deliver(data.kind, data.data);
  });

  const watch = setInterval(() => {
    if (visible() && !shown) heard = Math.max(heard, now());
    shown = visible();
    if (shouldSteal({ leading, visible: shown, heard, now: now() })) {
      heard = now();
      stealing = true;
      waiting.abort();
    }
  }, 1_000);
  ended.signal.addEventListener('abort', () => clearInterval(watch));

  compete();
  // A tab that comes later learns at once how things stand, not with the next beat.
  channel?.postMessage({ type: 'here' });
  return () => ended.abort();
}

/** @param {number} ms @param {AbortSignal} signal */
function pause(ms, signal) {
  return new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve(undefined);
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
