// What the one line of a finished call says: what it was about, what came of it, who let it through.
import { formatSize, has, t } from '../i18n/index.js';
import { askedChange, countLines } from './renderers/diff.js';
import { reasonText } from './reasons.js';
import { permitText } from './scope.js';

/** @typedef {import('../types.js').Call} Call */

/** Longest reason in a line; the opened card has it whole. */
const REASON = 240;

/** A text in one line of bounded length. @param {string} text @param {number} most */
function oneLine(text, most) {
  const line = text.trim().split('\n')[0];
  return line.length > most ? `${line.slice(0, most - 3)}…` : line;
}

/** What a call is about, in a few words: the command, the path, the first text. @param {any} args */
export function subjectOf(args) {
  const known = args?.command ?? args?.path ?? args?.query ?? args?.url ?? Object.values(args ?? {}).find((value) => typeof value === 'string' || typeof value === 'number');
  return oneLine(known === undefined ? '' : typeof known === 'string' ? known : JSON.stringify(known), 160);
}

/** A result as it came, without the frame that marks it as foreign for a model. @param {string} text */
export function unframed(text) {
  return /^<([\w-]+) [^\n]*boundary="(\w+)">\n([^]*)\n<\/\1 boundary="\2">$/.exec(text.trim())?.[3] ?? text;
}

/** The texts of a result; after a restart only what the model read is known. @param {Call} call @returns {string[]} */
export function textsOf(call) {
  const texts = (call.content ?? []).filter((item) => item.type === 'text' && item.text).map((item) => String(item.text));
  return texts.length || call.content?.length || !call.model_text ? texts : [unframed(call.model_text)];
}

/** The change of an edit that went well: as the companion tells it, or as it was asked for. @param {Call} call @param {any} args */
export function changeOf(call, args) {
  return call.tool === 'edit_file' && call.status === 'ok' && !call.is_error ? call.structured?.diff || askedChange(args ?? {}) : '';
}

/** What came out, in a few words. @param {Call} call @param {any} args */
export function outcome(call, args) {
  const result = call.structured;
  if (!result || call.status !== 'ok') return '';
  switch (call.tool) {
    case 'execute_command': return result.timed_out ? t('card.timed_out') : result.signal ? t('card.signal', { signal: result.signal }) : t('card.exit', { code: String(result.exit_code) });
    case 'list_directory': return t('card.entries', { n: result.total ?? result.entries?.length ?? 0 });
    case 'read_file': return formatSize(result.size ?? 0);
    case 'search_files': return t('card.matches', { n: result.matches?.length ?? 0 });
    case 'edit_file': {
      const change = changeOf(call, args);
      if (!change) return formatSize(result.bytes ?? 0);
      const { added, removed } = countLines(change);
      return `+${added} −${removed}`;
    }
  }
  return '';
}

/** Why a result is a failure, by its own account: in our words where it has a code that we know. @param {Call} call */
function failureOf(call) {
  const { error, mime_type: mime = '', size = 0 } = call.structured ?? {};
  return error && has(`fail.${error}`) ? t(`fail.${error}`, { mime, size: formatSize(size) }) : textsOf(call)[0] ?? '';
}

/** How a call that did not succeed ended, in words, and why. @param {Call} call @returns {string[]} */
export function ending(call) {
  if (call.key?.startsWith('denied_by_user') || call.key === 'server_stopped') return [reasonText(call)];
  if (call.key && call.key === call.status) return [t(`status.${call.status}`)];
  const word = t(`status.${call.status === 'ok' ? 'error' : call.status}`);
  return [word, oneLine(reasonText(call) || failureOf(call), REASON)];
}

/** Who let the call through. @param {Call} call @param {any} [args] */
export function permit(call, args) {
  if (call.rule && (call.by === 'rule' || !call.by)) return permitText(call.rule, args);
  return call.by === 'person' || call.by === 'remembered' || call.by === 'policy' ? t(`card.by_${call.by}`) : null;
}

/** Failed for a person's eyes: a command that ended non-zero is a result, but no success. @param {Call} call */
export function failed(call) {
  return call.status !== 'ok' || Boolean(call.is_error) || (call.tool === 'execute_command' && Boolean(call.structured?.exit_code || call.structured?.timed_out));
}
