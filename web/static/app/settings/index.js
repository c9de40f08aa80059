// Settings: a plain document for each section, reached by routes that can be linked (#/settings/mcp).
import { html, useEffect, useErrorBoundary, useRef } from '../../vendor/preact.js';
import { setTitle } from '../calls/attention.js';
import { ConnectionState } from '../chat/history.js';
import { WaitingBar } from '../chat/waiting.js';
import { t } from '../i18n/index.js';
import { lastChat, link, route } from '../router.js';
import { Button, Empty, ErrorBox, MenuButton, Shell } from '../ui.js';
import { AboutSection } from './about.js';
import { AgentsSection } from './agents.js';
import { AppearanceSection } from './appearance.js';
import { AuditSection } from './audit.js';
import { McpSection } from './mcp.js';
import { PermissionsSection } from './permissions.js';
import { ProvidersSection } from './providers.js';
import { ToolsSection } from './tools.js';

/** The sections in their order. @type {Record<string, () => any>} */
const sections = { mcp: McpSection, tools: ToolsSection, permissions: PermissionsSection, agents: AgentsSection, providers: ProvidersSection, audit: AuditSection, appearance: AppearanceSection, about: AboutSection };

/** Where the parts of the configuration are changed; the rest under MCP. @type {Record<string, string>} */
const configs = { permissions: 'permissions', providers: 'providers', server: 'about', secrets: 'about', agents: 'agents', mcp_bundles: 'agents', risk_profiles: 'agents', runtime_profiles: 'agents' };

/** The section that a route shows; #/config/PATH leads to the section where that setting is changed. @param {import('../router.js').Route} at */
export function sectionOf({ view, parts }) {
  const name = (parts[0] ?? '').split('.')[0];
  if (view === 'config') return configs[name] ?? 'mcp';
  return name || 'mcp';
}

/** @param {{section: string}} props */
function Sidebar({ section }) {
  return html`<div class="brand"><a class="back" href=${lastChat.value ? link('chat', lastChat.value) : link('chat')}>← ${t('set.chat')}</a></div>
    <div class="side-scroll set-nav">${Object.keys(sections).map((name) => html`<a key=${name} class="conv" href=${link('settings', name)} aria-current=${name === section ? 'page' : undefined}><span>${t(`set.${name}`)}</span></a>`)}</div>
    <div class="side-foot"><${ConnectionState} /></div>`;
}

/** One section, which may fail without taking the others along. @param {{name: string}} props */
function Section({ name }) {
  const [error, reset] = useErrorBoundary((failure) => console.error(failure));
  if (error) return html`<${ErrorBox} title=${t('error.view')} error=${error}><${Button} small onClick=${reset}>${t('ui.retry')}<//><//>`;
  const view = sections[name];
  return view ? html`<${view} />` : html`<h1 class="sr" tabindex="-1">${t('nav.settings')}</h1><${Empty} title=${t('set.unknown')} action=${html`<a class="btn" href=${link('settings', 'mcp')}>${t('nav.settings')}</a>`} />`;
}

export function SettingsView() {
  const section = sectionOf(route.value);
  // Within a section, one agent or one server has a page of its own.
  const place = [route.value.view, ...route.value.parts].join('/');
  const known = Object.hasOwn(sections, section);
  const scroll = useRef(/** @type {HTMLElement|null} */ (null));
  const first = useRef(true);
  useEffect(() => {
    setTitle(known ? t(`set.${section}`) : t('nav.settings'));
    if (scroll.current) scroll.current.scrollTop = 0;
    // Whoever follows a link in the text goes on reading at the heading; the first view leaves focus where it is.
    const at = document.activeElement;
    if (!first.current && (!at || at === document.body || at.closest('#main, .side.open'))) /** @type {HTMLElement|null} */ (scroll.current?.querySelector('h1'))?.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
  return html`<${Shell} label=${t('nav.settings')} side=${html`<${Sidebar} section=${section} />`}>
    <header class="top narrow-only"><${MenuButton} /><span>${known ? t(`set.${section}`) : t('nav.settings')}</span></header>
    <div class="scroll settings" ref=${scroll}><div class="page"><${Section} key=${section} name=${section} /></div></div><${WaitingBar} /><//>`;
}
