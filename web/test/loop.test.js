import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compactNow, openCalls, readArguments, resultData, runLoop, sameFailures, settleCalls, unfinished } from '../static/app/llm/loop.js';
import { describeTools, readTextCalls } from '../static/app/llm/texttools.js';
import { contextOf, fitting, keepCount, limitIn, modelMessages, requestMessages } from '../static/app/llm/context.js';
import { openaiDeltas, openaiMessages } from '../static/app/llm/openai.js';
import { anthropicDeltas, anthropicMessages } from '../static/app/llm/anthropic.js';

/** A model that answers from a script, and a companion that answers calls by `results`. */
function world({ script, results = {}, messages = [{ id: 'u', role: 'user', data: { text: 'go' } }], ...more }) {
  const log = { requests: [], started: [], cancelled: [], shown: [] };
  let ids = 0;
  const list = [...messages];
  const deps = {
    history: () => list,
    append: async (added) => void list.push(...added),
    async* stream(request, signal) {
      log.requests.push(request);
      const answer = script[Math.min(log.requests.length, script.length) - 1];
      if (typeof answer === 'function') yield* answer(request, signal);
      else for (const delta of answer) {
        if (delta instanceof Error) throw delta;
        yield delta;
      }
    },
    turn: async () => ({ tools: [{ name: 'work' }], system: [{ kind: 'base', text: 'sys' }] }),
    startCall: async (call) => {
      log.started.push(call);
    },
    awaitCall: async (id, signal) => {
      const call = log.started.find(({ call_id }) => call_id === id);
      const result = results[call?.tool ?? id];
      return typeof result === 'function' ? result(call, signal) : result ?? (call ? { call_id: id, tool: call.tool, status: 'ok', model_text: 'fine' } : null);
    },
    cancelCall: async (id) => void log.cancelled.push(id),
    show: (live) => log.shown.push(live),
    newId: (prefix) => `${prefix}${++ids}`,
    profile: { id: 'p', model: 'm', context: 100_000 },
    ...more,
  };
  return { deps, list, log, run: (signal = new AbortController().signal) => runLoop(deps, signal) };
}
const say = (text) => [{ type: 'text', text }];
const call = (name, args = '{}', index = 0, id = '') => ({ type: 'call', index, id, name, arguments: args });

test('words end the turn', async () => {
  const w = world({ script: [say('hello')] });
  assert.equal(await w.run(), 'done');
  assert.equal(w.list.at(-1).data.text, 'hello');
  assert.equal(w.log.shown.at(-1), null);
});

test('several calls of one answer start at once and come back in order', async () => {
  const w = world({ script: [[call('work', '{"n":', 0), call('', '1}', 0), call('work', '{"n":2}', 1)], say('done')] });
  assert.equal(await w.run(), 'done');
  assert.deepEqual(w.log.started.map((one) => one.arguments), [{ n: 1 }, { n: 2 }]);
  const tools = w.list.filter(({ role }) => role === 'tool');
  assert.deepEqual(tools.map(({ data }) => data.call_id), w.log.started.map((one) => one.call_id));
  assert.equal(w.log.requests[1].messages.at(-1).text, 'fine');
  assert.equal(new Set(w.list[1].data.calls.map(({ id }) => id)).size, 2);
});

test('broken arguments become an error for the model, and nothing runs', async () => {
  for (const broken of ['{"a":', '[1]', '"x"', 'null', '{a:1}']) {
    const w = world({ script: [[call('work', broken)], say('ok')] });
    assert.equal(await w.run(), 'done');
    assert.equal(w.log.started.length, 0, broken);
    assert.match(w.list.find(({ role }) => role === 'tool').data.text, /not a JSON object/);
  }
  assert.deepEqual(readArguments(''), { arguments: {} });
});

test('the step limit stops, and continue goes on', async () => {
  let n = 0;
  const w = world({ script: [() => (async function* () { yield call('work', `{"n":${++n}}`); }())], stepLimit: 5 });
  assert.equal(await w.run(), 'limit');
  assert.equal(w.log.requests.length, 5);
  assert.equal(w.list.at(-1).data.kind, 'limit');
  assert.equal(await w.run(), 'limit');
  assert.equal(w.log.requests.length, 10);
});

test('three identical failing batches stop; different or working ones do not', async () => {
  const failing = { work: (one) => ({ call_id: one.call_id, tool: 'work', status: 'denied', is_error: true, reason: 'no' }) };
  const w = world({ script: [[call('work', '{"a":1}')]], results: failing });
  assert.equal(await w.run(), 'repeat');
  assert.equal(w.log.started.length, 3);
  const fine = world({ script: [[call('work')], [call('work')], [call('work')], [call('work')], say('x')] });
  assert.equal(await fine.run(), 'done');
  const mixed = world({ script: [[call('work', '{"a":1}')], [call('work', '{"a":2}')], [call('work', '{"a":1}')], [call('work', '{"a":2}')], say('x')], results: failing });
  assert.equal(await mixed.run(), 'done');
  assert.equal(sameFailures([]), 0);
});

test('stop cancels what runs and ends the turn', async () => {
  const abort = new AbortController();
  const w = world({ script: [[call('work')], say('never')], results: { work: (one, signal) => new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')));
    setTimeout(() => abort.abort(), 5);
  }) } });
  assert.equal(await w.run(abort.signal), 'stopped');
  assert.equal(w.log.cancelled.length, 1);
  assert.equal(w.list.find(({ role }) => role === 'tool').data.status, 'cancelled');
  assert.equal(w.list.at(-1).data.stopped, true);
  assert.equal(w.log.requests.length, 1);
  assert.equal(unfinished(w.list), false);
});

test('stop while the model speaks keeps its words and runs nothing', async () => {
  const abort = new AbortController();
  const w = world({ script: [async function* (request, signal) {
    yield { type: 'text', text: 'half' };
    yield call('work', '{"a":');
    abort.abort();
    signal.throwIfAborted();
  }] });
  assert.equal(await w.run(abort.signal), 'stopped');
  assert.deepEqual([w.list.at(-1).data.text, w.list.at(-1).data.stopped, w.log.started.length], ['half', true, 0]);
});

test('a failing model leaves an error and what came of the answer; no call runs from half an answer', async () => {
  const w = world({ script: [[...say('half'), call('work'), Object.assign(new Error('boom'), { status: 500 })]] });
  assert.equal(await w.run(), 'error');
  assert.deepEqual(w.list.at(-1).data.error, { message: 'boom', code: '500' });
  assert.equal(w.list.at(-1).data.text, 'half');
  assert.equal(w.log.started.length, 0);
  assert.equal(w.log.requests.length, 1, 'no retry by itself');
});

test('a call that failed is not tried again by the loop', async () => {
  const w = world({ script: [[call('work')], say('ok')], startCall: async () => { throw Object.assign(new Error('gone'), { code: 'unreachable' }); } });
  assert.equal(await w.run(), 'done');
  assert.match(w.list.find(({ role }) => role === 'tool').data.text, /whether the call ran is not known/);
});

test('after a reload open calls are waited for, unknown ones are interrupted, none starts again', async () => {
  const messages = [{ id: 'u', role: 'user', data: { text: 'go' } }, { id: 'a', role: 'assistant', data: { text: '', calls: [{ id: 'x', call_id: 'known', tool: 'work', arguments: {} }, { id: 'y', call_id: 'lost', tool: 'work', arguments: {} }] } }];
  assert.equal(unfinished(messages), true);
  assert.equal(openCalls(messages).length, 2);
  const w = world({ messages, script: [say('went on')], results: { known: { call_id: 'known', tool: 'work', status: 'ok', model_text: 'late' } } });
  assert.equal(await w.run(), 'done');
  assert.equal(w.log.started.length, 0);
  assert.deepEqual(w.list.filter(({ role }) => role === 'tool').map(({ data }) => [data.status, data.text.slice(0, 11)]), [['ok', 'late'], ['interrupted', 'interrupted']]);
  assert.equal(w.list.at(-1).data.text, 'went on');
});

test('nothing goes to a model by itself behind a call that was interrupted; a person who goes on is not asked twice', async () => {
  const lost = { call_id: 'x', tool: 'work', status: 'interrupted', is_error: true, reason: 'the companion ended', key: 'interrupted_waiting' };
  const open = [{ id: 'u', role: 'user', data: { text: 'go' } }, { id: 'a', role: 'assistant', data: { text: '', calls: [{ id: 'x', call_id: 'x', tool: 'work', arguments: {} }] } }];
  const during = world({ script: [[call('work')], say('never')], results: { work: lost } });
  assert.equal(await during.run(), 'interrupted');
  const taken = world({ messages: open, script: [say('never')], results: { x: lost } });
  assert.equal(await runLoop(taken.deps, new AbortController().signal, true), 'interrupted');
  const settled = world({ messages: open, script: [say('never')], results: { x: { ...lost, status: 'ok', model_text: 'ended while nobody looked' } } });
  assert.equal(await settleCalls(settled.deps, new AbortController().signal), 'interrupted');
  for (const w of [during, taken, settled]) {
    assert.equal(w.log.requests.length, w === during ? 1 : 0);
    assert.equal(w.list.at(-1).data.kind, 'interrupted');
    assert.deepEqual([openCalls(w.list), unfinished(w.list)], [[], false]);
    assert.equal(modelMessages(w.list).at(-1).role, 'tool', 'the notice is none of the model\'s words');
  }
  assert.equal(taken.list.at(-2).data.key, 'interrupted_waiting', 'as the companion recorded it');
  const going = world({ messages: open, script: [say('went on')], results: { x: lost } });
  assert.equal(await going.run(), 'done');
  assert.match(going.log.requests[0].messages.at(-1).text, /^interrupted: the companion ended$/);
});

test('a model reads results right behind their calls, wherever they were stored', () => {
  const list = modelMessages([{ id: 'a', role: 'assistant', data: { text: '', calls: [{ id: 'x', call_id: 'x', tool: 'work', arguments: {} }] } },
    { id: 'u', role: 'user', data: { text: 'something else' } }, { id: 't', role: 'tool', data: { call_id: 'x', provider_id: 'x', tool: 'work', text: 'late' } }]);
  assert.deepEqual(list.map(({ role }) => role), ['assistant', 'tool', 'user']);
});

test('a model without native calls is told how to write them', async () => {
  let told = 0;
  const refusal = Object.assign(new Error('model does not support tools'), { status: 400 });
  const w = world({ script: [[refusal], say('I look. <tool_call>{"name":"work","arguments":{"a":1}}</tool_call>'), say('done')], textToolsNeeded: () => told++ });
  assert.equal(await w.run(), 'done');
  assert.equal(told, 1);
  assert.equal(w.log.requests[1].text_tools, true);
  assert.deepEqual(w.log.started[0].arguments, { a: 1 });
  assert.equal(w.list[1].data.text, 'I look.');
});

test('text calls: quoted ones are no calls, broken ones reach the model as such', () => {
  assert.deepEqual(readTextCalls('```\n<tool_call>{"name":"a"}</tool_call>\n```').calls, []);
  assert.deepEqual(readTextCalls('<tool_call>{"name":"a","arguments":"{}"}').calls, [{ name: 'a', arguments: '{}' }]);
  assert.equal(readArguments(readTextCalls('<tool_call>{"name":"a","arguments":{x}}</tool_call>').calls[0].arguments).broken !== undefined, true);
  assert.deepEqual(readTextCalls('no call <tool_call>nothing</tool_call>').calls, []);
  assert.match(describeTools([{ name: 'a' }]), /<tool_call>/);
});

test('a full context is compacted once, and the summary stands for what came before', async () => {
  const messages = Array.from({ length: 40 }, (_, i) => ({ id: `m${i}`, role: i % 2 ? 'assistant' : 'user', data: { text: `${i} ${'word '.repeat(400)}` } }));
  messages.push({ id: 'last', role: 'user', data: { text: 'and now?' } });
  const w = world({ messages, script: [say('the summary'), say('answer')], profile: { id: 'p', model: 'm', context: 8_000 } });
  assert.equal(await w.run(), 'done');
  assert.equal(w.list.at(-1).data.text, 'answer');
  const sent = w.log.requests[1].messages;
  assert.match(sent[0].text, /the summary/);
  assert.equal(sent.at(-1).text, 'and now?');
  assert.ok(sent.length < 10);
  const calls = [{ id: 'u', role: 'user', data: { text: 'x' } }, { id: 'a', role: 'assistant', data: { text: '', calls: [{ id: '1', call_id: 'c', tool: 't', arguments: {} }] } }, { id: 't', role: 'tool', data: { call_id: 'c', text: 'y'.repeat(8_000) } }];
  assert.equal(keepCount(calls, 1_000), 0, 'a result is never kept without its call');
});

test('messages for the providers', () => {
  const history = [
    { role: 'user', data: { text: 'a' } }, { role: 'assistant', data: { text: '', calls: [{ id: 'i', call_id: 'c', tool: 't', arguments: { x: 1 } }, { id: 'j', call_id: 'open', tool: 't', arguments: {} }] } },
    { role: 'tool', data: { call_id: 'c', provider_id: 'i', tool: 't', text: 'r' } }, { role: 'assistant', data: { text: '', stopped: true } }, { role: 'assistant', data: { text: '', error: { message: 'x' } } },
  ];
  const messages = modelMessages(history);
  assert.equal(messages.length, 3, 'notices and open calls are left out');
  const request = { model: 'm', system: ['s'], messages, tools: [] };
  assert.deepEqual(openaiMessages(request).map(({ role }) => role), ['system', 'user', 'assistant', 'tool']);
  assert.deepEqual(anthropicMessages(request).map(({ role, content }) => `${role} ${content[0].type}`), ['user text', 'assistant tool_use', 'user tool_result']);
  assert.deepEqual(openaiDeltas({ choices: [{ delta: { content: 'x', tool_calls: [{ index: 0, id: 'i', function: { name: 'n', arguments: '{' } }] } }] }), [{ type: 'text', text: 'x' }, { type: 'call', index: 0, id: 'i', name: 'n', arguments: '{' }]);
  assert.deepEqual(anthropicDeltas({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{' } }), [{ type: 'call', index: 1, id: '', name: '', arguments: '{' }]);
  assert.equal(contextOf({ id: '', name: '', kind: 'openai', model: 'llama3.3' }), 32_000);
});

test('an answer that broke off is gone on with: asked for by a person\'s message, and one answer afterwards', async () => {
  const messages = [{ id: 'u', role: 'user', data: { text: 'go' } }, { id: 'p', role: 'assistant', data: { text: 'The beg', partial: true } }];
  assert.equal(unfinished(messages), false, 'whether to ask again is for a person to say');
  const w = world({ messages, script: [say('inning.')] });
  assert.equal(await w.run(), 'done');
  assert.deepEqual(w.log.requests[0].messages.map(({ role }) => role), ['user', 'assistant', 'user']);
  const next = requestMessages([...w.list, { id: 'v', role: 'user', data: { text: 'more' } }]);
  assert.deepEqual(next.map(({ role, text }) => `${role} ${text}`), ['user go', 'assistant The beginning.', 'user more']);
});

test('what is stored of a result names its pictures and holds none of their bytes', () => {
  const base = { call_id: 'c', provider_id: 'i', tool: 't' };
  const picture = { type: 'image', mimeType: 'image/png', result_id: 'r1', size: 70 };
  const { content } = resultData(base, { call_id: 'c', tool: 't', status: 'ok', content: [{ type: 'text', text: 'x' }, { ...picture, note: 'y' }, { type: 'image', mimeType: 'image/png', data: 'AAAA' }] });
  assert.deepEqual(content, [picture]);
  assert.equal(resultData(base, { call_id: 'c', tool: 't', status: 'ok', content: [{ type: 'text', text: 'x' }] }).content, undefined);
});

test('a summary on request: it fits into what the model said it can take, and the question stays', async () => {
  const messages = Array.from({ length: 20 }, (_, i) => ({ id: `m${i}`, role: i % 2 ? 'assistant' : 'user', data: { text: `${i} ${'word '.repeat(400)}` } }));
  const question = { id: 'last', role: 'user', data: { text: `and now? ${'word '.repeat(4_000)}` } };
  const w = world({ messages: [...messages, question], script: [say('the summary'), say('answer')], profile: { id: 'p', model: 'm', context: 100_000 } });
  assert.equal(await compactNow(w.deps, new AbortController().signal, 'This model\'s maximum context length is 4096 tokens, you sent 9000'), 'summarised');
  const sent = w.log.requests[0];
  assert.ok(JSON.stringify(sent.messages).length / 4 < 4_096, 'the request for the summary fits');
  assert.match(sent.messages[0].text, /^0 word/, 'what the person began with is in it');
  assert.deepEqual(modelMessages(w.list).map(({ text }) => text.slice(0, 8)), ['Summary ', 'and now?']);
  const few = world({ messages: messages.slice(0, 1), script: [say('x')] });
  assert.equal(await compactNow(few.deps, new AbortController().signal, ''), 'nothing');
});

test('limits that models state, and what fits', () => {
  for (const [text, tokens] of [['This model\'s maximum context length is 8192 tokens.', 8192], ['prompt is too long: 210000 tokens > 200,000 maximum', 200_000], ['Input of 9000 tokens exceeds the limit of 8000 tokens', 8000], ['the request exceeds the available context size (4096 tokens)', 4096], ['rate limit', undefined], ['limit of 16 tokens', undefined]]) assert.equal(limitIn(text), tokens, text);
  const list = ['a'.repeat(400), 'b'.repeat(400), 'c'.repeat(400)].map((text) => ({ role: 'user', text }));
  assert.deepEqual(fitting(list, 250).map(({ text }) => text[0]), ['b', 'c']);
  assert.deepEqual(fitting(list, 10).map(({ text }) => text[0]), ['c']);
  assert.deepEqual(fitting(list, 1_000).length, 3);
});

test('Stop while a call is on its way cancels it once it is there', async () => {
  const stop = new AbortController();
  /** @type {string[]} */
  const there = [];
  /** @type {string[]} */
  const cancelled = [];
  const w = world({
    script: [[call('work')], say('never')],
    startCall: async (one) => {
      stop.abort();
      there.push(one.call_id);
    },
    // What is not there yet cannot be cancelled.
    cancelCall: async (id) => {
      if (!there.includes(id)) throw new Error('unknown call');
      cancelled.push(id);
    },
    awaitCall: async (id) => ({ call_id: id, tool: 'work', status: cancelled.includes(id) ? 'cancelled' : 'ok' }),
  });
  assert.equal(await w.run(stop.signal), 'stopped');
  assert.deepEqual(cancelled, there);
});
