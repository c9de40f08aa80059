// What a chat runs with: agent, model, folder, and how full the model's context is.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { formatNumber, t } from '../i18n/index.js';
import { link } from '../router.js';
import { root, ticks } from '../store.js';
import { Menu, MenuButton } from '../ui.js';
import { fullness, renewSession, sessionOf, setMeta } from './conversation.js';
import { chooseRoot, shortPath } from './folders.js';
import { ModelPicker } from './picker.js';

/** @typedef {import('./conversation.js').Chat} Chat */

/** Names of the configured agents; the built-in one is always there. */
function useAgents() {
  const [names, setNames] = useState(['assistant']);
  const version = ticks.value.config ?? 0;
  useEffect(() => {
    api.get('/api/config/list?prefix=agents').then(({ props }) => {
      const found = (props ?? []).map((/** @type {any} */ prop) => /^agents\.(?:"([^"]+)"|([^.]+))/.exec(prop.path)).filter(Boolean).map((/** @type {any} */ match) => match[1] ?? match[2]);
      setNames([...new Set(['assistant', ...found])]);
    }, () => {});
  }, [version]);
  return names;
}

/** The end of a long path, which is what tells folders apart. @param {string} path */
function briefPath(path) {
  if (path.length <= 28) return path;
  return `…/${path.split(/[\\/]/).filter(Boolean).at(-1) ?? ''}`;
}

/** @param {{chat: Chat}} props */
export function TopBar({ chat }) {
  const agents = useAgents();
  const session = sessionOf(chat);
  const agent = chat.head.value.meta?.agent ?? 'assistant';
  const folder = session?.root || root.value;
  const full = fullness(chat);
  const busy = chat.running.value !== 'idle';
  /** @param {() => Promise<any>} work */
  const guarded = (work) => work().catch((error) => {
    chat.error.value = error;
  });
  return html`<header class="top"><${MenuButton} /><div class="chips">
    <${Menu} label=${agent} name=${t('top.agent', { agent })} items=${[...agents.map((name) => ({ key: name, label: name, checked: name === agent, run: () => guarded(async () => {
      await setMeta(chat, { agent: name });
      if (!busy) await renewSession(chat);
    }) }))]} />
    <${ModelPicker} chat=${chat} />
    <button type="button" class="chip mono" title=${folder} aria-label=${t('top.folder', { folder })} onClick=${() => guarded(async () => {
      const picked = await chooseRoot();
      // An open chat keeps the folder of its session; the person just said that it should be another.
      if (picked && session && session.root !== picked && !busy) await renewSession(chat);
    })}><span>${briefPath(shortPath(folder)) || t('top.no_folder')}</span></button></div>
    ${chat.messages.value.length ? html`<div class="meter-box" title=${t('top.context', { used: full.used, context: full.context })}><span class="sr" id="meter-label">${t('top.context_label')}</span><progress class=${`meter ${full.share > 0.8 ? 'full' : ''}`} aria-labelledby="meter-label" max="100" value=${Math.round(full.share * 100)}>${formatNumber(Math.round(full.share * 100))}%</progress></div>` : null}</header>`;
}

