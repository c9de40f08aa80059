// Commands: what is to run and where, what it printed, how it ended.
import { html, useLayoutEffect, useRef } from '../../../vendor/preact.js';
import { formatNumber, formatSize, t, tx } from '../../i18n/index.js';
import { shortPath } from '../../chat/folders.js';
import { diagnosisText } from '../reasons.js';
import { hides, Visible } from '../text.js';
import { TextBox } from './json.js';

/** Byte ranges of a UTF-8 text as the UTF-16 ranges that the page counts in. @param {string} text @param {{start: number, end: number}[]} marks */
export function marksInText(text, marks) {
  const offsets = new Map();
  const wanted = new Set(marks.flatMap(({ start, end }) => [start, end]));
  let bytes = 0;
  let at = 0;
  for (const char of text) {
    if (wanted.has(bytes)) offsets.set(bytes, at);
    const code = /** @type {number} */ (char.codePointAt(0));
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += char.length;
  }
  offsets.set(bytes, at);
  return marks.map(({ start, end }) => ({ start: offsets.get(start) ?? 0, end: offsets.get(end) ?? at })).filter(({ start, end }) => end > start);
}

/** A command exactly as it would run. @param {{text: string, marks?: {start: number, end: number}[]|null}} props */
export function Command({ text, marks = [] }) {
  return html`<pre class="code" tabindex="0" role="group" aria-label=${t('card.command')}><span class="p" aria-hidden="true">$ </span><${Visible} text=${text} marks=${marksInText(text, marks ?? [])} /></pre>
    ${text.length > 200 || hides(text) ? html`<p class="meta">${t('card.length', { n: text.length })}${hides(text) ? ` ${t('card.hidden')}` : ''}</p>` : null}`;
}

/** What a running command prints. @param {{output: {stream: string, text: string}[]}} props */
export function LiveOutput({ output }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const pinned = useRef(true);
  useLayoutEffect(() => {
    if (box.current && pinned.current) box.current.scrollTop = box.current.scrollHeight;
  });
  if (!output.length) return null;
  const text = output.map((piece) => piece.text).join('');
  return html`<pre class="code" tabindex="0" role="group" aria-label=${t('card.output')} ref=${box} onScroll=${() => {
    const element = /** @type {HTMLElement} */ (box.current);
    pinned.current = element.scrollHeight - element.scrollTop - element.clientHeight < 8;
  }}>${text.slice(-20_000)}</pre>`;
}

/** @param {{result: any}} props */
export function ShellResult({ result }) {
  const { stdout = '', stderr = '' } = result;
  const running = result.running ?? [];
  const diagnosis = result.diagnosis ?? {};
  return html`${stdout ? html`<${TextBox} text=${stdout} label=${t('card.stdout')} first=${20_000} columns />` : null}
    ${stderr ? html`<${TextBox} text=${stderr} label=${t('card.stderr')} class="code err-out" first=${20_000} columns />` : null}
    ${!stdout && !stderr ? html`<p class="meta">${t('card.no_output')}</p>` : null}
    ${result.omitted_stdout || result.omitted_stderr ? html`<p class="meta">${t('card.omitted', { size: formatSize((result.omitted_stdout ?? 0) + (result.omitted_stderr ?? 0)) })}</p>` : null}
    ${diagnosis.reason ? html`<p class="note">${diagnosisText(diagnosis)}</p>` : null}
    ${running.length ? html`<p class="note">${t('card.still_running', { n: running.length, pids: running.map((/** @type {number} */ pid) => formatNumber(pid, { useGrouping: false })).join(', ') })}</p>` : null}
    <p class="meta">${tx('card.ran_in', { cwd: html`<code>${shortPath(result.cwd ?? '')}</code>`, shell: html`<code>${result.shell ?? ''}</code>` })}</p>`;
}
