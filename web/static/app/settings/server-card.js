// One configured server as a card: its state, what can be done with it, what is wrong, its tools, its log.
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { Visible } from '../calls/text.js';
import { formatDuration, formatTime, language, t } from '../i18n/index.js';
import { link } from '../router.js';
import { agents, loadServers, mergeServer, runClock, servers } from '../store.js';
import { Button, confirmDialog, CopyButton, ErrorBox, Menu, openDialog, Pill, promptDialog, Switch } from '../ui.js';
import { removeEntry, renameEntry, saveProp } from './config-store.js';
import { entryPath } from './config-values.js';
import { useSaving } from './load.js';
import { Logs } from './logs.js';
import { nameFault } from './presets.js';
import { GrantDialog } from './server-grant.js';
import { serverActs, serverLook, addressOf, remembered } from './server-text.js';
import { Discover, Trial } from './server-trial.js';
import { contactAgo, Details, ServerTools, UseInChat } from './service-card.js';

export const SECTION = 'mcp.servers';

/** The facts of a server in one line. @param {any} server */
function factsOf(server) {
  const running = server.state === 'running';
  return [
    t(`srv.short_${server.transport ?? 'stdio'}`),
    server.tools ? t(remembered(server) ? 'srv.tools_remembered' : 'tools.count', { n: server.tools }) : '',
    running && server.last_ok ? t('mcp.contact', { ago: contactAgo(server.last_ok) }) : '',
    running && server.latency_ms ? formatDuration(Math.max(1, server.latency_ms)) : '',
    server.protocol ?? '',
    server.restarts ? t('mcp.restarts', { n: server.restarts }) : '',
    server.next_try && !running ? t('mcp.next_try', { time: formatTime(server.next_try) }) : '',
  ].filter(Boolean).join(' · ');
}

/**
 * Renames a server after asking for the new name; answers it, '' for none.
 * @param {string} name @returns {Promise<string>}
 */
async function rename(name) {
  const taken = (servers.peek() ?? []).map((one) => one.name).filter((other) => other !== name);
  let wish = name;
  for (let fault = ''; ;) {
    const answer = await promptDialog({ title: t('srv.rename_title', { name }), label: fault ? t(`conf.name_${fault}`) : t('srv.rename_label'), value: wish, action: t('srv.rename') });
    if (answer === null || answer === name) return '';
    wish = answer;
    fault = nameFault(answer, taken, true);
    if (!fault) break;
  }
  await renameEntry(SECTION, name, wish);
  await loadServers();
  return wish;
}

/** @param {string} name */
async function remove(name) {
  if (!(await confirmDialog({ title: t('srv.remove_title', { name }), text: t('srv.remove_text'), action: t('srv.remove'), danger: true }))) return false;
  await removeEntry(SECTION, name);
  await loadServers();
  return true;
}

/** @param {{server: any, readOnly?: boolean, onGone: (renamed?: string) => void, onCopy: (name: string) => void}} props */
export function ServerCard({ server, readOnly, onGone, onCopy }) {
  void language.value;
  const id = useId();
  const { name } = server;
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState('');
  const [panel, setPanel] = useState(/** @type {''|'logs'|'test'|'discover'} */ (''));
  const head = useRef(/** @type {HTMLElement|null} */ (null));
  const switching = useSaving();
  const look = serverLook(server);
  const ticking = server.state === 'running' || Boolean(server.next_try) || server.breaker?.state === 'open';
  useEffect(() => (ticking ? runClock() : undefined), [ticking]);
  const guarded = async (/** @type {() => Promise<any>} */ work) => {
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    }
  };
  const act = (/** @type {string} */ what) => guarded(async () => {
    setBusy(what);
    try {
      const answer = await api.post(url`/api/servers/${name}/${what}`);
      if (answer?.id) mergeServer(answer);
      setTimeout(() => (document.activeElement === document.body ? head.current?.focus() : undefined));
    } finally {
      setBusy('');
    }
  });
  const enable = (/** @type {boolean} */ on) => switching.run(async () => {
    await saveProp(entryPath(SECTION, name, 'enabled'), on ? null : false);
    await loadServers();
  });
  const toggle = (/** @type {typeof panel} */ one) => setPanel(panel === one ? '' : one);
  const usable = server.enabled !== false && !server.error && !(server.missing ?? []).length;
  const menu = [
    { key: 'grant', label: t('srv.grant'), run: () => openDialog((close) => html`<${GrantDialog} server=${name} close=${close} />`) },
    { key: 'logs', label: t('mcp.logs'), run: () => toggle('logs') },
    { key: 'rename', label: t('srv.rename_more'), run: () => guarded(async () => {
      const wish = await rename(name);
      if (wish) onGone(wish);
    }) },
    { key: 'copy', label: t('srv.copy'), run: () => onCopy(name) },
    { key: 'remove', label: t('srv.remove_more'), danger: true, run: () => guarded(async () => {
      if (await remove(name)) onGone();
    }) },
  ].filter(({ key }) => !readOnly || key === 'logs');
  const where = addressOf(server);
  return html`<section class="svc server" aria-labelledby=${id}><div class="row svc-head"><span class="svc-name"><span class=${`dot ${look.dot}`}></span><h3 id=${id} tabindex="-1" ref=${head}><${Visible} text=${name} /></h3></span>
      <${Pill} kind=${look.pill}>${t(`srv.state_${look.word}`)}<//><span class="grow"></span>
      <span class="row svc-acts">${serverActs(server).map(({ act: what, kind }) => html`<${Button} key=${what} small kind=${kind} disabled=${Boolean(busy)} aria-label=${t(`srv.${what}_label`, { name })} onClick=${() => act(what)}>${t(`srv.${what}`)}<//>`)}
      <${Button} small kind="quiet" aria-expanded=${panel === 'test'} aria-label=${t('srv.test_label', { name })} onClick=${() => toggle('test')}>${t('srv.test')}<//>
      <${Button} small kind="quiet" disabled=${!usable} aria-expanded=${panel === 'discover'} aria-label=${t('srv.discover_label', { name })} onClick=${() => toggle('discover')}>${t('srv.discover')}<//>
      <a class="btn small quiet" href=${link('config', SECTION, name)} aria-label=${t('srv.edit_label', { name })}>${t('srv.edit')}</a>
      <${Menu} class="btn quiet small icon" side="right" label="⋯" name=${t('srv.more', { name })} items=${menu} /></span></div>
    <p class="desc"><${Visible} text=${factsOf(server)} /></p>
    ${where ? html`<p class="desc mono one-line" title=${where}><${Visible} text=${where} /></p>` : null}
    ${error ? html`<${ErrorBox} title=${t('mcp.act_failed')} error=${error} />` : null}
    <${State} server=${server} busy=${Boolean(busy)} onAct=${act} />
    ${panel === 'test' ? html`<${Trial} name=${name} onClose=${() => setPanel('')} />` : null}
    ${panel === 'discover' ? html`<${Discover} name=${name} onClose=${() => setPanel('')} />` : null}
    ${panel === 'logs' ? html`<${Logs} id=${server.id} name=${name} from="servers" />` : null}
    <${UseInChat} service=${server} name=${name} />
    <div class="row svc-foot"><${Switch} label=${t('srv.enabled')} checked=${server.enabled !== false} disabled=${readOnly} onChange=${enable} /><${UsedBy} name=${name} /><span class="saved" role="status">${switching.saved ? t('ui.saved') : ''}</span></div>
    ${switching.error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${switching.error} />` : null}
    <${ServerTools} server=${server.id} name=${name} /><${Details} service=${server} /></section>`;
}

/** Which agents may use it. @param {{name: string}} props */
function UsedBy({ name }) {
  if (!agents.value) return null;
  const by = agents.value.agents.filter(({ servers: granted }) => granted?.includes(name)).map((agent) => agent.name);
  if (by.length) return html`<span class="meta">${t('srv.used_by', { agents: by.join(', ') })}</span>`;
  return html`<span class="meta">${t('srv.used_by_none')}</span><button type="button" class="link" aria-label=${t('srv.grant_label', { name })} onClick=${() => openDialog((close) => html`<${GrantDialog} server=${name} close=${close} />`)}>${t('srv.grant')}</button>`;
}

/** What is wrong with a server, what it lacks, and what it waits for; it stays until it is right. @param {{server: any, busy?: boolean, here?: boolean, onAct: (what: string) => void}} props `here`: its settings are shown beside, and say what is missing */
export function State({ server, busy, here, onAct }) {
  const { name, error, breaker, missing = [] } = server;
  const open = breaker?.state === 'open';
  const failed = server.state === 'failed' && server.reason && !error;
  const place = error?.file ? `${error.file}${error.line ? `:${error.line}` : ''}` : '';
  return html`${missing.length && here ? null : missing.length ? html`<p class="note row">${t('srv.missing', { what: missing.map((/** @type {string} */ key) => t(`srv.f_${key}`)).join(', ') })} <a href=${link('config', SECTION, name)}>${t('srv.complete')}</a></p>`
    : error ? html`<div class="err"><div><b>${t('srv.invalid')}</b> <${Visible} text=${error.message ?? ''} /> ${place ? html`<code>${place}</code>` : null}</div><${CopyButton} text=${[place, error.message].filter(Boolean).join(' ')} /></div>` : null}
    ${failed ? html`<div class="err"><div><b>${t('mcp.failed')}</b> <${Visible} text=${server.reason} /></div><${CopyButton} text=${server.reason} /></div>`
      : server.reason && !error && !missing.length ? html`<p class="desc"><${Visible} text=${server.reason} /></p>` : null}
    ${open ? html`<p class="note">${t('srv.breaker', { n: breaker.failures ?? 0, time: breaker.until ? formatTime(breaker.until) : '–' })}</p>` : breaker?.state === 'trial' ? html`<p class="note">${t('srv.trial')}</p>` : null}
    ${(server.notices ?? []).map((/** @type {string} */ notice) => html`<p class="note" key=${notice}><${Visible} text=${notice} /></p>`)}
    ${server.restart_needed && server.state === 'running' ? html`<p class="note row">${t('srv.restart_needed')} <${Button} small disabled=${busy} onClick=${() => onAct('restart')}>${t('mcp.restart')}<//></p>` : null}`;
}

