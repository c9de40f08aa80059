import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { countdown } from '../static/app/calls/deadline.js';
import { ending, permit } from '../static/app/calls/outcome.js';
import { notAdmitted } from '../static/app/calls/result.js';
import { isRule, narrowestFirst, scopeOf } from '../static/app/calls/scope.js';
import { setLanguage } from '../static/app/i18n/index.js';
import { services } from '../static/app/store.js';

afterEach(() => {
  setLanguage('en');
  services.value = {};
});

const call = (/** @type {any} */ more) => ({ call_id: 'c', tool: 'read_file', status: 'ok', ...more });

test('of the rules that would do, the narrowest comes first, and each says how far it reaches', () => {
  assert.deepEqual(narrowestFirst(['R:./docs/**', 'R:./docs/*.md', 'R:./docs/a/**', 'R:./docs/a/b.md']), ['R:./docs/a/b.md', 'R:./docs/*.md', 'R:./docs/a/**', 'R:./docs/**']);
  assert.deepEqual(['W:./a', 'W:./*.md', 'W:./**'].map((rule) => scopeOf(rule).split(',')[0]), ['Covers this path alone', 'Covers everything that fits the pattern', 'Covers everything below that folder']);
});

test('what let a call through is a rule only when a person could have written it', () => {
  assert.ok(isRule('RW:~/x') && !isRule('workspace') && !isRule(''));
  const by = (/** @type {any} */ more, /** @type {any} */ args) => permit(call({ by: 'rule', ...more }), args);
  assert.equal(by({ rule: 'workspace' }, { path: '/home/me/.zeroclaw/sessions/c/uploads/a.txt' }), 'attached by you');
  assert.equal(by({ rule: 'workspace' }, { path: 'C:\\x\\uploads' }), 'attached by you');
  assert.equal(by({ rule: 'workspace' }, { path: '/home/me/.zeroclaw/sessions/c/work/a.txt' }), 'in this chat\'s own folder');
  assert.equal(by({ rule: 'workspace' }, { path: '/x/myuploads/a' }), 'in this chat\'s own folder');
  assert.equal(by({ rule: 'of_a_newer_companion' }, {}), null);
  assert.ok(Array.isArray(by({ rule: 'R:./**' }, {})), 'a rule is shown as it was written');
  setLanguage('es');
  assert.equal(by({ rule: 'workspace' }, { path: '/a/uploads/b' }), 'adjuntado por ti');
});

test('the last minute is counted, and nothing before it or after', () => {
  assert.deepEqual([120_000, 60_001, 60_000, 59_999, 9_000, 1, 0, -5].map(countdown), ['', '', '1:00', '1:00', '0:09', '0:01', '', '']);
});

test('a picture that was left out is known by what the companion says beside its words, else by the words', () => {
  const admit = (/** @type {any} */ said, type = 'text') => notAdmitted(call({ server: 'dummy_mcp', content: [{ type: 'text', text: 'A picture.' }, { type, text: 'x', admit: said }] }));
  assert.deepEqual(admit({ kind: 'audio', agent: 'my helper', server: 'dummy_mcp' }), { kind: 'audio', agent: 'my helper' });
  assert.deepEqual(admit({ kind: '<b>', agent: 7 }), { kind: 'image', agent: '7' });
  assert.equal(admit({ kind: 'image', agent: 'x' }, 'resource_link'), null, 'the companion says it of texts alone');
  const text = (/** @type {string} */ one) => call({ server: 'dummy_mcp', content: [{ type: 'text', text: 'A picture.' }, { type: 'text', text: one }] });
  assert.deepEqual(notAdmitted(text('[image left out: media of dummy_mcp are not admitted for this agent; media = ["dummy_mcp"] under [agents.helper] in config.toml admits them]')), { kind: 'image', agent: 'helper' });
  assert.deepEqual(notAdmitted(call({ server: 'dummy_mcp', model_text: 'A\n[audio left out: media of dummy_mcp are not admitted for this agent]' })), { kind: 'audio', agent: '' });
  assert.equal(notAdmitted(text('[image left out: its bytes are text/html]')), null);
  assert.equal(notAdmitted(call({ content: [{ type: 'text', text: '[image left out: media of x are not admitted for this agent]' }] })), null, 'only servers have media to admit');
});

test('calls that ended because something else did say what', () => {
  services.value = { dummy_mcp: { id: 'dummy_mcp', display_name: { en: 'Dummy MCP', es: 'MCP de prueba' } } };
  const stopped = call({ status: 'denied', server: 'dummy_mcp', key: 'server_stopped', args: { server: 'dummy_mcp' }, reason: 'x' });
  const waiting = call({ status: 'interrupted', key: 'interrupted_waiting', reason: 'x' });
  assert.deepEqual(ending(stopped), ['“Dummy MCP” was stopped; start it in Settings → MCP.']);
  assert.deepEqual(ending(waiting), ['Interrupted', 'It was waiting for your answer when the companion ended; nothing was run.']);
  setLanguage('es');
  assert.deepEqual(ending(stopped), ['«MCP de prueba» se detuvo; inícialo en Ajustes → MCP.']);
  assert.deepEqual(ending(waiting), ['Interrumpida', 'Esperaba tu respuesta cuando terminó el compañero; no se ejecutó nada.']);
});
