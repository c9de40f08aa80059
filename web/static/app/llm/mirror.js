// Mirror, the model that is none: it needs no key and no network. It shows the request that a model would get,
// and answers a tool line with that tool call, so that everything can be tried on first start.
import { t } from '../i18n/index.js';
import { parseToolText } from './toolline.js';

/** @typedef {import('./loop.js').ModelRequest} ModelRequest @typedef {import('./loop.js').Delta} Delta @typedef {import('../types.js').ToolInfo} ToolInfo */

const SHOWN = 12_000;

/** What Mirror answers to a request: text, or calls. @param {ModelRequest} request @param {ToolInfo[]} [known] every tool of the companion, also those that the model does not get @returns {{text: string, calls: {name: string, arguments: any}[]}} */
export function reflect(request, known = []) {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') {
    const results = [];
    for (let at = request.messages.length - 1; request.messages[at]?.role === 'tool'; at--) results.unshift(request.messages[at]);
    const shown = results.map((result) => {
      const { text } = /** @type {any} */ (result);
      return fenced(text.length > SHOWN ? `${text.slice(0, SHOWN)}\n…` : text);
    });
    return { text: `${t('mirror.result', { n: results.length })}\n\n${shown.join('\n\n')}`, calls: [] };
  }
  const typed = last?.role === 'user' ? parseToolText(last.text, request.tools) : null;
  if (typed && 'calls' in typed) return { text: '', calls: typed.calls };
  if (typed) return { text: problem(typed, request, known), calls: [] };
  return { text: `${t('mirror.intro')}\n\n${fenced(JSON.stringify(asSeen(request), null, 2), 'json')}`, calls: [] };
}

/** Why a tool line was not understood, in words. @param {{error: string, params: Record<string, any>}} problem @param {ModelRequest} request @param {ToolInfo[]} known */
function problem({ error, params }, request, known) {
  if (error !== 'unknown') return t(`mirror.${error}`, params);
  const tool = known.find(({ name }) => name === params.name);
  const held = tool && heldBack(tool);
  if (held) return t(`mirror.${held}`, params);
  const names = request.tools.map(({ name }) => `\`/${name}\``).join(' · ');
  return `${t('mirror.unknown', params)}${params.near ? ` ${t('mirror.near', params)}` : ''}\n\n${names ? `${t('mirror.known')} ${names}` : t('mirror.no_tools')}`;
}

/** Why a model does not get a tool that there is. @param {ToolInfo} tool @returns {'off'|'denied'|'offline'|'not_granted'} */
function heldBack({ enabled, mode, state }) {
  if (enabled === false) return 'off';
  if (mode === 'deny') return 'denied';
  return state === 'offline' ? 'offline' : 'not_granted';
}

/** @param {ModelRequest} request */
function asSeen(request) {
  const messages = request.messages.slice(-12).map((message) => (message.text.length > 1500 ? { ...message, text: `${message.text.slice(0, 1500)}…` } : message));
  return {
    model: request.model,
    system: request.system.map((part) => (part.length > 1500 ? `${part.slice(0, 1500)}…` : part)),
    messages: request.messages.length > messages.length ? [t('mirror.left_out', { n: request.messages.length - messages.length }), ...messages] : messages,
    tools: request.tools.map((tool) => tool.name),
  };
}

/** A code fence that its content cannot close. @param {string} text @param {string} [language] */
function fenced(text, language = '') {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map((run) => run[0].length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** @param {ModelRequest} request @param {AbortSignal} signal @param {ToolInfo[]} known @returns {AsyncGenerator<Delta>} */
export async function* streamMirror(request, signal, known) {
  const { text, calls } = reflect(request, known);
  for (let at = 0; at < text.length; at += 400) {
    signal.throwIfAborted();
    yield { type: 'text', text: text.slice(at, at + 400) };
    if (text.length > 400) await new Promise((resolve) => setTimeout(resolve, 8));
  }
  for (const [index, call] of calls.entries()) yield { type: 'call', index, id: '', name: call.name, arguments: JSON.stringify(call.arguments) };
}
