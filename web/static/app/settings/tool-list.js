// Tools as rows: On or Off, what happens when one is called, what changed in its definition, Run….
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { Diff } from '../calls/renderers/diff.js';
import { Visible } from '../calls/text.js';
import { language, t } from '../i18n/index.js';
import { agents } from '../store.js';
import { Button, confirmDialog, ErrorBox, Menu, openDialog, Pill, Segmented, Switch } from '../ui.js';
import { acceptTool, settingOf, setTools, wanted } from './permission-state.js';
import { runAgents } from './run-agents.js';
import { RunPanel } from './run-panel.js';
import { GrantDialog } from './server-grant.js';
import { aboutTool, titleOf } from './tool-text.js';

/** @typedef {import('./run-session.js').Tool} Tool */

/** The three ways of answering a call, for Segmented. */
export function modes() {
  return ['ask', 'allow', 'deny'].map((mode) => ({ value: mode, label: t(`tools.${mode}`), title: t(`tools.${mode}_title`) }));
}

/** @param {Tool} tool @param {boolean} short */
const shownName = (tool, short) => (short && tool.own_name ? tool.own_name : tool.name);

/** Those who want to know whether a text is cut, told whenever it gets another size. @type {WeakMap<Element, (cut: boolean) => void>} */
const measured = new WeakMap();
/** @type {ResizeObserver|null} */
let sizes = null;
/** @param {Element} element @param {(cut: boolean) => void} tell @returns {() => void} */
function watchCut(element, tell) {
  sizes ??= new ResizeObserver((entries) => {
    for (const { target } of entries) measured.get(target)?.(target.scrollHeight > target.clientHeight + 1);
  });
  measured.set(element, tell);
  sizes.observe(element);
  return () => sizes?.unobserve(element);
}

/** What a tool does, in two lines; where that cuts it, the rest can be opened. @param {{text: string, tool: string}} props */
function About({ text, tool }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [cut, setCut] = useState(false);
  const [whole, setWhole] = useState(false);
  useEffect(() => (whole ? undefined : watchCut(/** @type {HTMLElement} */ (box.current), setCut)), [whole]);
  return html`<div class=${`meta ${whole ? 'desc whole' : 'clamp'}`} ref=${box}><${Visible} text=${whole ? text : text.slice(0, 400)} /></div>
    ${cut || whole ? html`<button type="button" class="tiny" aria-expanded=${whole} aria-label=${`${t(whole ? 'text.less' : 'text.all')}: ${tool}`} onClick=${() => setWhole(!whole)}>${t(whole ? 'text.less' : 'text.all')}</button>` : null}`;
}

/** @param {{tool: Tool, short: boolean, barred: string, setting: import('./permission-state.js').ToolSetting, open: ''|'run'|'diff', onOpen: (panel: ''|'run'|'diff') => void, error: any, onSet: (setting: import('./permission-state.js').ToolSetting) => void}} props `barred`: id of what says why it cannot be run */
function ToolRow({ tool, short, barred, setting, open, onOpen, error, onSet }) {
  const row = useRef(/** @type {HTMLElement|null} */ (null));
  const [failure, setFailure] = useState(/** @type {any} */ (null));
  const name = shownName(tool, short);
  const title = titleOf(tool, name);
  const about = aboutTool(tool);
  const changed = tool.definition === 'changed';
  const close = () => {
    onOpen('');
    /** @type {HTMLElement|null|undefined} */ (row.current?.querySelector('.tool-run'))?.focus();
  };
  const accept = async () => {
    try {
      await acceptTool(tool.name);
      setFailure(null);
      onOpen('');
    } catch (problem) {
      setFailure(problem);
    }
  };
  return html`<li class=${`tool ${changed ? 'changed' : ''} ${setting.enabled ? '' : 'off'} ${open ? 'open' : ''}`} ref=${row}>
    <${Switch} hidden label=${t('tools.on_label', { tool: name })} checked=${setting.enabled} onChange=${(/** @type {boolean} */ enabled) => onSet({ ...setting, enabled })} />
    <div class="tool-text"><span class="tool-name"><b title=${tool.name}><${Visible} text=${name} /></b>${title ? html` <span class="meta"><${Visible} text=${title} /></span>` : null}
      ${changed ? html` <${Pill} kind="ask">${t('tools.changed')}<//>` : tool.definition === 'new' ? html` <${Pill}>${t('tools.new')}<//>` : null}
      ${tool.state === 'starting' ? html` <${Pill}>${t('tools.starting')}<//>` : tool.state === 'offline' ? html` <${Pill}>${t('tools.offline')}<//>` : null}</span>
      ${changed ? html`<div class="meta">${t('tools.changed_text')} <button type="button" class="link" aria-expanded=${open === 'diff'} onClick=${() => onOpen(open === 'diff' ? '' : 'diff')}>${t('tools.see_change')}</button></div>` : null}
      ${about && open !== 'run' ? html`<${About} text=${about} tool=${name} />` : null}</div>
    <${Segmented} label=${t('tools.when_label', { tool: name })} value=${setting.mode} options=${modes()} onChange=${(/** @type {string} */ mode) => onSet({ ...setting, mode })} />
    <${Button} kind="quiet" small class="tool-run" disabled=${Boolean(barred) && open !== 'run'} aria-describedby=${barred || undefined} aria-expanded=${open === 'run'} aria-label=${t('tools.run_label', { tool: name })} onClick=${() => onOpen(open === 'run' ? '' : 'run')}>${t('tools.run')}<//>
    ${error ? html`<div class="tool-more"><${ErrorBox} title=${t('tools.not_saved')} error=${error} /></div>` : null}
    ${open === 'diff' ? html`<div class="tool-more">${tool.diff ? html`<${Diff} text=${tool.diff} />` : html`<p class="meta">${t('tools.no_diff')}</p>`}
      <div class="row"><${Button} small onClick=${accept}>${t('tools.accept')}<//><span class="meta">${t('tools.accept_text')}</span></div>${failure ? html`<${ErrorBox} error=${failure} />` : null}</div>` : null}
    ${open === 'run' ? html`<div class="tool-more"><${RunPanel} tool=${tool} onClose=${close} /></div>` : null}</li>`;
}

/**
 * The tools of one server, or the companion's own.
 * @param {{tools: Tool[], label: string, short?: boolean}} props `short`: show the server's own names
 */
export function ToolList({ tools, label, short = false }) {
  const [open, setOpen] = useState(/** @type {{name: string, panel: ''|'run'|'diff'}} */ ({ name: '', panel: '' }));
  const [errors, setErrors] = useState(/** @type {Record<string, any>} */ ({}));
  /** @type {{current: Map<string, {deps: any[], view: any}>}} */
  const drawn = useRef(new Map());
  const chosen = wanted.value;
  const id = useId();
  const [{ server = '', origin = '' } = {}] = tools;
  const barred = server && agents.value && !runAgents(agents.value, { server, origin }).length ? `${id}-barred` : '';
  const set = (/** @type {Tool} */ tool, /** @type {import('./permission-state.js').ToolSetting} */ setting) => {
    setErrors(({ [tool.name]: gone, ...rest }) => rest);
    setTools({ [tool.name]: setting }).catch((error) => setErrors((before) => ({ ...before, [tool.name]: error })));
  };
  // A list of a thousand is drawn anew for one change: rows that stay the same are handed back as they were.
  const rows = tools.map((tool) => {
    const setting = settingOf(tool, chosen);
    const panel = open.name === tool.name ? open.panel : '';
    const deps = [setting.mode, setting.enabled, panel, errors[tool.name], tool.description, tool.title, tool.definition, tool.diff, tool.state, short, barred, language.value, panel === 'run' ? tool : null];
    const before = drawn.current.get(tool.name);
    if (before && before.deps.every((dep, at) => dep === deps[at])) return before.view;
    const view = html`<${ToolRow} key=${tool.name} tool=${tool} short=${short} barred=${barred} setting=${setting} open=${panel} error=${errors[tool.name]}
      onOpen=${(/** @type {''|'run'|'diff'} */ next) => setOpen({ name: tool.name, panel: next })} onSet=${(/** @type {any} */ next) => set(tool, next)} />`;
    drawn.current.set(tool.name, { deps, view });
    return view;
  });
  return html`${barred ? html`<p class="row barred"><span class="meta" id=${barred}>${t('srv.used_by_none')}</span><button type="button" class="link" aria-label=${t('srv.grant_label', { name: server })} onClick=${() => openDialog((close) => html`<${GrantDialog} server=${server} close=${close} />`)}>${t('srv.grant')}</button></p>` : null}
    <ul class="tool-list" aria-label=${label}>${rows}</ul>`;
}

/** Sets many tools at once. @param {{tools: Tool[], server: string, filtered: boolean, onError: (error: any) => void}} props */
export function BulkMenu({ tools, server, filtered, onError }) {
  const apply = async (/** @type {Partial<import('./permission-state.js').ToolSetting>} */ part) => {
    if (part.mode === 'allow' && !(await confirmDialog({ title: t('tools.allow_all_title', { n: tools.length }), text: t('tools.allow_all_text', { server }), action: t('tools.allow_all'), danger: true }))) return;
    onError(null);
    try {
      await setTools(Object.fromEntries(tools.map((tool) => [tool.name, { ...settingOf(tool), ...part }])));
    } catch (error) {
      onError(error);
    }
  };
  const label = filtered ? t('tools.set_shown', { n: tools.length }) : t('tools.set_all');
  return html`<${Menu} label=${label} name=${`${label}: ${server}`} side="right" items=${[
    { key: 'on', label: t('tools.all_on'), run: () => apply({ enabled: true }) },
    { key: 'off', label: t('tools.all_off'), run: () => apply({ enabled: false }) },
    { key: 'ask', label: t('tools.all_ask'), run: () => apply({ mode: 'ask' }) },
    { key: 'deny', label: t('tools.all_deny'), run: () => apply({ mode: 'deny' }) },
    { key: 'allow', label: t('tools.all_allow'), danger: true, run: () => apply({ mode: 'allow' }) },
  ]} />`;
}
