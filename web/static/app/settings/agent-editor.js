// One agent: its profiles, its bundles, what it may use of each server, and what comes of all that.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { serverName, serverOf } from '../calls/names.js';
import { warningText } from '../calls/reasons.js';
import { Visible } from '../calls/text.js';
import { t } from '../i18n/index.js';
import { link, navigate, route } from '../router.js';
import { agents, loadAgents, servers, services, ticks, tools } from '../store.js';
import { Button, CopyButton, Empty, ErrorBox, openDialog, Pill, Segmented } from '../ui.js';
import { agentFields, LEVELS, serversOf, silence, standing, withAccess, withSet } from './agent-text.js';
import { BundleDialog } from './bundle-dialog.js';
import { entriesOf } from './config-values.js';
import { loadSection } from './config-store.js';
import { EntryForm } from './entry-form.js';
import { useLoaded } from './load.js';
import { ConfigProblems } from './providers.js';
import { Ticks } from './ticks.js';
import { groupTools } from './tool-groups.js';

/** @typedef {import('../types.js').Agents} Agents @typedef {import('./config-values.js').Draft} Draft @typedef {import('./run-session.js').Tool} Tool */

const keyOf = (/** @type {string} */ key) => `agents.f_${key}`;
const groups = [{ key: 'basics' }, { key: 'reach' }];

/** What is not as it should be with an agent or a bundle. @param {{warnings?: {code: string, message: string}[]}} props */
export function Warnings({ warnings = [] }) {
  if (!warnings.length) return null;
  return html`<ul class="plain-list warnings">${warnings.map((warning, at) => html`<li class="note problem" key=${`${warning.code} ${at}`}><div><${Visible} text=${warningText(warning)} /></div><${CopyButton} text=${warningText(warning)} /></li>`)}</ul>`;
}

/** Own names of the tools of a server. @param {string} server */
const namesOf = (server) => /** @type {Tool[]} */ (tools.value).filter((tool) => tool.server === server).map((tool) => String(tool.own_name ?? tool.name));

/** The words of a risk level in a list of profiles. @param {Agents} all @param {string} name */
function riskText(all, name) {
  if (!name) return t('agents.no_risk');
  const level = all.risk_profiles.find((profile) => profile.name === name)?.level;
  return level && LEVELS.includes(level) ? `${name} · ${t(`agents.level_${level}`)}` : t('agents.unknown', { name });
}

/** Which tools of each server the agent may use. @param {{all: Agents, name: string, draft: Draft, set: (draft: Draft) => void, disabled?: boolean}} props */
function Access({ all, name, draft, set, disabled }) {
  const access = /** @type {Record<string, string[]>} */ (draft.values.tools ?? {});
  const granted = all.agents.find((agent) => agent.name === name)?.servers ?? [];
  const reached = withSet([...serversOf(all, draft.values.mcp_bundles ?? []), ...granted.filter((server) => services.value[server])], Object.keys(access));
  if (!reached.length) return html`<div class="label"><span>${t('agents.f_tools')}</span><span class="hint">${t('agents.reaches_none')}</span></div>`;
  const change = (/** @type {string} */ server, /** @type {string[]|undefined} */ names) => set({ ...draft, values: { ...draft.values, tools: withAccess(access, server, names) } });
  return html`<div class="label"><span>${t('agents.f_tools')}</span><div class="access">${reached.map((server) => {
    const own = access[server];
    const known = withSet(namesOf(server), own ?? []);
    return html`<div class="access-row" key=${server}><div class="row"><b><${Visible} text=${serverName(server)} /></b><span class="grow"></span>
      <${Segmented} label=${t('agents.access_of', { server })} value=${own ? 'some' : 'all'} disabled=${disabled} options=${[{ value: 'all', label: t('agents.access_all') }, { value: 'some', label: own ? t('agents.access_n', { n: own.length }) : t('agents.access_some') }]} onChange=${(/** @type {string} */ which) => change(server, which === 'all' ? undefined : [...namesOf(server)])} /></div>
      ${own ? html`<${Ticks} hidden columns legend=${t('agents.access_of', { server })} options=${known.map((value) => ({ value }))} values=${own} disabled=${disabled} empty=${t('agents.access_unknown')} onChange=${(/** @type {string[]} */ names) => change(server, names)} />` : null}</div>`;
  })}</div></div>`;
}

/** @param {{name: string}} props */
export function AgentEditor({ name }) {
  const all = agents.value;
  const { value: config, error, reload } = useLoaded(() => loadSection('agents'), { tick: 'config', deps: [name] });
  const { value: result, error: unknown, reload: again } = useLoaded(() => api.get(url`/api/agents/${name}`), { tick: 'config', deps: [name, ticks.value.tools ?? 0, ticks.value.permissions ?? 0] });
  const agent = all?.agents.find((one) => one.name === name);
  // A link may lead to one of the settings: #/settings/agents/NAME/media.
  const part = route.value.view === 'settings' ? route.value.parts[2] : '';
  const ready = Boolean(agent && config);
  useEffect(() => {
    // After the view around it has gone to its top.
    const timer = setTimeout(() => {
      const there = part && ready ? document.getElementById(`agent-${part}`) : null;
      there?.scrollIntoView({ block: 'center' });
      /** @type {HTMLElement|null|undefined} */ (there?.querySelector('input'))?.focus({ preventScroll: true });
    });
    return () => clearTimeout(timer);
  }, [part, ready]);
  const back = html`<p class="crumb"><a href=${link('settings', 'agents')}>← ${t('agents.title')}</a></p>`;
  if (all && !agent) return html`${back}<h1 tabindex="-1"><${Visible} text=${name} /></h1><${Empty} title=${t('agents.gone', { name })} action=${html`<a class="btn" href=${link('settings', 'agents')}>${t('agents.title')}</a>`} />`;
  if (!all || !config) return html`${back}<h1 tabindex="-1"><${Visible} text=${name} /></h1>${error ? html`<${ErrorBox} title=${t('agents.not_loaded')} error=${error}><${Button} small onClick=${reload}>${t('ui.retry')}<//><//>` : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
  const entry = entriesOf(config.props, 'agents').find((one) => one.name === name) ?? null;
  const fields = agentFields(all).map((field) => (field.key === 'risk_profile' ? { ...field, choiceText: (/** @type {string} */ one) => riskText(all, one) } : field.key === 'runtime_profile' ? { ...field, choiceText: (/** @type {string} */ one) => one || t('agents.no_runtime') } : field));
  const everyone = [...new Set([...(servers.value ?? []).map((one) => one.name), ...Object.keys(services.value)])];
  const readOnly = config.read_only;
  const list = (/** @type {Draft} */ draft, /** @type {string} */ key) => /** @type {string[]} */ (draft.values[key] ?? []);
  const put = (/** @type {Draft} */ draft, /** @type {string} */ key, /** @type {any} */ value) => ({ ...draft, values: { ...draft.values, [key]: value } });
  /** What is typed here stays, and the new bundle is ticked. @param {Draft} draft @param {(draft: Draft) => void} set @param {string} text */
  const makeBundle = (draft, set, text) => html`<button type="button" class="link" disabled=${readOnly} onClick=${async () => {
    const made = await openDialog((close) => html`<${BundleDialog} taken=${all.bundles.map((one) => one.name)} close=${close} />`);
    if (made) set(put(draft, 'mcp_bundles', [...list(draft, 'mcp_bundles'), made]));
  }}>${text}</button>`;
  const custom = {
    mcp_bundles: (/** @type {any} */ { draft, set, error: fault }) => html`<${Ticks} columns legend=${t('agents.f_mcp_bundles')} hint=${html`${t('agents.f_mcp_bundles_hint')}${all.bundles.length ? html` ${makeBundle(draft, set, `${t('agents.bundle_new')}…`)}` : null}`} error=${fault} disabled=${readOnly} values=${list(draft, 'mcp_bundles')} empty=${html`${t('agents.no_bundles')} ${makeBundle(draft, set, t('agents.make_bundle'))}`}
      options=${withSet(all.bundles.map((one) => one.name), list(draft, 'mcp_bundles')).map((value) => ({ value, meta: all.bundles.find((one) => one.name === value)?.servers?.join(', ') ?? t('agents.unknown_bundle') }))} onChange=${(/** @type {string[]} */ values) => set(put(draft, 'mcp_bundles', values))} />`,
    media: (/** @type {any} */ { draft, set, error: fault }) => html`<div id="agent-media"><${Ticks} columns legend=${t('agents.f_media')} hint=${t('agents.f_media_hint')} error=${fault} disabled=${readOnly} values=${list(draft, 'media')} empty=${t('srv.none')}
      options=${withSet(everyone, list(draft, 'media')).map((value) => ({ value, label: html`<${Visible} text=${serverName(value)} />` }))} onChange=${(/** @type {string[]} */ values) => set(put(draft, 'media', values))} /></div>`,
    tools: (/** @type {any} */ { draft, set }) => html`<${Access} all=${all} name=${name} draft=${draft} set=${set} disabled=${readOnly} />`,
  };
  return html`${back}<h1 tabindex="-1"><${Visible} text=${name} /></h1>
    <p class="row lead">${agent?.builtin ? html`<${Pill}>${t('agents.builtin')}<//>` : null}<span>${t('conf.new_chats')}</span></p>
    <${ConfigProblems} problems=${[]} readOnly=${readOnly} file=${config.file} />
    <section class="svc agent-form" aria-label=${t('agents.settings_of', { name })}><${EntryForm} key=${name} section="agents" name=${name} entry=${entry ?? { name, props: {}, maps: {} }} version=${config.version} fields=${() => fields} all=${fields} groups=${groups} keyOf=${keyOf} readOnly=${readOnly} custom=${custom}
      onCancel=${() => navigate(link('settings', 'agents'))} onSaved=${async () => {
        await Promise.all([reload(), again(), loadAgents()]);
      }} /></section>
    <h2>${t('agents.result')}</h2><p class="desc gap">${t('agents.result_text')}</p>
    ${unknown ? html`<${ErrorBox} error=${unknown}><${Button} small onClick=${again}>${t('ui.retry')}<//><//>` : result ? html`<${Warnings} warnings=${result.warnings} /><${Resulting} tools=${result.tools ?? []} servers=${result.agent?.servers ?? []} />` : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}

/** Rows of a group drawn at once. */
const ROWS = 200;

/** The tools that an agent has in a new chat, and the servers that it reaches without any. @param {{tools: Tool[], servers: string[]}} props */
function Resulting({ tools: list, servers: granted }) {
  const silent = granted.filter((server) => !list.some((tool) => tool.server === server));
  if (!list.length && !silent.length) return html`<${Empty} title=${t('agents.no_tools')} />`;
  return html`<p class="meta result-n" role="status">${t('tools.count', { n: list.length })}</p>${groupTools(list).map((group) => html`<${ResultGroup} key=${group.server} group=${group} />`)}
    ${silent.map((server) => html`<section class="svc group-box" key=${server} aria-label=${serverName(server)}><div class="row"><h3><${Visible} text=${serverName(server)} /></h3><span class="meta">${t(`agents.${silence(serverOf(server), namesOf(server).length)}`)}</span></div></section>`)}`;
}

/** @param {{group: {server: string, tools: Tool[]}}} props */
function ResultGroup({ group: { server, tools: own } }) {
  const [open, setOpen] = useState(own.length <= 12);
  const [rows, setRows] = useState(ROWS);
  const name = server ? serverName(server) : t('tools.local');
  const rests = server && serverOf(server)?.state === 'stopped' && serverOf(server)?.on_demand;
  return html`<section class="svc group-box"><h3 class="fold-h"><button type="button" class="fold" aria-expanded=${open} onClick=${() => setOpen(!open)}><${Visible} text=${name} /> <span class="meta">${[t('tools.count', { n: own.length }), rests ? t('agents.when_needed') : ''].filter(Boolean).join(' · ')}</span></button></h3>
    ${open ? html`<ul class="result-list" aria-label=${name}>${own.slice(0, rows).map((tool) => {
      const how = standing(tool);
      return html`<li key=${tool.name} class=${how === 'off' || how === 'deny' ? 'off' : ''}><code title=${tool.name}><${Visible} text=${server ? tool.own_name ?? tool.name : tool.name} /></code><span class="meta">${t(`agents.is_${how}`)}${tool.state === 'offline' ? ` · ${t('tools.offline')}` : ''}</span></li>`;
    })}</ul>${own.length > rows ? html`<p class="row more"><${Button} small onClick=${() => setRows(rows + 500)}>${t('tools.show_more', { n: own.length - rows })}<//></p>` : null}` : null}</section>`;
}
