// What the test of a provider brought, in the words of the page and naming its fields.
import { html } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { formatDuration, has, t } from '../i18n/index.js';
import { CopyButton, Sign } from '../ui.js';

/** Failures whose own sentence holds more than ours. */
const TOLD_MORE = new Set(['redirect', 'tls', 'failed', 'misconfigured']);

/** A sentence as people write it. @param {string} text */
const sentence = (text) => (text ? text[0].toUpperCase() + text.slice(1).replace(/([^.!?…])$/, '$1.') : '');

/** What a refusal means. @param {number} status */
function statusKey(status) {
  if (status === 401 || status === 403) return 'key';
  if (status === 404 || status === 429) return String(status);
  return status >= 500 ? 'server' : status >= 300 && status < 400 ? 'redirect' : 'status';
}

/** Why a test failed. @param {{code?: string, at?: string, status?: number, reason?: string, hint?: string}} result @returns {{text: string, detail: string}} */
export function failText({ code = '', at = '', status = 0, reason = '', hint = '' }) {
  const short = code.replace(/^provider_/, '');
  const key = `prov.fail_${short === 'status' ? statusKey(status) : short}`;
  if (!has(key)) return { text: [reason, hint].map(sentence).filter(Boolean).join(' '), detail: '' };
  return { text: t(key, { at, status: String(status) }), detail: TOLD_MORE.has(short) ? sentence(reason) : '' };
}

/** @param {{result: any}} props */
export function TestResult({ result }) {
  if (!result.ok) {
    const { text, detail } = failText(result);
    return html`<div class="err"><div><b>${t('prov.test_failed')}</b> <${Visible} text=${text} />${detail ? html` <span class="meta"><${Visible} text=${detail} /></span>` : null}</div><${CopyButton} text=${[text, detail].filter(Boolean).join(' ')} /></div>`;
  }
  return html`<div class="row test-ok"><${Sign} kind="ok" /><span>${t('prov.test_ok', { n: result.models?.length ?? 0, time: formatDuration(result.latency_ms ?? 0) })}</span></div>`;
}

/** Chooses the model to start with, as long as none is chosen or the chosen one is not among those offered. @param {{model: string, offered: string[], sure: boolean, disabled: boolean, onPick: (model: string) => void}} props `sure`: the provider itself has just listed them */
export function ModelPick({ model, offered, sure, disabled, onPick }) {
  if (!offered.length || (model && (!sure || offered.includes(model)))) return null;
  return html`<p class="row test-ok"><label class="opt">${model ? t('prov.unknown_model', { model }) : t('prov.pick')} <select class="field auto" value="" disabled=${disabled} onChange=${(/** @type {any} */ event) => event.currentTarget.value && onPick(event.currentTarget.value)}><option value="">${t('form.choose')}</option>${offered.slice(0, 500).map((one) => html`<option key=${one} value=${one}>${one}</option>`)}</select></label></p>`;
}
