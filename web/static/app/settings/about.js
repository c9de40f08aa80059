// Settings → About: versions, where data lives, what is wrong, quit.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { api, VERSION } from '../api.js';
import { shortPath } from '../chat/folders.js';
import { formatDateTime, t, tx } from '../i18n/index.js';
import { connection, loadStatus, status } from '../store.js';
import { Button, confirmDialog, CopyButton, ErrorBox } from '../ui.js';
import { useLoaded } from './load.js';
import { ConfigProblems } from './providers.js';

/** major.minor of a version. @param {string} version */
export function minorOf(version) {
  return /^\d+\.\d+/.exec(version)?.[0] ?? '';
}

export function AboutSection() {
  const now = status.value ?? {};
  const [error, setError] = useState(/** @type {any} */ (null));
  const [quitting, setQuitting] = useState(false);
  const { value: config } = useLoaded(() => api.get('/api/config/list?prefix=server'), { tick: 'config' });
  useEffect(() => {
    loadStatus().catch(() => {});
  }, []);
  const quit = async () => {
    await loadStatus().catch(() => {});
    const { calls = 0, services = 0 } = status.value?.counts ?? {};
    const text = [calls ? t('about.quit_calls', { n: calls }) : '', services ? t('about.quit_services', { n: services }) : '', t('about.quit_text')].filter(Boolean).join(' ');
    if (!(await confirmDialog({ title: t('about.quit_title'), text, action: t('about.quit'), danger: true }))) return;
    setError(null);
    try {
      await api.post('/api/quit');
      setQuitting(true);
    } catch (failure) {
      setError(failure);
    }
  };
  const same = minorOf(String(now.api ?? VERSION)) === minorOf(VERSION);
  const started = now.started ?? (now.uptime_ms ? new Date(Date.now() - now.uptime_ms).toISOString() : '');
  const rows = [
    ['version', now.version], ['api', now.api ? t(same ? 'about.fits' : 'about.update', { page: VERSION, companion: now.api }) : ''],
    ['system', [now.distribution || now.os, now.arch].filter(Boolean).join(' · ')], ['pid', now.pid ? String(now.pid) : ''], ['started', started ? formatDateTime(started) : ''],
  ].filter(([, value]) => value);
  const places = [['data', now.state_dir], ['config', config?.file], ['root', now.root]].filter(([, value]) => value);
  const others = (now.problems ?? []).filter((/** @type {any} */ problem) => problem.code !== 'config');
  return html`<h1 tabindex="-1">${t('about.title')}</h1><p class="lead">${t('about.lead')}</p>
    ${others.length || config?.problems?.length ? html`<h2>${t('about.problems')}</h2><${ConfigProblems} problems=${[...others, ...(config?.problems ?? [])]} readOnly=${config?.read_only} file=${config?.file} />` : null}
    <section class="svc"><dl class="facts wide">${rows.map(([key, value]) => html`<div key=${key}><dt>${t(`about.d_${key}`)}</dt><dd>${value}</dd></div>`)}
      ${places.map(([key, value]) => html`<div key=${key}><dt>${t(`about.d_${key}`)}</dt><dd class="row"><code>${shortPath(value)}</code><${CopyButton} text=${value} /></dd></div>`)}</dl>
      ${same ? null : html`<p class="note">${t('about.update_text')}</p>`}</section>
    <p class="desc gap">${t('about.data_text')}</p>
    <h2>${t('about.quit_head')}</h2><p class="desc gap">${t('about.quit_explain')}</p>
    ${quitting ? html`<p class="note" role="status">${connection.value === 'connected' ? t('about.quitting') : tx('about.gone', { command: html`<code>zeroclaw</code>` })}</p>` : html`<p class="row"><${Button} kind="danger" onClick=${quit}>${t('about.quit')}…<//></p>`}
    ${error ? html`<${ErrorBox} error=${error} />` : null}`;
}
