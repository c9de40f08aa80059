// A new bundle of servers, made where it is wanted: on the page of an agent.
import { html, useState } from '../../vendor/preact.js';
import { serverName } from '../calls/names.js';
import { Visible } from '../calls/text.js';
import { t } from '../i18n/index.js';
import { loadAgents, servers } from '../store.js';
import { Button, Dialog, ErrorBox, Field } from '../ui.js';
import { addEntry, saveTable } from './config-store.js';
import { nameFault } from './presets.js';
import { Ticks } from './ticks.js';

/** @param {{taken: string[], close: (name?: string) => void}} props `close` is given the name of the bundle that was made */
export function BundleDialog({ taken, close }) {
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState(/** @type {string[]} */ ([]));
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const fault = nameFault(name, taken);
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTried(true);
    if (busy || fault) return;
    setBusy(true);
    setError(null);
    try {
      if (chosen.length) await saveTable('mcp_bundles', name, { servers: chosen });
      else await addEntry('mcp_bundles', name);
      await loadAgents();
      close(name);
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return html`<${Dialog} title=${t('agents.bundle_new')} onClose=${() => close()}><form class="stack" noValidate onSubmit=${save}><p class="desc">${t('agents.bundle_text')}</p>
    <${Field} label=${t('srv.f_name')} value=${name} autofocus autocomplete="off" spellcheck=${false} error=${tried && fault ? t(`conf.name_${fault}`) : undefined} onInput=${(/** @type {any} */ event) => setName(event.currentTarget.value)} />
    <${Ticks} columns legend=${t('agents.f_servers')} values=${chosen} empty=${t('srv.none')} options=${(servers.value ?? []).map((one) => ({ value: one.name, label: html`<${Visible} text=${serverName(one.name)} />` }))} onChange=${setChosen} />
    ${error ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${error} />` : null}
    <div class="row end"><${Button} onClick=${() => close()}>${t('ui.cancel')}<//><${Button} kind="primary" type="submit" disabled=${busy}>${t('agents.add_now')}<//></div></form><//>`;
}
