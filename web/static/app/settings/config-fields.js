// One setting of an entry as a control, with its label, its hint, its fault, and the variable that holds it where one does.
import { html, useId, useRef } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { has, t } from '../i18n/index.js';
import { Button, Field, Pill } from '../ui.js';
import { SecretField } from './provider-form.js';

/** @typedef {import('./config-values.js').Field} Setting @typedef {import('./config-values.js').Draft} Draft @typedef {import('./config-values.js').SecretRow} SecretRow @typedef {import('./presets.js').Prop} Prop */

/** A setting that an environment variable decides. @param {{prop?: {override?: string}}} props */
export function Override({ prop }) {
  return prop?.override ? html` <${Pill} kind="ask">${t('prov.override', { name: prop.override })}<//>` : null;
}

/**
 * @param {{field: Setting, keyOf: (key: string) => string, prop?: Prop, draft: Draft, error?: any, fault?: {code: string, [hole: string]: any}|null, missing?: boolean, disabled?: boolean, onChange: (draft: Draft) => void}} props
 * `keyOf` leads from a setting to the key of its label; the same with `_hint` behind it is its hint.
 */
export function ConfigField({ field, keyOf, prop, draft, error, fault, missing, disabled, onChange }) {
  const { key, kind } = field;
  const name = keyOf(key);
  const off = disabled || Boolean(prop?.override);
  const hint = [has(`${name}_hint`) ? t(`${name}_hint`) : '', kind === 'number' && prop?.default && prop.value ? t('conf.empty_means', { value: String(prop.value) }) : ''].filter(Boolean).join(' ');
  const label = html`${t(name)}${missing ? html` <span class="req">${t('form.required')}</span>` : null}<${Override} prop=${prop} />`;
  const text = draft.texts[key] ?? '';
  const type = (/** @type {any} */ event) => onChange({ ...draft, texts: { ...draft.texts, [key]: event.currentTarget.value } });
  const classes = `field ${field.mono ? 'mono' : ''}`;
  if (kind === 'map') return html`<${SecretMap} label=${t(name)} hint=${hint} error=${error} empty=${fault?.code === 'secret_empty' ? fault.key : ''} rows=${draft.maps[key] ?? []} disabled=${disabled} onChange=${(/** @type {SecretRow[]} */ rows) => onChange({ ...draft, maps: { ...draft.maps, [key]: rows } })} />`;
  if (kind === 'secret') return html`<${SecretField} label=${t(name)} prop=${prop} hint=${hint || undefined} error=${error} value=${draft.secrets[key]} onChange=${(/** @type {any} */ value) => onChange({ ...draft, secrets: { ...draft.secrets, [key]: value } })} />`;
  if (kind === 'choice') {
    const choices = [...new Set([...(field.choices ?? []), text])];
    return html`<${Field} label=${label} hint=${hint} error=${error}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${text} disabled=${off} onChange=${type}>${choices.map((choice) => html`<option key=${choice} value=${choice}>${field.choiceText ? field.choiceText(choice) : choice}</option>`)}</select>`}<//>`;
  }
  if (kind === 'list') {
    return html`<${Field} label=${label} hint=${hint || t('conf.one_a_line')} error=${error}>${(/** @type {any} */ attributes) => html`<textarea ...${attributes} class=${`${classes} grows`} rows="2" spellcheck=${false} disabled=${off} value=${text} onInput=${type}></textarea>`}<//>`;
  }
  return html`<${Field} label=${label} hint=${hint} error=${error} class=${classes} value=${text} disabled=${off} autocomplete="off" spellcheck=${false} inputmode=${kind === 'number' ? 'numeric' : field.form === 'url' ? 'url' : undefined}
    placeholder=${kind === 'number' && prop?.default ? String(prop.value) : undefined} onInput=${type} />`;
}

/**
 * Names with secret values, which can be set, replaced and taken out, never read.
 * @param {{label: string, hint?: any, error?: any, empty?: string, rows: SecretRow[], disabled?: boolean, onChange: (rows: SecretRow[]) => void}} props `empty`: the key whose value the error says is missing
 */
function SecretMap({ label, hint, error, empty = '', rows, disabled, onChange }) {
  const id = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const set = (/** @type {number} */ at, /** @type {Partial<SecretRow>} */ part) => onChange(rows.map((row, index) => (index === at ? { ...row, ...part } : row)));
  const add = () => {
    onChange([...rows, { key: '', value: '' }]);
    setTimeout(() => /** @type {HTMLElement|null|undefined} */ ([...(box.current?.querySelectorAll('.secret-row') ?? [])].at(-1)?.querySelector('input'))?.focus());
  };
  const out = (/** @type {number} */ at) => {
    onChange(rows.filter((_, index) => index !== at));
    setTimeout(() => /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector('.secret-add'))?.focus());
  };
  /** Another control stands where the pressed one was. @param {number} at @param {Partial<SecretRow>} part */
  const swap = (at, part) => {
    set(at, part);
    setTimeout(() => /** @type {HTMLElement|null|undefined} */ (box.current?.querySelectorAll('.secret-row')[at]?.querySelector('.secret-value :is(input, button)'))?.focus());
  };
  const shown = (/** @type {SecretRow} */ row) => row.key || t('conf.new_key');
  const of = (/** @type {string} */ key, /** @type {SecretRow} */ row) => `${t(key)}: ${shown(row)}`;
  const value = (/** @type {SecretRow} */ row, /** @type {number} */ at) => {
    if (row.override) return html`<span class="secret">•••••••• ${t('prov.key_set')}</span><${Override} prop=${row} />`;
    if (row.value === null) return html`<span class="meta">${t('conf.taken_out')}</span><${Button} kind="quiet" small aria-label=${of('prov.key_keep', row)} onClick=${() => swap(at, { value: undefined })}>${t('prov.key_keep')}<//>`;
    if (row.value === undefined) {
      return html`<span class="secret">•••••••• ${t('prov.key_set')}</span><${Button} kind="quiet" small disabled=${disabled} aria-label=${of('prov.key_replace', row)} onClick=${() => swap(at, { value: '' })}>${t('prov.key_replace')}<//>
        <${Button} kind="quiet" small disabled=${disabled} aria-label=${of('prov.key_clear', row)} onClick=${() => swap(at, { value: null })}>${t('prov.key_clear')}<//>`;
    }
    const lacks = error && row.known && row.key === empty;
    return html`<input class="field mono" type="password" autocomplete="off" spellcheck=${false} disabled=${disabled} aria-invalid=${lacks ? 'true' : undefined} aria-describedby=${lacks ? `${id}-empty` : undefined} aria-label=${t('conf.value_of', { name: shown(row) })} placeholder=${t('conf.value')} value=${row.value} onInput=${(/** @type {any} */ event) => set(at, { value: event.currentTarget.value })} />
      <${Button} kind="quiet" small aria-label=${row.known ? of('prov.key_keep', row) : of('prov.key_clear', row)} onClick=${() => (row.known ? swap(at, { value: undefined }) : out(at))}>${row.known ? t('prov.key_keep') : t('prov.key_clear')}<//>${lacks ? html`<span class="bad" id=${`${id}-empty`} role="alert">${error}</span>` : null}`;
  };
  return html`<div class="label secret-map" role="group" aria-labelledby=${id} ref=${box}><span id=${id}>${label}</span>
    ${rows.map((row, at) => html`<div class="secret-row" key=${row.known ? `known ${row.key}` : at}>${row.known ? html`<code class="secret-key"><${Visible} text=${row.key} /></code>`
      : html`<input class="field mono" type="text" autocomplete="off" spellcheck=${false} disabled=${disabled} aria-label=${`${label}: ${t('conf.key')}`} placeholder=${t('conf.key')} value=${row.key} onInput=${(/** @type {any} */ event) => set(at, { key: event.currentTarget.value })} />`}
      <div class="secret-value">${value(row, at)}</div></div>`)}
    <div class="row"><${Button} small class="secret-add" disabled=${disabled} aria-label=${`${t('form.add')}: ${label}`} onClick=${add}>${t('form.add')}<//></div>
    ${hint ? html`<span class="hint">${hint}</span>` : null}${error && !empty ? html`<span class="bad" role="alert">${error}</span>` : null}</div>`;
}
