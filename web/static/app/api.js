// Speaks HTTP to the companion with this tab's token, and answers with JSON or a typed error.
import { ApiError, failure, send } from './http.js';
import { address, askTabs, authorization, doubt, forget, heldToken, refuse, settleDoubt } from './pairing.js';

export { ApiError, loopbackServer } from './http.js';
export { address, authorization, connect, doubt, pair, pairing } from './pairing.js';

/** The page's own version; it works with companions of the same major.minor. */
export const VERSION = '0.1';

/**
 * A raw request with the token. Throws ApiError for every refusal and `unreachable` when nobody answers.
 * @param {string} path @param {RequestInit & {headers?: Record<string, string>}} [init] @returns {Promise<Response>}
 */
export async function request(path, init = {}) {
  for (let attempt = 0; ; attempt++) {
    await settleDoubt();
    const sent = heldToken();
    let response;
    try {
      response = await send(address(path), { ...init, headers: { ...init.headers, ...authorization() } });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      doubt();
      throw new ApiError(0, 'unreachable', 'the companion does not answer');
    }
    if (response.ok) return response;
    if (response.status === 401) {
      // Another tab may have been paired anew while this one slept; a body that is no stream can be sent again.
      if (attempt === 0 && (heldToken() !== sent || (await askTabs(sent)))) continue;
      if (heldToken() === sent) forget('restarted');
    }
    const error = await failure(response);
    if (error.code === 'origin_unconfirmed' && heldToken() === sent) refuse();
    throw error;
  }
}

/** @param {string} method @param {string} path @param {any} [body] @param {{signal?: AbortSignal, headers?: Record<string, string>, keepalive?: boolean}} [options] `keepalive`: the request outlives the page */
async function json(method, path, body, options = {}) {
  /** @type {Record<string, string>} */
  const headers = { ...options.headers };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const response = await request(path, { method, headers, signal: options.signal, keepalive: options.keepalive, body: body === undefined ? undefined : JSON.stringify(body) });
  if (response.status === 204) return null;
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

export const api = {
  /** @param {string} path @param {{signal?: AbortSignal}} [options] @returns {Promise<any>} */
  get: (path, options) => json('GET', path, undefined, options),
  /** @param {string} path @param {any} [body] @param {{signal?: AbortSignal, headers?: Record<string, string>, keepalive?: boolean}} [options] @returns {Promise<any>} */
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
