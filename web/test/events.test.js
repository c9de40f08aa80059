import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventReader, followEvents, retryDelay, shouldSteal } from '../static/app/events.js';

test('events are read across chunk borders; what is no JSON is dropped', () => {
  const got = [];
  const feed = eventReader((id, kind, data) => got.push([id, kind, data]));
  const text = 'id: 1\nevent: hello\ndata: {"a":"é"}\n\n: beat\n\nevent: x\ndata: nope\n\nid: 2\nevent: y\ndata: {"b":\ndata: 1}\n\n';
  for (const byte of new TextEncoder().encode(text)) feed(Uint8Array.of(byte));
  assert.deepEqual(got, [['1', 'hello', { a: 'é' }], ['2', 'y', { b: 1 }]]);
});

test('only a visible follower that hears nothing for 20 s takes over', () => {
  const base = { leading: false, visible: true, heard: 0, now: 20_000 };
  assert.equal(shouldSteal(base), true);
  assert.equal(shouldSteal({ ...base, now: 19_999 }), false);
  assert.equal(shouldSteal({ ...base, visible: false }), false);
  assert.equal(shouldSteal({ ...base, leading: true }), false);
  assert.ok(retryDelay(0) < 500 && retryDelay(50) <= 10_000);
});

/** Web Locks as the browser has them, enough for one name. */
class Locks {
  queue = [];
  held = null;
  request(name, options, work) {
    return new Promise((resolve, reject) => {
      const entry = { work, resolve, reject };
      options.signal?.addEventListener('abort', () => {
        if (this.queue.includes(entry)) {
          this.queue.splice(this.queue.indexOf(entry), 1);
          reject(new DOMException('aborted', 'AbortError'));
        }
      });
      if (options.steal && this.held) {
        this.held.reject(new DOMException('stolen', 'AbortError'));
        this.held = null;
        this.queue.unshift(entry);
      } else this.queue.push(entry);
      this.next();
    });
  }
  next() {
    if (this.held || !this.queue.length) return;
    const entry = this.held = this.queue.shift();
    Promise.resolve(entry.work({})).then(entry.resolve, entry.reject).finally(() => {
      if (this.held === entry) this.held = null;
      this.next();
    });
  }
}
/** Tabs that talk to each other; a frozen one hears and says nothing. */
function room() {
  const members = new Set();
  return () => {
    const channel = new EventTarget();
    channel.frozen = false;
    channel.postMessage = (data) => {
      if (!channel.frozen) for (const other of members) if (other !== channel && !other.frozen) other.dispatchEvent(Object.assign(new Event('message'), { data }));
    };
    members.add(channel);
    return channel;
  };
}
const body = (text, signal) => new Response(new ReadableStream({
  start(controller) {
    controller.enqueue(new TextEncoder().encode(text));
    signal.addEventListener('abort', () => { try { controller.error(signal.reason); } catch { /* closed */ } });
  },
}));
const until = async (condition, what) => {
  for (let i = 0; i < 400; i++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail(`never: ${what}`);
};

test('one connection for all tabs; the next tab goes on where the first ended', async () => {
  const locks = new Locks();
  const join = room();
  const opened = [];
  const tab = (name) => {
    const got = [];
    const states = [];
    const stop = followEvents({
      open: async (headers, signal) => {
        opened.push([name, headers['Last-Event-ID'] ?? '']);
        return body(`id: ${opened.length}\nevent: hello\ndata: {}\n\n`, signal);
      },
      deliver: (kind) => got.push(kind), report: (state) => states.push(state), locks, channel: join(),
    });
    return { got, states, stop };
  };
  const a = tab('a');
  const b = tab('b');
  await until(() => a.got.length === 1 && b.got.length === 1, 'both hear the event');
  assert.deepEqual(opened, [['a', '']]);
  assert.equal(b.states.at(-1), 'connected');
  a.stop();
  await until(() => opened.length === 2, 'b connects');
  assert.deepEqual(opened[1], ['b', '1']);
  b.stop();
});

test('a refused token ends the stream and says so', async () => {
  const states = [];
  const stop = followEvents({ open: async () => { throw Object.assign(new Error('no'), { status: 401 }); }, deliver: () => {}, report: (state) => states.push(state), locks: new Locks(), channel: room()() });
  await until(() => states.includes('unpaired'), 'unpaired');
  stop();
});

test('a frozen leader starves nobody', async (t) => {
  let clock = 0;
  const locks = new Locks();
  const join = room();
  const opened = [];
  const tab = (name, channel) => followEvents({
    open: async (headers, signal) => {
      opened.push(name);
      return body('event: hello\ndata: {}\n\n', signal);
    },
    deliver: () => {}, report: () => {}, locks, channel, now: () => clock,
  });
  const first = join();
  const stops = [tab('a', first)];
  await until(() => opened.length === 1, 'a leads');
  stops.push(tab('b', join()));
  first.frozen = true;
  clock = 25_000;
  await until(() => opened.includes('b'), 'b takes over');
  assert.deepEqual(opened, ['a', 'b']);
  stops.forEach((stop) => stop());
});
