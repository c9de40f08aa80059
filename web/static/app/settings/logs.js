// The lines that a service writes, live, with pause and copy.
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { Visible } from '../calls/text.js';
import { language, t } from '../i18n/index.js';
import { onLog, onResync } from '../store.js';
import { Button, CopyButton, ErrorBox } from '../ui.js';
import { gapBefore, joinLines } from './service-text.js';

/** @typedef {{seq: number, time: string, stream: string, text: string}} Line */

const MOST = 2_000;
const SHOWN = 500;

/** Formats of the time of a line, by language. @type {Record<string, Intl.DateTimeFormat>} */
const clocks = {};
/** @param {string} time */
function exactTime(time) {
  return (clocks[language.value] ??= new Intl.DateTimeFormat(language.value, { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })).format(new Date(time));
}

/** @param {Line[]} lines */
const asText = (lines) => lines.map(({ time, stream, text }) => `${time} ${stream} ${text}`).join('\n');

/** @param {{id: string, name: string, from?: 'services'|'servers'}} props */
export function Logs({ id, name, from = 'services' }) {
  const label = useId();
  const whole = useRef(/** @type {HTMLElement|null} */ (null));
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const pinned = useRef(true);
  const all = useRef(/** @type {Line[]} */ ([]));
  const held = useRef(false);
  const [lines, setLines] = useState(/** @type {Line[]|null} */ (null));
  const [paused, setPaused] = useState(false);
  const [waiting, setWaiting] = useState(0);
  const [source, setSource] = useState('');
  const [error, setError] = useState(/** @type {any} */ (null));

  useEffect(() => {
    let alive = true;
    all.current = [];
    const take = (/** @type {Line[]} */ fresh) => {
      if (!alive) return;
      all.current = joinLines(all.current, fresh, MOST);
      if (held.current) setWaiting((count) => count + fresh.length);
      else setLines(all.current);
    };
    const load = async () => {
      try {
        const after = all.current.at(-1)?.seq ?? 0;
        take((await api.get(`${url`/api/${from}/${id}/logs`}?after=${after}`)).lines ?? []);
        setError(null);
      } catch (failure) {
        if (alive) setError(failure);
      }
    };
    load();
    const stops = [onLog((service, fresh) => {
      if (service !== id) return;
      if (gapBefore(all.current, fresh)) load();
      else take(fresh);
    }), onResync(load)];
    return () => {
      alive = false;
      for (const stop of stops) stop();
    };
  }, [id]);
  useEffect(() => whole.current?.scrollIntoView({ block: 'nearest' }), [lines === null]);
  useLayoutEffect(() => {
    if (box.current && pinned.current && !paused) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, source]);

  const pause = () => {
    held.current = !paused;
    setPaused(!paused);
    if (paused) {
      setWaiting(0);
      setLines(all.current);
      pinned.current = true;
    }
  };
  const matching = (lines ?? []).filter(({ stream }) => !source || stream === source);
  const visible = matching.slice(-SHOWN);
  const streams = [...new Set((lines ?? []).map(({ stream }) => stream))].sort();
  return html`<section class="logs" aria-labelledby=${label} ref=${whole}><div class="row"><h3 id=${label}>${t('logs.title')}<span class="sr"> ${name}</span></h3><span class="grow"></span>
      ${streams.length > 1 ? html`<select class="field auto" aria-label=${t('logs.source')} value=${source} onChange=${(/** @type {any} */ event) => setSource(event.currentTarget.value)}><option value="">${t('logs.all')}</option>${streams.map((stream) => html`<option key=${stream} value=${stream}>${stream}</option>`)}</select>` : null}
      <${Button} kind="quiet" small aria-pressed=${paused} onClick=${pause}>${paused ? t('logs.resume', { n: waiting }) : t('logs.pause')}<//>
      <${CopyButton} text=${asText(matching)} label=${t('logs.copy')} /></div>
    ${error ? html`<${ErrorBox} error=${error} />` : null}
    ${lines && !visible.length ? html`<p class="meta">${t('logs.empty')}</p>` : html`<div class="log-lines" role="log" aria-live="off" tabindex="0" aria-labelledby=${label} ref=${box} onScroll=${() => {
      const element = /** @type {HTMLElement} */ (box.current);
      pinned.current = element.scrollHeight - element.scrollTop - element.clientHeight < 8;
    }}>${visible.map((line) => html`<div key=${line.seq} class=${`log-line ${line.stream === 'companion' ? 'ours' : line.stream === 'stderr' ? 'err-line' : ''}`}><span class="log-time">${exactTime(line.time)}</span><span class="log-from">${line.stream}</span><span class="log-text"><${Visible} text=${line.text.slice(0, 4_000)} /></span></div>`)}</div>`}</section>`;
}
