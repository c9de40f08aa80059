// Tries a server, saved or not, step by step; and asks one for its tools anew, showing what changed.
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { Diff } from '../calls/renderers/diff.js';
import { Visible } from '../calls/text.js';
import { formatDateTime, formatDuration, t } from '../i18n/index.js';
import { loadServers } from '../store.js';
import { Button, CopyButton, ErrorBox, Sign } from '../ui.js';
import { changeText, unchanged } from './server-text.js';

/** Steps in the order in which they are tried. */
const STEPS = ['program', 'connect', 'handshake', 'tools'];

/** Tools named at once. */
const NAMED = 100;

/** A panel under the head of a card, with a heading and a way to close it. @param {{title: any, onClose: () => void, children?: any}} props */
function Panel({ title, onClose, children }) {
  const id = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), []);
  return html`<section class="run-panel panel" aria-labelledby=${id} ref=${box}><div class="row"><h4 id=${id}>${title}</h4><span class="grow"></span><${Button} small kind="quiet" onClick=${onClose}>${t('ui.close')}<//></div>${children}</section>`;
}

/** Connects on trial. @param {{name: string, definition?: () => any, onClose: () => void}} props `definition`: what a form holds now, unsaved */
export function Trial({ name, definition, onClose }) {
  const [report, setReport] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const turn = useRef(0);
  const run = async () => {
    const mine = ++turn.current;
    setBusy(true);
    setError(null);
    try {
      const answer = await api.post(url`/api/servers/${name}/test`, definition ? { definition: definition() } : {});
      if (mine === turn.current) setReport(answer);
    } catch (failure) {
      if (mine === turn.current) setError(failure);
    }
    if (mine === turn.current) setBusy(false);
  };
  useEffect(() => {
    run();
    return () => {
      turn.current++;
    };
  }, []);
  return html`<${Panel} title=${t('srv.test_title', { name })} onClose=${onClose}>
    <div role="status" class="trial">${busy ? html`<p class="row"><${Sign} kind="run" />${t('srv.testing')}</p>` : report ? html`<${Report} report=${report} />` : null}</div>
    ${error ? html`<${ErrorBox} title=${t('srv.test_failed')} error=${error} />` : null}
    ${busy ? null : html`<div class="row"><${Button} small onClick=${run}>${t('srv.test_again')}<//></div>`}<//>`;
}

/** @param {{report: any}} props */
function Report({ report }) {
  const steps = [...(report.steps ?? [])].sort((a, b) => STEPS.indexOf(a.name) - STEPS.indexOf(b.name));
  const facts = [['server', [report.server_name, report.server_version].filter(Boolean).join(' ')], ['protocol', report.protocol], ['offers', (report.capabilities ?? []).join(', ')]].filter(([, value]) => value);
  const names = report.tools ?? [];
  const log = (report.log ?? []).map((/** @type {any} */ line) => `${line.stream} ${line.text}`).join('\n');
  return html`<p class="row"><${Sign} kind=${report.ok ? 'ok' : 'no'} /><b>${t(report.ok ? 'srv.test_ok' : 'srv.test_bad')}</b></p>
    <ol class="trial-steps">${steps.map((step) => html`<li key=${step.name}><${Sign} kind=${step.ok ? 'ok' : 'no'} /><div><span>${t(`srv.step_${step.name}${step.ok ? '' : '_bad'}`)}</span> ${step.ms ? html`<span class="meta">${formatDuration(step.ms)}</span>` : null}
      ${step.detail ? html`<div class=${step.ok ? 'meta' : 'trial-why'}><${Visible} text=${step.detail} />${step.ok ? null : html` <${CopyButton} text=${step.detail} />`}</div>` : null}</div></li>`)}</ol>
    ${facts.length ? html`<dl class="facts">${facts.map(([key, value]) => html`<div key=${key}><dt>${t(`srv.d_${key}`)}</dt><dd><${Visible} text=${String(value)} /></dd></div>`)}</dl>` : null}
    ${names.length ? html`<details><summary>${t('tools.count', { n: names.length })}</summary><p class="desc names">${names.slice(0, NAMED).map((/** @type {string} */ name, /** @type {number} */ at) => html`<code key=${at}><${Visible} text=${name} /></code> `)}${names.length > NAMED ? html`<span class="meta">${t('card.more_lines', { n: names.length - NAMED })}</span>` : null}</p></details>` : null}
    ${log ? html`<details open=${!report.ok || undefined}><summary>${t('mcp.logs')}</summary><pre class="code" tabindex="0" role="group" aria-label=${t('mcp.logs')}><${Visible} text=${log.slice(-20_000)} columns /></pre></details>` : null}`;
}

/** Asks a server for its tools anew, and shows the changes before. @param {{name: string, onClose: () => void}} props */
export function Discover({ name, onClose }) {
  const [found, setFound] = useState(/** @type {any} */ (null));
  const [history, setHistory] = useState(/** @type {any[]|null} */ (null));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const alive = useRef(true);
  const show = async () => {
    const { discoveries } = await api.get(url`/api/servers/${name}/discoveries`);
    if (alive.current) setHistory(discoveries ?? []);
  };
  const run = async () => {
    setBusy(true);
    setError(null);
    try {
      const answer = await api.post(url`/api/servers/${name}/discover`);
      if (alive.current) setFound(answer);
      loadServers().catch(() => {}); // loaded anew with the next event
    } catch (failure) {
      if (alive.current) setError(failure);
    }
    await show().catch(() => {}); // the result stands above; the list of older ones can wait
    if (alive.current) setBusy(false);
  };
  useEffect(() => {
    run();
    return () => {
      alive.current = false;
    };
  }, []);
  const older = (history ?? []).filter(({ time }) => time !== found?.time);
  return html`<${Panel} title=${t('srv.discover_title', { name })} onClose=${onClose}>
    <div role="status">${busy ? html`<p class="row"><${Sign} kind="run" />${t('srv.discovering')}</p>` : found ? html`<${Found} found=${found} />` : null}</div>
    ${error ? html`<${ErrorBox} title=${t('srv.discover_failed')} error=${error} />` : null}
    ${busy ? null : html`<div class="row"><${Button} small onClick=${run}>${t('srv.discover_again')}<//></div>`}
    ${older.length ? html`<details><summary>${t('srv.history', { n: older.length })}</summary><ol class="history">${older.map((one, at) => html`<li key=${at}><div class="meta">${formatDateTime(one.time)} · ${t(`srv.trigger_${one.trigger}`)}</div><${Found} found=${one} /></li>`)}</ol></details>` : null}<//>`;
}

/** What one look at the tools brought. @param {{found: any}} props */
function Found({ found }) {
  if (unchanged(found)) return html`<p class="row"><${Sign} kind="ok" />${t('srv.unchanged')}</p>`;
  const names = (/** @type {string[]} */ list) => list.slice(0, NAMED).map((name) => html`<code key=${name}><${Visible} text=${name} /></code> `);
  const more = (/** @type {string[]} */ list) => (list.length > NAMED ? html`<span class="meta">${t('card.more_lines', { n: list.length - NAMED })}</span>` : null);
  return html`<div class="found">${['added', 'removed'].filter((key) => found[key]?.length).map((key) => html`<p class="names" key=${key}><b class=${key}>${t(`srv.${key}`, { n: found[key].length })}</b> ${names(found[key])}${more(found[key])}</p>`)}
    ${found.changed?.length ? html`<p><b>${t('srv.changed', { n: found.changed.length })}</b></p>${found.changed.slice(0, NAMED).map((/** @type {any} */ tool) => html`<details key=${tool.name}><summary><code><${Visible} text=${tool.name} /></code> <span class="meta">${(tool.fields ?? []).map((/** @type {any} */ change) => change.field).join(', ')}</span></summary>
      ${(tool.fields ?? []).map((/** @type {any} */ change) => html`<div key=${change.field}><div class="meta">${change.field}</div><${Diff} text=${changeText(change)} whole /></div>`)}</details>`)}` : null}</div>`;
}
