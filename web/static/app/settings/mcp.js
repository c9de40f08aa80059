// Settings → MCP: the connection, and the services with their tools.
import { html, useEffect } from '../../vendor/preact.js';
import { pairing } from '../api.js';
import { chatOf } from '../chat/conversation.js';
import { chooseRoot, shortPath } from '../chat/folders.js';
import { useReach } from '../chat/reach.js';
import { language, localText, t, tx } from '../i18n/index.js';
import { lastChat, route } from '../router.js';
import { connection, loadServers, loadServices, root, services, status } from '../store.js';
import { Button, CopyButton, Empty, Pill } from '../ui.js';
import { AppSnippets } from './app-snippets.js';
import { partsOf } from './presets.js';
import { ConfiguredServers, ServerEditor } from './servers.js';
import { ServiceCard } from './service-card.js';
import { Tokens } from './tokens.js';

/** How the page stands with the companion, in a card. */
function Connection() {
  const state = connection.value;
  const where = (pairing.value.server ?? '').replace(/^https?:\/\//, '');
  const ok = state === 'connected';
  return html`<section class="svc" aria-label=${t('mcp.connection')}><div class="row"><span class=${`dot ${ok ? 'ok' : state === 'connecting' ? 'wait' : 'no'}`}></span><b>${t('mcp.companion')}</b>
      <${Pill} kind=${ok ? 'ok' : state === 'connecting' ? '' : 'danger'}>${t(`mcp.link_${state}`)}<//><span class="meta">${[where, status.value ? `zeroclaw ${status.value.version}` : ''].filter(Boolean).join(' · ')}</span></div>
    ${ok ? null : html`<p class="desc">${t('link.banner')}</p>`}
    <div class="row desc">${t('mcp.root')} <code>${shortPath(root.value) || '–'}</code><${Button} small kind="quiet" onClick=${chooseRoot}>${t('mcp.change_root')}<//></div></section>`;
}

/** How often last contact and latency are asked for while they are looked at; states come by themselves. */
const REFRESH_MS = 15_000;

/** The server whose settings a route shows: #/config/mcp.servers/NAME, or with a dot. @param {import('../router.js').Route} at */
export function editedServer({ view, parts }) {
  if (view !== 'config') return '';
  const [head, second, ...rest] = partsOf(parts[0] ?? '');
  return head === 'mcp' && second === 'servers' ? parts[1] ?? rest.join('.') : '';
}

export function McpSection() {
  const edited = editedServer(route.value);
  return edited ? html`<${ServerEditor} key=${edited} name=${edited} />` : html`<${Overview} />`;
}

function Overview() {
  void language.value;
  useReach(chatOf(lastChat.value), true);
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') Promise.allSettled([loadServices(), loadServers()]);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const list = Object.values(services.value).sort((a, b) => (localText(a.display_name) || a.id).localeCompare(localText(b.display_name) || b.id));
  const folder = status.value?.state_dir ? shortPath(`${status.value.state_dir}/services`) : '~/.zeroclaw/services';
  return html`<h1 tabindex="-1">${t('mcp.title')}</h1><p class="lead">${t('mcp.lead')}</p>
    <${Connection} />
    <h2>${t('mcp.services')} <span class="meta">${tx('mcp.in', { folder: html`<code>${folder}</code>` })}</span></h2>
    ${list.length ? list.map((service) => html`<${ServiceCard} key=${service.id} service=${service} />`)
      : status.value ? html`<${Empty} title=${t('mcp.empty')} />` : html`<p class="meta" role="status">${t('ui.loading')}</p>`}
    <${ConfiguredServers} />
    <${HowToAdd} folder=${folder} />
    <${AppSnippets} />
    <${Tokens} />`;
}

/** The smallest definition of a service. */
const EXAMPLE = `{
  "schemaVersion": 1,
  "displayName": "My server",
  "launch": {
    "executable": "npx",
    "args": ["-y", "name-of-the-package"]
  }
}`;

/** How a server is added. @param {{folder: string}} props */
function HowToAdd({ folder }) {
  const file = html`<code>service.json</code>`;
  const path = `${folder}/${t('mcp.add_name')}/service.json`;
  return html`<h2>${t('mcp.add')}</h2><p class="desc gap">${tx('mcp.add_text', { folder: html`<code>${folder}</code>`, file })}</p>
    <section class="svc how" aria-label=${t('mcp.add')}><div class="row"><code>${path}</code><span class="grow"></span><${CopyButton} text=${EXAMPLE} /></div>
      <pre class="code as-is" tabindex="0" role="group" aria-label=${path}>${EXAMPLE}</pre><p class="desc">${tx('mcp.add_fields', { dir: html`<code>\${serviceDir}</code>` })}</p></section>`;
}
