// OpenAI-compatible chat completions through the companion's relay. The SDK is loaded when first needed.
import { address, authorization } from '../api.js';
import { send } from '../http.js';
import { describeTools } from './texttools.js';

/** @typedef {import('./loop.js').ModelRequest} ModelRequest @typedef {import('./loop.js').Delta} Delta @typedef {import('./loop.js').ModelMessage} ModelMessage */

/** A fetch that speaks to the companion only, with its token. @param {any} input @param {any} [init] */
export function relayFetch(input, init = {}) {
  const headers = new Headers(init.headers);
  headers.delete('x-api-key');
  headers.set('Authorization', authorization().Authorization ?? '');
  return send(String(input), { ...init, headers });
}

/** Where the relay of a profile begins. @param {string} profile */
export function relayBase(profile) {
  return new URL(address(`/llm/${encodeURIComponent(profile)}`), location.href).href;
}

/** @param {ModelRequest} request @returns {any[]} */
export function openaiMessages(request) {
  const system = [...request.system, ...(request.text_tools ? [describeTools(/** @type {any} */ (request.tools))] : [])].filter(Boolean).join('\n\n');
  /** @type {any[]} */
  const out = system ? [{ role: 'system', content: system }] : [];
  for (const message of request.messages) {
    if (message.role === 'user') {
      out.push({ role: 'user', content: message.images?.length ? [{ type: 'text', text: message.text }, ...message.images.map(({ mime, base64 }) => ({ type: 'image_url', image_url: { url: `data:${mime};base64,${base64}` } }))] : message.text });
    } else if (message.role === 'assistant') {
      if (!message.calls?.length) out.push({ role: 'assistant', content: message.text });
      else if (request.text_tools) out.push({ role: 'assistant', content: `${message.text}\n${message.calls.map((call) => `<tool_call>${JSON.stringify({ name: call.name, arguments: call.arguments })}</tool_call>`).join('\n')}`.trim() });
      // Broken arguments go back as an empty object: providers refuse a request that holds invalid JSON.
      else out.push({ role: 'assistant', content: message.text || null, tool_calls: message.calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) } })) });
    } else if (request.text_tools) out.push({ role: 'user', content: `Result of ${message.name}:\n${message.text}` });
    else out.push({ role: 'tool', tool_call_id: message.id, content: message.text });
  }
  return out;
}

/** @param {ModelRequest['tools']} tools */
export function openaiTools(tools) {
  return tools.map((tool) => ({ type: /** @type {'function'} */ ('function'), function: { name: tool.name, description: tool.description, parameters: tool.input_schema ?? { type: 'object', properties: {} } } }));
}

/** @param {any} chunk @returns {Delta[]} */
export function openaiDeltas(chunk) {
  /** @type {Delta[]} */
  const out = [];
  const delta = chunk.choices?.[0]?.delta;
  const reasoning = delta?.reasoning_content ?? delta?.reasoning;
  if (typeof reasoning === 'string' && reasoning) out.push({ type: 'reasoning', text: reasoning });
  if (typeof delta?.content === 'string' && delta.content) out.push({ type: 'text', text: delta.content });
  for (const [at, call] of (delta?.tool_calls ?? []).entries()) {
    const given = call.function?.arguments;
    out.push({ type: 'call', index: call.index ?? at, id: call.id ?? '', name: call.function?.name ?? '', arguments: given && typeof given === 'object' ? JSON.stringify(given) : given ?? '' });
  }
  if (chunk.usage) out.push({ type: 'usage', input: chunk.usage.prompt_tokens, output: chunk.usage.completion_tokens });
  return out;
}

/** @param {string} profile @param {ModelRequest} request @param {AbortSignal} signal @returns {AsyncGenerator<Delta>} */
export async function* streamOpenAI(profile, request, signal) {
  const { OpenAI } = await import('../../vendor/openai.js');
  const client = new OpenAI({ baseURL: relayBase(profile), apiKey: 'held-by-the-companion', dangerouslyAllowBrowser: true, maxRetries: 0, fetch: /** @type {any} */ (relayFetch) });
  /** @type {any} */
  const body = { model: request.model, messages: openaiMessages(request), stream: true, stream_options: { include_usage: true } };
  if (request.tools.length && !request.text_tools) body.tools = openaiTools(request.tools);
  const stream = /** @type {AsyncIterable<any>} */ (/** @type {unknown} */ (await client.chat.completions.create(body, { signal })));
  let finished = false;
  for await (const chunk of stream) {
    if (chunk.error) throw new Error(String(chunk.error.message ?? chunk.error));
    if (chunk.choices?.[0]?.finish_reason) finished = true;
    yield* openaiDeltas(chunk);
  }
  if (!finished && !signal.aborted) throw Object.assign(new Error('the answer broke off before its end'), { code: 'half_stream' });
}
