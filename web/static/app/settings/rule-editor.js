// The allowed directories: one rule a line, with what is wrong or what it covers beside the line.
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { shortPath } from '../chat/folders.js';
import { has, t, tx } from '../i18n/index.js';
import { root, status } from '../store.js';
import { Button, ErrorBox } from '../ui.js';
import { useSaving } from './load.js';
import { permissions, saveDirectories, useHere } from './permission-state.js';
import { faultsOf, linesOf, textOf } from './rule-lines.js';

/** @typedef {{code?: string, message?: string}} Fault */

/** Why a line is no rule, in a few words. @param {Fault} fault */
function faultText({ code = '', message = '' }) {
  return has(`rules.bad_${code}`) ? t(`rules.bad_${code}`) : message;
}

/** Where a rule that does not count here counts. @param {any} rule */
const foldersOf = (rule) => (rule.saved_for ?? []).map(shortPath).join(', ') || t('rules.other_folder');

/**
 * What stands beside a line: what is wrong with it, or what it is worth.
 * @param {{line: string, n: number, fault?: Fault, rule?: any, dirty: boolean, onJump: (line: number) => void, onHere: (rule: string) => void}} props
 */
function Note({ line, n, fault, rule, dirty, onJump, onHere }) {
  const text = line.trim();
  const place = html`<span class="rule-n">${t('rules.line', { n })}</span>`;
  if (fault) return html`<button type="button" class="link bad" onClick=${() => onJump(n)} title=${fault.message}>${place} ✕ ${faultText(fault)}</button>`;
  if (!rule) return text && !text.startsWith('#') && dirty ? html`<span class="meta">${place} ${t('rules.unsaved')}</span>` : null;
  if (rule.status === 'active') return html`<span class="meta" title=${rule.base}>${place} <span class="ok-sign" aria-hidden="true">✓</span> ${tx('rules.active', { base: html`<code>${shortPath(rule.base ?? '')}</code>` })}</span>`;
  if (rule.status !== 'elsewhere' && rule.status !== 'moved') return html`<span class="bad" title=${rule.message}>${place} ✕ ${faultText(rule)}</span>`;
  const folders = foldersOf(rule);
  return html`<span class="rule-warn">${place} <span title=${rule.status === 'elsewhere' ? folders : undefined}>! ${rule.status === 'moved' ? t('rules.moved') : tx('rules.elsewhere', { folders: html`<code>${folders}</code>` })}</span>
    <button type="button" class="link" aria-label=${t('rules.here_label', { rule: text })} onClick=${() => onHere(rule.text)}>${t('rules.here')}</button></span>`;
}

/**
 * @param {{draft: string|null, setDraft: (text: string|null) => void}} props `draft`: the text while it differs from what is saved
 */
export function RuleEditor({ draft, setDraft }) {
  const id = useId();
  const area = useRef(/** @type {HTMLTextAreaElement|null} */ (null));
  const saving = useSaving();
  const [base, setBase] = useState(/** @type {any} */ (null));
  const [refused, setRefused] = useState(/** @type {Map<string, Fault>} */ (new Map()));
  const [rebase, setRebase] = useState(/** @type {any} */ (null));
  const now = permissions.value;
  const saved = textOf(now?.directories ?? []);
  const text = draft ?? saved;
  const dirty = draft !== null && draft !== saved;
  // The draft was begun on other rules than those that the companion has now.
  const overtaken = dirty && base && textOf(base.directories) !== saved;
  useEffect(() => {
    if (draft === null) setBase(null);
    else if (!base) setBase(now);
  }, [draft === null]);

  const lines = text.split('\n');
  const faults = new Map(faultsOf(text, status.value?.os === 'windows').map((fault) => [fault.line, /** @type {Fault} */ (fault)]));
  lines.forEach((line, at) => {
    const fault = refused.get(line.trim());
    if (fault && !faults.has(at + 1)) faults.set(at + 1, fault);
  });
  const standing = new Map((now?.rules ?? []).map((/** @type {any} */ rule) => [rule.text, rule]));
  for (const bad of now?.invalid ?? []) standing.set(bad.text, { ...bad, status: 'invalid' });

  const save = () => saving.run(async () => {
    if (faults.size) {
      jump([...faults.keys()][0]);
      throw new Error(t('rules.fix_first', { n: faults.size }));
    }
    try {
      await saveDirectories(linesOf(text), (base ?? now).directories);
    } catch (error) {
      const rows = /** @type {any} */ (error).body?.lines;
      if (Array.isArray(rows)) setRefused(new Map(rows.map((row) => [String(row.text ?? lines[row.line - 1] ?? '').trim(), row])));
      throw error;
    }
    setRefused(new Map());
    setDraft(null);
  });
  /** Puts the cursor on a line. @param {number} line */
  function jump(line) {
    const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  }
  /** @param {string} rule */
  const here = async (rule) => {
    setRebase(null);
    try {
      await useHere(rule);
    } catch (error) {
      setRebase(error);
    }
  };
  return html`<form class="svc" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    save();
  }}>
    <p class="desc" id=${`${id}-hint`}>${tx('rules.hint', { read: html`<code>R:./docs/**</code>`, write: html`<code>W:./notes/*.md</code>`, both: html`<code>RW:~/work/**</code>` })}</p>
    <div class="rules-grid"><div class="rule-box"><div class="rule-numbers" aria-hidden="true">${lines.map((_, at) => html`<div key=${at} class=${faults.has(at + 1) ? 'bad' : ''}>${at + 1}</div>`)}</div>
      <textarea class="rule-text" ref=${area} wrap="off" rows=${Math.max(4, lines.length)} spellcheck=${false} autocomplete="off" autocapitalize="off" aria-label=${t('rules.label')} aria-describedby=${`${id}-hint ${id}-notes`} aria-invalid=${faults.size ? 'true' : undefined}
        placeholder=${'R:./**'} value=${text} onInput=${(/** @type {any} */ event) => {
          saving.clear();
          setDraft(event.currentTarget.value === saved ? null : event.currentTarget.value);
        }}></textarea></div>
      <ol class="rule-notes" id=${`${id}-notes`}>${lines.map((line, at) => html`<li key=${at}><${Note} line=${line} n=${at + 1} fault=${faults.get(at + 1)} rule=${standing.get(line.trim())} dirty=${dirty} onJump=${jump} onHere=${here} /></li>`)}</ol></div>
    <div class="row"><${Button} kind="primary" type="submit" disabled=${!dirty || saving.saving}>${t('rules.save')}<//>
      ${dirty ? html`<${Button} kind="quiet" onClick=${() => {
        saving.clear();
        setRefused(new Map());
        setDraft(null);
      }}>${t('rules.revert')}<//>` : null}
      <span class="saved" role="status">${saving.saved ? t('ui.saved') : ''}</span><span class="grow"></span>
      <span class="meta">${tx('rules.root', { root: html`<code>${shortPath(root.value)}</code>` })}</span></div>
    ${overtaken ? html`<div class="note stack"><p>${t('rules.overtaken')}</p><div class="row"><${Button} small onClick=${() => setDraft(null)}>${t('rules.take_theirs')}<//><${Button} small onClick=${() => {
      setBase(now);
      saving.clear();
    }}>${t('rules.keep_mine')}<//></div><pre class="code">${saved || t('rules.none')}</pre></div>` : null}
    ${saving.error && !(overtaken && saving.error.cause === 'conflict') ? html`<${ErrorBox} title=${t('rules.not_saved')} error=${saving.error} />` : null}
    ${rebase ? html`<${ErrorBox} title=${t('rules.not_saved')} error=${rebase} />` : null}</form>`;
}
