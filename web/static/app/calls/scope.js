// Rules in the words of a card: which are a person's own, how far each reaches, and what stands for those that nobody wrote.
import { html } from '../../vendor/preact.js';
import { has, t, tx } from '../i18n/index.js';

/** Whether a name of what decided is a rule that a person could have written. @param {string} text */
export const isRule = (text) => /^(R|W|RW):/.test(text);

/** How far a rule reaches: 0 one path, 1 a pattern, 2 everything below a folder. @param {string} rule */
function reachOf(rule) {
  if (/\*\*$/.test(rule)) return 2;
  return rule.includes('*') ? 1 : 0;
}

/** Rules of which each alone would do, the one that gives the least away first. @param {string[]} rules */
export function narrowestFirst(rules) {
  return [...rules].sort((a, b) => reachOf(a) - reachOf(b) || b.split('/').length - a.split('/').length);
}

/** What a rule would cover, in words. @param {string} rule */
export function scopeOf(rule) {
  return t(`ask.rule_${['exact', 'pattern', 'below'][reachOf(rule)]}`);
}

/** A folder of a chat is called by what lies there: `uploads` holds what its person gave, and no tool writes there. @param {any} args */
const attached = (args) => typeof args?.path === 'string' && /[\\/]uploads([\\/]|$)/.test(args.path);

/** What let a call through, as a person would say it: their own rule, or words for what they never wrote. @param {string} rule @param {any} [args] those of the call */
export function permitText(rule, args) {
  if (isRule(rule)) return tx('card.rule', { rule: html`<code>${rule}</code>` });
  if (rule === 'workspace' && attached(args)) return t('card.via_attached');
  const key = [`card.via_${rule}`, `card.by_${rule}`].find(has);
  return key ? t(key) : null;
}
