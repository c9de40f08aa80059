// One service as a card: its state, what can be done, its options, its tools, its log.
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { GUARD_MS } from '../calls/approval.js';
import { Visible } from '../calls/text.js';
import { chatOf, renewSession, sessionOf } from '../chat/conversation.js';
import { lacks } from '../chat/reach.js';
import { formatAgo, formatDuration, formatTime, language, localText, t } from '../i18n/index.js';
import { lastChat, link, navigate } from '../router.js';
import { applyEvent, clock, reaches, runClock, tools } from '../store.js';
import { Button, CopyButton, ErrorBox, Pill, Sign, Switch } from '../ui.js';
import { useSaving } from './load.js';
import { Logs } from './logs.js';
import { stateLook } from './service-text.js';
import { BulkMenu, ToolList } from './tool-list.js';

/** What the buttons do in a state. @param {string} state @returns {{act: string, kind: ''|'primary'|'quiet'}[]} */
function actsOf(state) {
  switch (state) {
    case 'not_installed': return [{ act: 'install', kind: 'primary' }];
    case 'stopped': return [{ act: 'start', kind: 'primary' }];
    case 'running': return [{ act: 'stop', kind: '' }, { act: 'restart', kind: 'quiet' }];
    case 'failed': return [{ act: 'retry', kind: '' }, { act: 'stop', kind: 'quiet' }];
    case 'starting':
    case 'installing': return [{ act: 'stop', kind: '' }];
    default: return [];
  }
}

/** “15 seconds ago”, in steps that can be read in peace. @param {string} time */
export function contactAgo(time) {
  const passed = Math.max(0, clock.value - Date.parse(time));
  return formatAgo(clock.value - (passed < 60_000 ? Math.floor(passed / 5_000) * 5_000 : passed), clock.value);
}

/** @param {{service: any}} props */
export function ServiceCard({ service }) {
  const id = useId();
  void language.value;
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState('');
  const [logs, setLogs] = useState(false);
  const head = useRef(/** @type {HTMLElement|null} */ (null));
  const look = stateLook(service.state);
  const running = service.state === 'running';
  const ticking = running || Boolean(service.next_try);
  useEffect(() => (ticking ? runClock() : undefined), [ticking]);
  const acts = actsOf(service.state);
  const since = useRef(/** @type {Record<string, number>} */ ({}));
  // The second half of a double click lands on what has come in the place of the button that was meant.
  const first = useRef(true);
  useLayoutEffect(() => {
    since.current = Object.fromEntries(acts.map(({ act: what }) => [what, since.current[what] ?? (first.current ? -GUARD_MS : performance.now())]));
    first.current = false;
  }, [service.state]);
  const act = async (/** @type {string} */ what) => {
    if (performance.now() - (since.current[what] ?? -GUARD_MS) < GUARD_MS) return;
    setBusy(what);
    setError(null);
    try {
      const answer = await api.post(url`/api/services/${service.id}/${what}`);
      if (answer?.id) applyEvent('service.state', { service: answer });
      // The button that was pressed may be gone; focus stays on the card.
      setTimeout(() => {
        if (document.activeElement === document.body) head.current?.focus();
      });
    } catch (failure) {
      setError(failure);
    }
    setBusy('');
  };
  const name = localText(service.display_name) || service.id;
  const description = localText(service.description);
  const facts = [
    service.tools ? t('tools.count', { n: service.tools }) : '',
    running && service.last_ok ? t('mcp.contact', { ago: contactAgo(service.last_ok) }) : '',
    running && service.latency_ms ? formatDuration(service.latency_ms < 1 ? 1 : service.latency_ms) : '',
    service.restarts ? t('mcp.restarts', { n: service.restarts }) : '',
    service.next_try && !running ? t('mcp.next_try', { time: formatTime(service.next_try) }) : '',
  ].filter(Boolean);
  return html`<section class="svc" aria-labelledby=${id}><div class="row svc-head"><span class="svc-name"><span class=${`dot ${look.dot}`}></span><h3 id=${id} tabindex="-1" ref=${head}><${Visible} text=${name} /></h3></span>
      <${Pill} kind=${look.pill}>${t(`mcp.state_${service.state}`)}<//><span class="meta">${facts.join(' · ')}</span><span class="grow"></span>
      <span class="row svc-acts">${acts.map(({ act: what, kind }) => html`<${Button} key=${what} small kind=${kind} disabled=${Boolean(busy)} aria-label=${t(`mcp.${what}_label`, { name })} onClick=${() => act(what)}>${t(`mcp.${what}`)}<//>`)}
      <${Button} small kind="quiet" aria-expanded=${logs} aria-label=${t('mcp.logs_label', { name })} onClick=${() => setLogs(!logs)}>${t('mcp.logs')}<//></span></div>
    ${description ? html`<p class="desc"><${Visible} text=${description} />${/^https?:\/\//.test(service.help ?? '') ? html` <a href=${service.help} target="_blank" rel="noopener noreferrer">${t('mcp.help')}</a>` : null}</p>` : null}
    ${logs ? html`<${Logs} id=${service.id} name=${name} />` : null}
    ${error ? html`<${ErrorBox} title=${t('mcp.act_failed')} error=${error} />` : null}
    <${Troubles} service=${service} busy=${Boolean(busy)} onRestart=${() => act('restart')} />
    <${UseInChat} service=${service} name=${name} />
    <${Options} service=${service} name=${name} />
    <${ServerTools} server=${service.id} name=${name} open=${running} />
    <${Details} service=${service} /></section>`;
}

/** Rows that a card shows; the rest are under Tools. */
const ROWS = 200;
/** A server with no more tools than this shows them at once. */
const FEW = 12;

/** The tools of a service or a configured server, folded. @param {{server: string, name: string, open?: boolean}} props `open`: few tools show at once */
export function ServerTools({ server, name, open = false }) {
  const [chosen, setChosen] = useState(/** @type {boolean|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const own = /** @type {import('./run-session.js').Tool[]} */ (tools.value).filter((tool) => tool.server === server);
  const shown = chosen ?? (open && own.length <= FEW);
  if (!own.length) return null;
  return html`<div class="row svc-tools"><button type="button" class="fold" aria-expanded=${shown} onClick=${() => setChosen(!shown)}>${t('mcp.tools')} <span class="meta">${own.length}</span></button><span class="grow"></span>
      ${shown ? html`<${BulkMenu} tools=${own} server=${name} filtered=${false} onError=${setError} />` : null}</div>
    ${error ? html`<${ErrorBox} title=${t('tools.not_saved')} error=${error} />` : null}
    ${shown ? html`<${ToolList} tools=${own.slice(0, ROWS)} label=${t('mcp.tools_of', { name })} short />${own.length > ROWS ? html`<p class="row more"><a href=${link('settings', 'tools')}>${t('mcp.all_tools', { n: own.length })}</a></p>` : null}` : null}`;
}

/** What is wrong with a service and what it wants said; it stays until it is right. @param {{service: any, busy: boolean, onRestart: () => void}} props */
function Troubles({ service, busy, onRestart }) {
  return html`${service.error ? html`<div class="err"><div><b>${t('mcp.manifest')}</b> <${Visible} text=${service.error.message ?? ''} /> <code>${service.error.file}${service.error.line ? `:${service.error.line}` : ''}</code></div><${CopyButton} text=${`${service.error.file}:${service.error.line ?? ''} ${service.error.message ?? ''}`} /></div>` : null}
    ${service.reason && service.state === 'failed' && !service.error ? html`<div class="err"><div><b>${t('mcp.failed')}</b> <${Visible} text=${service.reason} /></div><${CopyButton} text=${service.reason} /></div>`
      : service.state === 'installing' ? html`<div class="row desc" role="status"><${Sign} kind="run" /><span class="grow"><${Visible} text=${service.reason || t('mcp.installing')} /></span></div>`
        : service.reason && !service.error ? html`<p class="desc"><${Visible} text=${service.reason} /></p>` : null}
    ${(service.notices ?? []).map((/** @type {string} */ notice) => html`<p class="note" key=${notice}><${Visible} text=${notice} /></p>`)}
    ${service.restart_needed && service.state === 'running' ? html`<p class="note row">${t('mcp.restart_needed')} <${Button} small disabled=${busy} onClick=${onRestart}>${t('mcp.restart')}<//></p>` : null}`;
}

/** What a start runs: shown before the first one. @param {{service: any}} props */
export function Details({ service }) {
  const command = (service.command ?? []).map((/** @type {string} */ part) => (/^[\w@%+=:,./-]+$/.test(part) ? part : JSON.stringify(part))).join(' ');
  const rows = [
    ['command', command], ['server', [service.server_name, service.server_version].filter(Boolean).join(' ')],
    ['protocol', service.protocol], ['pid', service.pid ? String(service.pid) : ''], ['since', service.started && service.state === 'running' ? formatTime(service.started) : ''],
  ].filter(([, value]) => value);
  if (!rows.length) return null;
  return html`<details class="svc-details"><summary>${t('mcp.details')}</summary><dl class="facts">${rows.map(([key, value]) => html`<div key=${key}><dt>${t(`mcp.d_${key}`)}</dt><dd><${Visible} text=${String(value)} /></dd></div>`)}</dl></details>`;
}

/** Offers what the open chat's session lacks and a new one would have: a service started later, a server granted later. @param {{service: any, name: string}} props */
export function UseInChat({ service, name }) {
  const id = lastChat.value;
  const chat = id ? chatOf(id) : null;
  const session = chat ? sessionOf(chat) : null;
  const [error, setError] = useState(/** @type {any} */ (null));
  const configured = service.origin === 'server';
  // A service that does not run is of no use to a new session either; a configured server is started by it.
  if (!chat || !session || (!configured && service.state !== 'running') || !lacks(session, reaches.value[session.agent], service.id)) return null;
  const busy = chat.running.value !== 'idle';
  const title = chat.head.value.title || t('chat.untitled');
  return html`<p class="note row">${t(configured ? 'mcp.granted_later' : 'mcp.later', { name, title })} <${Button} small disabled=${busy} title=${busy ? t('mcp.later_busy') : ''} onClick=${async () => {
    try {
      await renewSession(chat);
      navigate(link('chat', id));
    } catch (failure) {
      setError(failure);
    }
  }}>${t('mcp.use')}<//></p>${error ? html`<${ErrorBox} error=${error} />` : null}`;
}

/** @param {{service: any, name: string}} props */
function Options({ service, name }) {
  const saving = useSaving();
  const [typed, setTyped] = useState(/** @type {Record<string, string>} */ ({}));
  const save = (/** @type {any} */ change) => saving.run(async () => {
    const answer = await api.put(url`/api/services/${service.id}/options`, change);
    if (answer?.id) applyEvent('service.state', { service: answer });
  });
  const set = async (/** @type {string} */ key, /** @type {any} */ value) => {
    const done = await save({ options: { [key]: value } });
    if (done) setTyped(({ [key]: gone, ...rest }) => rest);
  };
  const options = service.options ?? [];
  const flags = options.filter((/** @type {any} */ option) => option.type === 'boolean');
  const fields = options.filter((/** @type {any} */ option) => option.type !== 'boolean');
  const label = (/** @type {any} */ option) => localText(option.label) || option.id;
  return html`<div class="svc-options">${fields.length ? html`<div class="form">${fields.map((/** @type {any} */ option) => html`<label class="label" key=${option.id}><span><${Visible} text=${label(option)} /></span>
      ${option.type === 'enum' ? html`<select class="field" value=${String(option.value ?? '')} onChange=${(/** @type {any} */ event) => set(option.id, event.currentTarget.value)}>${(option.choices ?? []).map((/** @type {string} */ choice) => html`<option key=${choice} value=${choice}>${choice}</option>`)}</select>`
        : html`<input class=${`field ${option.type === 'path' ? 'mono' : ''}`} type="text" autocomplete="off" spellcheck=${false} placeholder=${String(option.default ?? '')} value=${typed[option.id] ?? String(option.value ?? '')}
          onInput=${(/** @type {any} */ event) => setTyped({ ...typed, [option.id]: event.currentTarget.value })} onChange=${(/** @type {any} */ event) => set(option.id, event.currentTarget.value)} />`}
      ${localText(option.description) ? html`<span class="hint"><${Visible} text=${localText(option.description)} /></span>` : null}</label>`)}</div>` : null}
    <div class="row">${flags.map((/** @type {any} */ option) => html`<${Switch} key=${option.id} label=${label(option)} checked=${option.value === true} onChange=${(/** @type {boolean} */ on) => set(option.id, on)} />`)}
      <${Switch} label=${t('mcp.autostart')} checked=${service.autostart === true} onChange=${(/** @type {boolean} */ autostart) => save({ autostart })} />
      <span class="saved" role="status">${saving.saved ? t('ui.saved') : ''}</span></div>
    ${saving.error ? html`<${ErrorBox} title=${t('mcp.not_saved', { name })} error=${saving.error} />` : null}</div>`;
}
