// Reads the allowed directories as they are typed. The companion judges in the end; this says at once, beside the line,
// what would make it refuse. The same grammar as the companion's.

/** @typedef {{line: number, text: string, code: string}} LineFault */

const utf8 = new TextEncoder();
const bytes = (/** @type {string} */ text) => utf8.encode(text).length;
const outer = /^[ \t\r]+|[ \t\r]+$/g;
const drive = /^[a-z]:/i;
const RULES = 1000;
const WILD_NAMES = 16;

/** Why one line is no rule: a code, or '' for a rule, a comment or nothing. @param {string} line @param {boolean} [windows] */
export function faultOf(line, windows = false) {
  const text = line.replace(outer, '');
  if (!text || text.startsWith('#')) return '';
  if (bytes(text) > 4096) return 'too_long';
  if (/[\ud800-\udfff]/u.test(text)) return 'encoding';
  const match = /^(R|W|RW):/.exec(text);
  if (!match) return 'grammar';
  let pattern = text.slice(match[0].length).replace(outer, '');
  if (!pattern) return 'empty';
  if (/\p{Cc}/u.test(pattern)) return 'control_character';
  if (windows) {
    pattern = pattern.replaceAll('\\', '/');
    if (pattern.startsWith('//')) return 'network_path';
    if (drive.test(pattern)) {
      if (pattern[2] !== '/') return 'drive_relative';
      pattern = pattern.slice(2);
    }
  }
  let wild = 0;
  for (const name of pattern.split('/')) {
    if (!name || name === '.') continue;
    if (name.includes('*') && ++wild > WILD_NAMES) return 'too_many_wildcards';
    if (bytes(name) > 255) return 'long_name';
    if (name === '..') {
      if (wild) return 'dots_after_wildcard';
      continue;
    }
    if (!name.includes('*') || name === '*' || name === '**') continue;
    if (name.includes('**')) return 'glued_stars';
    if (name.split('*').length - 1 > 8) return 'too_many_stars';
  }
  return '';
}

/** The lines of a text that are no rules. @param {string} text @param {boolean} [windows] @returns {LineFault[]} */
export function faultsOf(text, windows = false) {
  let rules = 0;
  return text.split('\n').flatMap((line, at) => {
    const trimmed = line.replace(outer, '');
    const code = faultOf(line, windows) || (trimmed && !trimmed.startsWith('#') && ++rules > RULES ? 'too_many_rules' : '');
    return code ? [{ line: at + 1, text: line, code }] : [];
  });
}

/** The text of a list of lines. @param {string[]} directories */
export function textOf(directories) {
  return (directories ?? []).join('\n');
}

/** The lines to save: what an editor leaves at the ends is dropped, blank lines and comments stay. @param {string} text @returns {string[]} */
export function linesOf(text) {
  const lines = text.split('\n').map((line) => line.replace(outer, ''));
  while (lines.length && !lines[lines.length - 1]) lines.pop();
  return lines;
}

/** Adds a rule as a line of its own, unless it stands there already. @param {string} text @param {string} rule */
export function withRule(text, rule) {
  const lines = linesOf(text);
  return lines.includes(rule) ? text : [...lines, rule].join('\n');
}
