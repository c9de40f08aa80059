// What a configured server may offer and which of its tools always ask, ticked tool by tool; saved for the server as a whole.
import { html, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { t } from '../i18n/index.js';
import { Button, ErrorBox } from '../ui.js';
import { saveTable } from './config-store.js';
import { SECTION } from './server-card.js';
import { filterNames, limitsOf, tableOf } from './limit-values.js';

/** @typedef {import('./config-values.js').Entry} Entry */

/** Rows drawn at once. */
const MOST = 200;

/** @param {{entry: Entry, names: string[], version: string, readOnly: boolean, onDone: () => void}} props `names`: what the server lists, by its own names */
export function Limits({ entry, names, version, readOnly, onDone }) {
  const [limits, setLimits] = useState(() => limitsOf(entry, names));
  const [opened] = useState(version);
  const [filter, setFilter] = useState('');
  const [most, setMost] = useState(MOST);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const found = filterNames(limits.all, filter);
  const fixed = (/** @type {string} */ key) => readOnly || Boolean(entry.props[key]?.override);
  const set = (/** @type {'offered'|'asks'} */ which, /** @type {string[]} */ of, /** @type {boolean} */ on) => {
    const next = new Set(limits[which]);
    for (const name of of) if (on) next.add(name); else next.delete(name);
    setLimits({ ...limits, [which]: next });
  };
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const table = tableOf(entry, limits);
      if (Object.keys(table).length) await saveTable(SECTION, entry.name, table, opened);
      onDone();
    } catch (failure) {
      setError(/** @type {any} */ (failure).code === 'config_changed_externally' ? new Error(t('conf.conflict')) : failure);
      setBusy(false);
    }
  };
  const none = limits.offered.size === 0;
  return html`<form class="run-panel panel limits" aria-label=${t('limits.title', { name: entry.name })} onSubmit=${save}><p class="desc">${t('limits.text')}</p>
    <div class="row"><input class="field limits-filter" type="search" value=${filter} placeholder=${t('tools.filter_by')} aria-label=${t('tools.filter')} onInput=${(/** @type {any} */ event) => {
      setFilter(event.currentTarget.value);
      setMost(MOST);
    }} /><span class="grow"></span><${Button} small disabled=${fixed('tools')} onClick=${() => set('offered', found, true)}>${t('limits.all', { n: found.length })}<//><${Button} small disabled=${fixed('tools')} onClick=${() => set('offered', found, false)}>${t('limits.none', { n: found.length })}<//></div>
    <ul class="limit-list">${found.slice(0, most).map((name) => html`<li key=${name}><code><${Visible} text=${name} /></code>${names.includes(name) ? null : html`<span class="meta">${t('limits.unknown')}</span>`}<span class="grow"></span>
      <label class="opt"><input type="checkbox" checked=${limits.offered.has(name)} disabled=${fixed('tools')} aria-label=${t('limits.offered_label', { name })} onChange=${(/** @type {any} */ event) => set('offered', [name], event.currentTarget.checked)} /> ${t('limits.offered')}</label>
      <label class="opt"><input type="checkbox" checked=${limits.asks.has(name)} disabled=${fixed('require_approval')} aria-label=${t('limits.asks_label', { name })} onChange=${(/** @type {any} */ event) => set('asks', [name], event.currentTarget.checked)} /> ${t('limits.asks')}</label></li>`)}</ul>
    ${found.length > most ? html`<p class="row"><${Button} small onClick=${() => setMost(most + 500)}>${t('tools.show_more', { n: found.length - most })}<//></p>` : null}
    ${none ? html`<p class="note">${t('limits.all_off')}</p>` : null}
    ${error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${error} />` : null}
    <div class="row form-foot"><${Button} kind="primary" type="submit" disabled=${busy || readOnly || none}>${t('ui.save')}<//><${Button} onClick=${onDone}>${t('ui.cancel')}<//><span class="meta">${t('conf.new_chats')}</span></div></form>`;
}
