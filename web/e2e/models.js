// Model servers on loopback that say what a test tells them to, streamed as the real ones do.
import { createServer } from 'node:http';
import { after } from 'node:test';

/**
 * What a stub answers with, in order: texts, calls, pauses, and how the answer ends.
 * @typedef {{text?: string, call?: {id?: string, name: string, arguments: any}, wait?: Promise<any>, pauseMs?: number}} Part
 * @typedef {{parts?: Part[], end?: 'whole'|'cut'|'error', status?: number, message?: string, body?: string}} Answer `cut`: the connection breaks off; `status`: refused
 */

/** @type {Set<Stub>} */
const open = new Set();
after(async () => {
  await Promise.all([...open].map((stub) => stub.close()));
});

class Stub {
  /** Requests as they came. @type {{url: string, headers: any, body: any}[]} */
  requests = [];
  /** @type {(Answer | ((body: any) => Answer))[]} */
  answers = [];
  closedEarly = 0;
  /** What it offers when it is asked. */
  models = ['stub-1'];
  sockets = new Set();

  /** @param {Answer[]} answers */
  static async start(answers = []) {
    const stub = new this();
    stub.answers = answers;
    stub.server = createServer((request, response) => {
      let text = '';
      request.on('data', (data) => {
        text += data;
      });
      request.on('end', () => stub.handle(request, response, text).catch(() => response.destroy()));
      response.on('close', () => {
        if (!response.writableFinished) stub.closedEarly++;
      });
    });
    stub.server.on('connection', (socket) => {
      stub.sockets.add(socket);
      socket.on('close', () => stub.sockets.delete(socket));
    });
    await new Promise((resolve) => stub.server.listen(0, '127.0.0.1', () => resolve(undefined)));
    stub.origin = `http://127.0.0.1:${stub.server.address().port}`;
    open.add(stub);
    return stub;
  }

  close() {
    open.delete(this);
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => this.server.close(() => resolve(undefined)));
  }

  /** @param {any} request @param {any} response @param {string} text */
  async handle(request, response, text) {
    const body = text ? JSON.parse(text) : null;
    if (request.method === 'GET') {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify({ object: 'list', data: this.models.map((id) => ({ id, object: 'model' })), has_more: false }));
      return;
    }
    this.requests.push({ url: request.url, headers: request.headers, body });
    const next = this.answers.shift() ?? { parts: [{ text: 'Nothing more was planned.' }] };
    const answer = typeof next === 'function' ? next(body) : next;
    if (answer.status) {
      response.writeHead(answer.status, { 'Content-Type': 'application/json' });
      response.end(answer.body ?? JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message: answer.message ?? 'refused' } }));
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
    const gone = new Promise((resolve) => response.once('close', resolve));
    await this.begin(response);
    let index = 0;
    for (const part of answer.parts ?? []) {
      if (part.wait) await Promise.race([part.wait, gone]);
      if (part.pauseMs) await new Promise((resolve) => setTimeout(resolve, part.pauseMs));
      if (response.destroyed) return;
      await this.part(response, part, index);
      if (part.text !== undefined || part.call) index++;
    }
    if (answer.end === 'cut') {
      response.socket.destroy();
      return;
    }
    this.finish(response, answer);
    response.end();
  }
}

/** Arguments as a text that a stream cuts into pieces; a string goes out as it is, however broken. @param {any} value */
const argumentText = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
/** @param {string} text @param {number} size */
const chunks = (text, size) => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [''];

/** Speaks chat completions as OpenAI-compatible servers do. Its base_url is `${origin}/v1`. */
export class OpenAIStub extends Stub {
  /** @param {any} response @param {any} delta @param {any} [more] */
  send(response, delta, more = {}) {
    response.write(`data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'stub-1', choices: [{ index: 0, delta, finish_reason: null, ...more }] })}\n\n`);
  }

  begin(response) {
    this.calls = 0;
    this.send(response, { role: 'assistant', content: '' });
  }

  async part(response, part) {
    for (const text of part.text === undefined ? [] : chunks(part.text, 7)) {
      this.send(response, { content: text });
      await new Promise((resolve) => setTimeout(resolve, 4));
    }
    if (part.call) {
      const index = this.calls++;
      this.send(response, { tool_calls: [{ index, id: part.call.id ?? `call_${index}`, type: 'function', function: { name: part.call.name, arguments: '' } }] });
      for (const text of chunks(argumentText(part.call.arguments), 9)) this.send(response, { tool_calls: [{ index, function: { arguments: text } }] });
    }
  }

  finish(response, answer) {
    if (answer.end === 'error') {
      response.write(`data: ${JSON.stringify({ error: { message: answer.message ?? 'overloaded' } })}\n\n`);
      return;
    }
    this.send(response, {}, { finish_reason: this.calls ? 'tool_calls' : 'stop' });
    response.write(`data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'stub-1', choices: [], usage: { prompt_tokens: 1200, completion_tokens: 34, total_tokens: 1234 } })}\n\ndata: [DONE]\n\n`);
  }
}

/** Speaks messages as Anthropic does. Its base_url is the origin. */
export class AnthropicStub extends Stub {
  send(response, type, data) {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  }

  begin(response) {
    this.calls = 0;
    this.send(response, 'message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'stub-1', content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1200, output_tokens: 1 } } });
  }

  async part(response, part, index) {
    if (part.text !== undefined) {
      this.send(response, 'content_block_start', { index, content_block: { type: 'text', text: '' } });
      for (const text of chunks(part.text, 7)) {
        this.send(response, 'content_block_delta', { index, delta: { type: 'text_delta', text } });
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
      this.send(response, 'content_block_stop', { index });
    }
    if (part.call) {
      this.calls++;
      this.send(response, 'content_block_start', { index, content_block: { type: 'tool_use', id: part.call.id ?? `toolu_${index}`, name: part.call.name, input: {} } });
      for (const text of chunks(argumentText(part.call.arguments), 9)) this.send(response, 'content_block_delta', { index, delta: { type: 'input_json_delta', partial_json: text } });
      this.send(response, 'content_block_stop', { index });
    }
  }

  finish(response, answer) {
    if (answer.end === 'error') {
      this.send(response, 'error', { error: { type: 'overloaded_error', message: answer.message ?? 'Overloaded' } });
      return;
    }
    this.send(response, 'message_delta', { delta: { stop_reason: this.calls ? 'tool_use' : 'end_turn', stop_sequence: null }, usage: { output_tokens: 34 } });
    this.send(response, 'message_stop', {});
  }
}

/** A promise and the function that fulfils it. @returns {{promise: Promise<void>, open: () => void}} */
export function gate() {
  let open = () => {};
  /** @type {Promise<void>} */
  const promise = new Promise((resolve) => {
    open = () => resolve(undefined);
  });
  return { promise, open };
}

/** The key of every stub provider. */
export const key = 'sk-e2e-0123456789abcdefghijABCDEFGHIJ';

/**
 * A page whose chat uses a stub. @param {import('./rig.js').Stage} stage @param {'openai'|'anthropic'} kind @param {any[]} answers
 */
export async function withModel(stage, kind, answers) {
  const stub = await (kind === 'openai' ? OpenAIStub : AnthropicStub).start(answers);
  await stage.companion.provider('stub', { kind, base_url: kind === 'openai' ? `${stub.origin}/v1` : stub.origin, model: 'stub-1', api_key: key });
  const me = await stage.page();
  await pick(me, /stub-1/);
  return { stub, me };
}

/** Takes a model for the chat that is open. @param {import('./rig.js').Person} me @param {RegExp} name */
export async function pick(me, name) {
  await me.button(/^Model:/, false).click();
  await me.page.getByRole('menuitemradio', { name }).click();
  await me.button(/^Model: stub-1/, false).waitFor();
}
