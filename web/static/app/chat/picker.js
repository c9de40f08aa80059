// Picks the model of a chat: those of the configuration, and whatever else their providers offer.
import { html, signal, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { t } from '../i18n/index.js';
import { link } from '../router.js';
import { profiles } from '../store.js';
import { Button, Dialog, Field, Menu, openDialog } from '../ui.js';
import { profileOf, setMeta } from './conversation.js';

/** @typedef {import('./conversation.js').Chat} Chat @typedef {import('../types.js').Profile} Profile */

/** A provider with more models than this shows them in a dialog of its own, with a filter. */
const FEW = 12;
/** Names that the dialog draws at once. */
const DRAWN = 200;

/** What providers said that they offer, by name and address; null where one gave no list. */
const offered = signal(/** @type {Record<string, string[]|null>} */ ({}));
/** @param {Profile} profile */
const keyOf = ({ id, base_url }) => `${id} ${base_url ?? ''}`;

/** Asks each provider that was not asked yet; one that does not answer has only what is configured. */
function askProviders() {
  for (const profile of profiles.peek()) {
    const key = keyOf(profile);
    if (profile.kind === 'mirror' || offered.peek()[key]) continue;
    const keep = (/** @type {string[]|null} */ models) => {
      offered.value = { ...offered.value, [key]: models };
    };
    api.post(url`/api/providers/${profile.id}/test`).then((answer) => keep(answer.ok ? answer.models ?? [] : null), () => keep(null));
  }
}

/** Models of a profile that its configuration does not name. @param {Profile} profile */
function furtherModels(profile) {
  const named = new Set([profile.model, ...(profile.models ?? [])]);
  return (offered.value[keyOf(profile)] ?? []).filter((model) => !named.has(model));
}

/**
 * The entries of one provider: only models, and without any a way to Providers.
 * @param {Profile} profile @param {Profile} chosen @param {(profile: Profile, model: string) => void} pick @returns {any[]}
 */
function entriesOf(profile, chosen, pick) {
  const mirror = profile.kind === 'mirror';
  const further = furtherModels(profile);
  const configured = profile.models?.length ? profile.models : [profile.model];
  // One that was picked from the dialog stands in the menu, too.
  const shown = [...configured, ...(profile.id === chosen.id ? [chosen.model] : []), ...(further.length <= FEW ? further : [])].filter(Boolean);
  const entries = [...new Set(shown)].map((model) => ({
    key: `${profile.id} ${model}`, checked: profile.id === chosen.id && model === chosen.model, label: mirror ? t('mirror.name') : model,
    meta: mirror ? t('mirror.about') : profile.name, run: () => pick(profile, model),
  }));
  if (further.length > FEW) {
    return [...entries, { key: `${profile.id} *`, label: t(entries.length ? 'top.more_models' : 'top.all_models', { n: further.length, name: profile.name }), run: async () => {
      const model = await openDialog((close) => html`<${AllModels} name=${profile.name} models=${further} close=${close} />`);
      if (model) pick(profile, model);
    } }];
  }
  if (entries.length) return entries;
  return [{ key: `${profile.id} ?`, label: profile.name, meta: t(offered.value[keyOf(profile)] === undefined ? 'top.asking' : 'top.no_models'), href: link('settings', 'providers') }];
}

/** @param {{chat: Chat}} props */
export function ModelPicker({ chat }) {
  const chosen = profileOf(chat);
  const pick = (/** @type {Profile} */ profile, /** @type {string} */ model) => setMeta(chat, { profile: profile.id, model }).then(() => {
    if (chat.error.value?.code === 'no_model') chat.error.value = null;
  }, (error) => {
    chat.error.value = error;
  });
  const model = chosen.kind === 'mirror' ? t('mirror.name') : chosen.model || t('top.choose_model');
  const label = chosen.kind === 'mirror' || chosen.model === chosen.name ? model : `${model} · ${chosen.name}`;
  return html`<${Menu} label=${label} name=${t('top.model', { model })} onOpen=${askProviders}
    items=${[...profiles.value.flatMap((profile) => entriesOf(profile, chosen, pick)), { key: 'add', label: t('top.add_model'), href: link('settings', 'providers') }]} />`;
}

/** @param {{name: string, models: string[], close: (model?: string) => void}} props */
function AllModels({ name, models, close }) {
  const [filter, setFilter] = useState('');
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = models.filter((model) => words.every((word) => model.toLowerCase().includes(word)));
  return html`<${Dialog} title=${t('top.models_of', { name })} onClose=${() => close()}><form class="stack" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    if (found.length === 1) close(found[0]);
  }}>
    <${Field} label=${t('top.filter')} value=${filter} autofocus autocomplete="off" spellcheck=${false} onInput=${(/** @type {any} */ event) => setFilter(event.currentTarget.value)} />
    <div class="folder-list" role="group" aria-label=${t('top.models_of', { name })}>${found.slice(0, DRAWN).map((model) => html`<button type="button" key=${model} onClick=${() => close(model)}>${model}</button>`)}
      ${found.length > DRAWN ? html`<p class="meta">${t('top.more_hidden', { n: found.length - DRAWN })}</p>` : null}
      ${found.length ? null : html`<p class="meta" role="status">${t('top.no_model')}</p>`}</div>
    <div class="row end"><${Button} onClick=${() => close()}>${t('ui.cancel')}<//></div></form><//>`;
}
