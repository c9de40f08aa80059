// The card of one call: running with its output, waiting with its question, finished as one quiet line that opens.
import { html, useEffect, useErrorBoundary, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { formatDuration, formatNumber, formatSize, t, tx } from '../i18n/index.js';
import { approvals, callSignal, clock, isFinal, resolved, runClock } from '../store.js';
import { Button, ErrorBox, Sign } from '../ui.js';
import { lateNotes, Question } from './approval.js';
import { askedChange, countLines, Diff } from './renderers/diff.js';
import { Entries, Matches } from './renderers/files.js';
import { Image, isShownImage } from './renderers/image.js';
import { Arguments, TextBox } from './renderers/json.js';
import { Command, LiveOutput, ShellResult } from './renderers/shell.js';
import { reasonText } from './reasons.js';
import { Visible } from './text.js';

/** @typedef {import('../types.js').Call} Call @typedef {import('../types.js').AskedCall} AskedCall @typedef {import('../types.js').MessageData} MessageData */

/** What a call is about, in a few words: the command, the path, the first text. @param {any} args */
export function subjectOf(args) {
  const known = args?.command ?? args?.path ?? args?.query ?? args?.url ?? Object.values(args ?? {}).find((value) => typeof value === 'string' || typeof value === 'number');
  const text = known === undefined ? '' : typeof known === 'string' ? known : JSON.stringify(known);
  const line = text.split('\n')[0];
  return line.length > 160 ? `${line.slice(0, 157)}…` : line;
}

/** The change of an edit that went well: as the companion tells it, or as it was asked for. @param {Call} call @param {any} args */
const changeOf = (call, args) => (call.tool === 'edit_file' && call.status === 'ok' && !call.is_error ? call.structured?.diff || askedChange(args ?? {}) : '');

/** What came out, in a few words. @param {Call} call @param {any} args */
function outcome(call, args) {
  const result = call.structured;
  if (!result || call.status !== 'ok') return '';
  if (call.tool === 'execute_command') return result.timed_out ? t('card.timed_out') : result.signal ? t('card.signal', { signal: result.signal }) : t('card.exit', { code: String(result.exit_code) });
  if (call.tool === 'list_directory') return t('card.entries', { n: result.total ?? result.entries?.length ?? 0 });
  if (call.tool === 'read_file') return formatSize(result.size ?? 0);
  if (call.tool === 'search_files') return t('card.matches', { n: result.matches?.length ?? 0 });
  if (call.tool === 'edit_file') {
    const change = changeOf(call, args);
    if (!change) return formatSize(result.bytes ?? 0);
    const { added, removed } = countLines(change);
    return `+${added} −${removed}`;
  }
  return '';
}

/** How a call that did not succeed ended, in words. @param {Call} call @returns {string[]} */
function ending(call) {
  if (call.key?.startsWith('denied_by_user')) return [reasonText(call)];
  if (call.key && call.key === call.status) return [t(`status.${call.status}`)];
  return [call.status === 'ok' ? t('status.error') : t(`status.${call.status}`), reasonText(call)];
}

/** Who let the call through. @param {Call} call */
function permit(call) {
  if (call.rule && (call.by === 'rule' || !call.by)) return tx('card.rule', { rule: html`<code>${call.rule}</code>` });
  if (call.by === 'person') return t('card.by_person');
  if (call.by === 'remembered') return t('card.by_remembered');
  if (call.by === 'policy') return t('card.by_policy');
  return null;
}

/** Failed for a person's eyes: a command that ended non-zero is a result, but no success. @param {Call} call */
export function failed(call) {
  return call.status !== 'ok' || Boolean(call.is_error) || (call.tool === 'execute_command' && Boolean(call.structured?.exit_code || call.structured?.timed_out));
}

/** @param {{call: Call, args: any, output?: {stream: string, text: string}[]}} props */
function Result({ call, args, output }) {
  const result = call.structured;
  const texts = (call.content ?? []).filter((item) => item.type === 'text' && item.text);
  const images = (call.content ?? []).filter((item) => item.type === 'image' || item.mimeType);
  let body;
  if (call.tool === 'execute_command' && result) body = html`<${ShellResult} result=${result} />`;
  else if (changeOf(call, args)) body = html`<${Diff} text=${changeOf(call, args)} />`;
  else if (call.tool === 'list_directory' && result?.entries) body = html`<${Entries} result=${result} />`;
  else if (call.tool === 'search_files' && result?.matches) body = html`<${Matches} result=${result} />`;
  else if (texts.length) body = texts.map((item, at) => html`<${TextBox} key=${at} text=${item.text} label=${t('card.result')} first=${20_000} />`);
  else if (result) body = html`<${TextBox} text=${JSON.stringify(result, null, 2)} label=${t('card.result')} first=${20_000} />`;
  else if (call.model_text) body = html`<${TextBox} text=${call.model_text} label=${t('card.result')} first=${20_000} />`;
  else if (output?.length) body = html`<${LiveOutput} output=${output} />`;
  return html`${body}${images.map((item, at) => {
    const mime = item.mimeType ?? 'image/png';
    if (!isShownImage(mime)) return null;
    return html`<${Image} key=${at} mime=${mime} base64=${item.data} path=${item.data === undefined && call.result_id ? url`/api/results/${call.result_id}` : undefined} alt=${t('image.of', { tool: call.tool })} />`;
  })}${call.result_id ? html`<${StoredResult} id=${call.result_id} />` : null}`;
}

/** A result too big for the conversation, page by page. @param {{id: string}} props */
function StoredResult({ id }) {
  const [text, setText] = useState('');
  const [next, setNext] = useState(/** @type {number|null} */ (0));
  const [info, setInfo] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const more = async () => {
    try {
      const page = await api.get(`${url`/api/results/${id}`}?offset=${next}&limit=65536`);
      setText(text + (page.text ?? ''));
      setNext(page.next || null);
      setInfo(page);
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`${text ? html`<${TextBox} text=${text} label=${t('card.stored')} />` : null}${error ? html`<${ErrorBox} error=${error} />` : null}
    ${next === null ? null : html`<p class="row"><${Button} small onClick=${more}>${info ? t('card.stored_more', { size: formatSize(info.size - text.length) }) : t('card.stored_open')}<//></p>`}`;
}

/** @param {{undo: string, path: string}} props */
function Undo({ undo, path }) {
  const [state, setState] = useState(/** @type {'ready'|'working'|'done'|Error} */ ('ready'));
  const run = async () => {
    setState('working');
    try {
      await api.post(url`/api/undo/${undo}`);
      setState('done');
    } catch (error) {
      setState(/** @type {Error} */ (error));
    }
  };
  if (state === 'done') return html`<span class="saved" role="status">${t('card.undone')}</span>`;
  if (state instanceof Error) return html`<${ErrorBox} title=${t('card.undo_failed')} error=${state} />`;
  return html`<${Button} kind="quiet" small disabled=${state === 'working'} onClick=${run} aria-label=${t('card.undo_label', { path })}>${t('card.undo')}<//>`;
}

/** How the question before this call ended, where that needs words. @param {{callId: string}} props */
function Ending({ callId }) {
  const late = lateNotes.value[callId];
  const end = Object.values(resolved.value).find((one) => one.call_id === callId);
  if (late) return html`<p class="note" role="status">${late}</p>`;
  if (end && !end.mine && end.outcome === 'answered' && end.by === 'page') return html`<p class="meta">${t('ask.elsewhere')}</p>`;
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

  if (approval) return html`<${Question} approval=${approval} />`;
  if (!ended) return html`<${Running} call=${call} live=${live} args=${args} />`;

  const bad = failed(call);
  const off = call.status === 'cancelled' || call.status === 'interrupted';
  const subject = subjectOf(args);
  const words = call.status === 'ok' && !call.is_error ? [outcome(call, args), call.duration_ms !== undefined ? formatDuration(call.duration_ms) : '', permit(call)]
    : [...ending(call), ...(call.status === 'error' || call.status === 'timeout' ? [call.duration_ms !== undefined ? formatDuration(call.duration_ms) : ''] : [])];
  const undo = call.structured?.undo_id;
  return html`<section class=${`card ${open ? 'open' : 'done'}`} id=${`call-${asked.call_id}`}>
    <div class="card-head"><button type="button" class="line" aria-expanded=${open} onClick=${() => setOpen(!open)}>
      <${Sign} kind=${off ? 'off' : bad ? 'no' : 'ok'} /><b>${call.server ? `${call.server} · ` : ''}${asked.tool}</b>${subject ? html`<code><${Visible} text=${subject} /></code>` : null}<span class="grow"></span>
      <span class="meta">${join(words.filter(Boolean))}</span></button>
      ${undo ? html`<${Undo} undo=${undo} path=${subject} />` : null}</div>
    <${Ending} callId=${asked.call_id} />
    ${open ? html`<div class="card-body">${asked.broken !== undefined ? html`<${TextBox} text=${asked.broken} label=${t('card.broken')} />` : asked.tool === 'execute_command' && typeof args?.command === 'string' ? html`<${Command} text=${args.command} />` : changeOf(call, args) ? null : html`<${Arguments} value=${args} />`}
      <${Result} call=${call} args=${args} output=${live?.output} /></div>` : null}</section>`;
}

/** Pieces with a middle dot between them. @param {any[]} parts */
function join(parts) {
  return parts.flatMap((part, at) => (at ? [' · ', part] : [part]));
}

/** @param {{call: Call, live: import('../store.js').LiveCall|null, args: any}} props */
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
  return html`<section class="card run" id=${`call-${call.call_id}`}>
    <div class="card-head"><div class="line"><${Sign} kind="run" /><b>${call.server ? `${call.server} · ` : ''}${call.tool}</b>${subjectOf(args) ? html`<code><${Visible} text=${subjectOf(args)} /></code>` : null}<span class="grow"></span>
      <span class="meta">${progress ? `${progress.message ? `${progress.message} · ` : ''}${progress.total ? `${Math.round((100 * progress.progress) / progress.total)}% · ` : ''}` : ''}${call.status === 'waiting' ? t('status.waiting') : t('card.running', { time: elapsed < 10_000 ? `${formatNumber(Math.floor(elapsed / 1000))} s` : formatDuration(Math.floor(elapsed / 1000) * 1000) })}</span></div>
      <${Button} kind="quiet" small disabled=${stopping || !live} onClick=${stop} aria-label=${t('card.stop_label', { tool: call.tool })}>${t('card.stop')}<//></div>
    <${Ending} callId=${call.call_id} />
    ${live?.output.length ? html`<div class="card-body"><${LiveOutput} output=${live.output} /></div>` : null}</section>`;
}
