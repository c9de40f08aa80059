// How this tab gets, keeps and proves its token: a launch code, the token kept for the tab, or the other tabs of the browser.
import { signal } from '../vendor/preact.js';
import { ApiError, failure, loopbackServer, send } from './http.js';

const STORE = 'zc.pairing';

/**
 * How this tab stands with the companion. `unpaired` says why in `reason`: no_token, code_used, restarted, unreachable, blocked (a page
 * from elsewhere that its browser may not have let through), not_loopback, unconfirmed (nobody let this page's origin in yet).
 * `ask`: a page from elsewhere connects on a click.
 * @typedef {{state: 'starting'|'paired'|'unpaired'|'ask', reason?: string, server?: string}} Pairing
 */
/** @type {import('../vendor/preact.js').Signal<Pairing>} */
export const pairing = signal({ state: 'starting' });

/** @type {{token: string, token_id: string, server: string} | null} */
let held = null;
/** The server may be another one since the token was last sent: it has to prove itself first. */
let doubted = false;
/** @type {BroadcastChannel | null} */
let channel = null;

/** What a page from elsewhere was opened with, until the person clicks. @type {{code: string, server: string} | null} */
let offered = null;

/** Whether this page comes from another machine, so that its browser may ask or refuse before it reaches this one. */
const hosted = () => !/^(127\.0\.0\.1|localhost|\[::1\])$/.test(location.hostname);

/** Address of a path of the companion. @param {string} path */
export function address(path) {
  return (held?.server ?? '') + path;
}

/** The header that carries the token, for code that streams on its own. @returns {Record<string, string>} */
export function authorization() {
  return held ? { Authorization: `Bearer ${held.token}` } : {};
}

/** The token that is sent now. @returns {string|undefined} */
export const heldToken = () => held?.token;

/** The connection was gone for a moment, so the port may belong to another program now. */
export function doubt() {
  doubted = true;
}

/** Before a token is sent again after a gap, the server proves that it issued it. */
export async function settleDoubt() {
  if (!doubted || !held) return;
  const asked = held;
  let good;
  try {
    good = await proves(asked);
  } catch {
    throw new ApiError(0, 'unreachable', 'the companion does not answer');
  }
  if (held !== asked) return;
  if (good) doubted = false;
  else if (!(await askTabs(asked.token))) {
    if (held === asked) forget('restarted');
    throw new ApiError(401, 'unauthorized', 'the companion was restarted');
  }
}

/** The companion says that nobody let this page's origin in (any more). */
export function refuse() {
  pairing.value = { state: 'unpaired', reason: 'unconfirmed', server: held?.server };
}

/** The token is no good. @param {string} reason */
export function forget(reason) {
  held = null;
  try {
    sessionStorage.removeItem(STORE);
  } catch {
    // Nothing was kept, then.
  }
  pairing.value = { state: 'unpaired', reason };
}

/** Takes a token of a companion on another origin, which may not let this page in. @param {{token: string, token_id: string, server: string}} next */
async function enter(next) {
  let refused = false;
  if (next.server) {
    const response = await send(`${next.server}/api/status`, { headers: { Authorization: `Bearer ${next.token}` } });
    refused = !response.ok && (await failure(response)).code === 'origin_unconfirmed';
  }
  hold(next, refused);
}

/** @param {{token: string, token_id: string, server: string}} next @param {boolean} [refused] kept, but nobody let this page in yet */
function hold(next, refused = false) {
  held = next;
  doubted = false;
  try {
    sessionStorage.setItem(STORE, JSON.stringify(next));
  } catch {
    // Without storage a reload asks the other tabs.
  }
  const server = next.server || location.origin;
  pairing.value = refused ? { state: 'unpaired', reason: 'unconfirmed', server } : { state: 'paired', server };
}

/** @param {ArrayBuffer} bytes */
const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/**
 * Lets the server show that it issued the token, before the token is sent to it.
 * @param {{token: string, token_id: string, server: string}} held
 */
async function proves({ token, token_id, server }) {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(32)).buffer);
  const encoder = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', encoder.encode(token), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const expected = hex(await crypto.subtle.sign('HMAC', key, encoder.encode(nonce)));
  const response = await send(`${server}/api/prove`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token_id, nonce }) });
  if (!response.ok) return false;
  return (await response.json()).proof === expected;
}

/** @param {any} value @returns {{token: string, token_id: string, server: string} | null} */
function checked(value) {
  if (typeof value?.token !== 'string' || typeof value?.token_id !== 'string') return null;
  const server = value.server ? loopbackServer(String(value.server)) : '';
  return value.server && !server ? null : { token: value.token, token_id: value.token_id, server };
}

/** Asks the other tabs of this origin for their token. @param {string} [not] the token that no longer works */
export function askTabs(not) {
  return new Promise((/** @type {(ok: boolean) => void} */ resolve) => {
    if (!channel) return resolve(false);
    const timer = setTimeout(() => finish(false), 500);
    /** @param {MessageEvent} event */
    const listen = async ({ data }) => {
      const offer = data?.type === 'offer' ? checked(data.pairing) : null;
      if (!offer || offer.token === not || !(await proves(offer).catch(() => false))) return;
      hold(offer);
      finish(true);
    };
    /** @param {boolean} ok */
    const finish = (ok) => {
      clearTimeout(timer);
      channel?.removeEventListener('message', listen);
      resolve(ok);
    };
    channel.addEventListener('message', listen);
    channel.postMessage({ type: 'ask' });
  });
}

/** @param {string} code @param {string} server */
async function trade(code, server) {
  const response = await send(`${server}/api/pair`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ code }) });
  if (!response.ok) throw await failure(response);
  const { token, token_id } = await response.json();
  await enter({ token, token_id, server });
  channel?.postMessage({ type: 'offer', pairing: held });
}

/** Connects a page from elsewhere: its browser asks the person now, if it asks at all. */
export function connect() {
  return pair(offered, true);
}

/**
 * Pairs this tab: a launch code first, then the token kept for it, then the other tabs.
 * @param {{code: string, server: string} | null} launch @param {boolean} [clicked]
 */
export async function pair(launch, clicked = false) {
  pairing.value = { state: 'starting' };
  if (!channel && typeof BroadcastChannel !== 'undefined') {
    channel = new BroadcastChannel('zc-pairing');
    channel.addEventListener('message', async ({ data }) => {
      if (data?.type === 'ask' && held) channel?.postMessage({ type: 'offer', pairing: held });
      const offer = data?.type === 'offer' && pairing.value.state === 'unpaired' ? checked(data.pairing) : null;
      if (offer && (await proves(offer).catch(() => false))) hold(offer);
    });
  }
  const server = launch?.server ? loopbackServer(launch.server) : '';
  if (launch?.server && !server) {
    pairing.value = { state: 'unpaired', reason: 'not_loopback' };
    return;
  }
  if (server && hosted() && !clicked) {
    offered = launch;
    pairing.value = { state: 'ask', server };
    return;
  }
  const silent = (/** @type {string} */ where) => {
    pairing.value = { state: 'unpaired', reason: where && hosted() ? 'blocked' : 'unreachable', server: where };
  };
  if (launch?.code) {
    try {
      await trade(launch.code, server);
      return;
    } catch (error) {
      // A used code is no reason to give up a token that still works.
      if (!(error instanceof ApiError)) {
        silent(server);
        return;
      }
    }
  }
  let kept = null;
  try {
    kept = checked(JSON.parse(sessionStorage.getItem(STORE) ?? 'null'));
  } catch {
    // No token kept, or not one of ours.
  }
  if (kept) {
    try {
      if (await proves(kept)) return await enter(kept);
    } catch {
      silent(kept.server);
      return;
    }
  }
  if (await askTabs()) return;
  forget(launch?.code ? 'code_used' : kept ? 'restarted' : 'no_token');
}
