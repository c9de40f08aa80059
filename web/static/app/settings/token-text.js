// Tokens for other apps: what their names may be, when they end, how they stand. Pure.

/** A token as the companion lists it. @typedef {{id: string, name: string, agent: string, created: string, expires?: string, last_used?: string}} Token */

/** How long a new token lasts, in days; 0 is for ever. */
export const LASTS = [7, 30, 90, 365, 0];
/** What the form begins with. */
export const USUAL = 90;

const DAY_MS = 86_400_000;
/** The most characters of a name. */
const MOST = 64;
/** What the companion takes for unprintable: controls, what has no shape, and spaces other than the plain one. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}\ufffd]|(?! )\p{Zs}/u;

/** Why a token may not be called so, '' when it may. @param {string} name @param {string[]} taken @returns {''|'empty'|'long'|'chars'|'taken'} */
export function nameFault(name, taken) {
  const wish = name.trim();
  if (!wish) return 'empty';
  if (UNPRINTABLE.test(wish)) return 'chars';
  if ([...wish].length > MOST) return 'long';
  return taken.some((other) => other.toLowerCase() === wish.toLowerCase()) ? 'taken' : '';
}

/** The end of a token made now, as the companion takes it; undefined for none. @param {number} days @param {number} now */
export function endOf(days, now) {
  return days ? `${new Date(now + days * DAY_MS).toISOString().slice(0, 19)}Z` : undefined;
}

/** Whether a token has ended. @param {Token} token @param {number} now */
export const ended = (token, now) => Boolean(token.expires) && new Date(String(token.expires)).getTime() <= now;

/** Where other apps find the companion, '' where that is not known. @param {string|undefined} server address of the companion */
export function mcpAddress(server) {
  const port = /^http:\/\/(?:127\.0\.0\.1|localhost)(:\d+)?(?:\/|$)/.exec(server ?? '');
  return port ? `http://127.0.0.1${port[1] ?? ''}/mcp` : '';
}
