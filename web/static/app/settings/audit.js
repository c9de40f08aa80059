// Settings → Audit: one line for each call, newest first.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { api, request } from '../api.js';
import { Arguments } from '../calls/renderers/json.js';
import { Visible } from '../calls/text.js';
import { subjectOf } from '../calls/outcome.js';
import { isRule, permitText } from '../calls/scope.js';
import { formatDateTime, formatDuration, formatSize, has, t } from '../i18n/index.js';
import { link } from '../router.js';
import { tools } from '../store.js';
import { Button, Empty, ErrorBox, Field, Sign } from '../ui.js';
import { stepText } from './tester.js';

const OUTCOMES = ['ok', 'error', 'denied', 'timeout', 'cancelled', 'interrupted'];

/** @param {{q: string, tool: string, outcome: string}} filter @param {Record<string, string>} [more] */
export function auditQuery(filter, more = {}) {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...filter, ...more })) if (value) params.set(key, value);
  const text = params.toString();
  return `/api/audit${text ? `?${text}` : ''}`;
}

export function AuditSection() {
  const [filter, setFilter] = useState({ q: '', tool: '', outcome: '' });
  const [entries, setEntries] = useState(/** @type {any[]|null} */ (null));
  const [next, setNext] = useState('');
  const [error, setError] = useState(/** @type {any} */ (null));
  const [busy, setBusy] = useState(false);
  const turn = useRef(0);
  const load = async (/** @type {string} */ before) => {
    const mine = ++turn.current;
    setBusy(true);
    try {
      const answer = await api.get(auditQuery(filter, { limit: '100', ...(before ? { before } : {}) }));
      if (mine !== turn.current) return;
      setEntries((old) => (before ? [...(old ?? []), ...(answer.entries ?? [])] : answer.entries ?? []));
      setNext(answer.next ?? '');
      setError(null);
    } catch (failure) {
      if (mine === turn.current) setError(failure);
    }
    if (mine === turn.current) setBusy(false);
  };
  useEffect(() => {
    const timer = setTimeout(() => load(''), entries ? 250 : 0);
    return () => clearTimeout(timer);
  }, [filter.q, filter.tool, filter.outcome]);
  const set = (/** @type {string} */ key) => (/** @type {any} */ event) => setFilter({ ...filter, [key]: event.currentTarget.value });
  const names = [...new Set([...tools.value.map(({ name }) => name), ...(entries ?? []).map(({ tool }) => tool)])].sort();
  const filtered = Boolean(filter.q || filter.tool || filter.outcome);
  return html`<h1 tabindex="-1">${t('audit.title')}</h1><p class="lead">${t('audit.lead')}</p>
    <div class="audit-filter"><${Field} label=${t('audit.text')} type="search" value=${filter.q} onInput=${set('q')} />
      <${Field} label=${t('audit.tool')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${filter.tool} onChange=${set('tool')}><option value="">${t('audit.all_tools')}</option>${names.map((name) => html`<option key=${name} value=${name}>${name}</option>`)}</select>`}<//>
      <${Field} label=${t('audit.outcome')}>${(/** @type {any} */ attributes) => html`<select ...${attributes} value=${filter.outcome} onChange=${set('outcome')}><option value="">${t('audit.all_outcomes')}</option>${OUTCOMES.map((one) => html`<option key=${one} value=${one}>${t(`audit.is_${one}`)}</option>`)}</select>`}<//>
      <${Button} onClick=${() => load('')} disabled=${busy}>${t('audit.reload')}<//><${Export} filter=${filter} /></div>
    ${error ? html`<${ErrorBox} title=${t('audit.failed')} error=${error}><${Button} small onClick=${() => load('')}>${t('ui.retry')}<//><//>` : null}
    ${entries === null ? error ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`
      : entries.length ? html`<ul class="plain-list audit" aria-label=${t('audit.title')} aria-busy=${busy}>${entries.map((entry, at) => html`<${Entry} key=${entry.call_id || `${entry.time}${at}`} entry=${entry} />`)}</ul>
        <p class="row more">${next ? html`<${Button} disabled=${busy} onClick=${() => load(next)}>${t('audit.more')}<//>` : html`<span class="meta">${t('audit.end')}</span>`}</p>`
      : filtered ? html`<${Empty} title=${t('audit.none_found')} action=${html`<${Button} onClick=${() => setFilter({ q: '', tool: '', outcome: '' })}>${t('tools.clear_filter')}<//>`} />`
        : html`<${Empty} title=${t('audit.empty')} action=${html`<a class="btn" href=${link('chat')}>${t('audit.start')}</a>`}>${t('audit.empty_text')}<//>`}`;
}

/** @param {{filter: {q: string, tool: string, outcome: string}}} props */
function Export({ filter }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const run = async () => {
    setError(null);
    try {
      const response = await request(auditQuery(filter, { format: 'jsonl' }));
      const address = URL.createObjectURL(await response.blob());
      const anchor = document.createElement('a');
      anchor.href = address;
      anchor.download = 'zeroclaw-audit.jsonl';
      anchor.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<${Button} kind="quiet" title=${t('audit.export_title')} onClick=${run}>${t('audit.export')}<//>${error ? html`<${ErrorBox} error=${error} />` : null}`;
}

/** A word of the log in the language shown, as it is when it is none that we know. @param {string} group @param {string|undefined} value */
function word(group, value) {
  return value && has(`audit.${group}_${value}`) ? t(`audit.${group}_${value}`) : value ?? '';
}

/** What decided, in words where it is no rule of a person's. @param {string|undefined} rule @param {any} args */
const ruleWords = (rule, args) => (rule && !isRule(rule) && permitText(rule, args)) || rule;

/** @param {{entry: any}} props */
function Entry({ entry }) {
  const [open, setOpen] = useState(false);
  const bad = entry.outcome !== 'ok';
  const off = entry.outcome === 'cancelled' || entry.outcome === 'interrupted';
  const args = entry.arguments && typeof entry.arguments === 'object' ? entry.arguments : {};
  const subject = subjectOf(args);
  const known = OUTCOMES.includes(entry.outcome);
  const facts = [
    ['verdict', [entry.verdict ? t(`test.verdict_${entry.verdict}`) : '', entry.row ? stepText(entry.row) : ''].filter(Boolean).join(' · ')],
    ['rule', ruleWords(entry.rule, args)], ['reason', entry.reason], ['answered', [word('who', entry.answered_by), word('answer', entry.answer)].filter(Boolean).join(' · ')],
    ['client', [word('who', entry.client), entry.agent].filter(Boolean).join(' · ')], ['session', entry.session], ['sizes', Object.entries(entry.sizes ?? {}).map(([name, size]) => `${word('size', name)} ${formatSize(Number(size))}`).join(' · ')],
  ].filter(([, value]) => value);
  return html`<li class="card"><button type="button" class="line entry" aria-expanded=${open} onClick=${() => setOpen(!open)}><${Sign} kind=${off ? 'off' : bad ? 'no' : 'ok'} /><span class="what"><b><${Visible} text=${entry.tool} /></b>${subject ? html` <code><${Visible} text=${subject} /></code>` : null}</span>
      <span class="meta">${known ? t(`audit.is_${entry.outcome}`) : entry.outcome}</span> <span class="meta took">${entry.duration_ms !== undefined ? formatDuration(entry.duration_ms) : ''}</span> <span class="meta when">${formatDateTime(entry.time)}</span></button>
    ${open ? html`<div class="card-body"><${Arguments} value=${args} /><dl class="facts">${facts.map(([key, value]) => html`<div key=${key}><dt>${t(`audit.d_${key}`)}</dt><dd><${Visible} text=${String(value)} /></dd></div>`)}</dl></div>` : null}</li>`;
}
