// Routes live in the fragment (#/chat/ID, #/settings/mcp, #/config/mcp.servers), so that any static host serves them.
import { effect, signal } from '../vendor/preact.js';

/** @typedef {{view: 'chat'|'settings'|'config', parts: string[], query: URLSearchParams}} Route */

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The route that a fragment names; anything unknown is the chat. @param {string} hash @returns {Route} */
export function parseRoute(hash) {
  const [path, search = ''] = hash.replace(/^#/, '').split('?', 2);
  const parts = path.split('/').filter(Boolean).map(decoded);
  const view = parts[0] === 'settings' || parts[0] === 'config' ? parts[0] : 'chat';
  return { view, parts: parts[0] === view ? parts.slice(1) : [], query: new URLSearchParams(search) };
}

/** The fragment for a view: link('chat', id) = '#/chat/…'. @param {string} view @param {...string} parts */
export function link(view, ...parts) {
  return `#/${[view, ...parts].map((part) => encodeURIComponent(part)).join('/')}`;
}

/** The one-use launch code and the companion's address in a fragment such as #code=…; null when there is none. @param {string} hash */
export function launchParts(hash) {
  const text = hash.replace(/^#/, '');
  if (text.startsWith('/') || !/(^|&)(code|server)=/.test(text)) return null;
  const params = new URLSearchParams(text);
  return { code: params.get('code') ?? '', server: params.get('server') ?? '' };
}

/** The route shown. */
export const route = signal(parseRoute(typeof location === 'undefined' ? '' : location.hash));
/** The conversation shown last, '' for a new one: where other views lead back to. */
export const lastChat = signal('');
effect(() => {
  if (route.value.view === 'chat') lastChat.value = route.value.parts[0] ?? '';
});

/** @param {string} to a fragment @param {boolean} [replace] leave no entry in the history */
export function navigate(to, replace = false) {
  if (replace) {
    history.replaceState(null, '', to);
    route.value = parseRoute(to);
  } else location.hash = to;
}

/** The fragment of a route. @param {Route} route */
const linkTo = ({ view, parts }) => (view === 'chat' && !parts.length ? '' : link(view, ...parts));

/** Follows the address bar; `launched` gets a code that was pasted into an open tab, which goes on showing what it shows. @param {(parts: {code: string, server: string}) => void} launched */
export function followAddress(launched) {
  addEventListener('hashchange', ({ newURL }) => {
    // What the address was then: by now the next change may have come, whose turn is later.
    const { hash } = new URL(newURL);
    const parts = launchParts(hash);
    if (parts) {
      history.replaceState(null, '', location.pathname + location.search + linkTo(route.peek()));
      launched(parts);
      return;
    }
    route.value = parseRoute(hash);
  });
}
