// Settings → Tools: every tool of every server and the companion's own, with a filter.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { language, localText, t } from '../i18n/index.js';
import { link } from '../router.js';
import { services, tools } from '../store.js';
import { Button, Empty, ErrorBox } from '../ui.js';
import { loadSection } from './config-store.js';
import { entriesOf } from './config-values.js';
import { Limits } from './limits.js';
import { useLoaded } from './load.js';
import { SECTION } from './server-card.js';
import { BulkMenu, ToolList } from './tool-list.js';
import { filterTools, groupTools } from './tool-groups.js';

/** @typedef {import('./run-session.js').Tool} Tool */

/** More tools than this begin with their groups closed. */
const MANY = 40;
/** Most rows of a group drawn at once; the rest comes on demand. */
const ROWS = 200;

export function ToolsSection() {
  const [query, setQuery] = useState('');
  const all = /** @type {Tool[]} */ (tools.value);
  const shown = filterTools(all, query);
  const filtered = Boolean(query.trim());
  const many = all.length > MANY;
  const { value: config } = useLoaded(() => loadSection(SECTION), { tick: 'config' });
  return html`<h1 tabindex="-1">${t('tools.title')}</h1><p class="lead">${t('tools.lead')}</p>
    ${all.length ? html`<div class="filter"><input class="field" type="search" value=${query} placeholder=${t('tools.filter_by')} aria-label=${t('tools.filter')} onInput=${(/** @type {any} */ event) => setQuery(event.currentTarget.value)} />
      <span class="meta" role="status">${filtered ? t('tools.found', { n: shown.length, all: all.length }) : t('tools.count', { n: all.length })}</span></div>
      ${groupTools(shown).map((group) => html`<${Group} key=${group.server} group=${group} all=${all.filter(({ server = '' }) => server === group.server)} config=${config} filtered=${filtered} query=${query} start=${!many || group.server === ''} />`)}
      ${shown.length ? null : html`<${Empty} title=${t('tools.none_found')} action=${html`<${Button} onClick=${() => setQuery('')}>${t('tools.clear_filter')}<//>`} />`}`
    : html`<p class="meta" role="status">${t('ui.loading')}</p>`}
    <p class="hint-line">${t('tools.more_text')} <a href=${link('settings', 'mcp')}>${t('tools.more_link')}</a></p>`;
}

/** @param {{group: {server: string, tools: Tool[]}, all: Tool[], config: import('./config-store.js').Listed|null, filtered: boolean, query: string, start: boolean}} props `all`: every tool of the server, whatever the filter */
function Group({ group, all, config, filtered, query, start }) {
  const [chosen, setChosen] = useState(/** @type {boolean|null} */ (null));
  const [rows, setRows] = useState(ROWS);
  const [error, setError] = useState(/** @type {any} */ (null));
  const [limits, setLimits] = useState(false);
  const button = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => setRows(ROWS), [query]);
  void language.value;
  const { server, tools: own } = group;
  const open = chosen ?? (start || filtered);
  const service = services.value[server];
  const name = server ? localText(service?.display_name) || server : t('tools.local');
  const off = own.filter(({ enabled }) => enabled === false).length;
  const changed = own.filter(({ definition }) => definition === 'changed').length;
  const visible = own.slice(0, rows);
  const entry = entriesOf(config?.props ?? [], SECTION).find((one) => one.name === server);
  const ceiling = entry?.props.tools?.value?.length ?? 0;
  const asks = entry?.props.require_approval?.value?.length ?? 0;
  return html`<section class="svc group-box"><div class="row"><h2 class="fold-h"><button type="button" class="fold" aria-expanded=${open} onClick=${() => setChosen(!open)}><${Visible} text=${name} /></button></h2>
      <span class="meta">${[t('tools.count', { n: own.length }), off ? t('tools.off_count', { n: off }) : '', ceiling ? t('limits.ceiling', { n: ceiling }) : '', asks ? t('limits.asks_n', { n: asks }) : '', server && name !== server ? server : ''].filter(Boolean).join(' · ')}</span>
      ${changed ? html`<span class="pill ask">${t('tools.changed_count', { n: changed })}</span>` : null}
      <span class="grow"></span>${entry ? html`<span ref=${button}><${Button} small kind="quiet" aria-expanded=${limits} aria-label=${t('limits.title', { name })} onClick=${() => setLimits(!limits)}>${t('limits.open')}<//></span>` : null}<${BulkMenu} tools=${own} server=${name} filtered=${filtered} onError=${setError} /></div>
    ${error ? html`<${ErrorBox} title=${t('tools.not_saved')} error=${error} />` : null}
    ${limits && entry && config ? html`<${Limits} entry=${entry} version=${config.version} readOnly=${config.read_only} names=${all.map((tool) => String(tool.own_name ?? tool.name))} onDone=${() => {
      setLimits(false);
      button.current?.querySelector('button')?.focus();
    }} />` : null}
    ${open ? html`<${ToolList} tools=${visible} label=${name} short=${Boolean(server)} />
      ${own.length > visible.length ? html`<p class="row more"><${Button} small onClick=${() => setRows(rows + 500)}>${t('tools.show_more', { n: own.length - visible.length })}<//><span class="meta">${t('tools.filter_hint')}</span></p>` : null}` : null}</section>`;
}
