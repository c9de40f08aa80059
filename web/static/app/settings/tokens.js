// Settings → MCP, “Tokens”: what lets other apps use the companion by its address.
import { html, useRef, useState } from '../../vendor/preact.js';
import { api, pairing, url } from '../api.js';
import { Visible } from '../calls/text.js';
import { formatDateTime, t, tx } from '../i18n/index.js';
import { agents, status } from '../store.js';
import { Button, confirmDialog, CopyButton, Empty, ErrorBox, Field, Pill } from '../ui.js';
import { useLoaded } from './load.js';
import { endOf, ended, LASTS, mcpAddress, nameFault, USUAL } from './token-text.js';

/** @typedef {import('./token-text.js').Token} Token */

export function Tokens() {
  const { value, error, reload } = useLoaded(() => api.get('/api/tokens'), { tick: 'tokens' });
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState(/** @type {(Token & {token: string})|null} */ (null));
  const heading = useRef(/** @type {HTMLElement|null} */ (null));
  /** @type {Token[]|null} */
  const list = value?.tokens ?? null;
  const own = status.value?.loopback !== false;
  const back = () => setTimeout(() => heading.current?.focus());
  const begin = () => {
    setMade(null);
    setMaking(true);
    setTimeout(() => /** @type {HTMLElement|null} */ (document.querySelector('.new-token input'))?.focus());
  };
  return html`<h2 tabindex="-1" ref=${heading}>${t('tok.title')}<span class="grow"></span>${own && list?.length && !making ? html`<${Button} small kind="primary" onClick=${begin}>${t('tok.new')}<//>` : null}</h2>
    <p class="desc gap">${t('tok.lead')}</p>
    ${own ? null : html`<p class="desc gap">${tx('tok.own_page', { command: html`<code>zeroclaw open --own</code>` })}</p>`}
    ${error ? html`<${ErrorBox} title=${t('tok.not_loaded')} error=${error}><${Button} small onClick=${reload}>${t('ui.retry')}<//><//>` : null}
    ${making ? html`<${NewToken} taken=${(list ?? []).map(({ name }) => name)} onCancel=${() => {
      setMaking(false);
      back();
    }} onMade=${(/** @type {any} */ token) => {
      setMaking(false);
      setMade(token);
      reload();
      setTimeout(() => /** @type {HTMLElement|null} */ (document.querySelector('.made-token h3'))?.focus());
    }} />` : null}
    ${made ? html`<${Made} token=${made} onDone=${() => {
      setMade(null);
      back();
    }} />` : null}
    ${list?.length ? html`<ul class="plain-list">${list.map((token) => html`<${Row} key=${token.id} token=${token} own=${own} onGone=${async () => {
      if (made?.id === token.id) setMade(null);
      await reload();
      back();
    }} />`)}</ul>`
      : list && !making ? html`<${Empty} title=${t('tok.none')} action=${own ? html`<${Button} onClick=${begin}>${t('tok.new')}<//>` : null}>${t('tok.none_text')}<//>` : list || error ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}

/** The form for a new token. @param {{taken: string[], onMade: (token: any) => void, onCancel: () => void}} props */
function NewToken({ taken, onMade, onCancel }) {
  const [name, setName] = useState('');
  const [agent, setAgent] = useState('assistant');
  const [days, setDays] = useState(USUAL);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const names = agents.value?.agents.map((one) => one.name) ?? ['assistant'];
  const fault = nameFault(name, taken);
  const refused = (/** @type {string} */ field) => (error?.field === field ? error.message : undefined);
  const make = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTried(true);
    if (busy) return;
    const form = /** @type {HTMLElement} */ (event.currentTarget);
    if (fault) {
      setTimeout(() => /** @type {HTMLElement|null} */ (form.querySelector('[aria-invalid=true]'))?.focus());
      return;
    }
    setBusy(true);
    setError(null);
    try {
      onMade(await api.post('/api/tokens', { name: name.trim(), agent, expires: endOf(days, Date.now()) }));
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return html`<section class="svc new-token" aria-label=${t('tok.new')}><form class="entry-form" noValidate onSubmit=${make}><div class="form">
      <${Field} label=${t('tok.name')} hint=${t('tok.name_hint')} value=${name} autocomplete="off" spellcheck=${false} error=${tried && fault ? t(`tok.name_${fault}`) : refused('name')} onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
      <${Field} label=${t('tok.agent')} hint=${t('tok.agent_hint')} error=${refused('agent')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${agent} onChange=${(/** @type {any} */ event) => setAgent(event.currentTarget.value)}>${names.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select>`}<//>
      <${Field} label=${t('tok.ends')} error=${refused('expires')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${String(days)} onChange=${(/** @type {any} */ event) => setDays(Number(event.currentTarget.value))}>${LASTS.map((one) => html`<option key=${one} value=${String(one)}>${one ? t('tok.in_days', { n: one }) : t('tok.never')}</option>`)}</select>`}<//></div>
    ${error && !['name', 'agent', 'expires'].some((field) => refused(field)) ? html`<${ErrorBox} title=${t('tok.not_made')} error=${error} />` : null}
    <div class="row form-foot"><${Button} kind="primary" type="submit" disabled=${busy}>${t('tok.make')}<//><${Button} onClick=${onCancel}>${t('ui.cancel')}<//></div></form></section>`;
}

/** What an app needs, shown once. @param {{token: Token & {token: string}, onDone: () => void}} props */
function Made({ token, onDone }) {
  const address = mcpAddress(pairing.value.server);
  return html`<section class="svc made-token" aria-label=${t('tok.made', { name: token.name })}><h3 tabindex="-1">${t('tok.made', { name: token.name })}</h3><p class="note">${t('tok.once')}</p>
    <dl class="facts wide"><div><dt>${t('tok.token')}</dt><dd class="row"><code>${token.token}</code><${CopyButton} text=${token.token} label=${t('tok.copy_token')} /></dd></div>
      ${address ? html`<div><dt>${t('tok.address')}</dt><dd class="row"><code>${address}</code><${CopyButton} text=${address} label=${t('tok.copy_address')} /></dd></div>` : null}
      <div><dt>${t('tok.header')}</dt><dd class="row"><code>Authorization: Bearer ${t('tok.placeholder')}</code></dd></div></dl>
    <div class="row form-foot"><${Button} onClick=${onDone}>${t('tok.done')}<//></div></section>`;
}

/** One token. @param {{token: Token, own: boolean, onGone: () => Promise<any>}} props */
function Row({ token, own, onGone }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const over = ended(token, Date.now());
  const lost = agents.value && !agents.value.agents.some(({ name }) => name === token.agent);
  const facts = [
    t('tok.created', { time: formatDateTime(token.created) }),
    over ? '' : token.expires ? t('tok.until', { time: formatDateTime(token.expires) }) : t('tok.no_end'),
    token.last_used ? t('tok.used', { time: formatDateTime(token.last_used) }) : t('tok.unused'),
  ].filter(Boolean).join(' · ');
  const revoke = async () => {
    if (!(await confirmDialog({ title: t('tok.revoke_title', { name: token.name }), text: t('tok.revoke_text'), action: t('tok.revoke'), danger: true }))) return;
    setError(null);
    try {
      await api.del(url`/api/tokens/${token.id}`);
      await onGone();
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<li class="grant"><div class="grant-what"><div class="grant-line"><b><${Visible} text=${token.name} /></b><${Pill} kind=${lost ? 'ask' : ''}><${Visible} text=${token.agent} /><//>${lost ? html`<span class="meta">${t('tok.agent_gone')}</span>` : null}${over ? html`<${Pill} kind="danger">${t('tok.ended', { time: formatDateTime(String(token.expires)) })}<//>` : null}</div>
      <div class="meta">${facts}</div>${error ? html`<${ErrorBox} title=${t('tok.not_revoked')} error=${error} />` : null}</div>
    ${own ? html`<${Button} small aria-label=${t('tok.revoke_label', { name: token.name })} onClick=${revoke}>${t('tok.revoke')}<//>` : null}</li>`;
}
