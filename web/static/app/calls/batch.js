// One yes for several questions about the same tool in one answer: for what is shown there, and once.
import { html, useState } from '../../vendor/preact.js';
import { t, tx } from '../i18n/index.js';
import { answer, approvals, connection } from '../store.js';
import { Button, ErrorBox } from '../ui.js';
import { elsewhere, tooSoon } from './approval.js';

/** @typedef {import('../types.js').Approval} Approval */

/** Questions of these calls that one yes may answer, by tool; a tool that asks only once is left out. @param {Approval[]} waiting @param {string[]} callIds @returns {Approval[][]} */
export function batches(waiting, callIds) {
  const mine = waiting.filter((one) => one.kind === 'call' && one.call_id && callIds.includes(one.call_id) && one.choices?.includes('once') && !elsewhere(one, 'once'));
  return [...new Set(mine.map(({ tool }) => tool))].map((tool) => mine.filter((one) => one.tool === tool)).filter((list) => list.length > 1);
}

/** @param {{callIds: string[]}} props */
export function Batches({ callIds }) {
  return batches(approvals.value, callIds).map((list) => html`<${Batch} key=${list[0].tool} list=${list} />`);
}

/** @param {{list: Approval[]}} props */
function Batch({ list }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const [sending, setSending] = useState(false);
  const allow = async () => {
    if (sending || tooSoon()) return;
    setSending(true);
    const ends = await Promise.allSettled(list.map((approval) => answer(approval, 'once')));
    setError(ends.find((end) => end.status === 'rejected')?.reason ?? null);
    setSending(false);
  };
  return html`<div class="batch"><span class="grow"><b>${tx('ask.batch_title', { n: list.length, tool: html`<code>${list[0].tool}</code>` })}</b> <span class="meta">${t('ask.batch_hint')}</span></span>
    <${Button} small disabled=${sending || connection.value === 'lost'} onClick=${allow}>${t('ask.batch', { n: list.length })}<//>${error ? html`<${ErrorBox} title=${t('ask.failed')} error=${error} />` : null}</div>`;
}
