// What is known of each call, from events and from the companion's answers.
import { batch, signal } from '../vendor/preact.js';
import { api, url } from './api.js';

/** @typedef {import('./types.js').Call} Call @typedef {import('./types.js').OutputPiece} OutputPiece */

/** @typedef {{call: Call, arguments: any, session: string, conversation?: string, output: import('./types.js').OutputPiece[], outputBytes: number, progress?: {progress: number, total?: number, message?: string}, seen: number, since?: number}} LiveCall `since`: when it began to run, behind its question */
/** @type {Map<string, import('../vendor/preact.js').Signal<LiveCall|null>>} */
const calls = new Map();
/** @type {Set<(call: Call) => void>} */
const finishers = new Set();

const OUTPUT_LIMIT = 256 * 1024;
const FINAL = new Set(['ok', 'error', 'denied', 'timeout', 'cancelled', 'interrupted']);

/** Whether a call has ended. @param {Call|undefined|null} call */
export const isFinal = (call) => Boolean(call && FINAL.has(call.status));

/** The signal of one call, created empty when the call is not known yet. @param {string} id */
export function callSignal(id) {
  let found = calls.get(id);
  if (!found) calls.set(id, (found = signal(/** @type {LiveCall|null} */ (null))));
  return found;
}

/** Stores what is known of a call and tells those who wait for its end. @param {Call} call @param {Partial<LiveCall>} [more] */
export function setCall(call, more = {}) {
  const entry = callSignal(call.call_id);
  const before = entry.value;
  if (before && isFinal(before.call) && !isFinal(call)) return;
  entry.value = {
    output: [], outputBytes: 0, seen: Date.now(), session: call.session ?? '', ...before,
    arguments: call.arguments ?? before?.arguments ?? {}, ...more, call: { ...before?.call, ...call },
  };
  if (isFinal(call)) for (const finish of [...finishers]) finish(call);
}

/** @param {string} id @param {OutputPiece[]} pieces in the order they were printed */
export function setOutput(id, pieces) {
  const entry = callSignal(id);
  if (!entry.value) return;
  let outputBytes = pieces.reduce((sum, { text }) => sum + text.length, 0);
  let first = 0;
  while (outputBytes > OUTPUT_LIMIT && first < pieces.length - 1) outputBytes -= pieces[first++].text.length;
  entry.value = { ...entry.value, output: pieces.slice(first), outputBytes };
}

/** Calls `finish` for each call that ends; answers a function that stops it. @param {(call: Call) => void} finish @returns {() => void} */
export function onFinished(finish) {
  finishers.add(finish);
  return () => finishers.delete(finish);
}

/** @param {string} session @param {string} id @returns {Promise<Call|null>} null when the companion knows no such call */
export async function loadCall(session, id) {
  try {
    const { output = [], output_end: end = 0, ...call } = await api.get(url`/api/sessions/${session}/calls/${id}`);
    batch(() => {
      const since = call.status === 'running' && call.waited_ms ? { since: new Date(call.started).getTime() + call.waited_ms } : {};
      setCall({ ...call, session }, { session, ...since });
      // What came by event meanwhile goes on where the answer ends.
      if (output.length) setOutput(id, [...output, ...(callSignal(id).peek()?.output ?? []).filter(({ at = 0 }) => at >= end)]);
    });
    return call;
  } catch (error) {
    if (/** @type {any} */ (error).status === 404) return null;
    throw error;
  }
}
