// Picks a folder of this computer through the companion, and makes it the root of new sessions.
import { html, useEffect, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { t } from '../i18n/index.js';
import { patchStatus, root, status } from '../store.js';
import { Button, Dialog, ErrorBox, Field, openDialog } from '../ui.js';

/** A path with the home folder written as ~. @param {string} path */
export function shortPath(path) {
  const home = String(status.value?.home ?? '');
  if (home && path === home) return '~';
  return home && (path.startsWith(`${home}/`) || path.startsWith(`${home}\\`)) ? `~${path.slice(home.length)}` : path;
}

/** Makes a folder the root of sessions opened from now on. @param {string} path */
export async function setRoot(path) {
  const answer = await api.put('/api/root', { path });
  patchStatus({ root: answer.root });
  return answer.root;
}

/**
 * A list of folders to walk through and one line to type a path.
 * @param {{start?: string, onPick: (path: string) => void|Promise<void>, action: string, onCancel?: () => void}} props
 */
export function FolderPicker({ start = '~', onPick, action, onCancel }) {
  const [at, setAt] = useState(/** @type {any} */ (null));
  const [typed, setTyped] = useState(start);
  const [error, setError] = useState(/** @type {any} */ (null));
  const [hidden, setHidden] = useState(false);
  const go = async (/** @type {string} */ path) => {
    try {
      const answer = await api.get(`/api/folders?path=${encodeURIComponent(path)}`);
      setAt(answer);
      setTyped(answer.path);
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  };
  useEffect(() => {
    go(start);
  }, [start]);
  const pick = async () => {
    try {
      setError(null);
      await onPick(typed);
    } catch (failure) {
      setError(failure);
    }
  };
  const folders = (at?.folders ?? []).filter((/** @type {any} */ folder) => hidden || !folder.hidden);
  return html`<form class="stack" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    if (typed === at?.path) pick();
    else go(typed);
  }}>
    <${Field} label=${t('folder.path')} hint=${t('folder.path_hint')} value=${typed} class="field mono" spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} />
    <div class="folder-list" role="group" aria-label=${t('folder.list')}>
      ${at?.parent ? html`<button type="button" onClick=${() => go(at.parent)}>↑ ${shortPath(at.parent)}</button>` : null}
      ${folders.map((/** @type {any} */ folder) => html`<button type="button" key=${folder.path} onClick=${() => go(folder.path)}>${folder.name}</button>`)}
      ${at && !folders.length ? html`<p class="meta">${t('folder.none')}</p>` : null}
      ${at?.truncated ? html`<p class="meta">${t('folder.truncated')}</p>` : null}
    </div>
    <label class="opt"><input type="checkbox" checked=${hidden} onChange=${() => setHidden(!hidden)} /> ${t('folder.hidden')}</label>
    ${error ? html`<${ErrorBox} error=${error} />` : null}
    <div class="row"><${Button} kind="primary" onClick=${pick}>${action}<//>${onCancel ? html`<${Button} onClick=${onCancel}>${t('ui.cancel')}<//>` : null}</div>
  </form>`;
}

/** Asks for the folder of the next chats. @returns {Promise<string|null>} */
export function chooseRoot() {
  return openDialog((close) => html`<${Dialog} title=${t('folder.title')} onClose=${() => close(null)}><p class="meta">${t('folder.explain')}</p>
    <${FolderPicker} start=${root.value || '~'} action=${t('folder.use')} onCancel=${() => close(null)} onPick=${async (/** @type {string} */ path) => close(await setRoot(path))} /><//>`);
}
