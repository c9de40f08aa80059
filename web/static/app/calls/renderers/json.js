// Arguments and results that have no better view: names and values, nested ones as JSON, everything visible.
import { html, useState } from '../../../vendor/preact.js';
import { t } from '../../i18n/index.js';
import { Button } from '../../ui.js';
import { Visible } from '../text.js';

/** Longest text put on the screen at once. */
const SHOWN = 200_000;

/** A text whole, in a box that scrolls; it says so when it is cut. @param {{text: string, label: string, marks?: {start: number, end: number}[], first?: number, class?: string, columns?: boolean}} props `first`: characters shown before “show all”; `columns`: see Visible */
export function TextBox({ text, label, marks, first = SHOWN, class: classes = 'code', columns }) {
  const [limit, setLimit] = useState(first);
  const shown = text.length > limit ? text.slice(0, limit) : text;
  return html`<pre class=${classes} tabindex="0" role="group" aria-label=${label}><${Visible} text=${shown} marks=${marks} columns=${columns} /></pre>
    ${text.length > limit ? html`<p class="row"><span class="meta">${t('text.cut', { n: limit, all: text.length })}</span>${limit < SHOWN ? html`<${Button} small onClick=${() => setLimit(SHOWN)}>${t('text.all')}<//>` : null}</p>` : null}`;
}

/** @param {{value: any, label: string, first?: number}} props */
export function Json({ value, label, first }) {
  return html`<${TextBox} text=${typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? ''} label=${label} first=${first} />`;
}

/** Arguments by name. Long or nested ones get a box of their own. @param {{value: any}} props */
export function Arguments({ value }) {
  const entries = Object.entries(value ?? {});
  if (!entries.length) return html`<p class="meta">${t('card.no_arguments')}</p>`;
  if (entries.some(([, one]) => (one && typeof one === 'object') || String(one).length > 300 || String(one).includes('\n'))) {
    return html`${entries.map(([key, one]) => html`<div key=${key}><div class="meta">${key}</div><${TextBox} text=${typeof one === 'string' ? one : JSON.stringify(one, null, 2)} label=${key} /></div>`)}`;
  }
  return html`<dl class="args">${entries.map(([key, one]) => html`<dt key=${`${key}-name`}>${key}</dt><dd key=${key}><${Visible} text=${typeof one === 'string' ? one : JSON.stringify(one)} /></dd>`)}</dl>`;
}
