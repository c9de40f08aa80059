// Settings → MCP: how another app is told to start the companion's tools, or where to find them.
import { html, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { t, tx } from '../i18n/index.js';
import { agents } from '../store.js';
import { Button, CopyButton, ErrorBox, Field } from '../ui.js';
import { useLoaded } from './load.js';

/** An app as the companion lists it; docs/api.md says more. @typedef {{id: string, name: string, path: string, snippet: string, http: string, install: string}} App */

/** Something to copy, as it is. @param {{label: any, name: string, text: string}} props `name` names it for screen readers */
function ToCopy({ label, name, text }) {
  return html`<div class="row to-copy"><p class="desc">${label}</p><${CopyButton} text=${text} label=${t('app.copy', { what: name })} /></div>
    <pre class="code as-is" tabindex="0" role="group" aria-label=${name}>${text}</pre>`;
}

/** What is entered into one app. @param {{app: App, place: string, throwaway: boolean}} props */
function Steps({ app, place, throwaway }) {
  const [open, setOpen] = useState(false);
  const file = html`<code>${app.path || '–'}</code>`;
  return html`${throwaway ? html`<p class="note">${tx('app.throwaway', { command: html`<code>go install ./cmd/zeroclaw</code>` })}</p>`
    : html`<${ToCopy} label=${t('app.run')} name=${t('app.command')} text=${app.install} />`}
    <${ToCopy} label=${tx('app.paste', { file })} name=${t('app.snippet')} text=${app.snippet} />
    ${app.http ? html`<details class="more" open=${open} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}><summary>${t('app.http')}</summary>
      ${open ? html`<${ToCopy} label=${tx('app.http_text', { place: html`<code>${place}</code>` })} name=${t('app.http_snippet')} text=${app.http} />` : null}</details>` : null}`;
}

export function AppSnippets() {
  const [id, setId] = useState('');
  const [agent, setAgent] = useState('assistant');
  const { value, error, reload } = useLoaded(() => api.get(url`/api/mcp/apps?agent=${agent}`), { deps: [agent] });
  /** @type {App[]} */
  const list = value?.apps ?? [];
  const app = list.find((one) => one.id === id) ?? list[0];
  const names = agents.value?.agents.map(({ name }) => name) ?? ['assistant'];
  const choose = (/** @type {(value: string) => void} */ set) => (/** @type {any} */ event) => set(event.currentTarget.value);
  return html`<h2>${t('app.title')}</h2><p class="desc gap">${t('app.lead')}</p>
    ${error ? html`<${ErrorBox} title=${t('app.not_loaded')} error=${error}><${Button} small onClick=${reload}>${t('ui.retry')}<//><//>` : null}
    ${app ? html`<section class="svc how app-setup" aria-label=${t('app.title')}><div class="form">
        <${Field} label=${t('app.app')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${app.id} onChange=${choose(setId)}>${list.map((one) => html`<option key=${one.id} value=${one.id}>${one.name}</option>`)}</select>`}<//>
        <${Field} label=${t('app.agent')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${agent} onChange=${choose(setAgent)}>${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>`}<//></div>
      <${Steps} key=${app.id} app=${app} place=${value.token_place} throwaway=${value.throwaway} /></section>`
      : error ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}
