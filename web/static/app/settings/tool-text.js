// What a person reads of a tool.
import { has, t } from '../i18n/index.js';

/** @typedef {import('./run-session.js').Tool} Tool */

/** Letters and digits alone: what is left when a title says no more than the name. @param {string} text */
const plain = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** The title of a tool where it says more than its name. @param {Tool} tool @param {string} name */
export const titleOf = (tool, name) => (tool.title && tool.server && plain(tool.title) !== plain(name) ? tool.title : '');

/** What a person reads of a tool: our own words for the companion's own tools, what the server says for the others. @param {Tool} tool */
export function aboutTool(tool) {
  const key = `tools.about_${tool.name}`;
  return !tool.server && has(key) ? t(key) : tool.description ?? '';
}
