import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultOf, faultsOf, linesOf, textOf, withRule } from '../static/app/settings/rule-lines.js';

test('lines that are rules, comments or nothing', () => {
  for (const line of ['', '   ', '# note', 'R:./**', 'W:./docs/*.md', 'RW:~/x', ' R: ./a \r', 'R:../x/**', 'R:/etc/hosts', 'R:./[slug]/{x}/a?b', 'R:./a:b', 'R:./**/x/*', 'R:.']) assert.equal(faultOf(line), '', line);
});

test('lines that are none, and why', () => {
  const rows = [['./docs/**', 'grammar'], ['r:./x', 'grammar'], ['RWX:./x', 'grammar'], ['WR:./x', 'grammar'], ['R:', 'empty'], ['R:   ', 'empty'], ['R:./a\u0007', 'control_character'], ['R:./**x', 'glued_stars'], ['R:./x***', 'glued_stars'], ['R:./*/../x', 'dots_after_wildcard'], [`R:./${'*a'.repeat(9)}`, 'too_many_stars'], [`R:./${'a'.repeat(256)}`, 'long_name'], [`R:./${'a/'.repeat(3000)}`, 'too_long'], ['R:./\ud800', 'encoding'], [`R:./${'*/'.repeat(17)}`, 'too_many_wildcards']];
  for (const [line, code] of rows) assert.equal(faultOf(line), code, line.slice(0, 40));
});

test('Windows paths', () => {
  assert.equal(faultOf('R:C:/Users/**', true), '');
  assert.equal(faultOf('R:C:\\Users\\**', true), '');
  assert.equal(faultOf('R:C:x', true), 'drive_relative');
  assert.equal(faultOf('R:\\\\server\\share', true), 'network_path');
  assert.equal(faultOf('R:./a\\**b', false), 'glued_stars');
});

test('faults carry their line', () => {
  assert.deepEqual(faultsOf('R:./**\n\nbad\n# x\nW:').map(({ line, code }) => [line, code]), [[3, 'grammar'], [5, 'empty']]);
});

test('as many rules as the companion takes, and no more', () => {
  const text = Array.from({ length: 1_002 }, (_, n) => `# note\nR:./a${n}`).join('\n\n');
  assert.deepEqual(faultsOf(text).map(({ line, code }) => [line, code]), [[3_002, 'too_many_rules'], [3_005, 'too_many_rules']]);
  assert.equal(faultOf(`R:./${'*/'.repeat(16)}`), '');
});

test('text and lines', () => {
  assert.deepEqual(linesOf('R:./** \n\n# keep\n\n\n'), ['R:./**', '', '# keep']);
  assert.deepEqual(linesOf(''), []);
  assert.equal(textOf(['a', 'b']), 'a\nb');
  assert.equal(withRule('R:./**\n', 'W:./x'), 'R:./**\nW:./x');
  assert.equal(withRule('R:./**\n', 'R:./**'), 'R:./**\n');
  assert.equal(withRule('', 'R:./**'), 'R:./**');
});
