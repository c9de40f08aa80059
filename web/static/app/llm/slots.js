// At most four model streams at once in a browser, over all its tabs, so that a question's answer always finds a free connection.

const SLOTS = 4;

/**
 * Runs `work` while holding one of the slots; `waiting` is called when it has to wait for one.
 * @template T @param {{locks?: LockManager, signal: AbortSignal, waiting: () => void}} options @param {() => Promise<T>} work @returns {Promise<T>}
 */
export async function withSlot({ locks, signal, waiting }, work) {
  if (!locks) return work();
  for (let slot = 0; slot < SLOTS; slot++) {
    /** @type {{value: T}|null} */
    const done = await locks.request(`zc-llm-${slot}`, { ifAvailable: true }, async (lock) => (lock ? { value: await work() } : null));
    if (done) return done.value;
  }
  waiting();
  const others = new AbortController();
  const either = AbortSignal.any([signal, others.signal]);
  let taken = false;
  const tries = Array.from({ length: SLOTS }, (_, slot) => locks.request(`zc-llm-${slot}`, { signal: either }, async () => {
    if (taken) return null;
    taken = true;
    others.abort();
    return work().then((value) => ({ value }), (error) => ({ error }));
  }).catch((error) => {
    if (taken) return null;
    throw error;
  }));
  const result = /** @type {any} */ ((await Promise.all(tries)).find(Boolean));
  if ('error' in result) throw result.error;
  return result.value;
}
