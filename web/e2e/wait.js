// How tests wait: until something holds, never for a time that is hoped to be enough.
import assert from 'node:assert/strict';
import { availableParallelism, loadavg } from 'node:os';

/** How long a step may take on a busy machine before the test fails. */
export const PATIENCE = 20_000;
/** Answers given this soon after a question came are taken for accidents by the page. */
export const GUARD_MS = 600;

/** Whether the machine does much else at the moment; then single measurements say more about that than about the page. */
export const busy = () => loadavg()[0] / availableParallelism() > 1.5;

/** Asks again and again until it holds. @template T @param {() => T|Promise<T>} probe @param {string} what @param {number} [patience] @returns {Promise<T>} */
export async function until(probe, what, patience = PATIENCE) {
  for (const end = Date.now() + patience; ;) {
    const value = await probe();
    if (value) return value;
    if (Date.now() > end) assert.fail(`not within ${patience} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Waits until an element's text fits; what is off the screen counts, too. @param {import('playwright-core').Locator} element @param {RegExp} pattern */
export async function has(element, pattern) {
  let text = '';
  await until(async () => {
    text = (await element.textContent()) ?? '';
    return pattern.test(text);
  }, `${pattern} in the text of the element`).catch((error) => {
    throw new assert.AssertionError({ message: `${error.message}; it was: ${text}`, stackStartFn: has });
  });
}
