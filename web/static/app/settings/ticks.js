// Boxes to tick: a few of many, as a group with its name, its hint and what is wrong.
import { html, useId, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { t } from '../i18n/index.js';
import { Button } from '../ui.js';
import { ticked } from './agent-text.js';

/** Boxes drawn at once. */
const MOST = 200;
/** More than this get a filter. */
const MANY = 20;

/**
 * @param {{legend: any, hidden?: boolean, hint?: any, error?: any, options: {value: string, label?: any, meta?: any}[], values: string[], empty?: any, columns?: boolean, disabled?: boolean, onChange: (values: string[]) => void}} props
 * `hidden` keeps the legend for screen readers only.
 */
export function Ticks({ legend, hidden, hint, error, options, values, empty, columns, disabled, onChange }) {
  const id = useId();
  const [filter, setFilter] = useState('');
  const [most, setMost] = useState(MOST);
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = options.filter(({ value }) => words.every((word) => value.toLowerCase().includes(word)));
  const shown = found.slice(0, most);
  return html`<fieldset class=${`ticks ${columns ? 'columns' : ''}`} disabled=${disabled} aria-describedby=${hint || error ? `${id}-hint` : undefined}><legend class=${hidden ? 'sr' : 'meta'}>${legend}</legend>
    ${options.length > MANY ? html`<input class="field tick-filter" type="search" value=${filter} placeholder=${t('tools.filter_by')} aria-label=${t('tools.filter')} onInput=${(/** @type {any} */ event) => setFilter(event.currentTarget.value)} />` : null}
    ${shown.map(({ value, label, meta }) => html`<label key=${value}><input type="checkbox" checked=${values.includes(value)} onChange=${(/** @type {any} */ event) => onChange(ticked(values, value, event.currentTarget.checked))} /><span>${label ?? html`<${Visible} text=${value} />`}${meta ? html`<span class="meta">${meta}</span>` : null}</span></label>`)}
    ${found.length > shown.length ? html`<div class="row"><${Button} small onClick=${() => setMost(most + 500)}>${t('tools.show_more', { n: found.length - shown.length })}<//></div>` : null}
    ${options.length ? null : html`<span class="meta">${empty}</span>`}
    ${hint || error ? html`<div id=${`${id}-hint`}>${hint ? html`<span class="meta">${hint}</span>` : null}${error ? html`<span class="bad" role="alert">${error}</span>` : null}</div>` : null}</fieldset>`;
}
