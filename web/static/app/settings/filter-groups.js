// The groups of a runtime profile: which tools a model is shown always, and which only when a message calls for them.
import { html, useRef } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { Button, Field, Segmented } from '../ui.js';
import { linesOf } from './config-values.js';

/** @typedef {import('../types.js').FilterGroup & {typedTools?: string, typedWords?: string}} Group */

/** @param {{groups: Group[], error?: any, disabled?: boolean, onChange: (groups: Group[]) => void}} props */
export function FilterGroups({ groups, error, disabled, onChange }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const set = (/** @type {number} */ at, /** @type {Partial<Group>} */ part) => onChange(groups.map((group, index) => (index === at ? { ...group, ...part } : group)));
  const add = () => {
    onChange([...groups, { mode: 'dynamic', tools: [], keywords: [] }]);
    setTimeout(() => /** @type {HTMLElement|null|undefined} */ ([...(box.current?.querySelectorAll('.filter-group') ?? [])].at(-1)?.querySelector('textarea'))?.focus());
  };
  return html`<div class="stack" ref=${box}><div class="label"><span>${t('agents.f_groups')}</span><span class="hint">${t('agents.f_groups_hint')}</span></div>
    ${groups.map((group, at) => html`<fieldset class="filter-group" key=${at} disabled=${disabled}><legend>${t('agents.group_n', { n: at + 1 })}</legend>
      <div class="row"><${Segmented} label=${t('agents.group_mode', { n: at + 1 })} value=${group.mode === 'always' ? 'always' : 'dynamic'} options=${['dynamic', 'always'].map((mode) => ({ value: mode, label: t(`agents.mode_${mode}`) }))} onChange=${(/** @type {string} */ mode) => set(at, { mode })} />
        <span class="grow"></span><${Button} kind="quiet" small aria-label=${t('agents.group_remove', { n: at + 1 })} onClick=${() => onChange(groups.filter((_, index) => index !== at))}>${t('form.remove')}<//></div>
      <div class="form"><${Field} label=${t('agents.group_tools')} hint=${t('agents.group_tools_hint')}>${(/** @type {any} */ attributes) => html`<textarea ...${attributes} class="field mono grows" rows="2" spellcheck=${false} value=${group.typedTools ?? (group.tools ?? []).join('\n')} onInput=${(/** @type {any} */ event) => set(at, { typedTools: event.currentTarget.value, tools: linesOf(event.currentTarget.value).map((line) => line.trim()) })}></textarea>`}<//>
        ${group.mode === 'always' ? null : html`<${Field} label=${t('agents.group_words')} hint=${t('agents.group_words_hint')}>${(/** @type {any} */ attributes) => html`<textarea ...${attributes} class="field grows" rows="2" value=${group.typedWords ?? (group.keywords ?? []).join('\n')} onInput=${(/** @type {any} */ event) => set(at, { typedWords: event.currentTarget.value, keywords: linesOf(event.currentTarget.value).map((line) => line.trim()) })}></textarea>`}<//>`}</div></fieldset>`)}
    <div class="row"><${Button} small disabled=${disabled} onClick=${add}>${t('agents.group_add')}<//></div>${error ? html`<span class="bad" role="alert">${error}</span>` : null}</div>`;
}
