import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clauseText, diagnosisText, reasonText, warningText } from '../static/app/calls/reasons.js';
import { has, setLanguage, t } from '../static/app/i18n/index.js';

const repo = fileURLToPath(new URL('../..', import.meta.url));
const source = (...path) => readFileSync(join(repo, ...path), 'utf8');
const goFiles = (folder) => readdirSync(join(repo, folder)).filter((name) => name.endsWith('.go') && !name.endsWith('_test.go')).map((name) => source(folder, name)).join('\n');
const texts = async (lang) => Object.assign({}, ...(await Promise.all(['', '.calls', '.reasons'].map((part) => import(`../static/app/i18n/${lang}${part}.js`)))).map((part) => part.default));
afterEach(() => setLanguage('en'));

test('every key of a verdict, a call and a failed command has a text in en and es', async () => {
  const keys = [...source('permissions/sentence.go').matchAll(/^\tKey\w+\s+= "(\w+)"/gm)].map((match) => match[1]);
  assert.ok(keys.length > 30 && keys.includes('unknown_tool'));
  const runner = goFiles('tools') + goFiles('localserver/session');
  const ofCalls = [...runner.matchAll(/\.fail\("(\w+)"|\.Key(?:, [\w.]+)* = (?:[\w.]+, )*"(\w+)"|Key: "(\w+)"/g)].map((match) => match[1] ?? match[2] ?? match[3]);
  // `a, b.Key, c = x, "key", y` names the key among other values; each quoted word without a space on such a line is one.
  for (const line of runner.split('\n').filter((one) => /\.Key\b.* = /.test(one))) ofCalls.push(...[...line.matchAll(/"(\w+)"(?!:)/g)].map((match) => match[1]).filter((word) => !['person', 'policy'].includes(word)));
  assert.ok(['tool_gone', 'bad_arguments', 'failed', 'timeout', 'cancelled', 'nobody_answered', 'nobody_there', 'denied_by_user', 'denied_by_user_because', 'changed_meanwhile'].every((key) => ofCalls.includes(key)), ofCalls.join());
  const reasons = /(?<=when there is nothing to say: )[^]*?\n\tReason /.exec(source('tools/shell/diagnose.go'))?.[0].match(/\b[a-z]+(?:_[a-z]+)*(?=[,.])/g) ?? [];
  assert.ok(reasons.length > 12);
  for (const lang of ['en', 'es']) {
    const all = await texts(lang);
    assert.deepEqual([...keys, ...ofCalls].map((key) => `why.${key}`).filter((key) => !(key in all)), []);
    assert.deepEqual(reasons.map((key) => `diag.${key}`).filter((key) => !(key in all)), []);
  }
});

test('every reason of the shell reader is known by the very words that the companion uses', () => {
  const text = source('permissions/shellscan/reasons.go');
  const kinds = Object.fromEntries([...text.matchAll(/(Kind\w+)\s+Kind = "(\w+)"/g)].map((match) => [match[1], match[2]]));
  const clauses = [...text.slice(text.indexOf('var reasons')).matchAll(/(Kind\w+):\s+"([^"]*)"/g)];
  assert.ok(clauses.length > 40);
  for (const [, name, clause] of clauses) assert.equal(t(`scan.${kinds[name]}`), clause.replace('%[1]s', '{text}').replace('%[2]s', '{program}'), name);
  for (const key of ['join', 'more', 'tail_grammar', 'tail_table']) assert.ok(text.includes(`"${t(`scan.${key}`)}"`), key);
  const resolve = goFiles('permissions/resolve');
  for (const key of ['empty', 'blank', 'nul', 'no_home', 'tilde', 'not_folder', 'no_folder', 'missing', 'denied', 'circle', 'through', 'network', 'long', 'long_name', 'read_whole', 'failed']) {
    assert.ok(resolve.includes(`"${t(`path.${key}`).replace('{path}', '%q').replace('{n}', '%d').replace('{text}', '%v')}"`), key);
  }
  for (const key of ['into_unknown', 'up_from_unknown']) assert.ok(resolve.includes(`"${t(`scan.${key}`).replace('{path}', '%q')}"`), key);
});

test('every warning about an agent or a session is known by the very words that the companion uses', () => {
  const go = goFiles('permissions') + source('localserver/session/items.go');
  const said = [...go.matchAll(/w\.add\("(\w+)", "((?:[^"\\]|\\.)*)"|Warning\{"(\w+)", fmt\.Sprintf\("((?:[^"\\]|\\.)*)"/g)].map((match) => ({ code: match[1] ?? match[3], words: match[2] ?? match[4] }));
  assert.ok(said.length >= 12 && said.some(({ code }) => code === 'server_off'), said.map(({ code }) => code).join());
  assert.ok(source('localserver/session/items.go').includes('const pinWarning = "pinned_resource"'));
  said.push({ code: 'pinned_resource', words: `${/"(The pinned resource [^"]+)"/.exec(go)?.[1]}it is gone.` });
  setLanguage('es');
  for (const { code, words } of said) {
    const message = words.replaceAll('%q', '"a \\" b"').replaceAll('in %s', 'in always_ask').replaceAll('%s', 'demo://x');
    assert.notEqual(warningText({ code, message }), message, message);
  }
  assert.equal(warningText({ code: 'server_off', message: 'Bundle "b" names the server "s", which is switched off.' }), 'El paquete "b" nombra el servidor "s", que está apagado.');
  assert.equal(warningText({ code: 'server_off', message: 'said otherwise' }), 'said otherwise');
});

test('sentences in Spanish, with what fills them as it came', () => {
  setLanguage('es');
  assert.equal(reasonText({ reason: 'x', key: 'not_covered', args: { access: 'R', path: '/a {path} b' } }), 'Ninguna regla deja leer «/a {path} b».');
  assert.equal(reasonText({ reason: 'x', key: 'not_covered', args: { access: 'W', path: '/a' } }), 'Ninguna regla deja cambiar «/a».');
  assert.equal(reasonText({ reason: 'x', key: 'ambiguous_why', args: { why: '`|` passes the output on to another command; only a simple command can run by rule' } }), 'Por el texto no se puede saber qué hace esta orden: `|` pasa la salida a otra orden; por regla solo puede ejecutarse una orden simple.');
  assert.equal(clauseText('A quote is never closed, and `&&` joins two commands, and there is more of the kind; only a simple command can run by rule'), 'hay unas comillas que no se cierran, y `&&` une dos órdenes, y hay más por el estilo; por regla solo puede ejecutarse una orden simple');
  assert.equal(clauseText('`--x` is not a flag of `ls` that the rules know, so the command has to be asked about'), '`--x` no es una opción de `ls` que conozcan las reglas, así que hay que preguntar por la orden');
  assert.equal(clauseText('"`, and `" is replaced by the output of another command; only a simple command can run by rule'), '"`, and `" se sustituye por la salida de otra orden; por regla solo puede ejecutarse una orden simple');
  assert.equal(clauseText('"/a/b" is not a folder'), '"/a/b" no es una carpeta');
  assert.equal(clauseText('"/a \\" is a device" is a socket'), '"/a \\" is a device" es un socket');
  assert.equal(clauseText('something nobody foresaw'), 'something nobody foresaw');
  assert.equal(reasonText({ reason: 'the server x no longer offers y', key: 'tool_gone', args: {} }), 'the server x no longer offers y', 'a sentence with a hole left open is not shown');
  assert.equal(reasonText({ reason: 'no such file', key: 'failed' }), 'no such file');
  assert.equal(reasonText({ reason: 'denied by the user: no', key: 'denied_by_user_because', args: { reason: 'no' } }), 'Denegada por ti: «no»');
  assert.equal(reasonText({ reason: 'as it came', key: 'of_a_newer_companion' }), 'as it came');
  assert.equal(diagnosisText({ reason: 'command_not_found', hint: 'x', args: { name: 'gti', path: '/bin', near: 'git' } }), 'No se encontró el programa gti. Nombres parecidos allí: git. Se buscó en: /bin');
  assert.equal(diagnosisText({ reason: 'new_one', hint: 'as it came' }), 'as it came');
  assert.ok(has('why.failed'));
});
