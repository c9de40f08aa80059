// Asks the companion what would happen to a path or a command, with the function that decides real calls.
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { reasonText } from '../calls/reasons.js';
import { Reach } from '../calls/renderers/files.js';
import { Command } from '../calls/renderers/shell.js';
import { isRule, narrowestFirst, scopeOf } from '../calls/scope.js';
import { Sentence, Visible } from '../calls/text.js';
import { shortPath } from '../chat/folders.js';
import { t } from '../i18n/index.js';
import { root } from '../store.js';
import { Button, ErrorBox, Field, Pill, Segmented, Sign } from '../ui.js';

/** Which step of the order decided. @param {number} n */
export const stepText = (n) => t('test.row', { n, what: t(`test.row_${n}`) });

/** @type {Record<string, {sign: 'ok'|'wait'|'no', pill: 'ok'|'ask'|'danger'}>} */
const LOOKS = { allow: { sign: 'ok', pill: 'ok' }, ask: { sign: 'wait', pill: 'ask' }, deny: { sign: 'no', pill: 'danger' }, error: { sign: 'no', pill: 'danger' } };

/** @param {{unsaved: boolean, onRule: (rule: string) => void}} props */
export function Tester({ unsaved, onRule }) {
  const [kind, setKind] = useState('path');
  const [op, setOp] = useState('read');
  const [path, setPath] = useState('');
  const [command, setCommand] = useState('');
  const [cwd, setCwd] = useState('');
  const [answer, setAnswer] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const [empty, setEmpty] = useState(false);
  const test = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLElement} */ (event.currentTarget);
    const nothing = !(kind === 'path' ? path : command).trim();
    setEmpty(nothing);
    if (nothing) {
      setTimeout(() => /** @type {HTMLElement|null} */ (form.querySelector('[aria-invalid=true]'))?.focus());
      return;
    }
    const query = kind === 'path' ? { op, path } : { command, ...(cwd.trim() ? { cwd: cwd.trim() } : {}) };
    try {
      const result = await api.post('/api/permissions/explain', query);
      setAnswer({ ...result, asked: query });
      setError(null);
    } catch (failure) {
      setError(failure);
      setAnswer(null);
    }
  };
  const drop = () => {
    setAnswer(null);
    setEmpty(false);
  };
  // What is wrong with a field stands beside it.
  const fault = faultOf(answer);
  const bad = fault ? html`<${Sentence} text=${fault.text} />` : undefined;
  return html`<form class="svc" onSubmit=${test}><div class="row">
      <${Segmented} label=${t('test.what')} value=${kind} options=${[{ value: 'path', label: t('test.path') }, { value: 'command', label: t('test.command') }]} onChange=${(/** @type {string} */ next) => {
        setKind(next);
        drop();
      }} /></div>
    ${kind === 'path' ? html`<div class="test-line"><${Field} label=${t('test.op')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${op} onChange=${(/** @type {any} */ event) => {
        setOp(event.currentTarget.value);
        drop();
      }}>${['read', 'list', 'write', 'delete'].map((one) => html`<option key=${one} value=${one}>${t(`test.op_${one}`)}</option>`)}</select>`}<//>
      <${Field} label=${t('test.path_label')} class="field mono" value=${path} error=${empty ? t('test.empty_path') : bad} placeholder="./README.md" spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => {
        setPath(event.currentTarget.value);
        drop();
      }} /><${Button} type="submit">${t('test.test')}<//></div>`
    : html`<div class="test-line of-command"><${Field} label=${t('test.command_label')} class="field mono" value=${command} error=${empty ? t('test.empty_command') : fault?.field === 'command' ? bad : undefined} placeholder="ls -l docs" spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => {
        setCommand(event.currentTarget.value);
        drop();
      }} /><${Field} label=${t('test.cwd')} class="field mono" value=${cwd} error=${fault?.field === 'cwd' ? bad : undefined} placeholder=${shortPath(root.value)} spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => {
        setCwd(event.currentTarget.value);
        drop();
      }} /><${Button} type="submit">${t('test.test')}<//></div>`}
    ${unsaved ? html`<p class="meta">${t('test.unsaved')}</p>` : null}
    ${error ? html`<${ErrorBox} title=${t('test.failed')} error=${error} />` : null}
    <div role="status">${answer ? html`<${Verdict} answer=${answer} onRule=${onRule} />` : null}</div></form>`;
}

/**
 * The field that makes a query impossible, and why.
 * @param {any} answer @returns {{field: 'path'|'command'|'cwd', text: string}|null}
 */
export function faultOf(answer) {
  if (answer?.verdict !== 'error' || answer.key !== 'bad_path') return null;
  const { command, cwd } = answer.asked;
  return { field: command === undefined ? 'path' : cwd !== undefined && answer.args?.path === cwd ? 'cwd' : 'command', text: reasonText(answer) };
}

/** @param {{answer: any, onRule: (rule: string) => void}} props */
function Verdict({ answer, onRule }) {
  const id = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  // It opens below the form, often below the window.
  useEffect(() => box.current?.scrollIntoView({ block: 'nearest' }), [answer]);
  const look = LOOKS[answer.verdict] ?? LOOKS.error;
  const possible = answer.verdict !== 'error';
  const proposed = answer.verdict === 'ask' ? narrowestFirst((answer.proposed_rules ?? []).filter((/** @type {string} */ rule) => rule)) : [];
  return html`<div class=${`verdict ${look.pill}`} ref=${box}><div class="row"><${Sign} kind=${look.sign} /><b>${t(`test.verdict_${answer.verdict}`)}</b>${isRule(answer.rule ?? '') && answer.verdict === 'allow' ? html`<code>${answer.rule}</code>` : null}
      ${answer.class && possible ? html`<${Pill}>${t(`test.class_${answer.class}`)}<//>` : null}<span class="grow"></span>${answer.row ? html`<span class="meta">${stepText(answer.row)}</span>` : null}</div>
    ${faultOf(answer) ? null : html`<p class="why"><${Sentence} text=${reasonText(answer)} /></p>`}
    ${possible && answer.asked.command !== undefined && answer.marks?.length ? html`<${Command} text=${answer.asked.command} marks=${answer.marks} />` : null}
    ${possible && answer.resolved?.length ? html`<${Reach} paths=${answer.resolved} />` : null}
    ${proposed.length ? html`<p class="would" id=${id}>${t('test.would', { n: proposed.length })}</p><ul class="proposed" aria-labelledby=${id}>${proposed.map((rule) => html`<li class="row" key=${rule}><code><${Visible} text=${rule} /></code><span class="meta">${scopeOf(rule)}</span><${Button} small aria-label=${t('test.add_label', { rule })} onClick=${() => onRule(rule)}>${t('test.add')}<//></li>`)}</ul>` : null}</div>`;
}
