// A question: what would run, why it asks, what it reaches, and the choices with their scope. The loudest thing on the page.
import { html, signal, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { pairing } from '../api.js';
import { formatTime, t, tx } from '../i18n/index.js';
import { answer, approvals, connection, resolved, runClock, status } from '../store.js';
import { Button, ErrorBox, Sign } from '../ui.js';
import { Always, Deny } from './answers.js';
import { titleOf, What } from './asked.js';
import { Deadline } from './deadline.js';
import { isAddress } from './elicit-values.js';
import { Elicitation } from './elicitation.js';
import { serverOf, toolLabel } from './names.js';
import { reasonText } from './reasons.js';
import { Sampling } from './sampling.js';
import { isRule } from './scope.js';
import { Sentence, Visible } from './text.js';

/** @typedef {import('../types.js').Approval} Approval */

/** Clicks and keys this soon after questions came, went or moved are taken for accidents. */
export const GUARD_MS = 500;

/** Why an answer given in this tab came too late, by call. */
export const lateNotes = signal(/** @type {Record<string, string>} */ ({}));

let settled = 0;
const touch = () => {
  settled = performance.now();
};
// A question that ends moves the next one under the pointer: that counts as just appeared, too.
approvals.subscribe(touch);
resolved.subscribe(touch);

/** Whether a yes given now may have been meant for something else. */
export const tooSoon = () => performance.now() - settled < GUARD_MS;

/** Whether a page of another origin leaves this yes to the companion's own page. @param {Approval} approval @param {'once'|'session'|'always'} choice */
export function elsewhere(approval, choice) {
  return status.value?.loopback === false && (choice === 'always' || Boolean(approval.command));
}

/** While nothing said here would reach the companion. */
const NOTHING = { once: false, session: false, always: false, deny: false, stop: false };

/** What may be answered here. @param {Approval} approval @returns {{once: boolean, session: boolean, always: boolean, deny: boolean, stop: boolean}} */
function choicesOf(approval) {
  const has = (/** @type {string} */ choice) => (approval.choices ?? []).includes(choice);
  const here = !elsewhere(approval, 'once');
  const rule = has('rule') && Boolean(approval.proposed_rules?.length);
  return { once: here && has('once'), session: here && has('session'), always: !elsewhere(approval, 'always') && (has('always') || rule), deny: has('deny'), stop: has('stop') };
}

/** Gives the focus back to where messages are written, where there is such a place. */
function toComposer() {
  /** @type {HTMLElement|null} */ (document.querySelector('.composer textarea'))?.focus({ preventScroll: true });
}

/** @param {{approval: Approval}} props */
export function Question({ approval }) {
  const id = useId();
  const card = useRef(/** @type {HTMLElement|null} */ (null));
  const [mode, setMode] = useState(/** @type {''|'deny'|'always'} */ (''));
  const [sending, setSending] = useState(false);
  const [early, setEarly] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const lost = connection.value === 'lost';
  const can = lost ? NOTHING : choicesOf(approval);
  const off = sending || lost;
  const server = serverOf(approval.server ?? '');
  // A configured server that rests is started again by the call.
  const stopped = server?.state === 'failed' || (server?.state === 'stopped' && server.origin !== 'server');
  useEffect(touch, []);
  useEffect(runClock, []);

  /** @param {string} decision @param {any} [more] */
  const decide = async (decision, more) => {
    if (off) return;
    // Saying no by accident harms nobody; saying yes might.
    const hasty = !['deny', 'stop', 'decline', 'cancel'].includes(decision) && tooSoon();
    setEarly(hasty);
    if (hasty) return;
    setSending(true);
    setError(null);
    try {
      await answer(approval, decision, more);
      toComposer();
    } catch (failure) {
      noteLate(approval, /** @type {any} */ (failure).code);
      setError(failure);
      setSending(false);
    }
  };
  const toggle = (/** @type {'deny'|'always'} */ part) => setMode(mode === part ? '' : part);
  /** What the keys do while nothing is typed. @type {Record<string, () => void>} */
  const keys = { 1: () => can.once && decide('once'), 2: () => can.session && decide('session'), 3: () => can.always && setMode('always'), 4: () => can.deny && setMode('deny') };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Escape') {
      if (!mode && card.current?.closest('dialog')) return;
      event.preventDefault();
      setMode('');
      if (mode) card.current?.focus();
      else toComposer();
    } else if (target.matches('input, textarea, select') || event.repeat) return;
    else if (event.key === 'Enter' && target === card.current) {
      event.preventDefault();
      /** @type {HTMLElement|null} */ (card.current?.querySelector('[data-choice=deny]'))?.focus();
    } else if (Object.hasOwn(keys, event.key)) {
      event.preventDefault();
      keys[event.key]();
    }
  };
  return html`<section class="card ask" role="group" aria-labelledby=${`${id}-t`} aria-describedby=${`${id}-w`} tabindex="-1" ref=${card} data-from=${approval.kind === 'call' ? undefined : 'top'} onKeyDown=${onKey} id=${`question-${approval.id}`}>
    <div class="ask-head"><${Sign} kind="wait" /><h3 id=${`${id}-t`}>${titleOf(approval)}</h3><${Deadline} time=${approval.deadline} /></div>
    <${Asker} approval=${approval} /><p class="why" id=${`${id}-w`}>${isAddress(approval) ? t('ask.why_address') : approval.reason ? html`<${Sentence} text=${reasonText(approval)} />` : t('ask.why_unknown')}${isRule(approval.rule ?? '') ? html` <code>${approval.rule}</code>` : null}${approval.server && approval.kind === 'call' ? html` ${tx('ask.listed', { name: html`<code><${Visible} text=${approval.tool} /></code>` })}` : null}</p>
    ${approval.kind === 'call' ? html`<${What} approval=${approval} />` : null}
    ${stopped ? html`<p class="note">${reasonText({ key: 'server_stopped', args: { server: approval.server ?? '' } })}</p>` : null}
    ${approval.kind === 'elicitation' ? html`<${Elicitation} approval=${approval} decide=${decide} disabled=${off} />` : approval.kind === 'sampling' ? html`<${Sampling} approval=${approval} decide=${decide} disabled=${off} />` : html`<${Choices} approval=${approval} can=${can} mode=${mode} lost=${lost} sending=${sending} decide=${decide} toggle=${toggle} />`}
    <p class="meta early" role="status">${lost ? t('ask.lost') : early ? t('ask.early') : ''}</p>
    <${OwnPage} approval=${approval} />
    ${mode === 'deny' ? html`<${Deny} decide=${decide} disabled=${off} />` : null}
    ${mode === 'always' ? html`<${Always} approval=${approval} decide=${decide} disabled=${off} />` : null}
    ${error ? html`<${ErrorBox} title=${t('ask.failed')} error=${error} />` : null}</section>`;
}

/** Who asks, when it is not the chat that the person looks at. @param {{approval: Approval}} props */
function Asker({ approval: { client, app, client_name: itself, agent } }) {
  if (client !== 'mcp' && client !== 'cli') return null;
  const key = client === 'cli' ? 'terminal' : app ? 'app' : itself ? 'client' : 'other';
  return html`<p class="meta asker">${tx(`ask.from_${key}`, { name: html`<b><${Visible} text=${app || itself || ''} /></b>`, agent: html`<b><${Visible} text=${agent || 'assistant'} /></b>` })}</p>`;
}

/** Remembers for the card of the call why an answer came too late. @param {Approval} approval @param {string} code */
function noteLate({ call_id, deadline }, code) {
  if (!call_id || (code !== 'already_answered' && code !== 'expired')) return;
  const text = code === 'expired' ? t('ask.late_expired', { time: formatTime(deadline ?? Date.now()) }) : t('ask.late_answered');
  lateNotes.value = { ...lateNotes.value, [call_id]: text };
}

/** @param {{approval: Approval, can: ReturnType<typeof choicesOf>, mode: string, lost: boolean, sending: boolean, decide: (decision: string) => void, toggle: (part: 'deny'|'always') => void}} props */
function Choices({ approval, can, mode, lost, sending, decide, toggle }) {
  const id = useId();
  // What this page leaves to the companion's own is said below.
  const missing = lost || elsewhere(approval, 'always') ? [] : /** @type {const} */ (['once', 'session', 'always']).filter((one) => !can[one]);
  const why = (/** @type {'once'|'session'|'always'} */ one) => (missing.includes(one) ? `${id}-why` : undefined);
  return html`<div class="choices">
      <${Button} keys="1" disabled=${sending || !can.once} aria-describedby=${why('once')} onClick=${() => decide('once')}>${t('ask.once')}<//>
      <${Button} keys="2" disabled=${sending || !can.session} aria-describedby=${can.session ? id : why('session')} onClick=${() => decide('session')}>${t('ask.session')}<//>
      <${Button} keys="3" disabled=${sending || !can.always} aria-describedby=${why('always')} aria-expanded=${mode === 'always'} onClick=${() => toggle('always')}>${t('ask.always')}<//>
      <${Button} kind="danger" keys="4" data-choice="deny" disabled=${sending || !can.deny} aria-expanded=${mode === 'deny'} onClick=${() => toggle('deny')}>${t('ask.deny')}<//>
      <span class="grow"></span><${Button} kind="quiet" disabled=${sending || !can.stop} title=${t('ask.stop_title')} onClick=${() => decide('stop')}>${t('ask.stop')}<//></div>
    ${can.session ? html`<p class="meta scope" id=${id}>${t(approval.command ? 'ask.session_command' : 'ask.session_tool', { tool: toolLabel(approval) })}</p>` : null}
    ${missing.length ? html`<p class="meta scope" id=${`${id}-why`}>${t('ask.not_offered', { what: missing.map((one) => t(`ask.${one}`).replace(/…$/, '')).join(', ') })}</p>` : null}`;
}

/** On a page of another origin: where the yes that is missing here can be given. @param {{approval: Approval}} props */
function OwnPage({ approval }) {
  if (approval.kind !== 'call' || !elsewhere(approval, 'always')) return null;
  const server = pairing.value.server ?? '';
  return html`<p class="meta own-page">${tx(approval.command ? 'ask.own_page_command' : 'ask.own_page_always', { link: html`<a href=${server} target="_blank" rel="noopener noreferrer">${server}</a>` })}</p>`;
}

/** Brings a question into view and focuses its card, never one of its buttons. @param {string} id */
export function showQuestion(id) {
  const card = document.getElementById(`question-${id}`);
  // Of one that is higher than the window its heading is what must be seen.
  card?.scrollIntoView({ block: card.offsetHeight > 0.8 * innerHeight ? 'start' : 'nearest' });
  card?.focus({ preventScroll: true });
  return Boolean(card);
}

/** Small sign for lists. @param {{n: number}} props */
export function QuestionBadge({ n }) {
  return n ? html`<span class="badge" title=${t('ask.waiting', { n })}>${n}<span class="sr"> ${t('ask.waiting', { n })}</span></span>` : null;
}

