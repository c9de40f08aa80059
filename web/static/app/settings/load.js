// Loading for views: asks when shown and again whenever the companion says so, and keeps what came while it asks again.
import { useEffect, useRef, useState } from '../../vendor/preact.js';
import { ticks } from '../store.js';

/**
 * @template T @param {() => Promise<T>} ask @param {{tick?: string, deps?: any[]}} [when] `tick`: name of a counter in `ticks`
 * @returns {{value: T|null, error: any, reload: () => Promise<void>}}
 */
export function useLoaded(ask, { tick = '', deps = [] } = {}) {
  const [state, setState] = useState(/** @type {{value: any, error: any}} */ ({ value: null, error: null }));
  const turn = useRef(0);
  const reload = async () => {
    const mine = ++turn.current;
    try {
      const value = await ask();
      if (mine === turn.current) setState({ value, error: null });
    } catch (error) {
      if (mine === turn.current) setState((before) => ({ value: before.value, error }));
    }
  };
  useEffect(() => {
    reload();
    return () => {
      turn.current++;
    };
  }, [tick ? ticks.value[tick] ?? 0 : 0, ...deps]);
  return { ...state, reload };
}

/**
 * Says “saved” where it happened, for a few seconds, and keeps an error until the next try.
 * @returns {{saving: boolean, saved: boolean, error: any, run: (work: () => Promise<any>) => Promise<boolean>, clear: () => void}}
 */
export function useSaving() {
  const [state, setState] = useState({ saving: false, saved: false, error: /** @type {any} */ (null) });
  const timer = useRef(/** @type {any} */ (0));
  const alive = useRef(true);
  useEffect(() => () => {
    alive.current = false;
    clearTimeout(timer.current);
  }, []);
  const show = (/** @type {any} */ next) => {
    if (alive.current) setState(next);
  };
  const run = async (/** @type {() => Promise<any>} */ work) => {
    clearTimeout(timer.current);
    show({ saving: true, saved: false, error: null });
    try {
      await work();
      show({ saving: false, saved: true, error: null });
      timer.current = setTimeout(() => show({ saving: false, saved: false, error: null }), 4_000);
      return true;
    } catch (error) {
      show({ saving: false, saved: false, error });
      return false;
    }
  };
  return { ...state, run, clear: () => show({ saving: false, saved: false, error: null }) };
}
