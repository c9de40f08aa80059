// The one place of the page that calls fetch, and what its refusals become.

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

/** Only a loopback companion is ever spoken to. @param {string} server @returns {string} '' when it is none */
export function loopbackServer(server) {
  try {
    const url = new URL(server);
    return url.protocol === 'http:' && (url.hostname === '127.0.0.1' || url.hostname === 'localhost') ? url.origin : '';
  } catch {
    return '';
  }
}

/** @param {string} url @param {RequestInit} init */
export function send(url, init) {
  const options = /** @type {any} */ ({ ...init, cache: 'no-store', credentials: 'omit', redirect: 'error' });
  // A hosted page must say that it means to reach this machine; Chrome then asks the person once.
  if (/^http:\/\/(127\.0\.0\.1|localhost)/.test(url)) options.targetAddressSpace = 'loopback';
  return fetch(url, options);
}

/** @param {Response} response @returns {Promise<ApiError>} */
export async function failure(response) {
  const text = await response.text().catch(() => '');
  try {
    const body = JSON.parse(text);
    if (body?.error?.message) return new ApiError(response.status, String(body.error.code ?? 'error'), String(body.error.message), body);
  } catch {
    // Not the companion's shape: the status has to do.
  }
  return new ApiError(response.status, `http_${response.status}`, text.slice(0, 300) || `HTTP ${response.status}`);
}
