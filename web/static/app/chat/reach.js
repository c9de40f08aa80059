// What a chat reaches: the tools of its session; while it has none, those that its agent would get now.
import { useEffect, useRef } from '../../vendor/preact.js';
import { connection, loadReach, loadSession, reaches, services, ticks, tools } from '../store.js';
import { sessionOf, usable } from './chats.js';

/** @typedef {import('./chats.js').Chat} Chat @typedef {import('../types.js').ToolInfo} ToolInfo @typedef {import('../types.js').Session} Session */

/** The agent that a chat has or would begin with. @param {Chat} chat @returns {string} */
export const agentOf = (chat) => chat.head.value.meta?.agent ?? 'assistant';

/** The tools among these that a model is offered, with the settings of now. @param {ToolInfo[]} list @param {ToolInfo[]} all */
export function offered(list, all) {
  const now = new Map(all.map((tool) => [tool.name, tool]));
  return list.map((tool) => ({ ...tool, ...now.get(tool.name) })).filter(usable);
}

/** The tools that a model of this chat would get now; null while that is asked for. @param {Chat} chat @returns {ToolInfo[]|null} */
export function toolsOf(chat) {
  const session = sessionOf(chat);
  const list = session ? session.tools : reaches.value[agentOf(chat)]?.tools;
  return list ? offered(list, tools.value) : null;
}

/**
 * Whether a new session would bring a chat the tools of a server that its session lacks.
 * @param {Session|null} session @param {{tools: ToolInfo[]}|undefined} reach what its agent would get now @param {string} server
 */
export function lacks(session, reach, server) {
  const has = (/** @type {ToolInfo[]} */ list) => list.some((tool) => tool.server === server);
  return Boolean(session?.tools && reach && !has(session.tools) && has(reach.tools));
}

/**
 * Keeps what is known of a chat's reach fresh while a view shows it: with each change of the tools, and after each turn.
 * @param {Chat} chat @param {boolean} [both] what a new session would reach is wanted beside what the chat's own does
 */
export function useReach(chat, both = false) {
  const session = sessionOf(chat);
  const agent = session?.agent ?? agentOf(chat);
  const idle = chat.running.value === 'idle';
  const last = useRef('');
  const { tools: changed = 0, permissions = 0, config = 0 } = ticks.value;
  const state = connection.value;
  const running = Object.values(services.value).filter(({ state }) => state === 'running').map(({ id }) => id).join();
  useEffect(() => {
    // Nobody is there to ask; the next connection asks.
    if (state === 'lost' || state === 'unpaired') {
      last.current = '';
      return;
    }
    const now = `${session?.id} ${changed} ${state}`;
    // A turn that begins changes nothing; its session has just come with its tools.
    if (!idle && now === last.current) return;
    last.current = now;
    const load = async () => {
      // In this order, so that what both reach is never missed on one side.
      if (session) await loadSession(session.id);
      if (!session || both) await loadReach(agent);
    };
    load().catch(() => {}); // asked again with the next change or connection
  }, [session?.id, agent, idle, both, changed, state, ...(session && !both ? [0, 0, ''] : [permissions, config, running])]);
}
