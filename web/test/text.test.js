import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hides, pieces } from '../static/app/calls/text.js';
import { marksInText } from '../static/app/calls/renderers/shell.js';
import { subjectOf } from '../static/app/calls/outcome.js';

const shown = (text) => pieces(text).map((piece) => piece.text).join('');

test('nothing in a command can hide', () => {
  assert.equal(shown(`ls${' '.repeat(1000)}; rm -rf x \u202e`), 'ls␠×1000; rm -rf x RLO');
  for (const char of ['\u0000', '\u001b', '\u0008', '\r', '\u200b', '\u200d', '\u2066', '\u202e', '\u00ad', '\u2028', '\ufeff', '\u{e0041}', '\ufe0f', '\u3164', '\u2800'.replace('\u2800', '\u115f')]) {
    assert.equal(hides(`a${char}b`), true, JSON.stringify(char));
    assert.ok(!shown(`a${char}b`).includes(char), JSON.stringify(char));
  }
  for (const plain of ['plain text', 'ñandú ↵ 日本語 🙂', 'two\nlines', 'a    b']) assert.equal(shown(plain), plain);
  const text = 'a\u202eb';
  assert.deepEqual(pieces(text).map(({ at, length }) => text.slice(at, at + length)), ['a', '\u202e', 'b']);
});

test('how code is indented and output set in columns is ordinary, what pushes text out of sight is not', () => {
  const deep = ' '.repeat(24);
  for (const line of [`${deep}return x;`, `+${deep}return x;`, `-${deep}return x;`, `if (x) {\n${deep}y();\n-${deep}z();\n}`]) assert.equal(hides(line), false, JSON.stringify(line));
  assert.equal(shown(JSON.stringify({ a: [[[[[{ b: 1 }]]]]] }, null, 2)).includes('␠'), false);
  assert.equal(shown(`ls${deep}; rm -rf x`), 'ls␠×24; rm -rf x');
  assert.equal(pieces(`PID${deep}COMMAND`, true).length, 1);
  for (const far of [`${' '.repeat(65)}x`, `+${' '.repeat(300)}x`]) assert.equal(hides(far), true, 'far out of sight');
  assert.equal(pieces(`a${' '.repeat(65)}b`, true).some(({ sign }) => sign), true);
});

test('marks count bytes at the companion and characters here', () => {
  const text = 'é → "🙂" && x';
  const at = Buffer.byteLength('é → "🙂" ');
  const [mark] = marksInText(text, [{ start: at, end: at + 2 }]);
  assert.equal(text.slice(mark.start, mark.end), '&&');
  assert.deepEqual(marksInText('ab', [{ start: 1, end: 99 }]), [{ start: 1, end: 2 }]);
});

test('the subject of a call', () => {
  assert.equal(subjectOf({ path: 'x', content: 'y' }), 'x');
  assert.equal(subjectOf({ command: 'a\nb' }), 'a');
  assert.equal(subjectOf({}), '');
  assert.equal(subjectOf(null), '');
});
