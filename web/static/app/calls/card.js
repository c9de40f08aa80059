// The card of one call: running with its output, waiting with its question, finished as one quiet line that opens.
import { html, useEffect, useErrorBoundary, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { formatDuration, formatNumber, t } from '../i18n/index.js';
import { approvals, callSignal, clock, isFinal, resolved, runClock } from '../store.js';
import { Button, ErrorBox, Sign } from '../ui.js';
import { lateNotes, Question } from './approval.js';
import { serverOfTool, toolLabel } from './names.js';
import { changeOf, ending, failed, outcome, permit, subjectOf } from './outcome.js';
import { Arguments, TextBox } from './renderers/json.js';
import { Command, LiveOutput } from './renderers/shell.js';
import { LeftOut, Media, Result, Undo } from './result.js';
import { Visible } from './text.js';

/** @typedef {import('../types.js').Call} Call @typedef {import('../types.js').AskedCall} AskedCall @typedef {import('../types.js').MessageData} MessageData */

/** How the question before this call ended, where that needs words. @param {{callId: string}} props */
function Ending({ callId }) {
  const late = lateNotes.value[callId];
  const end = Object.values(resolved.value).find((one) => one.call_id === callId);
  if (late) return html`<p class="note ended" role="status">${late}</p>`;
  if (end && !end.mine && end.outcome === 'answered' && end.by === 'page') return html`<p class="meta ended">${t('ask.elsewhere')}</p>`;
  return null;
}

/** The finished call when only the message is known, as after a restart. @param {AskedCall} asked @param {MessageData} data @returns {Call} */
function fromMessage(asked, data) {
  const { status, ...rest } = /** @type {any} */ (data);
  return { ...rest, call_id: asked.call_id, tool: asked.tool, status: status ?? 'ok', model_text: data.text };
}

/** What cannot be drawn takes only its own card down. @param {{children?: any}} props */
export function Whole({ children }) {
  const [error, again] = useErrorBoundary((failure) => console.error(failure));
  return error ? html`<${ErrorBox} title=${t('card.broken_view')} error=${error}><${Button} small onClick=${again}>${t('ui.retry')}<//><//>` : children;
}

/**
 * @param {{asked: AskedCall, result?: MessageData, active: boolean, opened?: boolean}} props
 * `active`: the conversation runs, so a call without an end is on its way. `opened`: its result shows unfolded
 */
export function CallCard({ asked, result, active, opened = false }) {
  const live = callSignal(asked.call_id).value;
  const approval = approvals.value.find(({ call_id }) => call_id === asked.call_id);
  const [open, setOpen] = useState(opened);
  /** @type {Call} */
  const call = live && (isFinal(live.call) || !result) ? live.call : result ? fromMessage(asked, result) : { call_id: asked.call_id, tool: asked.tool, status: asked.broken !== undefined ? 'error' : active ? 'running' : 'interrupted' };
  const args = live?.arguments && Object.keys(live.arguments).length ? live.arguments : asked.arguments;
  const ended = isFinal(call);
  useEffect(() => (ended ? undefined : runClock()), [ended]);

  if (approval) return html`<${Question} key=${approval.id} approval=${approval} />`;
  if (!ended) return html`<${Running} call=${call} live=${live} args=${args} />`;

  const bad = failed(call);
  const off = call.status === 'cancelled' || call.status === 'interrupted';
  const subject = subjectOf(args);
  const words = call.status === 'ok' && !call.is_error ? [outcome(call, args), call.duration_ms !== undefined ? formatDuration(call.duration_ms) : '', permit(call, args)]
    : [...ending(call), ...(call.status === 'error' || call.status === 'timeout' ? [call.duration_ms !== undefined ? formatDuration(call.duration_ms) : ''] : [])];
  const undo = call.structured?.undo_id;
  return html`<section class=${`card ${open ? 'open' : 'done'}`} id=${`call-${asked.call_id}`}>
    <div class="card-head"><button type="button" class="line" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <${Sign} kind=${off ? 'off' : bad ? 'no' : 'ok'} /><${Name} call=${{ tool: asked.tool, server: call.server ?? serverOfTool(asked.tool) }} />${subject ? html`<code><${Visible} text=${subject} /></code>` : null}<span class="grow"></span>
      <span class="meta">${join(words.filter(Boolean).map((word) => (typeof word === 'string' ? html`<${Visible} text=${word} />` : word)))}</span></button>
      ${undo ? html`<${Undo} undo=${undo} path=${subject} done=${call.undone} />` : null}</div>
    <${Ending} callId=${asked.call_id} />
    ${open ? html`<div class="card-body"><${Asked} asked=${asked} call=${call} args=${args} /><${Result} call=${call} args=${args} output=${live?.output} /></div>` : null}
    <${LeftOut} call=${call} /><${Media} call=${call} args=${args} large=${open} /></section>`;
}

/** @param {{call: {tool: string, server?: string}}} props */
function Name({ call }) {
  return html`<b title=${call.server ? call.tool : undefined}><${Visible} text=${toolLabel(call)} /></b>`;
}

/** What the tool was asked to do, where the result does not say so itself. @param {{asked: AskedCall, call: Call, args: any}} props */
function Asked({ asked, call, args }) {
  if (asked.broken !== undefined) return html`<${TextBox} text=${asked.broken} label=${t('card.broken')} />`;
  if (asked.tool === 'execute_command' && typeof args?.command === 'string') return html`<${Command} text=${args.command} />`;
  return changeOf(call, args) ? null : html`<${Arguments} value=${args} />`;
}

/** Pieces with a middle dot between them. @param {any[]} parts */
function join(parts) {
  return parts.flatMap((part, at) => (at ? [' · ', part] : [part]));
}

/** @param {{call: Call, live: import('../store-calls.js').LiveCall|null, args: any}} props */
function Running({ call, live, args }) {
  // The time that a question waited is not the call's.
  const since = live?.since ?? (call.started ? new Date(call.started).getTime() : live?.seen ?? Date.now());
  const elapsed = Math.max(0, clock.value - Math.max(since, 0));
  const progress = live?.progress;
  const [stopping, setStopping] = useState(false);
  const stop = async () => {
    setStopping(true);
    await api.del(url`/api/sessions/${live?.session ?? call.session ?? ''}/calls/${call.call_id}`).catch(() => setStopping(false));
  };
  const time = elapsed < 10_000 ? `${formatNumber(Math.floor(elapsed / 1000))} s` : formatDuration(Math.floor(elapsed / 1000) * 1000);
  const words = [progress?.message ?? '', progress?.total ? `${formatNumber(Math.round((100 * progress.progress) / progress.total))}%` : '', call.status === 'waiting' ? t('status.waiting') : t('card.running', { time })];
  const subject = subjectOf(args);
  // The companion names the server only in its first event; until then the row must look as it will.
  const named = { tool: call.tool, server: call.server ?? serverOfTool(call.tool) };
  return html`<section class="card run" id=${`call-${call.call_id}`}>
    <div class="card-head"><div class="line"><${Sign} kind="run" /><${Name} call=${named} />${subject ? html`<code><${Visible} text=${subject} /></code>` : null}<span class="grow"></span>
      <span class="meta"><${Visible} text=${words.filter(Boolean).join(' · ')} /></span></div>
      <${Button} kind="quiet" small disabled=${stopping || !live} onClick=${stop} aria-label=${t('card.stop_label', { tool: toolLabel(named) })}>${t('card.stop')}<//></div>
    <${Ending} callId=${call.call_id} />
    ${live?.output.length ? html`<div class="card-body"><${LiveOutput} output=${live.output} /></div>` : null}</section>`;
}
