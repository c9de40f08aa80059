// The tools of a page, filtered and by server. Pure.
import { aboutTool } from './tool-text.js';

/** @typedef {import('./run-session.js').Tool} Tool */

/** The tools that hold every word. @template {Tool} T @param {T[]} list @param {string} query @returns {T[]} */
export function filterTools(list, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return list;
  return list.filter((tool) => {
    const text = `${tool.name} ${tool.title ?? ''} ${tool.server ?? ''} ${tool.description ?? ''} ${tool.server ? '' : aboutTool(tool)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** Groups by server, the companion's own first. @param {Tool[]} list @returns {{server: string, tools: Tool[]}[]} */
export function groupTools(list) {
  /** @type {Map<string, Tool[]>} */
  const groups = new Map([['', []]]);
  for (const tool of list) {
    const server = tool.server ?? '';
    const group = groups.get(server);
    if (group) group.push(tool);
    else groups.set(server, [tool]);
  }
  return [...groups].map(([server, own]) => ({ server, tools: own })).filter(({ tools: own }) => own.length);
}
