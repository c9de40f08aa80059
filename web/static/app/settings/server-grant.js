// Lets an agent use a server: by one of the bundles that it has, or by a new one.
import { html, useId, useRef, useState } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { link } from '../router.js';
import { agents, loadAgents } from '../store.js';
import { Button, Dialog, ErrorBox, Field, Sign } from '../ui.js';
import { saveGrant } from './config-store.js';
import { nameFault } from './presets.js';
import { bundleName, grantOf } from './server-text.js';

/** @param {{server: string, close: (done?: boolean) => void}} props */
export function GrantDialog({ server, close }) {
  const all = agents.value;
  const group = useId();
  const names = all?.agents.map(({ name }) => name) ?? [];
  const [agent, setAgent] = useState(() => names.find((name) => !grantOf(/** @type {any} */ (all), name, server).reaches) ?? names[0] ?? 'assistant');
  const [picked, setPicked] = useState(/** @type {string|null} */ (null));
  const [fresh, setFresh] = useState(() => bundleName(server, all?.bundles.map(({ name }) => name) ?? []));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const [conflict, setConflict] = useState(false);
  const [done, setDone] = useState(false);
  /** The new bundle that an attempt made before it failed: its name is not taken by others. */
  const made = useRef('');
  if (!all) return html`<${Dialog} title=${t('srv.grant_title', { name: server })} onClose=${() => close()}><p class="meta" role="status">${t('ui.loading')}</p><div class="row end"><${Button} onClick=${() => close()}>${t('ui.close')}<//></div><//>`;
  const grant = grantOf(all, agent, server);
  // '' is a new bundle; where the agent has some, the first is what people mean.
  const chosen = picked ?? grant.bundles[0]?.name ?? '';
  const badName = chosen === '' ? nameFault(fresh, all.bundles.map(({ name }) => name).filter((name) => name !== made.current)) : '';
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTried(true);
    if (busy || badName) return;
    setBusy(true);
    setError(null);
    setConflict(false);
    try {
      await saveGrant(all, { agent, server, bundle: chosen || fresh }, (bundle) => {
        made.current = bundle;
      });
      await loadAgents();
      setDone(true);
    } catch (failure) {
      // What was chosen stays, whatever bundles the others gave the agent.
      setPicked(chosen);
      if (/** @type {any} */ (failure).code === 'config_changed_externally') setConflict(true);
      else setError(failure);
      await loadAgents().catch(() => {}); // the error of the attempt is the one to show
    }
    setBusy(false);
  };
  if (done) {
    return html`<${Dialog} title=${t('srv.grant_title', { name: server })} onClose=${() => close(true)}><p class="row" role="status"><${Sign} kind="ok" />${t('srv.granted', { agent, server })}</p><p class="meta">${t('conf.new_chats')}</p>
      <div class="row end"><a class="btn" href=${link('settings', 'agents', agent)} onClick=${() => close(true)}>${t('srv.see_agent')}</a><${Button} kind="primary" autofocus onClick=${() => close(true)}>${t('ui.close')}<//></div><//>`;
  }
  const option = (/** @type {string} */ value, /** @type {any} */ label, /** @type {any} */ meta) => html`<label class="choice" key=${value || '+'}><input type="radio" name=${group} checked=${chosen === value} onChange=${() => setPicked(value)} /><span><span>${label}</span>${meta ? html`<span class="meta">${meta}</span>` : null}</span></label>`;
  return html`<${Dialog} title=${t('srv.grant_title', { name: server })} onClose=${() => close()}><form class="stack" onSubmit=${save}>
    <p class="desc">${t('srv.grant_text')}</p>
    <${Field} label=${t('srv.grant_agent')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${agent} onChange=${(/** @type {any} */ event) => {
      setAgent(event.currentTarget.value);
      setPicked(null);
    }}>${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>`}<//>
    ${grant.reaches ? html`<p class="row"><${Sign} kind="ok" />${t('srv.grant_has', { agent, server })}</p>` : html`<fieldset class="choices-list"><legend class="meta">${t('srv.grant_by')}</legend>
      ${grant.bundles.map((bundle) => option(bundle.name, bundle.name, bundle.others.length ? t('srv.grant_others', { agents: bundle.others.join(', ') }) : ''))}
      ${option('', t('srv.grant_new'), t('srv.grant_new_text', { agent }))}</fieldset>
      ${chosen === '' ? html`<${Field} label=${t('srv.grant_name')} value=${fresh} autocomplete="off" spellcheck=${false} error=${badName && tried ? t(`conf.name_${badName}`) : undefined} onInput=${(/** @type {any} */ event) => setFresh(event.currentTarget.value)} />` : null}`}
    ${grant.excludedBy.length ? html`<p class="note">${t('srv.grant_excluded', { bundle: grant.excludedBy.join(', '), server })}</p>` : null}
    ${conflict ? html`<p class="note" role="alert">${t('srv.grant_conflict')}</p>` : null}
    ${error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${error} />` : null}
    <div class="row end"><${Button} onClick=${() => close()}>${t('ui.cancel')}<//><${Button} kind="primary" type="submit" disabled=${busy || grant.reaches}>${t('srv.grant_now')}<//></div></form><//>`;
}
