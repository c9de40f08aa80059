// Files that a person gives to a chat; they land in the session's uploads folder.
import { html, useEffect, useRef, useState } from '../../vendor/preact.js';
import { request, url } from '../api.js';
import { formatSize, t } from '../i18n/index.js';
import { isShownImage, Image } from '../calls/renderers/image.js';
import { Button } from '../ui.js';
import { ensureStored } from './conversation.js';

/** @typedef {import('../types.js').StoredFile} StoredFile */

/** The companion takes uploads up to this size. */
const LIMIT = 32 * 1024 * 1024;

/** Uploads files to a chat, one after the other; `stored` is told the chat's id when there is one. @param {import('./conversation.js').Chat} chat @param {Iterable<File>} files @param {(id: string) => void} stored */
export async function attach(chat, files, stored) {
  chat.error.value = null;
  for (const file of files) {
    try {
      if (file.size > LIMIT) throw new Error(t('attach.too_big', { name: file.name, size: formatSize(file.size), limit: formatSize(LIMIT) }));
      if (!chat.id) {
        await ensureStored(chat, file.name, true);
        stored(chat.id);
      }
      const name = file.name || `pasted-${Date.now()}.${file.type.split('/')[1] ?? 'bin'}`;
      const response = await request(`${url`/api/conversations/${chat.id}/files`}?name=${encodeURIComponent(name)}`, { method: 'POST', body: file, headers: { 'Content-Type': file.type || 'application/octet-stream' } });
      chat.attached.value = [...chat.attached.value, await response.json()];
    } catch (error) {
      chat.error.value = error;
    }
  }
}

/**
 * Takes files dropped anywhere: missing the box must not make the browser leave the page. Answers whether files are being dragged now.
 * @param {(files: FileList|undefined) => void} take
 */
export function useDroppedFiles(take) {
  const [over, setOver] = useState(false);
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const hasFiles = (/** @type {DragEvent} */ event) => Boolean(event.dataTransfer?.types.includes('Files'));
    const dragged = (/** @type {DragEvent} */ event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(true);
    };
    const left = (/** @type {DragEvent} */ event) => {
      if (!event.relatedTarget) setOver(false);
    };
    const dropped = (/** @type {DragEvent} */ event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      setOver(false);
      latest.current(event.dataTransfer?.files);
    };
    addEventListener('dragover', dragged);
    addEventListener('dragleave', left);
    addEventListener('drop', dropped);
    return () => {
      removeEventListener('dragover', dragged);
      removeEventListener('dragleave', left);
      removeEventListener('drop', dropped);
    };
  }, []);
  return over;
}

/** @param {{files: StoredFile[], chatId: string, remove?: (file: StoredFile) => void}} props */
export function FileList({ files, chatId, remove }) {
  if (!files.length) return null;
  return html`<div class="files">${files.map((file) => html`<span class="file" key=${file.path}><span>${file.name}</span><span class="meta">${formatSize(file.size)}</span>
    ${remove ? html`<${Button} kind="quiet" small class="icon" aria-label=${t('attach.remove', { name: file.name })} onClick=${() => remove(file)}>✕<//>` : null}</span>`)}
    ${remove ? null : files.filter((file) => isShownImage(file.mime)).map((file) => html`<${Image} key=${`${file.path}-image`} mime=${file.mime} path=${url`/api/conversations/${chatId}/files/${file.name}`} alt=${file.name} />`)}</div>`;
}
