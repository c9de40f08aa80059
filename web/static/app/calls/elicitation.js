// A server asks a person: a form made from its schema, or an address to open. Its words are its own and are shown as such.
import { html, useState } from '../../vendor/preact.js';
import { t, tx } from '../i18n/index.js';
import { SchemaForm } from '../settings/schema-form.js';
import { Button } from '../ui.js';
import { tooSoon } from './approval.js';
import { addressParts, asksSecret, formatProblems, formSchema, isAddress } from './elicit-values.js';
import { serverName } from './names.js';
import { Visible } from './text.js';

/** @typedef {import('../types.js').Approval} Approval @typedef {(decision: string, more?: any) => void} Decide */

/** Longest text of a server in a question. */
const LONGEST = 4_000;

/** What a server says, apart from what the page says. @param {{server: string, text: string}} props */
export function Quoted({ server, text }) {
  const [all, setAll] = useState(false);
  if (!text) return null;
  const shown = all ? text : text.slice(0, LONGEST);
  return html`<figure class="quoted"><figcaption class="meta">${tx('ask.says', { server: html`<b><${Visible} text=${server} /></b>` })}</figcaption><blockquote><${Visible} text=${shown} /></blockquote>
    ${text.length > shown.length ? html`<${Button} small onClick=${() => setAll(true)}>${t('text.all')}<//>` : null}</figure>`;
}

/** @param {{approval: Approval, decide: Decide, disabled: boolean}} props */
export function Elicitation({ approval, decide, disabled }) {
  const { message = '', url } = approval.arguments ?? {};
  const server = serverName(approval.server ?? '');
  return html`<${Quoted} server=${server} text=${String(message)} />
    ${isAddress(approval) ? html`<${Address} server=${server} url=${String(url ?? '')} decide=${decide} disabled=${disabled} />` : html`<${Form} approval=${approval} server=${server} decide=${decide} disabled=${disabled} />`}`;
}

/** The ways to say no. @param {{decide: Decide, disabled: boolean}} props */
function No({ decide, disabled }) {
  return html`<${Button} kind="danger" data-choice="deny" disabled=${disabled} onClick=${() => decide('decline')}>${t('ask.decline')}<//><${Button} kind="quiet" disabled=${disabled} title=${t('ask.cancel_title')} onClick=${() => decide('cancel')}>${t('ask.cancel')}<//>`;
}

/** @param {{approval: Approval, server: string, decide: Decide, disabled: boolean}} props */
function Form({ approval, server, decide, disabled }) {
  const schema = formSchema(approval.schema);
  return html`${asksSecret(schema) ? html`<p class="note">${t('ask.no_secrets', { server })}</p>` : null}
    <div class="elicit"><${SchemaForm} schema=${schema} label=${t('ask.elicitation', { server })} submit=${t('ask.accept')} plain disabled=${disabled} judge=${(/** @type {any} */ value) => formatProblems(schema, value)} onSubmit=${(/** @type {any} */ content) => decide('accept', { content })}>
      <${No} decide=${decide} disabled=${disabled} /><//></div>`;
}

/** @param {{server: string, url: string, decide: Decide, disabled: boolean}} props */
function Address({ server, url, decide, disabled }) {
  const { usable, before, host, after, user, plain } = addressParts(url);
  const [opened, setOpened] = useState(false);
  return html`<p class="address" role="group" aria-label=${t('ask.address')}><${Visible} text=${before} /><b><${Visible} text=${host} /></b><${Visible} text=${after} /></p>
    ${usable ? html`<p class="why">${tx('ask.leads_to', { host: html`<b><${Visible} text=${host} /></b>`, server: html`<${Visible} text=${server} />` })}</p>` : html`<p class="note">${t('ask.bad_address')}</p>`}
    ${user ? html`<p class="note">${t('ask.address_user')}</p>` : null}${usable && plain ? html`<p class="note">${t('ask.address_plain')}</p>` : null}
    <div class="choices">${usable ? html`<a class="btn" href=${url} target="_blank" rel="noopener noreferrer" referrerpolicy="no-referrer" onClick=${(/** @type {Event} */ event) => (tooSoon() ? event.preventDefault() : setOpened(true))}>${t('ask.open')}</a>` : null}
      <${Button} disabled=${disabled || !opened} onClick=${() => decide('accept')}>${t('ask.done')}<//><${No} decide=${decide} disabled=${disabled} /></div>
    ${usable && !opened ? html`<p class="meta scope">${t('ask.open_first')}</p>` : null}`;
}
