// The time that countdowns and elapsed times show; it stands still while nothing shown needs it.
import { signal } from '../vendor/preact.js';

/** Milliseconds, renewed each second. */
export const clock = signal(Date.now());

let clockUsers = 0;
/** @type {ReturnType<typeof setInterval>|undefined} */
let clockTimer;
/** Keeps `clock` going while something shown needs it; answers a function that lets go. @returns {() => void} */
export function runClock() {
  if (clockUsers++ === 0) {
    clock.value = Date.now();
    clockTimer = setInterval(() => {
      clock.value = Date.now();
    }, 1_000);
  }
  return () => {
    if (--clockUsers === 0) clearInterval(clockTimer);
  };
}
