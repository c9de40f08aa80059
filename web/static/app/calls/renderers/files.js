// Paths and what stands in folders and files.
import { html } from '../../../vendor/preact.js';
import { shortPath } from '../../chat/folders.js';
import { formatDateTime, formatSize, t } from '../../i18n/index.js';
import { Visible } from '../text.js';

const ROWS = 500;

/** The paths that a call reaches, with what it does to each. @param {{paths: {path: string, access?: string, op?: string}[]}} props */
export function Reach({ paths }) {
  return html`<dl class="reach">${paths.map(({ path, access, op }, at) => html`<div key=${at}><dt>${t(op === 'delete' ? 'reach.delete' : op === 'list' ? 'reach.list' : access === 'W' || op === 'write' ? 'reach.write' : 'reach.read')}</dt><dd><${Visible} text=${shortPath(path)} /></dd></div>`)}</dl>`;
}

/** @param {{result: any}} props */
export function Entries({ result }) {
  const entries = result.entries ?? [];
  if (!entries.length) return html`<p class="meta">${t('files.empty')}</p>`;
  return html`<div class="entries" tabindex="0" role="group" aria-label=${t('files.entries')}><table><thead><tr><th scope="col">${t('files.name')}</th><th scope="col">${t('files.size')}</th><th scope="col">${t('files.modified')}</th></tr></thead>
    <tbody>${entries.slice(0, ROWS).map((/** @type {any} */ entry) => html`<tr key=${entry.name}><td><${Visible} text=${`${entry.name}${entry.type === 'folder' ? '/' : ''}${entry.target ? ` → ${entry.target}` : ''}`} />${entry.type === 'unreadable' ? html` <span class="meta">${t('files.unreadable')}</span>` : null}</td>
      <td>${entry.type === 'file' ? formatSize(entry.size) : ''}</td><td>${entry.modified ? formatDateTime(entry.modified) : ''}</td></tr>`)}</tbody></table></div>
    ${result.total > Math.min(entries.length, ROWS) ? html`<p class="meta">${t('files.more', { n: result.total - Math.min(entries.length, ROWS) })}</p>` : null}`;
}

/** @param {{result: any}} props */
export function Matches({ result }) {
  const matches = result.matches ?? [];
  if (!matches.length) return html`<p class="meta">${t('files.no_match', { n: result.files_searched ?? 0 })}</p>`;
  return html`<div class="entries" tabindex="0" role="group" aria-label=${t('files.matches')}><table><tbody>${matches.slice(0, ROWS).map((/** @type {any} */ match, /** @type {number} */ at) => html`<tr key=${at}><td><code><${Visible} text=${`${match.path}:${match.line}`} /></code> <${Visible} text=${String(match.text).slice(0, 500)} /></td></tr>`)}</tbody></table></div>`;
}
