// What stands in place of the page while it may not be used: no key, no companion, or an origin that nobody let in yet.
import { html, signal, useState } from '../vendor/preact.js';
import { api, connect, pair, pairing } from './api.js';
import { t, tx } from './i18n/index.js';
import { status } from './store.js';
import { Button, CopyButton, ErrorBox } from './ui.js';

/** @param {string} address */
const code = (address) => html`<code>${address}</code>`;
/** @param {string} address */
const page = (address) => html`<a href=${address}>${address}</a>`;

/** What leads to a link that works, for each reason. @type {Record<string, string>} */
const ways = { no_token: 'gate.by_address', restarted: 'gate.by_address', code_used: 'gate.by_command', unreachable: 'gate.by_start', not_loopback: 'gate.by_start', unconfirmed: 'gate.by_visit' };

/** Shown instead of the page while there is no companion to speak to. */
export function Gate() {
  const { state, reason = 'no_token', server = '' } = pairing.value;
  if (state === 'starting') return html`<div class="gate"><div role="status">${t('gate.starting')}</div></div>`;
  if (state === 'ask') {
    return html`<main class="gate"><div><h1>${t('gate.ask')}</h1><p>${tx('gate.ask_text', { origin: code(location.origin), server: code(server) })}</p><p>${t('gate.prompt')}</p>
      <p class="row"><${Button} kind="primary" onClick=${connect}>${t('gate.connect')}<//></p><p class="meta">${tx('gate.own_page', { server: page(server) })}</p></div></main>`;
  }
  // Where a new link is needed, trying again helps only once there is one.
  const again = html`<${Button} kind=${reason === 'blocked' || reason === 'unreachable' ? 'primary' : ''} onClick=${() => (reason === 'blocked' ? connect() : pair(null))}>${t('gate.retry')}<//>`;
  if (reason === 'blocked') {
    return html`<main class="gate"><div><h1>${t('gate.title')}</h1><p>${tx('gate.blocked', { server: code(server) })}</p><p>${t('gate.prompt')}</p>
      <p class="row">${again}</p><p class="meta">${tx('gate.own_page', { server: page(server) })}</p></div></main>`;
  }
  const text = reason === 'unconfirmed' ? tx('gate.unconfirmed', { origin: code(location.origin), server: page(server) }) : t(`gate.${reason}`);
  return html`<main class="gate"><div><h1>${t(reason === 'unconfirmed' ? 'gate.unconfirmed_title' : 'gate.title')}</h1><p>${text}</p><p>${t(ways[reason])}</p>
    <p class="row"><code>zeroclaw open</code><${CopyButton} text="zeroclaw open" /></p><p class="row">${again}</p></div></main>`;
}

/** The person stays with the companion's own page, for as long as this tab is open. */
const stays = signal(false);

/** The origin that waits to be let in by a person on this page, '' for none. */
export function waitingOrigin() {
  const { ui, loopback } = status.value ?? {};
  return loopback && ui?.origin && !ui.confirmed && !stays.value ? String(ui.origin) : '';
}

/** Asks whether the page of another origin may use the companion. No button has the focus, so no stray key answers. */
export function LetIn() {
  const origin = waitingOrigin();
  const [error, setError] = useState(/** @type {any} */ (null));
  const [working, setWorking] = useState(false);
  const letIn = async () => {
    setWorking(true);
    setError(null);
    try {
      const { url } = await api.post('/api/ui', { origin, confirmed: true });
      location.assign(url);
    } catch (failure) {
      setError(failure);
      setWorking(false);
    }
  };
  return html`<main class="gate"><div><h1>${t('letin.title')}</h1><p class="origin">${code(origin)}</p><p>${t('letin.text')}</p><p>${t('letin.never')}</p>
    ${error ? html`<${ErrorBox} error=${error} />` : null}
    <p class="row"><${Button} disabled=${working} onClick=${letIn}>${t('letin.yes')}<//><${Button} onClick=${() => {
      stays.value = true;
    }}>${t('letin.no')}<//></p></div></main>`;
}
