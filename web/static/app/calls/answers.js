// The parts of a question in which more is said than yes or no: the reason of a no, what “always” means, a server's form.
import { html, useId, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { shortPath } from '../chat/folders.js';
import { t, tx } from '../i18n/index.js';
import { Button } from '../ui.js';
import { Json } from './renderers/json.js';
import { narrowestFirst, scopeOf } from './scope.js';

/** @typedef {import('../types.js').Approval} Approval @typedef {(decision: string, more?: any) => void} Decide */

/** @param {{decide: Decide, disabled: boolean}} props */
export function Deny({ decide, disabled }) {
  const input = useRef(/** @type {HTMLInputElement|null} */ (null));
  const [reason, setReason] = useState('');
  useLayoutEffect(() => input.current?.focus(), []);
  return html`<form class="deny-form" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    decide('deny', reason.trim() ? { reason: reason.trim() } : {});
  }}><input class="field" ref=${input} value=${reason} maxlength="500" aria-label=${t('ask.reason')} placeholder=${t('ask.reason')} onInput=${(/** @type {any} */ event) => setReason(event.currentTarget.value)} />
    <${Button} kind="danger" type="submit" disabled=${disabled}>${t('ask.deny_now')}<//></form>`;
}

/** What “always” would mean, chosen and read before it is saved. @param {{approval: Approval, decide: Decide, disabled: boolean}} props */
export function Always({ approval, decide, disabled }) {
  const name = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const options = [
    ...((approval.choices ?? []).includes('rule') ? narrowestFirst(approval.proposed_rules ?? []).map((rule) => ({ value: rule, label: tx('ask.rule', { rule: html`<code>${rule}</code>` }), meta: scopeOf(rule) })) : []),
    ...((approval.choices ?? []).includes('always') ? [approval.command
      ? { value: '', label: t('ask.always_command'), meta: t('ask.always_command_scope', { cwd: shortPath(approval.command.cwd ?? '') }) }
      : { value: '', label: tx('ask.always_tool', { tool: html`<code>${approval.tool}</code>` }), meta: t('ask.always_tool_scope') }] : []),
  ];
  const [chosen, setChosen] = useState(options[0]?.value ?? '');
  useLayoutEffect(() => /** @type {HTMLElement|null} */ (box.current?.querySelector('input'))?.focus(), []);
  return html`<form class="rules" ref=${box} onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    decide('always', chosen ? { rule: chosen } : {});
  }}>${options.map((option) => html`<label class="choice" key=${option.value}><input type="radio" name=${name} checked=${chosen === option.value} onChange=${() => setChosen(option.value)} /><span><span>${option.label}</span><span class="meta">${option.meta}</span></span></label>`)}
    <div class="row"><${Button} type="submit" disabled=${disabled}>${t('ask.always_now')}<//><span class="meta">${t('ask.revoke')}</span></div></form>`;
}

/** A server's form. @param {{approval: Approval, decide: Decide, disabled: boolean}} props */
export function Elicitation({ approval, decide, disabled }) {
  const properties = Object.entries(approval.schema?.properties ?? {});
  const [values, setValues] = useState(/** @type {Record<string, any>} */ ({}));
  const set = (/** @type {string} */ key, /** @type {any} */ value) => setValues({ ...values, [key]: value });
  return html`<form onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    decide('accept', { content: values });
  }}><div class="form">${properties.map(([key, schema]) => {
    const { type, title, description, enum: choices } = /** @type {any} */ (schema);
    return html`<label class="label" key=${key}><span>${title ?? key}</span>${type === 'boolean' ? html`<input type="checkbox" checked=${Boolean(values[key])} onChange=${(/** @type {any} */ event) => set(key, event.currentTarget.checked)} />`
      : choices ? html`<select class="field" onChange=${(/** @type {any} */ event) => set(key, choices[event.currentTarget.selectedIndex - 1])}><option></option>${choices.map((/** @type {any} */ one) => html`<option key=${String(one)}>${String(one)}</option>`)}</select>`
        : html`<input class="field" type=${type === 'number' || type === 'integer' ? 'number' : 'text'} onInput=${(/** @type {any} */ event) => set(key, type === 'number' || type === 'integer' ? Number(event.currentTarget.value) : event.currentTarget.value)} />`}${description ? html`<span class="hint">${description}</span>` : null}</label>`;
  })}</div>${properties.length ? null : approval.schema ? html`<${Json} value=${approval.schema} label=${t('card.arguments')} />` : null}
    <div class="choices"><${Button} type="submit" disabled=${disabled}>${t('ask.accept')}<//><${Button} kind="danger" disabled=${disabled} onClick=${() => decide('decline')}>${t('ask.decline')}<//><${Button} kind="quiet" disabled=${disabled} onClick=${() => decide('cancel')}>${t('ask.cancel')}<//></div></form>`;
}
