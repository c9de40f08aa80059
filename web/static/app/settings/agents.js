// Settings → Agents: the agents, and the bundles and profiles that they are made of.
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { newChat, setMeta } from '../chat/conversation.js';
import { formatNumber, language, t } from '../i18n/index.js';
import { link, navigate, route } from '../router.js';
import { agents, loadAgents, servers, services, tools } from '../store.js';
import { Button, confirmDialog, Empty, ErrorBox, Menu, Pill, promptDialog } from '../ui.js';
import { AgentEditor, Warnings } from './agent-editor.js';
import { bundleFields, LEVELS, riskFields, runtimeFields, savedGroups, usersOf, withSet } from './agent-text.js';
import { addEntry, loadSection, removeEntry, renameEntry } from './config-store.js';
import { entriesOf, linesOf } from './config-values.js';
import { EntryForm } from './entry-form.js';
import { FilterGroups } from './filter-groups.js';
import { useLoaded } from './load.js';
import { nameFault } from './presets.js';
import { ConfigProblems } from './providers.js';
import { Ticks } from './ticks.js';

/** @typedef {import('../types.js').Agents} Agents @typedef {import('./config-values.js').Entry} Entry @typedef {import('./config-values.js').Draft} Draft @typedef {import('./config-store.js').Listed} Listed */

/** Asks for a name until it can be one; null when the person gives up. @param {{title: string, label: string, value?: string, action: string, taken: string[]}} ask @returns {Promise<string|null>} */
async function askName({ title, label, value = '', action, taken }) {
  for (let wish = value, said = label; ;) {
    const answer = await promptDialog({ title, label: said, value: wish, action });
    if (answer === null || (value && answer === value)) return null;
    const fault = nameFault(answer, taken);
    if (!fault) return answer;
    wish = answer;
    said = t(`conf.name_${fault}`);
  }
}

export function AgentsSection() {
  void language.value;
  const { view, parts } = route.value;
  const named = view === 'settings' ? parts[1] : parts[0] === 'agents' ? parts[1] : '';
  return named ? html`<${AgentEditor} key=${named} name=${named} />` : html`<${Overview} />`;
}

function Overview() {
  const all = agents.value;
  const { value: config, error, reload } = useLoaded(() => loadSection(''), { tick: 'config' });
  const [failed, setFailed] = useState(/** @type {any} */ (null));
  const place = route.value.view === 'config' ? route.value.parts[0] : '';
  useEffect(() => {
    loadAgents().then(() => setFailed(null), setFailed);
  }, []);
  const ready = Boolean(all && config);
  useEffect(() => {
    if (ready && place) document.getElementById(`part-${place}`)?.scrollIntoView({ block: 'start' });
  }, [ready, place]);
  const problem = error ?? failed;
  const after = () => Promise.allSettled([reload(), loadAgents()]);
  return html`<h1 tabindex="-1">${t('agents.title')}</h1><p class="lead">${t('agents.lead')}</p>
    ${problem ? html`<${ErrorBox} title=${t('agents.not_loaded')} error=${problem}><${Button} small onClick=${after}>${t('ui.retry')}<//><//>` : null}
    ${all && config ? html`<${ConfigProblems} problems=${[]} readOnly=${config.read_only} file=${config.file} />
      <${AgentList} all=${all} readOnly=${config.read_only} after=${after} />
      <${Bundles} all=${all} config=${config} after=${after} /><${RiskProfiles} all=${all} config=${config} after=${after} /><${RuntimeProfiles} all=${all} config=${config} after=${after} />`
    : problem ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}

/** Begins a chat with an agent. @param {string} agent */
async function chatWith(agent) {
  await setMeta(newChat(), { agent });
  navigate(link('chat'));
}

/** @param {{all: Agents, readOnly: boolean, after: () => Promise<any>}} props */
function AgentList({ all, readOnly, after }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const guarded = (/** @type {() => Promise<any>} */ work) => {
    setError(null);
    return work().catch(setError);
  };
  const names = all.agents.map(({ name }) => name);
  const add = () => guarded(async () => {
    const name = await askName({ title: t('agents.add'), label: t('srv.f_name'), action: t('agents.add_now'), taken: names });
    if (!name) return;
    await addEntry('agents', name);
    await after();
    navigate(link('settings', 'agents', name));
  });
  return html`<h2 tabindex="-1" class="first">${t('agents.list')}<span class="grow"></span><${Button} small kind="primary" disabled=${readOnly} onClick=${add}>${t('agents.add')}<//></h2>
    ${error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${error} />` : null}
    ${all.agents.map((agent) => html`<${AgentCard} key=${agent.name} agent=${agent} all=${all} readOnly=${readOnly} guarded=${guarded} after=${after} />`)}`;
}

/** @param {{agent: import('../types.js').Agent, all: Agents, readOnly: boolean, guarded: (work: () => Promise<any>) => Promise<any>, after: () => Promise<any>}} props */
function AgentCard({ agent, all, readOnly, guarded, after }) {
  const id = useId();
  const { name } = agent;
  const level = all.risk_profiles.find((profile) => profile.name === agent.risk_profile)?.level ?? '';
  const facts = [
    agent.risk_profile ? `${agent.risk_profile}${LEVELS.includes(level) ? ` (${t(`agents.level_${level}`)})` : ''}` : '',
    agent.runtime_profile ?? '',
    t('agents.servers_n', { n: agent.servers?.length ?? 0 }) + (agent.servers?.length ? `: ${agent.servers.slice(0, 6).join(', ')}${agent.servers.length > 6 ? '…' : ''}` : ''),
  ].filter(Boolean).join(' · ');
  const rename = async () => {
    const wish = await askName({ title: t('srv.rename_title', { name }), label: t('agents.rename_label'), value: name, action: t('srv.rename'), taken: all.agents.map((one) => one.name).filter((other) => other !== name) });
    if (!wish) return;
    await renameEntry('agents', name, wish);
    await after();
  };
  const remove = async () => {
    if (!(await confirmDialog({ title: t('srv.remove_title', { name }), text: t('agents.remove_text'), action: t('srv.remove'), danger: true }))) return;
    await removeEntry('agents', name);
    await after();
    setTimeout(() => /** @type {HTMLElement|null} */ (document.querySelector('.settings h2.first'))?.focus());
  };
  return html`<section class="svc" aria-labelledby=${id}><div class="row svc-head"><h3 id=${id}><${Visible} text=${name} /></h3>${agent.builtin ? html`<${Pill}>${t('agents.builtin')}<//>` : null}<span class="grow"></span>
      <span class="row svc-acts"><${Button} small aria-label=${t('agents.chat_label', { name })} onClick=${() => guarded(() => chatWith(name))}>${t('agents.chat')}<//><a class="btn small quiet" href=${link('settings', 'agents', name)} aria-label=${t('srv.edit_label', { name })}>${t('srv.edit')}</a>
      ${agent.builtin || readOnly ? null : html`<${Menu} class="btn quiet small icon" side="right" label="⋯" name=${t('srv.more', { name })} items=${[{ key: 'rename', label: t('srv.rename_more'), run: () => guarded(rename) }, { key: 'remove', label: t('srv.remove_more'), danger: true, run: () => guarded(remove) }]} />`}</span></div>
    <p class="desc"><${Visible} text=${facts} /></p>
    <${Warnings} warnings=${agent.warnings} /></section>`;
}

/**
 * The entries of one kind, each with a form that unfolds.
 * @param {{section: string, word: 'bundle'|'risk'|'runtime', config: Listed, after: () => Promise<any>, fields: import('./config-values.js').Field[], custom?: any, describe: (name: string) => string, users: (name: string) => string[]}} props
 */
function Parts({ section, word, config, after, fields, custom, describe, users }) {
  const entries = entriesOf(config.props, section);
  const [open, setOpen] = useState('');
  const [error, setError] = useState(/** @type {any} */ (null));
  const heading = useRef(/** @type {HTMLElement|null} */ (null));
  const names = entries.map(({ name }) => name);
  const readOnly = config.read_only;
  const guarded = (/** @type {() => Promise<any>} */ work) => {
    setError(null);
    work().catch(setError);
  };
  const add = async () => {
    const name = await askName({ title: t(`agents.${word}_add`), label: t('srv.f_name'), action: t('agents.add_now'), taken: names });
    if (!name) return;
    await addEntry(section, name);
    await after();
    setOpen(name);
  };
  const rename = async (/** @type {string} */ name) => {
    const wish = await askName({ title: t('srv.rename_title', { name }), label: t('agents.rename_part'), value: name, action: t('srv.rename'), taken: names.filter((other) => other !== name) });
    if (!wish) return;
    await renameEntry(section, name, wish);
    await after();
  };
  const remove = async (/** @type {string} */ name) => {
    const by = users(name);
    if (!(await confirmDialog({ title: t('srv.remove_title', { name }), text: by.length ? t('agents.remove_used', { agents: by.join(', ') }) : t('agents.remove_unused'), action: t('srv.remove'), danger: true }))) return;
    await removeEntry(section, name);
    await after();
    setTimeout(() => heading.current?.focus());
  };
  return html`<h2 id=${`part-${section}`} tabindex="-1" ref=${heading}>${t(`agents.${word}_title`)}<span class="grow"></span><${Button} small disabled=${readOnly} onClick=${() => guarded(add)}>${t(`agents.${word}_add`)}<//></h2><p class="desc gap">${t(`agents.${word}_text`)}</p>
    ${error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${error} />` : null}
    ${entries.map((entry) => {
      const by = users(entry.name);
      const shown = open === entry.name;
      return html`<section class="svc" key=${entry.name} aria-label=${entry.name}><div class="row svc-head"><h3 class="fold-h"><button type="button" class="fold" aria-expanded=${shown} onClick=${() => setOpen(shown ? '' : entry.name)}><${Visible} text=${entry.name} /></button></h3><span class="grow"></span>
        ${readOnly ? null : html`<${Menu} class="btn quiet small icon" side="right" label="⋯" name=${t('srv.more', { name: entry.name })} items=${[{ key: 'rename', label: t('srv.rename_more'), run: () => guarded(() => rename(entry.name)) }, { key: 'remove', label: t('srv.remove_more'), danger: true, run: () => guarded(() => remove(entry.name)) }]} />`}</div>
        <p class="desc"><${Visible} text=${[describe(entry.name), by.length ? t('srv.used_by', { agents: by.join(', ') }) : t('agents.unused')].filter(Boolean).join(' · ')} /></p>
        ${shown ? html`<${EntryForm} section=${section} name=${entry.name} entry=${entry} version=${config.version} fields=${() => fields} all=${fields} groups=${[{ key: 'basics' }]} keyOf=${(/** @type {string} */ key) => `agents.f_${key}`} readOnly=${readOnly} custom=${custom} onCancel=${() => setOpen('')} onSaved=${after} />` : null}</section>`;
    })}
    ${entries.length ? null : html`<${Empty} title=${t(`agents.${word}_none`)} />`}`;
}

/** @param {{all: Agents, config: Listed, after: () => Promise<any>}} props */
function Bundles({ all, config, after }) {
  const known = (servers.value ?? []).map(({ name }) => name);
  const list = (/** @type {Draft} */ draft, /** @type {string} */ key) => /** @type {string[]} */ (draft.values[key] ?? []);
  const custom = Object.fromEntries(['servers', 'exclude'].map((key) => [key, (/** @type {any} */ { draft, set, error }) => html`<${Ticks} columns legend=${t(`agents.f_${key}`)} hint=${t(`agents.f_${key}_hint`)} error=${error} disabled=${config.read_only} values=${list(draft, key)} empty=${t('srv.none')}
    options=${withSet(key === 'exclude' ? [...known, ...Object.keys(services.value)] : known, list(draft, key)).map((value) => ({ value, meta: known.includes(value) || services.value[value] ? '' : t('agents.unknown_server') }))} onChange=${(/** @type {string[]} */ values) => set({ ...draft, values: { ...draft.values, [key]: values } })} />`]));
  return html`<${Parts} section="mcp_bundles" word="bundle" config=${config} after=${after} fields=${bundleFields} custom=${custom} users=${(/** @type {string} */ name) => usersOf(all, 'mcp_bundles', name)} describe=${(/** @type {string} */ name) => all.bundles.find((one) => one.name === name)?.servers?.join(', ') || t('agents.empty_bundle')} />`;
}

/** @param {{all: Agents, config: Listed, after: () => Promise<any>}} props */
function RiskProfiles({ all, config, after }) {
  const fields = riskFields.map((field) => (field.key === 'level' ? { ...field, choiceText: (/** @type {string} */ level) => (LEVELS.includes(level) ? t(`agents.level_${level}_long`) : level) } : field));
  const custom = Object.fromEntries(riskFields.filter(({ kind }) => kind === 'list').map(({ key }) => [key, (/** @type {any} */ { draft, set, error, prop }) => html`<${ToolNames} field=${key} draft=${draft} set=${set} error=${error} disabled=${config.read_only || Boolean(prop?.override)} />`]));
  return html`<${Parts} section="risk_profiles" word="risk" config=${config} after=${after} fields=${fields} custom=${custom} users=${(/** @type {string} */ name) => usersOf(all, 'risk_profile', name)} describe=${(/** @type {string} */ name) => {
    const level = all.risk_profiles.find((one) => one.name === name)?.level ?? '';
    return LEVELS.includes(level) ? t(`agents.level_${level}`) : level;
  }} />`;
}

/** Full names of tools, one a line, with those that there are to pick from. @param {{field: string, draft: Draft, set: (draft: Draft) => void, error?: any, disabled?: boolean}} props */
function ToolNames({ field, draft, set, error, disabled }) {
  const id = useId();
  const [wish, setWish] = useState('');
  const text = draft.texts[field] ?? '';
  const put = (/** @type {string} */ next) => set({ ...draft, texts: { ...draft.texts, [field]: next } });
  const add = () => {
    const name = wish.trim();
    if (!name) return;
    if (!linesOf(text).includes(name)) put([...linesOf(text), name].join('\n'));
    setWish('');
  };
  return html`<div class="label"><label for=${id}>${t(`agents.f_${field}`)}</label><textarea id=${id} class="field mono grows" rows="1" spellcheck=${false} disabled=${disabled} aria-describedby=${`${id}-hint`} aria-invalid=${error ? 'true' : undefined} value=${text} onInput=${(/** @type {any} */ event) => put(event.currentTarget.value)}></textarea>
    <div class="row nowrap pick"><input class="field mono" list=${`${id}-list`} value=${wish} disabled=${disabled} autocomplete="off" spellcheck=${false} aria-label=${t('agents.pick_label', { what: t(`agents.f_${field}`) })} placeholder=${t('agents.pick')} onInput=${(/** @type {any} */ event) => setWish(event.currentTarget.value)} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Enter') return;
      event.preventDefault();
      add();
    }} /><${Button} small disabled=${disabled || !wish.trim()} onClick=${add}>${t('form.add')}<//></div>
    <datalist id=${`${id}-list`}>${tools.value.slice(0, 500).map(({ name }) => html`<option key=${name} value=${name}></option>`)}</datalist>
    <span class="hint" id=${`${id}-hint`}>${t(`agents.f_${field}_hint`)}</span>${error ? html`<span class="bad" role="alert">${error}</span>` : null}</div>`;
}

/** @param {{all: Agents, config: Listed, after: () => Promise<any>}} props */
function RuntimeProfiles({ all, config, after }) {
  const custom = { tool_filter_groups: (/** @type {any} */ { draft, set, error }) => html`<${FilterGroups} groups=${draft.values.tool_filter_groups ?? []} error=${error} disabled=${config.read_only} onChange=${(/** @type {any} */ list) => set({ ...draft, values: { ...draft.values, tool_filter_groups: list } })} />` };
  return html`<${Parts} section="runtime_profiles" word="runtime" config=${config} after=${after} fields=${runtimeFields} custom=${custom} users=${(/** @type {string} */ name) => usersOf(all, 'runtime_profile', name)} describe=${(/** @type {string} */ name) => {
    const one = all.runtime_profiles.find((profile) => profile.name === name);
    return [one?.tool_filter_groups?.length ? t('agents.groups_n', { n: savedGroups(one.tool_filter_groups).length }) : '', one?.max_tool_result_chars ? t('agents.chars_n', { chars: formatNumber(one.max_tool_result_chars) }) : ''].filter(Boolean).join(' · ');
  }} />`;
}
