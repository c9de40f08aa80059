// Settings → Permissions: the policy, the allowed directories, the tester, what was remembered.
import { html, useEffect, useId, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { shortPath } from '../chat/folders.js';
import { formatDateTime, t } from '../i18n/index.js';
import { link } from '../router.js';
import { ticks } from '../store.js';
import { announce, Button, confirmDialog, Empty, ErrorBox, Pill } from '../ui.js';
import { useSaving } from './load.js';
import { loadPermissions, permissions, permissionsError, resetGrants, revoke, savePolicy } from './permission-state.js';
import { RuleEditor } from './rule-editor.js';
import { textOf, withRule } from './rule-lines.js';
import { Tester } from './tester.js';

export function PermissionsSection() {
  const [draft, setDraft] = useState(/** @type {string|null} */ (null));
  useEffect(() => {
    loadPermissions().catch(() => {});
  }, [ticks.value.permissions ?? 0, ticks.value.config ?? 0]);
  const now = permissions.value;
  const error = permissionsError.value;
  const addRule = (/** @type {string} */ rule) => {
    setDraft(withRule(draft ?? textOf(now?.directories ?? []), rule));
    announce(t('rules.added', { rule }));
    const save = /** @type {HTMLElement|null} */ (document.querySelector('.rules-section [type=submit]'));
    document.querySelector('.rules-section')?.scrollIntoView({ block: 'nearest' });
    setTimeout(() => save?.focus({ preventScroll: true }), 50);
  };
  const unsaved = draft !== null && draft !== textOf(now?.directories ?? []);
  return html`<h1 tabindex="-1">${t('perm.title')}</h1><p class="lead">${t('perm.lead')}</p>
    ${error ? html`<${ErrorBox} title=${t('perm.not_loaded')} error=${error}><${Button} small onClick=${() => loadPermissions().catch(() => {})}>${t('ui.retry')}<//><//>` : null}
    ${now ? html`<h2>${t('perm.policy')}</h2><${Policy} policy=${now.policy} />
      <div class="rules-section"><h2>${t('rules.title')}</h2><${RuleEditor} draft=${draft} setDraft=${setDraft} /></div>
      <h2>${t('test.title')}</h2><p class="desc gap">${t('test.lead')}</p><${Tester} unsaved=${unsaved} onRule=${addRule} />
      <${Grants} grants=${now.grants ?? []} />
      <h2>${t('audit.title')}</h2><p class="desc gap">${t('perm.audit_text')} <a href=${link('settings', 'audit')}>${t('perm.audit_link')}</a></p>`
    : error ? null : html`<p class="meta" role="status">${t('ui.loading')}</p>`}`;
}

/** @param {{policy: string}} props */
function Policy({ policy }) {
  const name = useId();
  const saving = useSaving();
  const choose = async (/** @type {Event} */ event, /** @type {string} */ value) => {
    const input = /** @type {HTMLInputElement} */ (event.currentTarget);
    if (value === policy) return;
    if (value === 'allow_all') {
      // Until it is confirmed and saved, the page shows what holds.
      input.checked = false;
      const other = /** @type {HTMLInputElement|null} */ (document.querySelector(`input[name="${CSS.escape(name)}"][value="${policy}"]`));
      if (other) other.checked = true;
      if (!(await confirmDialog({ title: t('perm.all_title'), text: t('perm.all_confirm'), action: t('perm.all_action'), danger: true }))) return;
    }
    await saving.run(() => savePolicy(value));
  };
  return html`<fieldset class="policy" disabled=${saving.saving}><legend class="sr">${t('perm.policy')}</legend>
      ${[{ value: 'ask', danger: false }, { value: 'allow_all', danger: true }].map(({ value, danger }) => html`<label key=${value} class=${`choice ${danger ? 'danger-choice' : ''}`}><input type="radio" name=${name} value=${value} checked=${policy === value} onChange=${(/** @type {Event} */ event) => choose(event, value)} />
        <span><b>${t(`perm.${value}`)}</b><span class="meta">${t(`perm.${value}_text`)}</span></span></label>`)}</fieldset>
    <p class="row policy-foot"><span class="saved" role="status">${saving.saved ? t('ui.saved') : ''}</span></p>
    ${policy === 'allow_all' ? html`<p class="err">${t('perm.all_warning')}</p>` : null}
    <p class="desc gap">${t('perm.always')}</p>
    ${saving.error ? html`<${ErrorBox} title=${t('rules.not_saved')} error=${saving.error} />` : null}`;
}

/** @param {{grants: any[]}} props */
function Grants({ grants }) {
  const [error, setError] = useState(/** @type {any} */ (null));
  const guarded = async (/** @type {() => Promise<any>} */ work) => {
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    }
  };
  return html`<h2>${t('grants.title')} <span class="meta">${grants.length || ''}</span><span class="grow"></span>
      ${grants.length > 1 ? html`<${Button} small kind="danger" onClick=${async () => {
        if (await confirmDialog({ title: t('grants.reset_title', { n: grants.length }), text: t('grants.reset_text'), action: t('grants.reset'), danger: true })) await guarded(resetGrants);
      }}>${t('grants.reset')}<//>` : null}</h2>
    ${error ? html`<${ErrorBox} error=${error} />` : null}
    ${grants.length ? html`<ul class="plain-list">${grants.map((grant) => html`<li key=${grant.id} class="grant"><div class="grant-what"><div class="grant-line"><b><${Visible} text=${grant.tool} /></b><${Pill}>${t(`grants.${grant.scope}`)}<//>${grant.command ? html`<code><${Visible} text=${grant.command} /></code>` : html`<span class="meta">${t('grants.any')}</span>`}</div>
          <div class="meta">${[grant.cwd ? t('grants.in', { cwd: shortPath(grant.cwd) }) : '', grant.created ? formatDateTime(grant.created) : ''].filter(Boolean).join(' · ')}</div></div>
        <${Button} small aria-label=${t('grants.revoke_label', { tool: grant.tool })} onClick=${() => guarded(() => revoke(grant.id))}>${t('grants.revoke')}<//></li>`)}</ul>`
    : html`<${Empty} title=${t('grants.empty')}>${t('grants.empty_text')}<//>`}`;
}
