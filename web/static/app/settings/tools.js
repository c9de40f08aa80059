// Settings → Tools: every tool of every server and the companion's own, with a filter.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { language, localText, t } from '../i18n/index.js';
import { link } from '../router.js';
import { services, tools } from '../store.js';
import { Button, Empty, ErrorBox } from '../ui.js';
import { BulkMenu, ToolList } from './tool-list.js';
import { aboutTool } from './tool-text.js';

/** @typedef {import('./run-session.js').Tool} Tool */

/** More tools than this begin with their groups closed. */
const MANY = 40;
/** Most rows of a group drawn at once; the rest comes on demand. */
const ROWS = 200;

/** The tools that hold every word. @template {Tool} T @param {T[]} list @param {string} query @returns {T[]} */
export function filterTools(list, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return list;
  return list.filter((tool) => {
    const text = `${tool.name} ${tool.title ?? ''} ${tool.server ?? ''} ${tool.description ?? ''} ${tool.server ? '' : aboutTool(tool)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Groups by server, the companion's own first. @param {Tool[]} list @returns {{server: string, tools: Tool[]}[]} */
export function groupTools(list) {
  /** @type {Map<string, Tool[]>} */
  const groups = new Map([['', []]]);
  for (const tool of list) {
    const server = tool.server ?? '';
    const group = groups.get(server);
    if (group) group.push(tool);
    else groups.set(server, [tool]);
  }
  return [...groups].map(([server, own]) => ({ server, tools: own })).filter(({ tools: own }) => own.length);
}

export function ToolsSection() {
  const [query, setQuery] = useState('');
  const all = /** @type {Tool[]} */ (tools.value);
  const shown = filterTools(all, query);
  const filtered = Boolean(query.trim());
  const many = all.length > MANY;
  return html`<h1 tabindex="-1">${t('tools.title')}</h1><p class="lead">${t('tools.lead')}</p>
    ${all.length ? html`<div class="filter"><input class="field" type="search" value=${query} placeholder=${t('tools.filter_by')} aria-label=${t('tools.filter')} onInput=${(/** @type {any} */ event) => setQuery(event.currentTarget.value)} />
      <span class="meta" role="status">${filtered ? t('tools.found', { n: shown.length, all: all.length }) : t('tools.count', { n: all.length })}</span></div>
      ${groupTools(shown).map((group) => html`<${Group} key=${group.server} group=${group} filtered=${filtered} query=${query} start=${!many || group.server === ''} />`)}
      ${shown.length ? null : html`<${Empty} title=${t('tools.none_found')} action=${html`<${Button} onClick=${() => setQuery('')}>${t('tools.clear_filter')}<//>`} />`}`
    : html`<p class="meta" role="status">${t('ui.loading')}</p>`}
    <p class="hint-line">${t('tools.more_text')} <a href=${link('settings', 'mcp')}>${t('tools.more_link')}</a></p>`;
}

/** @param {{group: {server: string, tools: Tool[]}, filtered: boolean, query: string, start: boolean}} props */
function Group({ group, filtered, query, start }) {
  const [chosen, setChosen] = useState(/** @type {boolean|null} */ (null));
  const [rows, setRows] = useState(ROWS);
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => setRows(ROWS), [query]);
  void language.value;
  const { server, tools: own } = group;
  const open = chosen ?? (start || filtered);
  const service = services.value[server];
  const name = server ? localText(service?.display_name) || server : t('tools.local');
  const off = own.filter(({ enabled }) => enabled === false).length;
  const changed = own.filter(({ definition }) => definition === 'changed').length;
  const visible = own.slice(0, rows);
  return html`<section class="svc group-box"><div class="row"><h2 class="fold-h"><button type="button" class="fold" aria-expanded=${open} onClick=${() => setChosen(!open)}><${Visible} text=${name} /></button></h2>
      <span class="meta">${[t('tools.count', { n: own.length }), off ? t('tools.off_count', { n: off }) : '', server && name !== server ? server : ''].filter(Boolean).join(' · ')}</span>
      ${changed ? html`<span class="pill ask">${t('tools.changed_count', { n: changed })}</span>` : null}
      <span class="grow"></span><${BulkMenu} tools=${own} server=${name} filtered=${filtered} onError=${setError} /></div>
    ${error ? html`<${ErrorBox} title=${t('tools.not_saved')} error=${error} />` : null}
    ${open ? html`<${ToolList} tools=${visible} label=${name} short=${Boolean(server)} />
      ${own.length > visible.length ? html`<p class="row more"><${Button} small onClick=${() => setRows(rows + 500)}>${t('tools.show_more', { n: own.length - visible.length })}<//><span class="meta">${t('tools.filter_hint')}</span></p>` : null}` : null}</section>`;
}
