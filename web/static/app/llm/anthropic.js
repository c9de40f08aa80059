// Anthropic's messages through the companion's relay. The SDK is loaded when first needed.
import { relayBase, relayFetch } from './openai.js';
import { describeTools } from './texttools.js';

/** @typedef {import('./loop.js').ModelRequest} ModelRequest @typedef {import('./loop.js').Delta} Delta */

const MAX_TOKENS = 8_192;

/** Messages with alternating roles, results of one batch together. @param {ModelRequest} request @returns {any[]} */
export function anthropicMessages(request) {
  /** @type {{role: string, content: any[]}[]} */
  const out = [];
  const add = (/** @type {string} */ role, /** @type {any[]} */ content) => {
    if (out.at(-1)?.role === role) out.at(-1)?.content.push(...content);
    else if (content.length) out.push({ role, content });
  };
  for (const message of request.messages) {
    if (message.role === 'user') {
      add('user', [...(message.images ?? []).map(({ mime, base64 }) => ({ type: 'image', source: { type: 'base64', media_type: mime, data: base64 } })), { type: 'text', text: message.text || ' ' }]);
    } else if (message.role === 'assistant') {
      add('assistant', [...(message.text.trim() ? [{ type: 'text', text: message.text }] : []), ...(message.calls ?? []).map((call) => ({ type: 'tool_use', id: safeId(call.id), name: call.name, input: call.arguments ?? {} }))]);
    } else add('user', [{ type: 'tool_result', tool_use_id: safeId(message.id), content: message.text || '(empty)', is_error: message.is_error || undefined }]);
  }
  return out;
}

/** Ids of another provider's calls may hold what this one refuses. @param {string} id */
const safeId = (id) => id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call';

/** @param {any} event @returns {Delta[]} */
export function anthropicDeltas(event) {
  if (event.type === 'message_start') return [{ type: 'usage', input: event.message?.usage?.input_tokens }];
  if (event.type === 'message_delta') return [{ type: 'usage', output: event.usage?.output_tokens }];
  if (event.type === 'content_block_start' && event.content_block?.type === 'tool_use') return [{ type: 'call', index: event.index, id: event.content_block.id, name: event.content_block.name, arguments: '' }];
  if (event.type !== 'content_block_delta') return [];
  if (event.delta.type === 'text_delta') return [{ type: 'text', text: event.delta.text }];
  if (event.delta.type === 'thinking_delta') return [{ type: 'reasoning', text: event.delta.thinking }];
  if (event.delta.type === 'input_json_delta') return [{ type: 'call', index: event.index, id: '', name: '', arguments: event.delta.partial_json }];
  return [];
}

/** @param {string} profile @param {ModelRequest} request @param {AbortSignal} signal @returns {AsyncGenerator<Delta>} */
export async function* streamAnthropic(profile, request, signal) {
  const { Anthropic } = await import('../../vendor/anthropic.js');
  const client = new Anthropic({ baseURL: relayBase(profile), apiKey: 'held-by-the-companion', dangerouslyAllowBrowser: true, maxRetries: 0, fetch: /** @type {any} */ (relayFetch) });
  const system = [...request.system, ...(request.text_tools ? [describeTools(/** @type {any} */ (request.tools))] : [])].filter(Boolean).join('\n\n');
  /** @type {any} */
  const body = { model: request.model, max_tokens: MAX_TOKENS, messages: anthropicMessages(request), stream: true };
  if (system) body.system = system;
  if (request.tools.length && !request.text_tools) body.tools = request.tools.map((tool) => ({ name: tool.name, description: tool.description, input_schema: tool.input_schema ?? { type: 'object' } }));
  const stream = /** @type {AsyncIterable<any>} */ (/** @type {unknown} */ (await client.messages.create(body, { signal })));
  let finished = false;
  for await (const event of stream) {
    if (event.type === 'message_stop') finished = true;
    yield* anthropicDeltas(event);
  }
  if (!finished && !signal.aborted) throw Object.assign(new Error('the answer broke off before its end'), { code: 'half_stream' });
}
