// Every text of the page goes through t(key). The texts of the chat lie in en.js and es.js, the others in files named for where they are read.
import { computed, signal } from '../../vendor/preact.js';
import en from './en.js';
import es from './es.js';
import enAgents from './en.agents.js';
import esAgents from './es.agents.js';
import enCalls from './en.calls.js';
import esCalls from './es.calls.js';
import enPermissions from './en.permissions.js';
import esPermissions from './es.permissions.js';
import enReasons from './en.reasons.js';
import esReasons from './es.reasons.js';
import enServers from './en.servers.js';
import esServers from './es.servers.js';
import enSettings from './en.settings.js';
import esSettings from './es.settings.js';
import enTokens from './en.tokens.js';
import esTokens from './es.tokens.js';
import enTools from './en.tools.js';
import esTools from './es.tools.js';

/** A text, or its plural forms chosen by `n` (categories of Intl.PluralRules). @typedef {string | {one: string, other: string, many?: string}} Text */
/** @type {Record<string, Record<string, Text>>} */
const texts = {
  en: { ...en, ...enAgents, ...enCalls, ...enPermissions, ...enReasons, ...enServers, ...enSettings, ...enTokens, ...enTools },
  es: { ...es, ...esAgents, ...esCalls, ...esPermissions, ...esReasons, ...esServers, ...esSettings, ...esTokens, ...esTools },
};

const hasDocument = typeof document !== 'undefined';

/** The language shown: `en` or `es`. Change it with setLanguage. */
export const language = signal(hasDocument && document.documentElement.lang in texts ? document.documentElement.lang : 'en');

const plurals = computed(() => new Intl.PluralRules(language.value));

/** @param {'en'|'es'} lang */
export function setLanguage(lang) {
  language.value = lang;
  if (hasDocument) document.documentElement.lang = lang;
  try {
    localStorage.setItem('zc.lang', lang);
  } catch {
    // Without storage the choice lasts for this tab.
  }
}

/** @param {string} key @param {Record<string, unknown>} vars @param {string} [lang] */
function pattern(key, vars, lang = language.value) {
  const text = texts[lang][key] ?? texts.en[key];
  if (text === undefined) return key;
  if (typeof text === 'string') return text;
  const category = plurals.value.select(Number(vars.n ?? 0));
  return /** @type {any} */ (text)[category] ?? text.other;
}

/**
 * The text of a key with `{name}` placeholders filled in; `{n}` is written as a number of the language.
 * @param {string} key @param {Record<string, unknown>} [vars] @param {'en'|'es'} [lang] another language than the one shown
 */
export function t(key, vars = {}, lang) {
  return pattern(key, vars, lang).replace(/\{(\w+)\}/g, (/** @type {string} */ all, /** @type {string} */ name) => {
    const value = vars[name];
    if (value === undefined) return all;
    return typeof value === 'number' ? formatNumber(value) : String(value);
  });
}

/**
 * Like t, for placeholders that are elements: answers the pieces in order.
 * @param {string} key @param {Record<string, any>} vars @returns {any[]}
 */
export function tx(key, vars) {
  return pattern(key, vars).split(/(\{\w+\})/).filter(Boolean).map((/** @type {string} */ piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    if (name === undefined || vars[name] === undefined) return piece;
    return typeof vars[name] === 'number' ? formatNumber(vars[name]) : vars[name];
  });
}

/** Whether a key has a text. @param {string} key */
export function has(key) {
  return key in texts.en;
}

/** The text of the language shown, else the English one, else any. @param {Record<string, string>|string|undefined|null} texts @param {string} [lang] */
export function localText(texts, lang = language.value) {
  if (!texts) return '';
  if (typeof texts === 'string') return texts;
  return texts[lang] || texts.en || Object.values(texts).find(Boolean) || '';
}

/** @param {number} value @param {Intl.NumberFormatOptions} [options] */
export function formatNumber(value, options) {
  return new Intl.NumberFormat(language.value, options).format(value);
}

/** Bytes as people read them: 1.2 kB. @param {number} bytes */
export function formatSize(bytes) {
  if (!Number.isFinite(bytes)) return '';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${formatNumber(value, { maximumFractionDigits: unit === 0 || value >= 100 ? 0 : 1 })} ${units[unit]}`;
}

/** Milliseconds as people read them: 3 ms, 1.4 s, 2 min 5 s. @param {number} ms */
export function formatDuration(ms) {
  if (!Number.isFinite(ms)) return '';
  if (ms < 1000) return `${formatNumber(Math.max(0, Math.round(ms)))} ms`;
  if (ms < 60_000) return `${formatNumber(ms / 1000, { maximumFractionDigits: 1, minimumFractionDigits: ms < 10_000 ? 1 : 0 })} s`;
  const minutes = Math.floor(ms / 60_000);
  return `${minutes} min ${Math.floor((ms % 60_000) / 1000)} s`;
}

/** The language with the person's own region, which decides on 24 hours or 12. */
const regional = () => (typeof navigator === 'undefined' ? undefined : navigator.languages?.find((tag) => tag.slice(0, 2) === language.value)) ?? language.value;

/** @param {string|number|Date} time */
export function formatTime(time) {
  return new Intl.DateTimeFormat(regional(), { hour: '2-digit', minute: '2-digit' }).format(new Date(time));
}

/** @param {string|number|Date} time */
export function formatDateTime(time) {
  return new Intl.DateTimeFormat(regional(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(time));
}

/** “4 seconds ago”. @param {string|number|Date} time @param {number} [now] */
export function formatAgo(time, now = Date.now()) {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' });
  const size = Math.abs(seconds);
  if (size < 60) return format.format(Math.round(seconds), 'second');
  if (size < 3600) return format.format(Math.round(seconds / 60), 'minute');
  if (size < 86_400) return format.format(Math.round(seconds / 3600), 'hour');
  return format.format(Math.round(seconds / 86_400), 'day');
}
