// Picks a folder of this computer through the companion, and makes it the root of new sessions.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { api } from '../api.js';
import { t } from '../i18n/index.js';
import { patchStatus, root, status } from '../store.js';
import { Button, Dialog, errorText, Field, openDialog } from '../ui.js';

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

/** Why a folder cannot be used, in words. @param {any} error @param {string} path */
function folderFault(error, path) {
  const key = /** @type {Record<string, string>} */ ({ no_folder: 'folder.missing', not_folder: 'folder.not_folder', folder_denied: 'folder.denied', own_state: 'folder.own_state', bad_path: 'folder.bad_path' })[error.code];
  return key ? t(key, { path: shortPath(path) }) : errorText(error);
}

/**
 * A list of folders to walk through and one line to type a path; the list is always that of the path in the line.
 * @param {{start?: string, onPick: (path: string) => void|Promise<void>, action: string, onCancel?: () => void}} props
 */
export function FolderPicker({ start = '~', onPick, action, onCancel }) {
  const [at, setAt] = useState(/** @type {any} */ (null));
  const [typed, setTyped] = useState(start);
  const [fault, setFault] = useState('');
  const [hidden, setHidden] = useState(false);
  const field = useRef(/** @type {HTMLElement|null} */ (null));
  const list = useRef(/** @type {HTMLElement|null} */ (null));
  /** @param {string} path @param {() => void|Promise<void>} work */
  const trying = async (path, work) => {
    try {
      setFault('');
      await work();
    } catch (error) {
      setTyped(path);
      setFault(folderFault(error, path));
      field.current?.querySelector('input')?.focus();
    }
  };
  const go = (/** @type {string} */ path) => trying(path, async () => {
    const walking = list.current?.contains(document.activeElement);
    const answer = await api.get(`/api/folders?path=${encodeURIComponent(path)}`);
    setAt(answer);
    setTyped(answer.path);
    // The button that was pressed is gone; whoever walks by keyboard goes on in the new list.
    if (walking) requestAnimationFrame(() => list.current?.querySelector('button')?.focus());
  });
  useEffect(() => {
    go(start);
  }, [start]);
  const pick = () => trying(typed, () => onPick(typed));
  const shown = at?.path === typed ? at : null;
  const folders = (shown?.folders ?? []).filter((/** @type {any} */ folder) => hidden || !folder.hidden);
  return html`<form class="stack" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    if (shown) pick();
    else go(typed);
  }}>
    <div ref=${field}><${Field} label=${t('folder.path')} hint=${t('folder.path_hint')} error=${fault} value=${typed} class="field mono" spellcheck=${false} autocomplete="off" onInput=${(/** @type {any} */ event) => {
      setTyped(event.currentTarget.value);
      setFault('');
    }} /></div>
    <div class="folder-list" ref=${list} role="group" aria-label=${t('folder.list')}>
      ${shown ? null : html`${fault ? null : html`<p class="meta">${t('folder.enter')}</p>`}<button type="button" onClick=${() => go('~')}>~</button>`}
      ${shown?.parent ? html`<button type="button" onClick=${() => go(shown.parent)}>↑ ${shortPath(shown.parent)}</button>` : null}
      ${folders.map((/** @type {any} */ folder) => html`<button type="button" key=${folder.path} onClick=${() => go(folder.path)}>${folder.name}</button>`)}
      ${shown && !folders.length ? html`<p class="meta">${t('folder.none')}</p>` : null}
      ${shown?.truncated ? html`<p class="meta">${t('folder.truncated')}</p>` : null}
    </div>
    <label class="opt"><input type="checkbox" checked=${hidden} onChange=${() => setHidden(!hidden)} /> ${t('folder.hidden')}</label>
    <div class="row"><${Button} kind="primary" onClick=${pick}>${action}<//>${onCancel ? html`<${Button} onClick=${onCancel}>${t('ui.cancel')}<//>` : null}</div>
  </form>`;
}

/** Asks for the folder of the next chats. @returns {Promise<string|null>} */
export function chooseRoot() {
  return openDialog((close) => html`<${Dialog} title=${t('folder.title')} onClose=${() => close(null)}><p class="meta">${t('folder.explain')}</p>
    <${FolderPicker} start=${root.value || '~'} action=${t('folder.use')} onCancel=${() => close(null)} onPick=${async (/** @type {string} */ path) => close(await setRoot(path))} /><//>`);
}
