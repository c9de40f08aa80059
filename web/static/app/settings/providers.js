// Settings → Providers: where models come from.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { Visible } from '../calls/text.js';
import { shortPath } from '../chat/folders.js';
import { t, tx } from '../i18n/index.js';
import { loadProfiles } from '../llm/profiles.js';
import { Button, confirmDialog, CopyButton, ErrorBox, Pill } from '../ui.js';
import { useLoaded } from './load.js';
import { freeName, presets, providersFrom } from './presets.js';
import { ProviderForm } from './provider-form.js';
import { ModelPick, TestResult } from './provider-test.js';
import { addProvider, loadProviders, removeProvider, saveProvider, testProvider } from './provider-store.js';

/** @typedef {import('./presets.js').Provider} Provider */

/** Problems of the configuration with their place. @param {{problems: any[], readOnly?: boolean, file?: string}} props */
export function ConfigProblems({ problems, readOnly, file }) {
  if (!problems.length && !readOnly) return null;
  return html`<div class="stack problems">${readOnly ? html`<p class="err">${tx('prov.read_only', { file: html`<code>${file ?? 'config.toml'}</code>` })}</p>` : null}
    ${problems.map((problem, at) => {
      const place = problem.file ? `${shortPath(problem.file)}${problem.line ? `:${problem.line}${problem.column ? `:${problem.column}` : ''}` : ''}` : problem.variable ?? '';
      const text = [problem.path, problem.message].filter(Boolean).join(': ');
      return html`<div key=${at} class=${problem.severity === 'warning' ? 'note problem' : 'err problem'}><div>${place ? html`<code>${place}</code> ` : null}<${Visible} text=${text} /></div><${CopyButton} text=${`${place} ${text}`.trim()} /></div>`;
    })}</div>`;
}

export function ProvidersSection() {
  const { value: latest, error, reload } = useLoaded(loadProviders, { tick: 'config' });
  // A provider is saved setting by setting; what the steps between look like is shown to nobody.
  const held = useRef(/** @type {typeof latest} */ (null));
  const value = held.current ?? latest;
  /** @param {() => Promise<void>} work */
  const atOnce = async (work) => {
    held.current = latest;
    try {
      await work();
    } finally {
      held.current = null;
    }
    await reload();
    await loadProfiles();
  };
  const [adding, setAdding] = useState(/** @type {any} */ (null));
  const [results, setResults] = useState(/** @type {Record<string, any>} */ ({}));
  const [editing, setEditing] = useState('');
  const list = providersFrom(value?.props ?? []);
  const taken = list.map(({ name }) => name);
  const readOnly = Boolean(value?.read_only);

  const asking = useRef(/** @type {Set<string>} */ (new Set()));
  const test = async (/** @type {string} */ name) => {
    if (asking.current.has(name)) return;
    asking.current.add(name);
    setResults((before) => ({ ...before, [name]: { busy: true } }));
    let result;
    try {
      result = await testProvider(name);
    } catch (failure) {
      result = { ok: false, reason: /** @type {any} */ (failure).message, hint: '' };
    }
    asking.current.delete(name);
    setResults((before) => ({ ...before, [name]: result }));
  };
  const add = async (/** @type {string} */ name, /** @type {any} */ values) => {
    await atOnce(() => addProvider(name, values));
    setAdding(null);
    test(name);
  };
  // A provider without a model is asked again whenever it is looked at, so that there is something to choose from.
  const undecided = list.filter(({ props }) => !props.model?.value && props.base_url?.value && props.kind?.value).map(({ name }) => name);
  useEffect(() => {
    for (const name of undecided) if (!results[name]) test(name);
  }, [undecided.join('\n')]);
  const choose = (/** @type {import('./presets.js').Preset} */ preset) => setAdding({ preset: preset.id, name: freeName(preset.name || t('prov.custom_name'), taken), kind: preset.kind, base_url: preset.base_url });
  return html`<h1 tabindex="-1">${t('prov.title')}</h1><p class="lead">${t('prov.lead')}</p>
    ${error ? html`<${ErrorBox} title=${t('prov.not_loaded')} error=${error}><${Button} small onClick=${reload}>${t('ui.retry')}<//><//>` : null}
    ${value ? html`<${ConfigProblems} problems=${value.problems ?? []} readOnly=${readOnly} file=${value.file} />
      <section class="svc"><div class="row"><span class="dot ok"></span><b>${t('mirror.name')}</b><${Pill}>${t('prov.builtin')}<//></div><p class="desc">${t('mirror.about')}</p></section>
      ${list.map((provider) => html`<${ProviderCard} key=${provider.name} provider=${provider} version=${value.version} result=${results[provider.name]} editing=${editing === provider.name} readOnly=${readOnly}
        onEdit=${(/** @type {boolean} */ on) => setEditing(on ? provider.name : '')} onTest=${() => test(provider.name)} atOnce=${atOnce} taken=${taken} />`)}
      <h2>${t('prov.add')}</h2>
      ${adding ? html`<section class="svc" aria-label=${t('prov.add')}><div class="row"><h3>${presets.find(({ id }) => id === adding.preset)?.name || t('prov.custom')}</h3></div>
          <${ProviderForm} key=${adding.preset} start=${adding} taken=${taken} readOnly=${readOnly} onSave=${add} onCancel=${() => setAdding(null)} /></section>`
      : html`<ul class="presets">${presets.map((preset) => html`<li key=${preset.id}><button type="button" class="preset" disabled=${readOnly} onClick=${() => choose(preset)}><b>${preset.name || t('prov.custom')}</b><span class="meta">${t(preset.id === 'custom' ? 'prov.custom_text' : preset.local ? 'prov.local' : 'prov.key_needed')}</span></button></li>`)}</ul>`}
      <${LocalModels} list=${list} readOnly=${readOnly} onAdd=${add} taken=${taken} />`
    : error ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}

/** @param {{provider: Provider, version: string, result: any, editing: boolean, readOnly: boolean, taken: string[], onEdit: (on: boolean) => void, onTest: () => void, atOnce: (work: () => Promise<void>) => Promise<void>}} props */
function ProviderCard({ provider, version, result, editing, readOnly, taken, onEdit, onTest, atOnce }) {
  const { name, props } = provider;
  const [error, setError] = useState(/** @type {any} */ (null));
  const opened = useRef(version);
  const head = useRef(/** @type {HTMLElement|null} */ (null));
  const model = String(props.model?.value ?? '');
  const models = props.models?.value ?? [];
  const close = () => {
    onEdit(false);
    setTimeout(() => /** @type {HTMLElement|null|undefined} */ (head.current?.querySelector('[data-edit]'))?.focus());
  };
  const remove = async () => {
    if (!(await confirmDialog({ title: t('prov.remove_title', { name }), text: t('prov.remove_text'), action: t('prov.remove'), danger: true }))) return;
    try {
      await atOnce(() => removeProvider(name));
    } catch (failure) {
      setError(failure);
    }
  };
  const save = async (/** @type {string} */ _, /** @type {any} */ values) => {
    await atOnce(() => saveProvider(name, values, props, opened.current));
    close();
    onTest();
  };
  const pick = async (/** @type {string} */ chosen) => {
    try {
      await atOnce(() => saveProvider(name, { model: chosen }, props));
    } catch (failure) {
      setError(failure);
    }
  };
  const offered = result?.ok ? result.models ?? [] : models;
  const only = result?.ok && !model && !editing && !readOnly && offered.length === 1 ? offered[0] : '';
  useEffect(() => {
    if (only) pick(only);
  }, [only]);
  const overrides = Object.values(props).filter(({ override }) => override);
  return html`<section class="svc" aria-label=${name}><div class="row" ref=${head}><span class=${`dot ${result?.ok ? 'ok' : result && !result.busy ? 'no' : ''}`}></span><b><${Visible} text=${name} /></b>
      <span class="meta facts-line">${[props.kind?.value === 'anthropic' ? 'Anthropic' : t('prov.kind_openai'), model || t('prov.no_model'), models.length > 1 ? t('prov.models_n', { n: models.length }) : '', props.api_key?.populated ? t('prov.with_key') : t('prov.without_key')].filter(Boolean).join(' · ')}</span><span class="grow"></span>
      ${editing ? null : html`<span class="row svc-acts"><${Button} small disabled=${result?.busy} aria-label=${t('prov.test_label', { name })} onClick=${onTest}>${result?.busy ? t('prov.testing') : t('prov.test')}<//>
      <${Button} small kind="quiet" data-edit aria-label=${t('prov.edit_label', { name })} onClick=${() => {
        opened.current = version;
        onEdit(true);
      }}>${t('prov.edit')}<//><${Button} small kind="quiet" class="danger" disabled=${readOnly} aria-label=${t('prov.remove_label', { name })} onClick=${remove}>${t('prov.remove')}<//></span>`}</div>
    ${props.base_url?.value && !editing ? html`<p class="desc mono"><${Visible} text=${String(props.base_url.value)} /></p>` : null}
    ${overrides.length && !editing ? html`<p class="desc">${overrides.map((prop) => html`<${Pill} key=${prop.path} kind="ask">${t('prov.override', { name: prop.override ?? '' })}<//> `)}</p>` : null}
    ${error ? html`<${ErrorBox} error=${error} />` : null}
    ${editing ? html`<${ProviderForm} name=${name} props=${props} taken=${taken} offered=${result?.models ?? []} readOnly=${readOnly} onSave=${save} onCancel=${close} />` : null}
    <div role="status">${result && !result.busy ? html`<${TestResult} result=${result} />` : null}</div>
    ${editing ? null : html`<${ModelPick} model=${model} offered=${offered} sure=${Boolean(result?.ok)} disabled=${readOnly || Boolean(props.model?.override)} onPick=${pick} />`}</section>`;
}

/** Model servers that run on this computer. @param {{list: Provider[], readOnly: boolean, taken: string[], onAdd: (name: string, values: any) => Promise<void>}} props */
function LocalModels({ list, readOnly, taken, onAdd }) {
  const [found, setFound] = useState(/** @type {any[]|null} */ (null));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const known = new Set(list.map(({ props }) => String(props.base_url?.value ?? '').replace(/\/+$/, '')));
  const look = async () => {
    setBusy(true);
    setError(null);
    try {
      setFound((await api.get('/api/providers/local')).found ?? []);
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  const add = async (/** @type {any} */ server) => {
    setError(null);
    try {
      await onAdd(freeName(server.name, taken), { kind: 'openai', base_url: server.base_url, model: server.models?.[0] ?? '', models: server.models ?? [] });
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<h2>${t('prov.here')}<span class="grow"></span><${Button} small disabled=${busy} onClick=${look}>${busy ? t('prov.looking') : t('prov.look')}<//></h2>
    <p class="desc gap">${t('prov.here_text')}</p>${error ? html`<${ErrorBox} error=${error} />` : null}
    <div role="status">${found?.length ? html`<ul class="plain-list">${found.map((server) => html`<li key=${server.base_url} class="grant"><div class="grant-what"><b><${Visible} text=${server.name} /></b> <code>${server.base_url}</code><div class="meta">${t('prov.models_n', { n: server.models?.length ?? 0 })}${server.models?.length ? `: ${server.models.slice(0, 4).join(', ')}${server.models.length > 4 ? '…' : ''}` : ''}</div></div>
        ${known.has(String(server.base_url).replace(/\/+$/, '')) ? html`<span class="meta">${t('prov.added')}</span>` : html`<${Button} small disabled=${readOnly} aria-label=${t('prov.add_label', { name: server.name })} onClick=${() => add(server)}>${t('prov.add_one')}<//>`}</li>`)}</ul>`
    : found ? html`<p class="meta">${t('prov.none_here')}</p>` : null}</div>`;
}
