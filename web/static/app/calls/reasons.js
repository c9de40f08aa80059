// The companion's sentences in the language shown. Calls, questions and verdicts carry a stable key and what fills the sentence;
// half a sentence that comes as English text (why a command is not simple, what is wrong with a path) is recognised by its form.
import { shortPath } from '../chat/folders.js';
import { has, language, t, tx } from '../i18n/index.js';
import { serverName } from './names.js';

/** Reasons of the shell reader, as permissions/shellscan words them. */
const scan = ['empty', 'too_long', 'invalid_utf8', 'nul', 'newline', 'carriage_return', 'control_character', 'invisible_character', 'unusual_space', 'unfinished_quote', 'sequence', 'and', 'or', 'pipe', 'background', 'redirection', 'here_document', 'process_substitution', 'command_substitution', 'variable', 'dollar_quote', 'group', 'brace', 'wildcard', 'tilde', 'comment', 'exclamation_mark', 'backslash', 'assignment', 'keyword', 'readers_disagree', 'unknown_program', 'program_by_path', 'unknown_flag', 'flag_value', 'flag_without_value', 'too_few_operands', 'too_many_operands', 'dash_operand', 'plus_operand', 'empty_operand', 'flag_after_operand', 'source_without_name', 'find_expression', 'powershell', 'into_unknown', 'up_from_unknown'].map((kind) => `scan.${kind}`);
/** What makes a path impossible, as permissions/resolve words it. */
const path = ['empty', 'blank', 'nul', 'no_home', 'tilde', 'not_folder', 'no_folder', 'missing', 'denied', 'circle', 'through', 'network', 'long', 'long_name', 'device', 'pipe', 'socket', 'neither', 'read_whole', 'failed'].map((kind) => `path.${kind}`);

/** What is not as it should be with an agent or a session, as permissions and localserver/session word it. */
const warn = ['unknown_agent', 'unknown_profile', 'unknown_level', 'unknown_server_tools', 'unknown_server_media', 'unknown_server_excluded', 'unknown_server', 'unknown_bundle', 'server_off', 'mcp_disabled', 'pinned_resource', 'unmatched_name_of', 'unmatched_name'].map((kind) => `warn.${kind}`);

/** A text in the quotes of Go. */
const QUOTED = '("(?:[^"\\\\]|\\\\.)*")';
/** Forms of what fills a clause: code in backticks, a quoted text, a number, the rest. @type {Record<string, string>} */
const holes = { text: '(`[^`]*`|"[^]*?")', program: '(`[^`]*`|"[^]*?")', path: QUOTED, n: '(\\d+)', agent: QUOTED, profile: QUOTED, level: QUOTED, server: QUOTED, bundle: QUOTED, name: QUOTED, list: "([a-z_' ]+)", uri: '(\\S+)', of: '(\\S+)', why: '([^]*)' };

/** @type {Map<string, {pattern: RegExp, names: string[]}>} */
const forms = new Map();

/** How a clause reads in English. @param {string} key */
function formOf(key) {
  let form = forms.get(key);
  if (!form) {
    /** @type {string[]} */
    const names = [];
    const source = t(key, {}, 'en').split(/(\{\w+\})/).map((/** @type {string} */ piece) => {
      const name = /^\{(\w+)\}$/.exec(piece)?.[1];
      if (!name) return piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      names.push(name);
      return key === 'path.failed' && name === 'text' ? '([^]*)' : holes[name];
    }).join('');
    forms.set(key, (form = { pattern: new RegExp(source, 'y'), names }));
  }
  return form;
}

/** @param {string} key @param {string} text @param {number} from @returns {{text: string, end: number}|null} the clause in the language shown */
function clauseAt(key, text, from) {
  const { pattern, names } = formOf(key);
  pattern.lastIndex = from;
  const hit = pattern.exec(text);
  if (!hit) return null;
  const vars = Object.fromEntries(names.map((name, at) => [name, hit[at + 1]]));
  return { text: tx(key, vars).join(''), end: pattern.lastIndex };
}

/** Half a sentence of the companion in the language shown, or as it came. @param {string} why */
export function clauseText(why) {
  if (language.value === 'en') return why;
  for (const key of path) {
    const hit = clauseAt(key, why, 0);
    if (hit?.end === why.length) return hit.text;
  }
  // The companion begins a sentence with a capital letter; its clauses have none.
  const text = why.charAt(0).toLowerCase() + why.slice(1);
  let out = '';
  for (let at = 0; at < text.length;) {
    const joins = ['scan.more', 'scan.tail_grammar', 'scan.tail_table'].map((key) => clauseAt(key, text, at)).find(Boolean);
    const join = out && !joins ? clauseAt('scan.join', text, at) : null;
    const from = join ? join.end : at;
    const next = joins ?? scan.map((key) => clauseAt(key, text, from)).filter((hit) => hit !== null).sort((a, b) => b.end - a.end)[0];
    if (!next || (out && !join && !joins)) return why;
    out += (join?.text ?? '') + next.text;
    at = next.end;
  }
  return out;
}

/** A warning about an agent or a session in the language shown, or as it came. @param {{code: string, message: string}} warning */
export function warningText({ code, message }) {
  if (language.value === 'en') return message;
  for (const key of warn.filter((one) => one.startsWith(`warn.${code}`))) {
    const hit = clauseAt(key, message, 0);
    if (hit?.end === message.length) return hit.text;
  }
  return message;
}

/**
 * The sentence of a verdict, a question or a call in the language shown; the companion's own English one where there is no other.
 * @param {{reason?: string, key?: string, args?: Record<string, string>}} said
 */
export function reasonText({ reason = '', key = '', args = {} }) {
  const name = `why.${key}`;
  if (!key || !has(name)) return reason;
  /** @type {Record<string, string>} */
  const vars = { reason, ...args };
  for (const name of ['path', 'cwd']) if (vars[name]) vars[name] = shortPath(vars[name]);
  if (vars.server) vars.server = serverName(vars.server);
  if (vars.access && has(`why.access_${vars.access}`)) vars.access = t(`why.access_${vars.access}`);
  if (typeof vars.why === 'string') vars.why = clauseText(vars.why);
  // What fills the sentence is foreign text and must not be taken for a placeholder of ours.
  const pieces = tx(name, vars);
  return t(name).match(/\{\w+\}/g)?.some((/** @type {string} */ hole) => !(hole.slice(1, -1) in vars)) ? reason : pieces.join('');
}

/** What the companion found out about a command that failed. @param {{reason?: string, hint?: string, args?: Record<string, string>}} diagnosis */
export function diagnosisText({ reason = '', hint = '', args = {} }) {
  const name = reason === 'not_executable' && args.name ? 'not_executable_file' : reason === 'command_not_found' && args.name ? 'program_not_found' : reason === 'disk_full' && args.folder ? 'disk_full_at' : reason;
  if (!has(`diag.${name}`)) return hint || reason;
  const more = reason === 'command_not_found' ? ['near', 'install', 'searched'].filter((key) => args[key === 'searched' ? 'path' : key]).map((key) => `diag.${key}`) : [];
  return [`diag.${name}`, ...more].map((key) => tx(key, args).join('')).join(' ');
}
