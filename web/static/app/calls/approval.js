// A question: what would run, why it asks, what it reaches, and the choices with their scope. The loudest thing on the page.
import { html, signal, useEffect, useId, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { pairing } from '../api.js';
import { shortPath } from '../chat/folders.js';
import { formatTime, t, tx } from '../i18n/index.js';
import { answer, approvals, clock, resolved, runClock, status } from '../store.js';
import { Button, ErrorBox, Sign } from '../ui.js';
import { Diff } from './renderers/diff.js';
import { Reach } from './renderers/files.js';
import { Arguments, Json } from './renderers/json.js';
import { Command } from './renderers/shell.js';
import { reasonText } from './reasons.js';
import { Visible } from './text.js';

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

/** The act in words. @param {Approval} approval */
function titleOf(approval) {
  const path = (/** @type {any} */ value) => html`<code><${Visible} text=${shortPath(String(value ?? '.'))} /></code>`;
  const args = approval.arguments ?? {};
  if (approval.kind === 'elicitation') return tx('ask.elicitation', { server: html`<b><${Visible} text=${approval.server ?? approval.tool} /></b>` });
  if (approval.kind === 'sampling') return tx('ask.sampling', { server: html`<b><${Visible} text=${approval.server ?? approval.tool} /></b>` });
  switch (approval.tool) {
    case 'execute_command': return tx(args.background ? 'ask.background' : 'ask.command', { where: path(approval.command?.cwd ?? args.cwd) });
    case 'read_file': return tx('ask.read', { path: path(args.path) });
    case 'edit_file': return tx(args.mode === 'write' ? 'ask.write' : 'ask.edit', { path: path(args.path) });
    case 'list_directory': return tx('ask.list', { path: path(args.path) });
    case 'search_files': return tx('ask.search', { path: path(args.path) });
  }
  const tool = html`<code><${Visible} text=${approval.tool} /></code>`;
  return approval.server ? tx('ask.tool_of', { tool, server: html`<b><${Visible} text=${approval.server} /></b>` }) : tx('ask.tool', { tool });
}

/** The companion's sentence, with what it puts in backticks as code. @param {{text: string}} props */
function Sentence({ text }) {
  return text.split(/`([^`\n]+)`/).map((piece, at) => (at % 2 ? html`<code key=${at}><${Visible} text=${piece} /></code>` : html`<${Visible} key=${at} text=${piece} />`));
}

/** What a rule would cover, in words. @param {string} rule */
function scopeOf(rule) {
  if (/\*\*$/.test(rule)) return t('ask.rule_below');
  return /[*?[{]/.test(rule) ? t('ask.rule_pattern') : t('ask.rule_exact');
}

/** Exactly what would run. @param {{approval: Approval}} props */
function What({ approval }) {
  const args = approval.arguments ?? {};
  if (approval.command) {
    const { command, cwd, ...rest } = args;
    const unread = approval.command.class === 'ambiguous' || !approval.resolved?.length;
    return html`<${Command} text=${approval.command.text} marks=${approval.command.marks} />${Object.keys(rest).length ? html`<${Arguments} value=${rest} />` : null}
      ${approval.resolved?.length ? html`<${Reach} paths=${approval.resolved} />` : null}${unread ? html`<p class="why">${t('ask.unread')}</p>` : null}`;
  }
  if (approval.diff) {
    // The difference and the title say what these do.
    const { path, mode, content, old_text, new_text, ...rest } = args;
    return html`<${Diff} text=${approval.diff} whole />${Object.keys(rest).length ? html`<${Arguments} value=${rest} />` : null}${approval.resolved?.length ? html`<${Reach} paths=${approval.resolved} />` : null}`;
  }
  return html`<${Arguments} value=${args} />${approval.resolved?.length ? html`<${Reach} paths=${approval.resolved} />` : null}`;
}

/** @param {{approval: Approval}} props */
export function Question({ approval }) {
  const id = useId();
  const card = useRef(/** @type {HTMLElement|null} */ (null));
  const [mode, setMode] = useState(/** @type {''|'deny'|'always'} */ (''));
  const [sending, setSending] = useState(false);
  const [error, setError] = useState(/** @type {any} */ (null));
  const can = (/** @type {string} */ choice) => (approval.choices ?? []).includes(choice) && !((choice === 'once' || choice === 'session') && elsewhere(approval, choice));
  const always = !elsewhere(approval, 'always') && (can('always') || (can('rule') && Boolean(approval.proposed_rules?.length)));
  useEffect(touch, []);
  useEffect(runClock, []);

  /** @param {string} decision @param {any} [more] */
  const decide = async (decision, more) => {
    // Saying no by accident harms nobody; saying yes might.
    if (sending || (decision !== 'deny' && decision !== 'stop' && tooSoon())) return;
    setSending(true);
    setError(null);
    try {
      await answer(approval, decision, more);
      /** @type {HTMLElement|null} */ (document.querySelector('.composer textarea'))?.focus({ preventScroll: true });
    } catch (failure) {
      const { code } = /** @type {any} */ (failure);
      if (approval.call_id && (code === 'already_answered' || code === 'expired')) {
        lateNotes.value = { ...lateNotes.value, [approval.call_id]: code === 'expired' ? t('ask.late_expired', { time: formatTime(approval.deadline ?? Date.now()) }) : t('ask.late_answered') };
      }
      setError(failure);
      setSending(false);
    }
  };
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.key === 'Escape') {
      if (!mode && card.current?.closest('dialog')) return;
      event.preventDefault();
      if (mode) {
        setMode('');
        card.current?.focus();
      } else /** @type {HTMLElement|null} */ (document.querySelector('.composer textarea'))?.focus();
      return;
    }
    if (target.matches('input, textarea, select') || event.repeat) return;
    if (event.key === 'Enter' && target === card.current) {
      event.preventDefault();
      /** @type {HTMLElement|null} */ (card.current?.querySelector('[data-choice=deny]'))?.focus();
    } else if (event.key === '1' && can('once')) {
      event.preventDefault();
      decide('once');
    } else if (event.key === '2' && can('session')) {
      event.preventDefault();
      decide('session');
    } else if (event.key === '3' && always) {
      event.preventDefault();
      setMode('always');
    } else if (event.key === '4' && can('deny')) {
      event.preventDefault();
      setMode('deny');
    }
  };
  const left = approval.deadline ? new Date(approval.deadline).getTime() - clock.value : Infinity;
  const notOffered = t('ask.not_offered');
  return html`<section class="card ask" role="group" aria-labelledby=${`${id}-t`} aria-describedby=${`${id}-w`} tabindex="-1" ref=${card} onKeyDown=${onKey} id=${`question-${approval.id}`}>
    <div class="ask-head"><${Sign} kind="wait" /><h3 id=${`${id}-t`}>${titleOf(approval)}</h3>
      ${approval.deadline ? html`<span class="meta">${left > 60_000 ? t('ask.until', { time: formatTime(approval.deadline) }) : left > 0 ? t('ask.left', { n: Math.ceil(left / 1000) }) : t('ask.over')}</span>` : null}</div>
    <p class="why" id=${`${id}-w`}>${approval.reason ? html`<${Sentence} text=${reasonText(approval)} />` : t('ask.why_unknown')}${approval.rule ? html` <code>${approval.rule}</code>` : null}</p>
    <${What} approval=${approval} />
    ${approval.kind === 'elicitation' ? html`<${Elicitation} approval=${approval} decide=${decide} disabled=${sending} />` : html`<div class="choices">
      <${Button} keys="1" disabled=${sending || !can('once')} title=${can('once') ? '' : notOffered} onClick=${() => decide('once')}>${t('ask.once')}<//>
      <${Button} keys="2" disabled=${sending || !can('session')} title=${can('session') ? t(approval.command ? 'ask.session_command' : 'ask.session_tool', { tool: approval.tool }) : notOffered} onClick=${() => decide('session')}>${t('ask.session')}<//>
      <${Button} keys="3" disabled=${sending || !always} title=${always ? '' : notOffered} aria-expanded=${mode === 'always'} onClick=${() => setMode(mode === 'always' ? '' : 'always')}>${t('ask.always')}<//>
      <${Button} kind="danger" keys="4" data-choice="deny" disabled=${sending || !can('deny')} aria-expanded=${mode === 'deny'} onClick=${() => setMode(mode === 'deny' ? '' : 'deny')}>${t('ask.deny')}<//>
      <span class="grow"></span><${Button} kind="quiet" disabled=${sending || !can('stop')} title=${t('ask.stop_title')} onClick=${() => decide('stop')}>${t('ask.stop')}<//></div>`}
    <${OwnPage} approval=${approval} />
    ${mode === 'deny' ? html`<${Deny} decide=${decide} disabled=${sending} />` : null}
    ${mode === 'always' ? html`<${Always} approval=${approval} decide=${decide} disabled=${sending} />` : null}
    ${error ? html`<${ErrorBox} title=${t('ask.failed')} error=${error} />` : null}</section>`;
}

/** On a page of another origin: where the yes that is missing here can be given. @param {{approval: Approval}} props */
function OwnPage({ approval }) {
  if (approval.kind === 'elicitation' || !elsewhere(approval, 'always')) return null;
  const server = pairing.value.server ?? '';
  return html`<p class="meta own-page">${tx(approval.command ? 'ask.own_page_command' : 'ask.own_page_always', { link: html`<a href=${server} target="_blank" rel="noopener noreferrer">${server}</a>` })}</p>`;
}

/** @param {{decide: (decision: string, more?: any) => void, disabled: boolean}} props */
function Deny({ decide, disabled }) {
  const input = useRef(/** @type {HTMLInputElement|null} */ (null));
  const [reason, setReason] = useState('');
  useLayoutEffect(() => input.current?.focus(), []);
  return html`<form class="deny-form" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    decide('deny', reason.trim() ? { reason: reason.trim() } : {});
  }}><input class="field" ref=${input} value=${reason} maxlength="500" aria-label=${t('ask.reason')} placeholder=${t('ask.reason')} onInput=${(/** @type {any} */ event) => setReason(event.currentTarget.value)} />
    <${Button} kind="danger" type="submit" disabled=${disabled}>${t('ask.deny_now')}<//></form>`;
}

/** What “always” would mean, chosen and read before it is saved. @param {{approval: Approval, decide: (decision: string, more?: any) => void, disabled: boolean}} props */
function Always({ approval, decide, disabled }) {
  const name = useId();
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const options = [
    ...((approval.choices ?? []).includes('rule') ? (approval.proposed_rules ?? []).map((rule) => ({ value: rule, label: tx('ask.rule', { rule: html`<code>${rule}</code>` }), meta: scopeOf(rule) })) : []),
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

/** A server's form. @param {{approval: Approval, decide: (decision: string, more?: any) => void, disabled: boolean}} props */
function Elicitation({ approval, decide, disabled }) {
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

/** Brings a question into view and focuses its card, never one of its buttons. @param {string} id */
export function showQuestion(id) {
  const card = document.getElementById(`question-${id}`);
  card?.scrollIntoView({ block: 'nearest' });
  card?.focus({ preventScroll: true });
  return Boolean(card);
}

/** Small sign for lists. @param {{n: number}} props */
export function QuestionBadge({ n }) {
  return n ? html`<span class="badge" title=${t('ask.waiting', { n })}>${n}<span class="sr"> ${t('ask.waiting', { n })}</span></span>` : null;
}

