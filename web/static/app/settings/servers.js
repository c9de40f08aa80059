// Settings → MCP, the configured servers: the list of them, a form for a new one, and each one's settings on a page of its own.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { t, tx } from '../i18n/index.js';
import { link, navigate, route } from '../router.js';
import { loadServers, mcpEnabled, mergeServer, servers, ticks } from '../store.js';
import { api, url } from '../api.js';
import { Button, Empty, ErrorBox, Pill, Switch } from '../ui.js';
import { loadSection, saveProp } from './config-store.js';
import { copyName, copyOf, definitionOf, draftOf, entriesOf, entryPath, fieldsFor, missingOf, serverFields } from './config-values.js';
import { EntryForm } from './entry-form.js';
import { useLoaded, useSaving } from './load.js';
import { ConfigProblems } from './providers.js';
import { SECTION, ServerCard, State } from './server-card.js';
import { serverLook, withSettings } from './server-text.js';
import { Trial } from './server-trial.js';

/** @typedef {import('./config-values.js').Draft} Draft */

const keyOf = (/** @type {string} */ key) => `srv.f_${key}`;
const groups = [{ key: 'basics' }, { key: 'time', folded: true }, { key: 'reach', folded: true }, { key: 'more', folded: true }, { key: 'signin', folded: true }];

/** The transports in words. */
const fields = serverFields.map((field) => (field.key === 'transport' ? { ...field, choiceText: (/** @type {string} */ choice) => t(`srv.transport_${choice}`) } : field));
const fieldsOf = (/** @type {Draft} */ draft) => fieldsFor(draft.texts.transport, fields);

/** A button that tries what the form holds, before or after it is saved. @param {{draft: Draft, name: string}} props */
function TryIt({ draft, name }) {
  const [open, setOpen] = useState(0);
  const shown = fieldsOf(draft);
  const lacks = missingOf(shown, draft).length > 0;
  return html`<div class="try-it"><div class="row"><${Button} small disabled=${lacks} onClick=${() => setOpen(open + 1)}>${t('srv.test')}<//><span class="meta">${t('srv.test_unsaved')}</span></div>
    ${open ? html`<${Trial} key=${open} name=${name || t('srv.unnamed')} definition=${() => definitionOf(shown, draft)} onClose=${() => setOpen(0)} />` : null}</div>`;
}

/** The section below the services. */
export function ConfiguredServers() {
  const { value: config, error, reload } = useLoaded(() => loadSection('mcp'), { tick: 'config' });
  const [adding, setAdding] = useState(/** @type {{start?: Draft, name: string, copied?: boolean}|null} */ (null));
  const heading = useRef(/** @type {HTMLElement|null} */ (null));
  const [failed, setFailed] = useState(/** @type {any} */ (null));
  const entries = entriesOf(config?.props ?? [], SECTION);
  const list = servers.value?.map((server) => withSettings(server, entries.find(({ name }) => name === server.name))) ?? null;
  const readOnly = Boolean(config?.read_only);
  const here = route.value.view === 'config';
  useEffect(() => {
    // A link to the settings of the servers leads to them, not to the services above.
    if (here && list) heading.current?.scrollIntoView({ block: 'start' });
  }, [here, list === null]);
  useEffect(() => {
    loadServers().then(() => setFailed(null), setFailed);
  }, [ticks.value.config ?? 0]);
  const taken = (list ?? []).map(({ name }) => name);
  const begin = (/** @type {NonNullable<typeof adding>} */ what) => {
    setAdding(what);
    setTimeout(() => /** @type {HTMLElement|null} */ (document.querySelector('.new-server input'))?.focus());
  };
  const copy = (/** @type {string} */ name) => {
    const entry = entries.find((one) => one.name === name);
    if (entry) begin({ start: copyOf(fields, entry), name: copyName(name, taken), copied: Object.keys(entry.maps).length > 0 });
  };
  const file = config?.file ?? 'config.toml';
  // What concerns one server stands on its card.
  const problems = (config?.problems ?? []).filter((/** @type {any} */ problem) => /^(mcp|mcp_bundles|agents)(\.|$)/.test(problem.path ?? '') && problem.code !== 'incomplete' && !(problem.code === 'no_effect' && /^mcp\.servers\../.test(problem.path)));
  return html`<h2 tabindex="-1" ref=${heading}>${t('srv.title')} <span class="meta">${tx('mcp.in', { folder: html`<code>${file.split(/[\\/]/).at(-1)}</code>` })}</span><span class="grow"></span>
      ${adding ? null : html`<${Button} small kind="primary" disabled=${readOnly || !config} onClick=${() => begin({ name: '' })}>${t('srv.add')}<//>`}</h2>
    ${error ? html`<${ErrorBox} title=${t('srv.not_loaded')} error=${error}><${Button} small onClick=${reload}>${t('ui.retry')}<//><//>` : null}
    ${failed && !list ? html`<${ErrorBox} title=${t('srv.not_loaded')} error=${failed} />` : null}
    ${config ? html`<${ConfigProblems} problems=${problems} readOnly=${readOnly} file=${config.file} />` : null}
    ${mcpEnabled.value || !list?.length ? null : html`<${SwitchedOff} readOnly=${readOnly} />`}
    ${adding ? html`<section class="svc new-server" aria-label=${t('srv.add')}><h3>${t('srv.add')}</h3>${adding.copied ? html`<p class="desc">${t('srv.copied')}</p>` : null}
      <${EntryForm} section=${SECTION} entry=${null} version=${config?.version ?? ''} fields=${fieldsOf} all=${fields} groups=${groups} keyOf=${keyOf} taken=${taken} start=${adding.start ?? draftOf(fields, null)} startName=${adding.name} readOnly=${readOnly} saveText=${t('srv.add_now')}
        beside=${(/** @type {Draft} */ draft, /** @type {string} */ name) => html`<${TryIt} draft=${draft} name=${name} />`}
        onCancel=${() => {
          setAdding(null);
          heading.current?.focus();
        }} onSaved=${async (/** @type {string} */ name) => {
          await loadServers().catch(() => {}); // the event that follows loads them, too
          setAdding(null);
          setTimeout(() => /** @type {HTMLElement|null} */ ([...document.querySelectorAll('.server h3')].find((one) => one.textContent === name))?.focus());
        }} /></section>` : null}
    ${list?.length ? list.map((server) => html`<${ServerCard} key=${server.name} server=${server} readOnly=${readOnly} onCopy=${copy} onGone=${() => setTimeout(() => heading.current?.focus())} />`)
      : list && !adding ? html`<${Empty} title=${t('srv.none')} action=${html`<${Button} disabled=${readOnly} onClick=${() => begin({ name: '' })}>${t('srv.add')}<//>`}>${t('srv.none_text')}<//>` : list || failed ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}

/** All configured servers are off. @param {{readOnly: boolean}} props */
function SwitchedOff({ readOnly }) {
  const saving = useSaving();
  return html`<div class="note row"><span class="grow">${t('srv.all_off')}</span><${Button} small disabled=${readOnly || saving.saving} onClick=${() => saving.run(async () => {
    await saveProp('mcp.enabled', null);
    await loadServers();
  })}>${t('srv.all_on')}<//></div>${saving.error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${saving.error} />` : null}`;
}

/** The settings of one server. @param {{name: string}} props */
export function ServerEditor({ name }) {
  const { value: config, error, reload } = useLoaded(() => loadSection(SECTION), { tick: 'config', deps: [name] });
  const entries = entriesOf(config?.props ?? [], SECTION);
  const entry = entries.find((one) => one.name === name) ?? null;
  const status = servers.value?.find((one) => one.name === name);
  const server = status && withSettings(status, entry ?? undefined);
  const [failed, setFailed] = useState(/** @type {any} */ (null));
  const saving = useSaving();
  const act = async (/** @type {string} */ what) => {
    try {
      const answer = await api.post(url`/api/servers/${name}/${what}`);
      if (answer?.id) mergeServer(answer);
      setFailed(null);
    } catch (failure) {
      setFailed(failure);
    }
  };
  const look = server ? serverLook(server) : null;
  const enabled = entry?.props.enabled;
  return html`<p class="crumb"><a href=${link('config', SECTION)}>← ${t('srv.title')}</a></p>
    <h1 tabindex="-1"><${Visible} text=${name} /></h1>
    ${look ? html`<p class="row lead"><span class=${`dot ${look.dot}`}></span><${Pill} kind=${look.pill}>${t(`srv.state_${look.word}`)}<//></p>` : null}
    ${error ? html`<${ErrorBox} title=${t('srv.not_loaded')} error=${error}><${Button} small onClick=${reload}>${t('ui.retry')}<//><//>` : null}
    ${config && !entry ? html`<${Empty} title=${t('srv.gone', { name })} action=${html`<a class="btn" href=${link('config', SECTION)}>${t('srv.title')}</a>`} />` : null}
    ${server ? html`<div class="stack editor-state"><${State} server=${server} here onAct=${act} /></div>` : null}${failed ? html`<${ErrorBox} title=${t('mcp.act_failed')} error=${failed} />` : null}
    ${config && entry ? html`<${ConfigProblems} problems=${[]} readOnly=${config.read_only} file=${config.file} />
      <section class="svc" aria-label=${t('srv.settings_of', { name })}><div class="row"><${Switch} label=${t('srv.enabled')} checked=${enabled?.value !== false} disabled=${config.read_only || Boolean(enabled?.override)} onChange=${(/** @type {boolean} */ on) => saving.run(async () => {
        await saveProp(entryPath(SECTION, name, 'enabled'), on ? null : false);
        await Promise.all([reload(), loadServers()]);
      })} />${enabled?.override ? html`<${Pill} kind="ask">${t('prov.override', { name: enabled.override })}<//>` : null}<span class="saved" role="status">${saving.saved ? t('ui.saved') : ''}</span></div>${saving.error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${saving.error} />` : null}
      <${EntryForm} key=${name} section=${SECTION} name=${name} entry=${entry} version=${config.version} fields=${fieldsOf} all=${fields} groups=${groups} keyOf=${keyOf} readOnly=${config.read_only}
        beside=${(/** @type {Draft} */ draft) => html`<${TryIt} draft=${draft} name=${name} />`} onCancel=${() => navigate(link('config', SECTION))}
        onSaved=${async () => {
          await reload();
          await loadServers().catch(() => {}); // the event that follows loads them, too
        }} /></section>` : error || config ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}
