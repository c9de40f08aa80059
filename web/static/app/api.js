// Speaks HTTP to the companion: pairing, the bearer token, typed errors. Nothing else in the page calls fetch.
import { signal } from '../vendor/preact.js';

/** The page's own version; it works with companions of the same major.minor. */
export const VERSION = '0.1';

const STORE = 'zc.pairing';

/** An error with what the companion said: a stable code, a sentence, and the field to blame where there is one. */
export class ApiError extends Error {
  /** @param {number} status @param {string} code @param {string} message @param {any} [body] */
  constructor(status, code, message, body) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.body = body ?? {};
    /** @type {string|undefined} */
    this.field = body?.error?.field;
  }
}

/**
 * How this tab stands with the companion. `unpaired` says why in `reason`: no_token, code_used, restarted.
 * @typedef {{state: 'starting'|'paired'|'unpaired'|'choose', reason?: string, server?: string}} Pairing
 */
/** @type {import('../vendor/preact.js').Signal<Pairing>} */
export const pairing = signal({ state: 'starting' });

/** @type {{token: string, token_id: string, server: string} | null} */
let held = null;
/** The server may be another one since the token was last sent: it has to prove itself first. */
let doubted = false;
/** @type {BroadcastChannel | null} */
let channel = null;

/** Only a loopback companion is ever spoken to. @param {string} server @returns {string} '' when it is none */
export function loopbackServer(server) {
  try {
    const url = new URL(server);
    return url.protocol === 'http:' && (url.hostname === '127.0.0.1' || url.hostname === 'localhost') ? url.origin : '';
  } catch {
    return '';
  }
}

/** Address of a path of the companion. @param {string} path */
export function address(path) {
  return (held?.server ?? '') + path;
}

/** The header that carries the token, for code that streams on its own. @returns {Record<string, string>} */
export function authorization() {
  return held ? { Authorization: `Bearer ${held.token}` } : {};
}

/** @param {string} url @param {RequestInit} init */
function send(url, init) {
  const options = /** @type {any} */ ({ ...init, cache: 'no-store', credentials: 'omit', redirect: 'error' });
  // A hosted page must say that it means to reach this machine; Chrome then asks the person once.
  if (/^http:\/\/(127\.0\.0\.1|localhost)/.test(url)) options.targetAddressSpace = 'loopback';
  return fetch(url, options);
}

/** @param {Response} response @returns {Promise<ApiError>} */
async function failure(response) {
  const text = await response.text().catch(() => '');
  try {
    const body = JSON.parse(text);
    if (body?.error?.message) return new ApiError(response.status, String(body.error.code ?? 'error'), String(body.error.message), body);
  } catch {
    // Not the companion's shape: the status has to do.
  }
  return new ApiError(response.status, `http_${response.status}`, text.slice(0, 300) || `HTTP ${response.status}`);
}

/** The connection was gone for a moment, so the port may belong to another program now. */
export function doubt() {
  doubted = true;
}

async function settleDoubt() {
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

/**
 * A raw request with the token. Throws ApiError for every refusal and `unreachable` when nobody answers.
 * @param {string} path @param {RequestInit & {headers?: Record<string, string>}} [init] @returns {Promise<Response>}
 */
export async function request(path, init = {}) {
  for (let attempt = 0; ; attempt++) {
    await settleDoubt();
    const sent = held?.token;
    let response;
    try {
      response = await send(address(path), { ...init, headers: { ...init.headers, ...authorization() } });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      doubted = true;
      throw new ApiError(0, 'unreachable', 'the companion does not answer');
    }
    if (response.ok) return response;
    if (response.status === 401) {
      // Another tab may have been paired anew while this one slept; a body that is no stream can be sent again.
      if (attempt === 0 && (held?.token !== sent || (await askTabs(sent)))) continue;
      if (held?.token === sent) forget('restarted');
    }
    throw await failure(response);
  }
}

/** @param {string} method @param {string} path @param {any} [body] @param {{signal?: AbortSignal, headers?: Record<string, string>}} [options] */
async function json(method, path, body, options = {}) {
  /** @type {Record<string, string>} */
  const headers = { ...options.headers };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const response = await request(path, { method, headers, signal: options.signal, body: body === undefined ? undefined : JSON.stringify(body) });
  if (response.status === 204) return null;
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

export const api = {
  /** @param {string} path @param {{signal?: AbortSignal}} [options] @returns {Promise<any>} */
  get: (path, options) => json('GET', path, undefined, options),
  /** @param {string} path @param {any} [body] @param {{signal?: AbortSignal, headers?: Record<string, string>}} [options] @returns {Promise<any>} */
  post: (path, body = {}, options) => json('POST', path, body, options),
  /** @param {string} path @param {any} body @returns {Promise<any>} */
  put: (path, body) => json('PUT', path, body),
  /** @param {string} path @param {any} body @returns {Promise<any>} */
  patch: (path, body) => json('PATCH', path, body),
  /** @param {string} path @returns {Promise<any>} */
  del: (path) => json('DELETE', path),
};

/** Path with each value encoded: url`/api/sessions/${id}`. @param {TemplateStringsArray} strings @param {...(string|number)} values */
export function url(strings, ...values) {
  return strings.reduce((text, part, at) => text + part + (at < values.length ? encodeURIComponent(String(values[at])) : ''), '');
}

/** @param {string} reason */
function forget(reason) {
  held = null;
  try {
    sessionStorage.removeItem(STORE);
  } catch {
    // Nothing was kept, then.
  }
  pairing.value = { state: 'unpaired', reason };
}

/** @param {{token: string, token_id: string, server: string}} next */
function hold(next) {
  held = next;
  doubted = false;
  try {
    sessionStorage.setItem(STORE, JSON.stringify(next));
  } catch {
    // Without storage a reload asks the other tabs.
  }
  pairing.value = { state: 'paired', server: next.server || location.origin };
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
function askTabs(not) {
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
  hold({ token, token_id, server });
  channel?.postMessage({ type: 'offer', pairing: held });
}

/**
 * Pairs this tab: a launch code first, then the token kept for it, then the other tabs.
 * @param {{code: string, server: string} | null} launch
 */
export async function pair(launch) {
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
  if (launch?.code) {
    try {
      await trade(launch.code, server);
      return;
    } catch (error) {
      // A used code is no reason to give up a token that still works.
      if (!(error instanceof ApiError)) {
        pairing.value = { state: 'unpaired', reason: 'unreachable' };
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
      if (await proves(kept)) return hold(kept);
    } catch {
      pairing.value = { state: 'unpaired', reason: 'unreachable' };
      return;
    }
  }
  if (await askTabs()) return;
  forget(launch?.code ? 'code_used' : kept ? 'restarted' : 'no_token');
}
