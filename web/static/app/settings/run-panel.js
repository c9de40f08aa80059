// Runs one tool by hand: a form from its schema, then the same card and question as in a chat.
import { html, useEffect, useId, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { CallCard } from '../calls/card.js';
import { Visible } from '../calls/text.js';
import { t } from '../i18n/index.js';
import { callSignal, isFinal } from '../store.js';
import { Button, ErrorBox } from '../ui.js';
import { settingOf } from './permission-state.js';
import { lastCalls, startCall } from './run-session.js';
import { SchemaForm } from './schema-form.js';
import { aboutTool } from './tool-text.js';

/** What the tool does; the companion's own are described to people in other words than to models. @param {{tool: import('./run-session.js').Tool}} props */
function About({ tool }) {
  const about = aboutTool(tool);
  const told = html`<p class="desc whole"><${Visible} text=${tool.description ?? ''} /></p>`;
  if (!tool.description || about === tool.description) return tool.description ? told : null;
  return html`<div><p class="desc whole">${about}</p><details><summary>${t('run.told')}</summary>${told}</details></div>`;
}

/** @param {{tool: import('./run-session.js').Tool, onClose: () => void}} props */
export function RunPanel({ tool, onClose }) {
  const id = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [starting, setStarting] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const last = lastCalls.value[tool.name];
  const call = last ? callSignal(last.call_id).value : null;
  const busy = starting || Boolean(last && call && !isFinal(call.call));
  const offline = tool.state === 'offline' || tool.state === 'starting';
  const off = !settingOf(tool).enabled;
  // At once: what is typed right after opening must land in the form.
  useLayoutEffect(() => /** @type {HTMLElement|null|undefined} */ (box.current?.querySelector('.schema :is(textarea, input, select, button)'))?.focus(), []);
  const result = useRef(/** @type {HTMLElement|null} */ (null));
  const asked = call?.call.status === 'waiting';
  const done = Boolean(last && call && isFinal(call.call));
  const mine = useRef('');
  useEffect(() => {
    // The question opens below the form, often below the window.
    if (asked) result.current?.scrollIntoView({ block: 'nearest' });
  }, [asked]);
  useEffect(() => () => {
    // Answering takes the question and its buttons away; focus goes on to what comes of it.
    if (asked) setTimeout(() => (document.activeElement === document.body ? result.current?.focus() : undefined));
  }, [asked]);
  useEffect(() => {
    // What came of a run before this panel was opened moves nothing.
    if (done && last?.call_id === mine.current) result.current?.scrollIntoView({ block: 'nearest' });
  }, [done, last?.call_id]);
  const run = async (/** @type {any} */ args) => {
    setStarting(true);
    setError(null);
    try {
      mine.current = await startCall(tool, args);
    } catch (failure) {
      setError(failure);
    }
    setStarting(false);
  };
  return html`<section class="run-panel" aria-labelledby=${id} ref=${box} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.key === 'Escape' && !target.closest('.card')) {
      event.stopPropagation();
      onClose();
    }
  }}><h3 id=${id} class="sr">${t('run.title', { tool: tool.name })}</h3>
    <${About} tool=${tool} />
    ${off ? html`<p class="note">${t('run.off')}</p>` : offline ? html`<p class="note">${t('run.offline', { server: tool.server ?? '' })}</p>` : null}
    <${SchemaForm} schema=${tool.input_schema} label=${t('run.title', { tool: tool.name })} submit=${busy ? t('run.running') : last ? t('run.again') : t('run.run')} busy=${busy} initial=${last?.arguments} onSubmit=${run}>
      <${Button} onClick=${onClose}>${t('ui.close')}<//><//>
    ${error ? html`<${ErrorBox} title=${t('run.failed')} error=${error} />` : null}
    ${last ? html`<div class="run-result" role="region" tabindex="-1" ref=${result} aria-label=${t('run.result')}><${CallCard} key=${last.call_id} asked=${last} active opened /></div>` : null}</section>`;
}
