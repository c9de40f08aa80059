// One provider field by field. The key goes in and never comes back.
import { html, useId, useRef, useState } from '../../vendor/preact.js';
import { t, tx } from '../i18n/index.js';
import { Button, ErrorBox, Field, Pill } from '../ui.js';
import { addressFault, fullAddress, modelsOf, nameFault, presets } from './presets.js';

/** @typedef {import('./presets.js').Prop} Prop @typedef {import('./provider-store.js').Values} Values */

/** Whether a setting is decided by an environment variable. @param {{prop?: Prop}} props */
function Override({ prop }) {
  return prop?.override ? html` <${Pill} kind="ask">${t('prov.override', { name: prop.override })}<//>` : null;
}

/**
 * A secret that can be set, replaced and cleared, never read.
 * @param {{label: string, prop?: Prop, value: string|null|undefined, onChange: (value: string|null|undefined) => void, hint?: any, error?: any, optional?: boolean}} props
 */
export function SecretField({ label, prop, value, onChange, hint, error, optional }) {
  const id = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const set = Boolean(prop?.populated);
  /** Another control stands where the pressed one was. @param {string|null|undefined} next */
  const swap = (next) => {
    onChange(next);
    setTimeout(() => /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector('input, button'))?.focus());
  };
  const off = Boolean(prop?.override);
  const shown = set && value === undefined
    ? html`<div class="label" role="group" aria-labelledby=${id}><span id=${id}>${label}<${Override} prop=${prop} /></span><div class="row"><span class="secret">•••••••• ${t('prov.key_set')}</span>
      <${Button} kind="quiet" small disabled=${off} onClick=${() => swap('')}>${t('prov.key_replace')}<//><${Button} kind="quiet" small disabled=${off} onClick=${() => swap(null)}>${t('prov.key_clear')}<//></div></div>`
    : value === null
      ? html`<div class="label" role="group" aria-labelledby=${id}><span id=${id}>${label}</span><div class="row"><span class="meta">${t('prov.key_cleared')}</span><${Button} kind="quiet" small onClick=${() => swap(undefined)}>${t('prov.key_keep')}<//></div></div>`
      : html`<${Field} label=${html`${label}${optional ? html` <span class="meta">${t('prov.optional')}</span>` : null}<${Override} prop=${prop} />`} hint=${hint} error=${error}>${(/** @type {any} */ attributes) => html`<input ...${attributes} type="password" autocomplete="off" spellcheck=${false} value=${value ?? ''} onInput=${(/** @type {any} */ event) => onChange(event.currentTarget.value)} />
        ${set ? html`<div class="row"><${Button} kind="quiet" small onClick=${() => swap(undefined)}>${t('prov.key_keep')}<//></div>` : null}`}<//>`;
  return html`<div ref=${box}>${shown}</div>`;
}

/**
 * @param {{name?: string, props?: Record<string, Prop>, start?: Partial<Values> & {name?: string, preset?: string}, taken: string[], offered?: string[], readOnly?: boolean, onSave: (name: string, values: Values) => Promise<void>, onCancel: () => void}} props
 * Without `name` the form is for a new provider. `offered`: models that the provider listed.
 */
export function ProviderForm({ name, props = {}, start = {}, taken, offered = [], readOnly, onSave, onCancel }) {
  const list = useId();
  const [preset, setPreset] = useState(start.preset ?? 'custom');
  const [own, setOwn] = useState(name ?? start.name ?? '');
  const [kind, setKind] = useState(String(props.kind?.value ?? start.kind ?? 'openai'));
  const [address, setAddress] = useState(String(props.base_url?.value ?? start.base_url ?? ''));
  const [model, setModel] = useState(String(props.model?.value ?? start.model ?? ''));
  const [models, setModels] = useState(() => (props.models?.value ?? start.models ?? []).join('\n'));
  const [key, setKey] = useState(/** @type {string|null|undefined} */ (undefined));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const known = presets.find(({ id }) => id === preset);
  const badName = name === undefined ? nameFault(own, taken) : '';
  const badAddress = addressFault(address);
  const badKey = key === '' && Boolean(props.api_key?.populated);
  const missing = !address.trim() && preset === 'custom' && name === undefined;
  const field = error?.field ?? '';
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTried(true);
    if (badName || badAddress || badKey || missing || busy) {
      setTimeout(() => /** @type {HTMLElement|null} */ (/** @type {HTMLElement} */ (event.target).querySelector('[aria-invalid=true]'))?.focus());
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await onSave(own, { kind, base_url: fullAddress(address), model: model.trim(), models: modelsOf(models), api_key: key === '' ? undefined : key });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  const refused = (/** @type {string} */ end) => (field.endsWith(`.${end}`) ? error.message : undefined);
  const hasField = ['kind', 'base_url', 'model', 'models', 'api_key'].some((end) => field.endsWith(`.${end}`));
  return html`<form class="provider-form" noValidate onSubmit=${save}><div class="form">
      ${name === undefined ? html`<${Field} label=${t('prov.name')} hint=${t('prov.name_hint')} value=${own} autocomplete="off" spellcheck=${false} error=${tried && badName ? t(`prov.name_${badName}`) : undefined} onInput=${(/** @type {any} */ event) => setOwn(event.currentTarget.value)} />` : null}
      <${Field} label=${html`${t('prov.kind')}<${Override} prop=${props.kind} />`} error=${refused('kind')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${kind} disabled=${Boolean(props.kind?.override)} onChange=${(/** @type {any} */ event) => setKind(event.currentTarget.value)}><option value="openai">${t('prov.kind_openai')}</option><option value="anthropic">Anthropic</option></select>`}<//>
      <${Field} label=${html`${t('prov.address')}<${Override} prop=${props.base_url} />`} hint=${t('prov.address_hint')} class="field mono" inputmode="url" value=${address} autocomplete="off" spellcheck=${false} disabled=${Boolean(props.base_url?.override)}
        error=${refused('base_url') ?? (badAddress ? t(`prov.address_${badAddress}`) : tried && missing ? t('prov.address_empty') : undefined)} placeholder="https://api.example.com/v1" onInput=${(/** @type {any} */ event) => setAddress(event.currentTarget.value)} onBlur=${() => badAddress || setAddress(fullAddress(address))} />
      ${known?.key === 'none' && name === undefined ? null : html`<${SecretField} label=${t('prov.key')} prop=${props.api_key} error=${tried && badKey ? t('conf.bad_secret_empty') : undefined} value=${key} onChange=${setKey} optional=${known?.key === 'maybe'}
        hint=${known?.keys_at ? tx('prov.keys_at', { link: html`<a href=${known.keys_at} target="_blank" rel="noopener noreferrer">${new URL(known.keys_at).hostname}</a>` }) : t('prov.key_hint')} />`}
      <${Field} label=${html`${t('prov.model')}<${Override} prop=${props.model} />`} hint=${offered.length ? undefined : t('prov.model_hint')} class="field mono" list=${list} value=${model} autocomplete="off" spellcheck=${false} disabled=${Boolean(props.model?.override)} error=${refused('model')} onInput=${(/** @type {any} */ event) => setModel(event.currentTarget.value)} />
      <datalist id=${list}>${offered.slice(0, 500).map((one) => html`<option key=${one} value=${one}></option>`)}</datalist>
      ${name === undefined ? null : html`<${Field} label=${html`${t('prov.models')}<${Override} prop=${props.models} />`} hint=${t('prov.models_hint')} error=${refused('models')}>${(/** @type {any} */ attributes) => html`<textarea ...${attributes} class="field mono grows" rows="2" spellcheck=${false} disabled=${Boolean(props.models?.override)} value=${models} onInput=${(/** @type {any} */ event) => setModels(event.currentTarget.value)}></textarea>
        ${offered.length ? html`<div class="row"><${Button} kind="quiet" small onClick=${() => setModels(offered.join('\n'))}>${t('prov.take_all', { n: offered.length })}<//></div>` : null}`}<//>`}</div>
    ${error && !hasField ? html`<${ErrorBox} title=${t('prov.not_saved')} error=${error} />` : null}
    <div class="row form-foot"><${Button} kind="primary" type="submit" disabled=${busy || readOnly}>${name === undefined ? t('prov.add_test') : t('prov.save_test')}<//><${Button} onClick=${onCancel}>${t('ui.cancel')}<//></div></form>`;
}
