// The sessions in which Settings runs tools, and the last call of each tool.
import { signal } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { newId } from '../chat/conversation.js';
import { t } from '../i18n/index.js';
import { agents, root, setCall } from '../store.js';
import { runAgents } from './run-agents.js';

/** @typedef {import('../types.js').ToolInfo & {own_name?: string}} Tool */

/** The last call of each tool in this tab, by the tool's full name. */
export const lastCalls = signal(/** @type {Record<string, {id: string, call_id: string, tool: string, arguments: any}>} */ ({}));

/** By agent. @type {Map<string, any>} */
const sessions = new Map();

/**
 * A session that reaches the tool: services that were started later are in none of the older sessions. Throws when no agent
 * reaches it: the companion would only say that it is unknown. @param {Tool} tool @param {boolean} anew
 */
async function sessionFor(tool, anew) {
  for (const agent of runAgents(agents.peek(), tool)) {
    const before = sessions.get(agent);
    if (!anew && before?.root === root.value && nameIn(before, tool)) return before;
    const answer = await api.post('/api/sessions', { agent });
    const session = answer.session ?? answer;
    sessions.set(agent, session);
    if (before) api.del(url`/api/sessions/${before.id}`).catch(() => {});
    if (nameIn(session, tool)) return session;
  }
  throw new Error(tool.server && tool.state === 'offline' ? t('run.offline', { server: tool.server }) : t('srv.used_by_none'));
}

/** The name that a session gives to a tool, '' when it does not reach it. @param {any} of @param {Tool} tool */
function nameIn(of, tool) {
  const list = /** @type {Tool[]} */ (of.tools ?? []);
  const found = list.find((one) => (tool.server ? one.server === tool.server && one.own_name === tool.own_name && one.name : one.name === tool.name)) ?? list.find((one) => one.name === tool.name);
  return found?.name ?? '';
}

/** Starts a call; its card shows the rest. Throws ApiError. @param {Tool} tool @param {any} args */
export async function startCall(tool, args) {
  for (let attempt = 0; ; attempt++) {
    const used = await sessionFor(tool, attempt > 0);
    const call_id = newId('call');
    const name = nameIn(used, tool) || tool.name;
    // Before it is sent: its first events may be faster than the answer.
    setCall({ call_id, tool: name, server: tool.server, status: 'running', session: used.id }, { arguments: args, session: used.id });
    try {
      await api.post(url`/api/sessions/${used.id}/calls`, { tool: name, arguments: args, call_id }, { headers: { Prefer: 'respond-async' } });
    } catch (error) {
      // A session that is gone ran nothing, so one more try in a new one repeats nothing.
      if (attempt === 0 && /** @type {any} */ (error).status === 404) continue;
      throw error;
    }
    lastCalls.value = { ...lastCalls.value, [tool.name]: { id: call_id, call_id, tool: name, arguments: args } };
    return call_id;
  }
}
