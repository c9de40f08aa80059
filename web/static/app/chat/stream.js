// The answer while it streams: drawn once per frame, whatever the model's pace.
import { html, useComputed, useEffect, useState } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { Sign } from '../ui.js';
import { Markdown } from './markdown.js';
import { Reasoning } from './message.js';

/** The value of a signal, at most once per frame. @template T @param {import('../../vendor/preact.js').Signal<T>} source @returns {T} */
export function useFrame(source) {
  const [value, setValue] = useState(source.peek());
  useEffect(() => {
    let frame = 0;
    const stop = source.subscribe(() => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        setValue(source.peek());
      });
    });
    return () => {
      stop();
      cancelAnimationFrame(frame);
    };
  }, [source]);
  return value;
}

/** @param {{chat: import('./conversation.js').Chat}} props */
export function LiveAnswer({ chat }) {
  const live = useFrame(chat.live);
  // The end shows at once, together with the message that takes its place; only the pieces wait for a frame.
  const over = useComputed(() => chat.live.value === null);
  if (over.value || !live || live.phase === 'calls') return null;
  const making = live.calls.filter(({ name }) => name);
  const note = making.length ? t('chat.preparing', { n: making.length, tool: making[making.length - 1].name })
    : live.phase === 'slot' ? t('chat.slot') : live.phase === 'compacting' ? t('chat.compacting') : live.text ? '' : t('chat.thinking');
  return html`<article class="turn plain">${live.reasoning ? html`<${Reasoning} text=${live.reasoning} live />` : null}
    ${live.text ? html`<div class="msg"><${Markdown} text=${live.text} live /></div>` : null}
    <div class="live-note">${note ? html`<${Sign} kind="run" /><span>${note}</span>` : null}</div></article>`;
}
