// A unified diff, each line with its sign and colour.
import { html, useState } from '../../../vendor/preact.js';
import { t } from '../../i18n/index.js';
import { Button } from '../../ui.js';
import { Visible } from '../text.js';

const LINES = 400;

/** @param {string} line */
function kindOf(line) {
  if (line.startsWith('+++') || line.startsWith('---')) return 'ctx';
  if (line.startsWith('+')) return 'add';
  if (line.startsWith('-')) return 'del';
  return line.startsWith('@@') ? 'hunk' : 'ctx';
}

/** Lines added and removed. @param {string} diff */
export function countLines(diff) {
  let added = 0;
  let removed = 0;
  for (const line of diff.split('\n')) {
    const kind = kindOf(line);
    if (kind === 'add') added++;
    else if (kind === 'del') removed++;
  }
  return { added, removed };
}

/** The change that the arguments of an edit ask for, where the difference itself may not be shown to the model. @param {any} args @returns {string} */
export function askedChange({ mode, content, old_text, new_text } = {}) {
  const lines = (/** @type {any} */ text, /** @type {string} */ sign) => (typeof text === 'string' && text ? text.replace(/\n$/, '').split('\n').map((line) => sign + line) : []);
  const list = mode === 'write' ? lines(content, '+') : [...lines(old_text, '-'), ...lines(new_text, '+')];
  return list.join('\n');
}

/** @param {{text: string, whole?: boolean}} props `whole` for questions: nothing is folded there */
export function Diff({ text, whole = false }) {
  const [all, setAll] = useState(whole);
  // The card's line names the file already; a question shows the difference as it is.
  const body = whole ? text : text.replace(/^--- ([^\n]*)\n\+\+\+ \1\n/, '');
  const lines = body.replace(/\n$/, '').split('\n');
  const shown = all ? lines.slice(0, 20_000) : lines.slice(0, LINES);
  return html`<pre class="diff" tabindex="0" role="group" aria-label=${t('card.diff')}>${shown.map((line, at) => html`<span key=${at} class=${kindOf(line)}><${Visible} text=${line} columns /></span>`)}</pre>
    ${shown.length < lines.length ? html`<p class="row"><span class="meta">${t('card.more_lines', { n: lines.length - shown.length })}</span>${all ? null : html`<${Button} small onClick=${() => setAll(true)}>${t('text.all')}<//>`}</p>` : null}`;
}
