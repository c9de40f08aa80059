// An MCP server over stdio that asks its client: for a form, for a page to be opened, for a reply of a model. It can list many
// tools (--tools N), and other ones from the moment on at which a file exists (--changed FILE).
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const option = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : '');
const many = Number(option('--tools') || 0);
const empty = { type: 'object', properties: {} };
const schema = {
  type: 'object', required: ['name', 'size'], properties: {
    name: { type: 'string', title: 'Your name', minLength: 2 }, email: { type: 'string', format: 'email' }, size: { type: 'string', enum: ['s', 'm', 'l'], enumNames: ['Small', 'Medium', 'Large'] },
    count: { type: 'integer', default: 3, minimum: 1, maximum: 9 }, gift: { type: 'boolean', default: true }, colours: { type: 'array', items: { anyOf: [{ const: 'r', title: 'Red' }, { const: 'g', title: 'Green' }] } },
  },
};

function tools() {
  const changed = option('--changed') && existsSync(option('--changed'));
  return [
    { name: 'echo', description: changed ? 'Answers with what it gets, and tells others' : 'Answers with what it gets', inputSchema: { type: 'object', properties: { text: { type: 'string' }, until: { type: 'string', description: 'a file: it answers once that exists' } } } },
    { name: 'form', description: 'Asks for a form', inputSchema: empty }, { name: 'page', description: 'Asks for a page to be opened', inputSchema: { type: 'object', properties: { url: { type: 'string' } } } },
    { name: 'model', description: 'Asks for a reply of a model', inputSchema: empty }, { name: 'later', description: 'Asks after it has answered', inputSchema: empty },
    ...(changed ? [{ name: 'fresh', description: 'Is new', inputSchema: empty }] : [{ name: 'old', description: 'Will go', inputSchema: empty }]),
    ...Array.from({ length: many }, (_, n) => ({ name: `tool_${String(n).padStart(4, '0')}`, description: `Number ${n} of many, which does ${n % 7 ? 'this' : 'something rare'}`, inputSchema: { type: 'object', properties: { n: { type: 'integer', description: 'how often' } } } })),
  ];
}

/** @type {Map<string, (answer: any) => void>} */
const waiting = new Map();
let asked = 0;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const ask = (method, params) => new Promise((resolve) => {
  const id = `ask-${++asked}`;
  waiting.set(id, resolve);
  send({ id, method, params });
});
const form = () => ask('elicitation/create', { message: 'Who gets the parcel?\nPlease be quick. <b>Really</b>', requestedSchema: schema });
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });

const calls = {
  echo: async (args) => {
    while (args.until && !existsSync(args.until)) await new Promise((resolve) => setTimeout(resolve, 30));
    return text(args);
  },
  form: async () => text((await form()).result),
  page: async ({ url }) => text((await ask('elicitation/create', { mode: 'url', elicitationId: 'e1', message: 'Sign in there', url: url ?? 'https://accounts.example/authorize?client=1' })).result),
  model: async () => text(await ask('sampling/createMessage', { systemPrompt: 'You count words.', maxTokens: 50, modelPreferences: { hints: [{ name: 'tiny' }] }, messages: [{ role: 'user', content: { type: 'text', text: 'How many words has “a b c”?' } }] })),
  later: async () => {
    setTimeout(form, 300);
    return text('done');
  },
};
const answers = {
  initialize: async ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asking', version: '1.0.0' } }),
  'tools/list': async () => ({ tools: tools() }),
  ping: async () => ({}),
  'tools/call': async ({ name, arguments: args }) => (calls[name] ? calls[name](args ?? {}) : text(name)),
};

process.stderr.write('asking is ready\n');
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  } else if (id !== undefined) {
    const known = answers[method];
    send(known ? { id, result: await known(params ?? {}) } : { id, error: { code: -32601, message: `no ${method}` } });
  }
}).on('close', () => process.exit(0));
