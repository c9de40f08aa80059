// The agent loop: asks the model, runs the calls it asks for, gives it the results, until it answers in words.
// Everything outside (model, companion, storage, screen) comes in as functions, so that it can be tested whole.
import { COMPACT_AT, estimate, fitting, keepCount, limitIn, modelMessages, requestMessages, sizeOf, summaryPrompt } from './context.js';
import { readTextCalls, refusesTools } from './texttools.js';

/** @typedef {import('../types.js').Message} Message @typedef {import('../types.js').MessageData} MessageData @typedef {import('../types.js').AskedCall} AskedCall
 * @typedef {import('../types.js').Call} Call @typedef {import('../types.js').ToolInfo} ToolInfo */

/**
 * A piece of a model's answer. Arguments of a call come in fragments that belong together by `index`.
 * @typedef {{type: 'text', text: string} | {type: 'reasoning', text: string} | {type: 'call', index: number, id: string, name: string, arguments: string} | {type: 'usage', input?: number, output?: number}} Delta
 *
 * @typedef {{id: string, name: string, arguments: any, broken?: string}} ModelCall
 * @typedef {{role: 'user', text: string, files?: import('../types.js').StoredFile[], images?: {mime: string, base64: string}[]} | {role: 'assistant', text: string, calls?: ModelCall[]} | {role: 'tool', id: string, name: string, text: string, is_error?: boolean}} ModelMessage
 * @typedef {{model: string, system: string[], messages: ModelMessage[], tools: {name: string, description?: string, input_schema?: any}[], text_tools?: boolean}} ModelRequest
 *
 * @typedef {{text: string, reasoning: string, calls: {name: string, arguments: string}[], phase: 'slot'|'model'|'calls'|'compacting'}} Live
 *
 * @typedef {object} Deps
 * @property {() => Message[]} history the conversation, oldest first
 * @property {(messages: Omit<Message, 'seq'>[]) => Promise<void>} append stores and shows messages
 * @property {(request: ModelRequest, signal: AbortSignal, waiting: () => void) => AsyncIterable<Delta>} stream
 * @property {(message: string) => Promise<{tools: any[], system: {kind: string, text: string}[]}>} turn what the model may see now
 * @property {(call: {tool: string, arguments: any, call_id: string}) => Promise<void>} startCall
 * @property {(callId: string, signal: AbortSignal) => Promise<Call|null>} awaitCall null when the companion knows no such call
 * @property {(callId: string) => Promise<void>} cancelCall
 * @property {(live: Live|null) => void} show
 * @property {(prefix: string) => string} newId
 * @property {{id: string, model: string, context: number, text_tools?: boolean, compacts?: boolean}} profile
 * @property {number} [stepLimit]
 * @property {(call: AskedCall) => void} [asked] a call is about to start
 * @property {() => void} [textToolsNeeded] the model turned out to have no native tool calls
 */

export const STEP_LIMIT = 40;
export const SAME_FAILURES = 3;

/** @param {Message} message */
const isNotice = ({ role, data }) => role === 'assistant' && !data.text && !data.calls?.length && data.kind !== 'summary';

/** Calls of the last answer that have no result yet. @param {Message[]} messages @returns {AskedCall[]} */
export function openCalls(messages) {
  const at = messages.findLastIndex(({ role, data }) => role === 'assistant' && data.calls?.length);
  if (at < 0) return [];
  const answered = new Set(messages.slice(at + 1).filter(({ role }) => role === 'tool').map(({ data }) => data.call_id));
  return (messages[at].data.calls ?? []).filter((call) => !answered.has(call.call_id));
}

/** Whether a conversation stopped half-way without anybody wanting it: a reload, a closed tab, a crash. @param {Message[]} messages */
export function unfinished(messages) {
  const last = messages.at(-1);
  if (!last) return false;
  if (last.role === 'user' || last.role === 'tool') return true;
  return openCalls(messages).length > 0 && !last.data.stopped;
}

/** Arguments of a call: an object, or what was wrong. @param {string} text @returns {{arguments: any, broken?: string}} */
export function readArguments(text) {
  if (!text.trim()) return { arguments: {} };
  try {
    const value = JSON.parse(text);
    if (value && typeof value === 'object' && !Array.isArray(value)) return { arguments: value };
    return { arguments: {}, broken: text };
  } catch {
    return { arguments: {}, broken: text };
  }
}

/** Whether a batch of results counts as failing. @param {MessageData[]} results */
const failing = (results) => results.length > 0 && results.every((result) => result.is_error || result.status !== 'ok');

/**
 * The last batches of calls that are all the same and all failed. @param {Message[]} messages
 */
export function sameFailures(messages) {
  let count = 0;
  let signature = '';
  for (let at = messages.length - 1; at >= 0; at--) {
    const { role, data } = messages[at];
    if (role === 'user') break;
    if (role !== 'assistant' || !data.calls?.length) continue;
    const ids = new Set(data.calls.map((call) => call.call_id));
    const results = messages.slice(at + 1).filter((message) => message.role === 'tool' && ids.has(message.data.call_id ?? '')).map((message) => message.data);
    if (!failing(results) || results.length !== ids.size) break;
    const mine = JSON.stringify(data.calls.map((call) => [call.tool, call.arguments, call.broken]));
    if (signature && mine !== signature) break;
    signature = mine;
    count++;
  }
  return count;
}

/**
 * Runs a conversation on from where it stands.
 * `stopped` after an abort (open calls are cancelled first), `limit` after too many steps, `repeat` after the same calls failed again and again,
 * `interrupted` when the companion ended under a call: a person decides whether to go on.
 * @param {Deps} deps @param {AbortSignal} signal @param {boolean} [byItself] nobody asked for this: a turn that was left half-way is taken over
 * @returns {Promise<'done'|'stopped'|'limit'|'repeat'|'interrupted'|'error'>}
 */
export async function runLoop(deps, signal, byItself = false) {
  try {
    for (let step = 0; ; step++) {
      const open = openCalls(deps.history());
      if (open.length) {
        const results = await runCalls(deps, open, signal, step === 0);
        if (signal.aborted) return await note(deps, { text: '', stopped: true }, 'stopped');
        // What was found interrupted is known to the person who says go on.
        if ((step > 0 || byItself) && results.some(({ status }) => status === 'interrupted')) return await note(deps, { text: '', kind: 'interrupted' }, 'interrupted');
        if (sameFailures(deps.history()) >= SAME_FAILURES) return await note(deps, { text: '', kind: 'repeat' }, 'repeat');
        continue;
      }
      if (step > 0 && deps.history().at(-1)?.role === 'assistant') return 'done';
      if (steps(deps.history()) >= (deps.stepLimit ?? STEP_LIMIT)) return await note(deps, { text: '', kind: 'limit' }, 'limit');
      if (signal.aborted) return await note(deps, { text: '', stopped: true }, 'stopped');
      const end = await think(deps, signal);
      if (end) return end;
    }
  } finally {
    deps.show(null);
  }
}

/** Stores how the calls that a turn left open have ended, and nothing more. @param {Deps} deps @param {AbortSignal} signal @returns {Promise<'interrupted'>} */
export async function settleCalls(deps, signal) {
  try {
    await runCalls(deps, openCalls(deps.history()), signal, true);
    return await note(deps, { text: '', kind: 'interrupted' }, 'interrupted');
  } finally {
    deps.show(null);
  }
}

/** Answers of the model since a person last spoke or said “continue”. @param {Message[]} messages */
function steps(messages) {
  let count = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message.role === 'user' || isNotice(message)) break;
    if (message.role === 'assistant' && message.data.kind !== 'summary') count++;
  }
  return count;
}

/** @template {'done'|'stopped'|'limit'|'repeat'|'interrupted'|'error'} T @param {Deps} deps @param {MessageData} data @param {T} end @returns {Promise<T>} */
async function note(deps, data, end) {
  deps.show(null);
  await deps.append([{ id: deps.newId('m'), role: 'assistant', data: { profile: deps.profile.id, model: deps.profile.model, ...data } }]);
  return end;
}

/** One answer of the model. @param {Deps} deps @param {AbortSignal} signal @returns {Promise<'done'|'stopped'|'error'|null>} null to go on */
async function think(deps, signal) {
  const lastUser = deps.history().findLast(({ role }) => role === 'user')?.data.text ?? '';
  /** @type {Live} */
  const live = { text: '', reasoning: '', calls: [], phase: 'model' };
  /** @type {{id: string, name: string, arguments: string}[]} */
  const asked = [];
  /** @type {{input?: number, output?: number}} */
  let usage = {};
  let textTools = Boolean(deps.profile.text_tools);
  deps.show(live);
  try {
    const { tools, system } = await deps.turn(lastUser);
    for (let attempt = 0; ; attempt++) {
      /** @type {ModelRequest} */
      const request = { model: deps.profile.model, system: system.map((part) => part.text), messages: requestMessages(deps.history()), tools, text_tools: textTools };
      if (deps.profile.compacts !== false && sizeOf(request) > deps.profile.context * COMPACT_AT && attempt === 0) {
        await compact(deps, signal);
        request.messages = requestMessages(deps.history());
      }
      live.phase = 'model';
      try {
        const waiting = () => deps.show({ ...live, phase: 'slot' });
        for await (const delta of deps.stream(request, signal, waiting)) {
          if (delta.type === 'text') live.text += delta.text;
          else if (delta.type === 'reasoning') live.reasoning += delta.text;
          else if (delta.type === 'usage') usage = { ...usage, ...(delta.input === undefined ? {} : { input: delta.input }), ...(delta.output === undefined ? {} : { output: delta.output }) };
          else {
            const call = (asked[delta.index] ??= { id: '', name: '', arguments: '' });
            call.id ||= delta.id;
            call.name += delta.name;
            call.arguments += delta.arguments;
            live.calls = asked.filter(Boolean).map(({ name, arguments: text }) => ({ name, arguments: text }));
          }
          deps.show({ ...live });
        }
        break;
      } catch (error) {
        // Nothing has run yet, and the request changes: this is no retry of the same thing.
        if (attempt > 0 || textTools || !tools.length || live.text || !refusesTools(error)) throw error;
        textTools = true;
        deps.textToolsNeeded?.();
      }
    }
  } catch (error) {
    if (signal.aborted) return note(deps, { text: live.text, reasoning: live.reasoning || undefined, stopped: true }, 'stopped');
    const { message, code, status } = /** @type {any} */ (error);
    return note(deps, { text: live.text, reasoning: live.reasoning || undefined, error: { message: String(message ?? error), code: String(code ?? status ?? '') } }, 'error');
  }
  if (signal.aborted) return note(deps, { text: live.text, reasoning: live.reasoning || undefined, stopped: true }, 'stopped');
  let text = live.text;
  let found = asked.filter(Boolean);
  if (textTools && !found.length) {
    const read = readTextCalls(text);
    text = read.text;
    found = read.calls.map((call) => ({ id: '', ...call }));
  }
  const ids = new Set();
  /** @type {AskedCall[]} */
  const calls = found.map((call) => {
    const id = call.id && !ids.has(call.id) ? call.id : deps.newId('call');
    ids.add(id);
    return { id, call_id: deps.newId('c'), tool: call.name, ...readArguments(call.arguments) };
  });
  // What streamed gives way to the message in one step, so that it never shows twice.
  deps.show(null);
  // The ids are stored before anything starts, so that whoever takes over after a reload finds the calls again.
  await deps.append([{ id: deps.newId('m'), role: 'assistant', data: {
    text, reasoning: live.reasoning || undefined, calls: calls.length ? calls : undefined, profile: deps.profile.id, model: deps.profile.model,
    usage: usage.input || usage.output ? usage : undefined, ...(!text && !calls.length ? { error: { message: '', code: 'empty' } } : {}),
  } }]);
  return calls.length ? null : 'done';
}

/**
 * Puts a summary in the place of what came before the last messages. @param {Deps} deps @param {AbortSignal} signal @param {number} [room] tokens that the last messages may keep
 * @returns {Promise<boolean>} false when there is too little to summarise
 */
async function compact(deps, signal, room = deps.profile.context / 4) {
  const messages = deps.history();
  const keep = keepCount(messages, room);
  const old = modelMessages(messages.slice(0, messages.length - keep));
  if (old.length < 2) return false;
  deps.show({ text: '', reasoning: '', calls: [], phase: 'compacting' });
  let text = '';
  // Calls become words here: a provider refuses call messages when the request offers no tools.
  const plain = old.map((message) => (message.role === 'tool' ? { role: /** @type {'user'} */ ('user'), text: `[result of ${message.name}] ${message.text.slice(0, 8_000)}` }
    : message.role === 'assistant' ? { role: message.role, text: `${message.text}${(message.calls ?? []).map((call) => `\n[called ${call.name} ${JSON.stringify(call.arguments).slice(0, 2_000)}]`).join('')}` } : message));
  // The first one is the summary before this, or what the person wanted to begin with.
  const [first, ...rest] = plain;
  const told = rest.length ? [first, ...fitting(rest, deps.profile.context * COMPACT_AT - estimate(first.text))] : plain;
  for await (const delta of deps.stream({ model: deps.profile.model, system: [summaryPrompt], messages: [...told, { role: 'user', text: summaryPrompt }], tools: [] }, signal, () => {})) {
    if (delta.type === 'text') text += delta.text;
  }
  if (!text.trim()) return false;
  await deps.append([{ id: deps.newId('m'), role: 'assistant', data: /** @type {any} */ ({ kind: 'summary', text, keep, profile: deps.profile.id, model: deps.profile.model }) }]);
  return true;
}

/**
 * A summary because a person wants one. What a model said about its limit counts more than what is known of its family.
 * @param {Deps} deps @param {AbortSignal} signal @param {string} refusal what the model said when it was sent too much, '' if it was not
 * @returns {Promise<'summarised'|'nothing'|'stopped'>}
 */
export async function compactNow(deps, signal, refusal) {
  deps.profile.context = Math.min(deps.profile.context, limitIn(refusal) ?? Infinity);
  const size = sizeOf({ system: [], messages: modelMessages(deps.history()), tools: [] });
  try {
    return (await compact(deps, signal, Math.min(deps.profile.context, size) / 4)) ? 'summarised' : 'nothing';
  } catch (error) {
    if (signal.aborted) return 'stopped';
    throw error;
  } finally {
    deps.show(null);
  }
}

/**
 * Starts the calls of one answer, waits for all, and stores their results in order. A call found open after a reload is only waited for.
 * @param {Deps} deps @param {AskedCall[]} calls @param {AbortSignal} signal @param {boolean} found @returns {Promise<MessageData[]>} the results
 */
async function runCalls(deps, calls, signal, found) {
  deps.show({ text: '', reasoning: '', calls: [], phase: 'calls' });
  const stop = () => {
    for (const call of calls) if (call.broken === undefined) deps.cancelCall(call.call_id).catch(() => {});
  };
  signal.addEventListener('abort', stop, { once: true });
  try {
    const results = await Promise.all(calls.map((call) => runCall(deps, call, signal, found)));
    await deps.append(results.map((data) => ({ id: deps.newId('m'), role: /** @type {'tool'} */ ('tool'), data })));
    return results;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** @param {Deps} deps @param {AskedCall} call @param {AbortSignal} signal @param {boolean} found @returns {Promise<MessageData>} */
async function runCall(deps, call, signal, found) {
  const base = { call_id: call.call_id, provider_id: call.id, tool: call.tool };
  if (call.broken !== undefined) {
    return { ...base, status: 'error', is_error: true, text: `The arguments were not a JSON object, so nothing ran. Send the call again with one valid JSON object. What came was: ${call.broken.slice(0, 500)}` };
  }
  if (signal.aborted) return { ...base, status: 'cancelled', is_error: true, text: 'Cancelled before it started: the user pressed Stop.' };
  try {
    let ended = found ? await deps.awaitCall(call.call_id, signal) : null;
    if (!ended && !found) {
      deps.asked?.(call);
      await deps.startCall({ tool: call.tool, arguments: call.arguments, call_id: call.call_id });
      // A Stop pressed while the call was on its way found nothing to cancel yet.
      if (signal.aborted) deps.cancelCall(call.call_id).catch(() => {});
      ended = await deps.awaitCall(call.call_id, signal);
    }
    // Whether it ran cannot be known, so it is not tried again by itself.
    return resultData(base, ended ?? { ...base, status: 'interrupted', key: 'interrupted_unknown', reason: 'The page or the companion was closed meanwhile, and whether it ran is not known. Check before you do it again.' });
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    if (signal.aborted) return { ...base, status: 'cancelled', is_error: true, text: 'Cancelled: the user pressed Stop.' };
    return { ...base, status: 'error', is_error: true, text: code === 'unreachable' ? 'The companion does not answer; whether the call ran is not known.' : String(message ?? error) };
  }
}

/** What is stored of a finished call: the model's text, and enough for its one line. @param {{call_id: string, provider_id: string, tool: string}} base @param {Call} call @returns {MessageData} */
export function resultData(base, call) {
  const text = call.model_text ?? (call.content ?? []).map((item) => (item.type === 'text' ? item.text : `[${item.type}]`)).join('\n');
  const fallback = [call.status, call.reason].filter(Boolean).join(': ');
  // Pictures and sounds lie with the companion; the message only names them.
  const media = (call.content ?? []).filter(({ type, result_id }) => (type === 'image' || type === 'audio') && result_id).map(({ type, mimeType, result_id, size }) => ({ type, mimeType, result_id, size }));
  return /** @type {any} */ ({
    ...base, status: call.status, is_error: Boolean(call.is_error) || call.status !== 'ok', text: text || (call.status === 'ok' ? '(no output)' : fallback),
    reason: call.reason, key: call.key, args: call.args, rule: call.rule, by: call.by, duration_ms: call.duration_ms, result_id: call.result_id, server: call.server, content: media.length ? media : undefined,
  });
}
