// Asks the companion what would happen to a path or a command, with the function that decides real calls.
import { html, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { reasonText } from '../calls/reasons.js';
import { Reach } from '../calls/renderers/files.js';
import { Command } from '../calls/renderers/shell.js';
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
  const test = async (/** @type {Event} */ event) => {
    event.preventDefault();
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
  const drop = () => setAnswer(null);
  return html`<form class="svc" onSubmit=${test}><div class="row">
      <${Segmented} label=${t('test.what')} value=${kind} options=${[{ value: 'path', label: t('test.path') }, { value: 'command', label: t('test.command') }]} onChange=${(/** @type {string} */ next) => {
        setKind(next);
        drop();
      }} /></div>
    ${kind === 'path' ? html`<div class="test-line"><${Field} label=${t('test.op')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${op} onChange=${(/** @type {any} */ event) => {
        setOp(event.currentTarget.value);
        drop();
      }}>${['read', 'list', 'write', 'delete'].map((one) => html`<option key=${one} value=${one}>${t(`test.op_${one}`)}</option>`)}</select>`}<//>
      <${Field} label=${t('test.path_label')} class="field mono" value=${path} placeholder="./README.md" spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => {
        setPath(event.currentTarget.value);
        drop();
      }} /><${Button} type="submit">${t('test.test')}<//></div>`
    : html`<div class="test-line"><${Field} label=${t('test.command_label')} class="field mono" value=${command} placeholder="ls -l docs" spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => {
        setCommand(event.currentTarget.value);
        drop();
      }} /><${Field} label=${t('test.cwd')} class="field mono" value=${cwd} placeholder=${shortPath(root.value)} spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => {
        setCwd(event.currentTarget.value);
        drop();
      }} /><${Button} type="submit">${t('test.test')}<//></div>`}
    ${unsaved ? html`<p class="meta">${t('test.unsaved')}</p>` : null}
    ${error ? html`<${ErrorBox} title=${t('test.failed')} error=${error} />` : null}
    <div role="status">${answer ? html`<${Verdict} answer=${answer} onRule=${onRule} />` : null}</div></form>`;
}

/** @param {{answer: any, onRule: (rule: string) => void}} props */
function Verdict({ answer, onRule }) {
  const look = LOOKS[answer.verdict] ?? LOOKS.error;
  const proposed = (answer.proposed_rules ?? []).filter((/** @type {string} */ rule) => rule);
  return html`<div class=${`verdict ${look.pill}`}><div class="row"><${Sign} kind=${look.sign} /><b>${t(`test.verdict_${answer.verdict}`)}</b>${answer.rule && answer.verdict === 'allow' ? html`<code>${answer.rule}</code>` : null}
      ${answer.class ? html`<${Pill}>${t(`test.class_${answer.class}`)}<//>` : null}<span class="grow"></span>${answer.row ? html`<span class="meta">${stepText(answer.row)}</span>` : null}</div>
    <p class="why"><${Sentence} text=${reasonText(answer)} /></p>
    ${answer.asked.command !== undefined && answer.marks?.length ? html`<${Command} text=${answer.asked.command} marks=${answer.marks} />` : null}
    ${answer.resolved?.length ? html`<${Reach} paths=${answer.resolved} />` : null}
    ${proposed.length && answer.verdict === 'ask' ? html`<div class="stack proposed">${proposed.map((/** @type {string} */ rule) => html`<div class="row" key=${rule}><span>${t('test.would')}</span> <code><${Visible} text=${rule} /></code><${Button} small aria-label=${t('test.add_label', { rule })} onClick=${() => onRule(rule)}>${t('test.add')}<//></div>`)}</div>` : null}</div>`;
}
