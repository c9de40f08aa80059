// What a chat runs with: agent, model, folder, and how full the model's context is.
import { html } from '../../vendor/preact.js';
import { formatNumber, t } from '../i18n/index.js';
import { link } from '../router.js';
import { agents, root } from '../store.js';
import { Menu, MenuButton } from '../ui.js';
import { fullness, profileOf, renewSession, sessionOf, setMeta, summarise } from './conversation.js';
import { chooseRoot, shortPath } from './folders.js';
import { ModelPicker } from './picker.js';

/** @typedef {import('./conversation.js').Chat} Chat */

/** The agents to choose from: those that there are, and the chat's own when it is gone. @param {string} own */
const agentNames = (own) => [...new Set([...(agents.value?.agents.map(({ name }) => name) ?? ['assistant']), own])];

/** What an agent reaches, in a few words. @param {string} name */
function aboutAgent(name) {
  const agent = agents.value?.agents.find((one) => one.name === name);
  if (!agent) return t('top.agent_gone');
  return agent.servers?.length ? agent.servers.slice(0, 4).join(', ') + (agent.servers.length > 4 ? '…' : '') : '';
}

/** The end of a long path, which is what tells folders apart. @param {string} path */
function briefPath(path) {
  if (path.length <= 28) return path;
  return `…/${path.split(/[\\/]/).filter(Boolean).at(-1) ?? ''}`;
}

/** @param {{chat: Chat}} props */
export function TopBar({ chat }) {
  const session = sessionOf(chat);
  const agent = chat.head.value.meta?.agent ?? 'assistant';
  const names = agentNames(agent);
  const folder = session?.root || root.value;
  const busy = chat.running.value !== 'idle';
  /** @param {() => Promise<any>} work */
  const guarded = (work) => work().catch((error) => {
    chat.error.value = error;
  });
  return html`<header class="top"><${MenuButton} /><div class="chips">
    ${names.length > 1 ? html`<${Menu} label=${agent} name=${t('top.agent', { agent })} items=${[...names.map((name) => ({ key: name, label: name, meta: aboutAgent(name), checked: name === agent, run: () => guarded(async () => {
      await setMeta(chat, { agent: name });
      if (!busy) await renewSession(chat);
    }) })), { key: '*', label: t('top.agents'), href: link('settings', 'agents') }]} />` : null}
    <${ModelPicker} chat=${chat} />
    <button type="button" class="chip mono" title=${folder} aria-label=${t('top.folder', { folder })} onClick=${() => guarded(async () => {
      const picked = await chooseRoot();
      // An open chat keeps the folder of its session; the person just said that it should be another.
      if (picked && session && session.root !== picked && !busy) await renewSession(chat);
    })}><span>${briefPath(shortPath(folder)) || t('top.no_folder')}</span></button></div>
    <${Meter} chat=${chat} guarded=${guarded} /></header>`;
}

/** How full the model's context is, and what makes room. @param {{chat: Chat, guarded: (work: () => Promise<any>) => void}} props */
function Meter({ chat, guarded }) {
  if (!chat.messages.value.length) return null;
  const { used, context, share } = fullness(chat);
  const percent = formatNumber(Math.round(share * 100));
  const said = t('top.context', { used, context });
  const bar = html`<progress aria-hidden="true" class=${`meter ${share > 0.8 ? 'full' : ''}`} max="100" value=${Math.round(share * 100)}>${percent}%</progress>`;
  if (profileOf(chat).kind === 'mirror' || chat.running.value !== 'idle') return html`<div class="meter-box" title=${said} role="img" aria-label=${said}>${bar}</div>`;
  return html`<div class="meter-box"><${Menu} class="btn quiet small meter-btn" side="right" title=${said} name=${said} label=${bar} items=${[
    { key: 'summarise', label: t('top.summarise'), meta: t('top.summarise_text'), run: () => guarded(() => summarise(chat)) },
  ]} /></div>`;
}
