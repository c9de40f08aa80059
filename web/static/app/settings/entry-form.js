// A form for one entry of the configuration: what is typed is judged beside its field and saved in one step; what others saved
// meanwhile is never overwritten unseen.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { has, t } from '../i18n/index.js';
import { Button, ErrorBox, Field } from '../ui.js';
import { ConfigField } from './config-fields.js';
import { addEntry, saveChanges } from './config-store.js';
import { besideField, blamedIn, changesOf, draftOf, faultOf, missingOf, rebased, sameEntry } from './config-values.js';
import { nameFault } from './presets.js';

/** @typedef {import('./config-values.js').Field} Setting @typedef {import('./config-values.js').Entry} Entry @typedef {import('./config-values.js').Draft} Draft */

/** @param {{table: Record<string, any>, singles: any[]}} changes */
const changes = ({ table, singles }) => Object.keys(table).length + singles.length > 0;

/**
 * The state of a form. `entry` null is a new one. What is saved by others while nothing is typed is taken over; else `conflict` says so.
 * @param {{fields: Setting[], entry: Entry|null, version: string, start?: Draft}} props
 */
function useDraft({ fields, entry, version, start }) {
  const [draft, setDraft] = useState(() => start ?? draftOf(fields, entry));
  const [conflict, setConflict] = useState(false);
  const opened = useRef({ entry, version });
  const latest = useRef({ entry, version });
  latest.current = { entry, version };
  const saving = useRef(false);
  const take = () => {
    opened.current = latest.current;
    setDraft(draftOf(fields, latest.current.entry));
    setConflict(false);
  };
  useEffect(() => {
    if (saving.current) return;
    if (sameEntry(entry, opened.current.entry)) opened.current = { entry, version };
    else if (changes(changesOf(fields, draft, opened.current.entry))) setConflict(true);
    else take();
  }, [entry, version]);
  return {
    draft, setDraft, conflict, setConflict, opened, saving, take,
    keep: () => {
      opened.current = latest.current;
      setDraft((now) => rebased(fields, now, latest.current.entry));
      setConflict(false);
    },
  };
}

/**
 * @param {{section: string, name?: string, entry: Entry|null, version: string, fields: (draft: Draft) => Setting[], all: Setting[], groups: {key: string, folded?: boolean}[], keyOf: (key: string) => string, taken?: string[], start?: Draft, startName?: string, readOnly?: boolean,
 *   saveText?: any, custom?: Record<string, (part: {draft: Draft, set: (draft: Draft) => void, error?: any, prop?: any}) => any>, beside?: (draft: Draft, name: string) => any, onSaved: (name: string) => any, onCancel?: () => void}} props
 * `keyOf` leads from a setting (or `name`, `group_…`) to the key of its text. Without `name` the entry is new and its name is asked for. `custom` draws settings that have a control of their own.
 */
export function EntryForm({ section, name, entry, version, fields, all, groups, keyOf, taken = [], start, startName = '', readOnly, saveText, custom = {}, beside, onSaved, onCancel }) {
  const { draft, setDraft, conflict, setConflict, opened, saving, take, keep } = useDraft({ fields: all, entry, version, start });
  const [own, setOwn] = useState(startName);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const form = useRef(/** @type {HTMLFormElement|null} */ (null));
  const alive = useRef(true);
  useEffect(() => () => {
    alive.current = false;
  }, []);
  const shown = fields(draft);
  const missing = missingOf(shown, draft);
  const faults = new Map(shown.map((field) => /** @type {const} */ ([field.key, faultOf(field, draft, entry)])).filter(([, fault]) => fault));
  const badName = name === undefined ? nameFault(own, taken, section === 'mcp.servers') : '';
  const target = name ?? own;
  const blamed = error ? blamedIn(error.field, section, target) : '';
  const change = (/** @type {Draft} */ next) => {
    setDraft(next);
    setSaved(false);
  };
  const dirty = name === undefined || changes(changesOf(all, draft, opened.current.entry));
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setTried(true);
    if (busy || readOnly) return;
    if (badName || faults.size) {
      setTimeout(() => /** @type {HTMLElement|null|undefined} */ (form.current?.querySelector('[aria-invalid=true], .secret-map:has(.bad) input'))?.focus());
      return;
    }
    setBusy(true);
    setError(null);
    saving.current = true;
    try {
      const made = changesOf(all, draft, opened.current.entry);
      if (name === undefined && !changes(made)) await addEntry(section, target);
      else await saveChanges(section, target, made, name === undefined ? undefined : opened.current.version);
      await onSaved(target);
      if (!alive.current) return;
      take();
      setSaved(true);
      setTried(false);
    } catch (failure) {
      if (!alive.current) return;
      if (/** @type {any} */ (failure).code === 'config_changed_externally') setConflict(true);
      else setError(failure);
    } finally {
      saving.current = false;
      if (alive.current) setBusy(false);
    }
  };
  const errorOf = (/** @type {Setting} */ { key }) => {
    const fault = faults.get(key);
    // Whoever has just pressed Replace need not be told so.
    if (fault?.code === 'secret_empty' && !tried) return undefined;
    if (fault) return t(`conf.bad_${fault.code}`, fault);
    return blamed === key ? besideField(error.message, error.field) : undefined;
  };
  const draw = (/** @type {Setting} */ field) => {
    const prop = entry?.props[field.key];
    if (custom[field.key]) return html`<div class="wide" key=${field.key}>${custom[field.key]({ draft, set: change, error: errorOf(field), prop })}</div>`;
    return html`<div class=${field.kind === 'map' ? 'wide' : ''} key=${field.key}><${ConfigField} field=${field} keyOf=${keyOf} prop=${prop} draft=${draft} error=${errorOf(field)} fault=${faults.get(field.key)} missing=${missing.includes(field.key)} disabled=${readOnly} onChange=${change} /></div>`;
  };
  return html`<form class="entry-form" noValidate ref=${form} onSubmit=${save}>
    ${conflict ? html`<div class="note row" role="alert"><span class="grow">${t('conf.conflict')}</span><${Button} small onClick=${take}>${t('conf.take_theirs')}<//><${Button} small onClick=${keep}>${t('conf.keep_mine')}<//></div>` : null}
    ${groups.map(({ key, folded }) => {
      const mine = shown.filter(({ group }) => group === key);
      if (!mine.length && !(key === groups[0].key && name === undefined)) return null;
      const inner = html`<div class="form">${key === groups[0].key && name === undefined ? html`<${Field} label=${t(keyOf('name'))} hint=${t(keyOf('name_hint'))} value=${own} autocomplete="off" spellcheck=${false} error=${badName && (tried || own) && !(badName === 'empty' && !tried) ? t(`conf.name_${badName}`) : blamed === 'name' ? besideField(error.message, error.field) : undefined} onInput=${(/** @type {any} */ event) => {
        setOwn(event.currentTarget.value);
        setError(null);
      }} />` : null}${mine.map(draw)}</div>`;
      // What is wrong or set in a folded part must not hide there.
      const open = mine.some((field) => errorOf(field) || entry?.props[field.key]?.populated || Object.keys(entry?.maps[field.key] ?? {}).length);
      return folded ? html`<details class="form-part" key=${key} open=${open || undefined}><summary>${t(keyOf(`group_${key}`))}</summary>${has(keyOf(`group_${key}_hint`)) ? html`<p class="desc">${t(keyOf(`group_${key}_hint`))}</p>` : null}${inner}</details>` : html`<div class="form-part" key=${key}>${inner}</div>`;
    })}
    ${missing.length ? html`<p class="meta missing">${t('conf.missing', { what: missing.map((key) => t(keyOf(key))).join(', ') })}</p>` : null}
    ${error && !blamed ? html`<${ErrorBox} title=${t('conf.not_saved')} error=${error} />` : null}
    <div class="row form-foot"><${Button} kind="primary" type="submit" disabled=${busy || readOnly || !dirty}>${saveText ?? t('ui.save')}<//>${onCancel ? html`<${Button} onClick=${onCancel}>${name === undefined ? t('ui.cancel') : t('ui.close')}<//>` : null}
      <span class="saved" role="status">${saved ? t('ui.saved') : ''}</span>${saved ? html`<span class="meta">${t('conf.new_chats')}</span>` : null}</div>
    ${beside ? beside(draft, target) : null}</form>`;
}
