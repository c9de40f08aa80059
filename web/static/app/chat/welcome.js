// First run: three steps on one screen. Pick a folder, pick a model or Mirror, see the tools. What other programs ask
// meanwhile comes below.
import { html, signal, useEffect, useRef, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { Question } from '../calls/approval.js';
import { t, tx } from '../i18n/index.js';
import { loadProfiles } from '../llm/profiles.js';
import { link } from '../router.js';
import { approvals, profiles, root } from '../store.js';
import { Button, ErrorBox, MenuButton } from '../ui.js';
import { profileOf, setMeta } from './conversation.js';
import { FolderPicker, setRoot, shortPath } from './folders.js';
import { toolsOf, useReach } from './reach.js';
import { WaitingBar } from './waiting.js';

/** Whether the first steps were left in this tab. */
export const welcomed = signal(false);

/** @param {{chat: import('./conversation.js').Chat}} props */
export function Welcome({ chat }) {
  const [picking, setPicking] = useState(false);
  const [local, setLocal] = useState(/** @type {any[]|null} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const chosen = profileOf(chat);
  useEffect(() => {
    api.get('/api/providers/local').then(({ found }) => setLocal(found ?? []), () => setLocal([]));
  }, []);
  /** Adds a model server that runs here as a provider, and takes it. @param {any} server */
  const addLocal = async (server) => {
    try {
      const [{ freeName }, { addProvider }] = await Promise.all([import('../settings/presets.js'), import('../settings/provider-store.js')]);
      const name = freeName(server.name, profiles.value.map(({ id }) => id));
      const model = server.models?.[0] ?? '';
      await addProvider(name, { kind: 'openai', base_url: server.base_url, model, models: server.models ?? [] });
      await loadProfiles();
      if (model) await setMeta(chat, { profile: name, model });
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  };
  useReach(chat);
  const offered = toolsOf(chat) ?? [];
  const known = new Set(profiles.value.map(({ base_url }) => base_url));
  return html`<header class="top"><${MenuButton} /><span class="meta">${t('welcome.top')}</span></header>
    <div class="scroll" ref=${box}><div class="welcome"><h1>${t('welcome.title')}</h1><p class="lead">${t('welcome.lead')}</p>
      <ol class="steps">
        <li class="step"><h2>${t('welcome.folder')}</h2><p>${t('welcome.folder_text')}</p>
          ${picking ? html`<${FolderPicker} start=${root.value || '~'} action=${t('folder.use')} onCancel=${() => setPicking(false)} onPick=${async (/** @type {string} */ path) => {
            await setRoot(path);
            setPicking(false);
          }} />` : html`<div class="row"><code>${shortPath(root.value)}</code><${Button} small onClick=${() => setPicking(true)}>${t('welcome.change')}<//></div>`}</li>
        <li class="step"><h2>${t('welcome.model')}</h2><p>${t('welcome.model_text')}</p>
          <div class="stack" role="radiogroup" aria-label=${t('welcome.model')}>${profiles.value.filter(({ model }) => model).map((profile) => html`<label class="choice" key=${profile.id}><input type="radio" name="profile" checked=${profile.id === chosen.id} onChange=${() => setMeta(chat, { profile: profile.id, model: profile.model })} />
            <span><b>${profile.kind === 'mirror' ? t('mirror.name') : profile.name}</b><span class="meta">${profile.kind === 'mirror' ? t('mirror.about') : profile.model}</span></span></label>`)}
          ${profiles.value.filter(({ model }) => !model).map(({ id, name }) => html`<div class="choice" key=${id}><span><b>${name}</b><span class="meta">${t('welcome.no_model')}</span></span><span class="grow"></span><a class="btn small" href=${link('settings', 'providers')}>${t('chat.providers')}</a></div>`)}
          ${(local ?? []).filter(({ base_url }) => !known.has(base_url)).map((server) => html`<div class="choice" key=${server.base_url}><span><b>${server.name}</b><span class="meta">${t('welcome.found', { where: server.base_url, n: server.models?.length ?? 0 })}</span></span><span class="grow"></span><${Button} small onClick=${() => addLocal(server)}>${t('welcome.use')}<//></div>`)}</div>
          ${error ? html`<${ErrorBox} error=${error} />` : null}
          <p>${tx('welcome.other', { link: html`<a href=${link('settings', 'providers')}>${t('welcome.providers')}</a>` })}</p></li>
        <li class="step"><h2>${t('welcome.tools')}</h2><p>${t('welcome.tools_text')}</p>
          <ul class="tool-chips">${offered.slice(0, 24).map((tool) => html`<li key=${tool.name}><code title=${tool.description}>${tool.name}</code></li>`)}${offered.length > 24 ? html`<li class="meta">${t('welcome.more_tools', { n: offered.length - 24 })}</li>` : null}</ul></li>
      </ol>
      <p class="row welcome-go"><${Button} kind="primary" onClick=${() => {
        welcomed.value = true;
      }}>${t('welcome.start')}<//></p>
      ${approvals.value.length ? html`<div class="stack">${approvals.value.map((approval) => html`<${Question} key=${approval.id} approval=${approval} />`)}</div>` : null}</div></div><${WaitingBar} chat=${chat} box=${box} />`;
}
