// Keeps the end of a conversation on the screen until a person scrolls away, and knows which questions can be seen there.
import { useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';

/** How far from the end still counts as there, in pixels. */
const NEAR = 40;
/** A scroll this soon after a wheel, a finger or a key is a person's. */
const GESTURE_MS = 1_000;

/** Room above and below what is shown, in pixels. */
const EDGES = 48;

/** Drawings until everything around a place has its height. */
const SETTLE_FRAMES = 8;

const scrollKeys = new Set(['ArrowUp', 'PageUp', 'Home', ' ']);

/**
 * @returns {{box: {current: HTMLElement|null}, inner: {current: HTMLElement|null}, away: boolean, toEnd: () => void, hold: () => void, leave: () => void, bring: (element: HTMLElement) => void, onScroll: () => void}}
 * `box` scrolls, `inner` is all that is in it. `toEnd` follows the end again; `hold` keeps what is shown where it is while more is put above it,
 * `leave` while more is put below. `bring` shows an element.
 */
export function useFollow() {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const inner = useRef(/** @type {HTMLElement|null} */ (null));
  const pinned = useRef(true);
  const [away, setAway] = useState(false);
  // Where the page itself scrolled to last, and how big everything was then.
  const seen = useRef({ top: -1, height: 0, room: 0 });
  const gesture = useRef(-GESTURE_MS);
  const held = useRef(/** @type {{height: number, top: number}|null} */ (null));
  const element = () => /** @type {HTMLElement} */ (box.current);

  const scrollToEnd = () => {
    const at = element();
    at.scrollTop = at.scrollHeight;
    seen.current = { top: at.scrollTop, height: at.scrollHeight, room: at.clientHeight };
  };
  // Questions that were drawn before: from then on it is a person who scrolls to and fro in them.
  const met = useRef(/** @type {WeakSet<Element>} */ (new WeakSet()));
  /** A question to be read from its top that has just come and is higher than the view. @returns {HTMLElement|undefined} */
  const tallQuestion = () => {
    const fresh = /** @type {HTMLElement[]} */ ([...(inner.current?.querySelectorAll('.card.ask[data-from=top]') ?? [])]).filter((card) => !met.current.has(card));
    for (const card of fresh) met.current.add(card);
    return fresh.find((card) => card.offsetHeight > element().clientHeight - EDGES);
  };
  const keepEnd = () => {
    const card = tallQuestion();
    if (card) {
      leave();
      card.scrollIntoView({ block: 'start' });
    } else scrollToEnd();
  };
  useLayoutEffect(() => {
    const follow = () => {
      if (pinned.current) keepEnd();
    };
    const observer = new ResizeObserver(follow);
    observer.observe(/** @type {HTMLElement} */ (inner.current));
    observer.observe(element());
    // A tab behind others draws nothing, so what came there is followed when it is looked at.
    const looked = () => requestAnimationFrame(() => box.current && follow());
    document.addEventListener('visibilitychange', looked);
    return () => {
      observer.disconnect();
      document.removeEventListener('visibilitychange', looked);
    };
  }, []);
  useEffect(() => {
    const at = element();
    const by = (/** @type {(event: any) => boolean} */ fits) => (/** @type {Event} */ event) => {
      if (fits(event)) gesture.current = performance.now();
    };
    /** @type {[string, (event: Event) => void][]} */
    const listeners = [
      ['wheel', by((event) => event.deltaY < 0)], ['touchmove', by(() => true)], ['focusin', by((event) => event.target.matches(':focus-visible'))],
      ['pointerdown', by((event) => event.target === at)], ['keydown', by((event) => scrollKeys.has(event.key))],
    ];
    for (const [kind, listen] of listeners) at.addEventListener(kind, listen, { passive: true });
    return () => {
      for (const [kind, listen] of listeners) at.removeEventListener(kind, listen);
    };
  }, []);
  useLayoutEffect(() => {
    if (held.current) {
      element().scrollTop = held.current.top + element().scrollHeight - held.current.height;
      held.current = null;
    } else if (pinned.current) keepEnd();
  });
  const look = () => {
    const at = element();
    pinned.current = at.scrollHeight - at.scrollTop - at.clientHeight < NEAR;
    setAway(!pinned.current);
  };
  const onScroll = () => {
    // The event of a scroll may come when the view has just gone.
    if (!box.current) return;
    const at = element();
    const { top, height, room } = seen.current;
    if (pinned.current) {
      if (at.scrollTop === top) return;
      // What shrinks moves the view up by itself, and by the time the event of that comes more may have been drawn below.
      if ((at.scrollHeight !== height || at.clientHeight !== room) && performance.now() - gesture.current > GESTURE_MS) {
        scrollToEnd();
        return;
      }
    }
    look();
  };
  const leave = () => {
    pinned.current = false;
    setAway(true);
  };
  /** @param {HTMLElement} target */
  const bring = (target) => {
    leave();
    // What comes into view on the way gets its real height only then.
    let frames = 0;
    const scroll = () => {
      if (!target.isConnected || !box.current) return;
      target.scrollIntoView({ block: target.offsetHeight > element().clientHeight * 0.8 ? 'start' : 'center' });
      if (++frames < SETTLE_FRAMES) requestAnimationFrame(scroll);
      else look();
    };
    scroll();
  };
  return {
    box, inner, away, onScroll, leave, bring,
    toEnd: () => {
      tallQuestion();
      pinned.current = true;
      setAway(false);
      scrollToEnd();
    },
    hold: () => {
      held.current = { height: element().scrollHeight, top: element().scrollTop };
      pinned.current = false;
    },
  };
}

/** Of these questions the ones whose cards cannot be seen well enough to answer them. @param {{current: HTMLElement|null}} box @param {string[]} ids @returns {string[]} */
export function useUnseen(box, ids) {
  const [seen, setSeen] = useState(/** @type {Set<string>} */ (new Set()));
  useEffect(() => {
    if (!ids.length) return undefined;
    /** @type {Map<string, Element>} */
    const cards = new Map();
    const mark = (/** @type {string} */ id, /** @type {boolean} */ inView) => setSeen((before) => {
      if (before.has(id) === inView) return before;
      const next = new Set(before);
      if (inView) next.add(id);
      else next.delete(id);
      return next;
    });
    const view = new IntersectionObserver((entries) => {
      for (const { target, intersectionRatio, intersectionRect, rootBounds } of entries) {
        const id = target.id.replace(/^question-/, '');
        if (cards.get(id) === target) mark(id, intersectionRatio >= 0.6 || (rootBounds !== null && intersectionRect.height >= rootBounds.height * 0.6));
      }
    }, { root: box.current, threshold: [0, 0.3, 0.6, 0.9, 1] });
    // Cards come, go and move with what is drawn around them, at any time.
    const look = () => {
      for (const id of ids) {
        const card = document.getElementById(`question-${id}`);
        const before = cards.get(id);
        if (card === (before ?? null)) continue;
        if (before) view.unobserve(before);
        if (card) {
          cards.set(id, card);
          view.observe(card);
        } else {
          cards.delete(id);
          mark(id, false);
        }
      }
    };
    const changes = new MutationObserver(look);
    changes.observe(box.current ?? document.body, { childList: true, subtree: true });
    look();
    return () => {
      view.disconnect();
      changes.disconnect();
    };
  }, [ids.join()]);
  return ids.filter((id) => !seen.has(id));
}
