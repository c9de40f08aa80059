// The parts of a question in which more is said than yes or no: the reason of a no, what “always” means.
import { html, useId, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { shortPath } from '../chat/folders.js';
import { t, tx } from '../i18n/index.js';
import { Button } from '../ui.js';
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
