// Images and sounds that a tool returned or a person attached. Only bytes that came from the companion are shown, and
// only as types in which nothing runs. The box has its size before they come, so nothing moves when they do.
import { html, useEffect, useRef, useState } from '../../../vendor/preact.js';
import { request } from '../../api.js';
import { t } from '../../i18n/index.js';
import { Button, Dialog, openDialog } from '../../ui.js';

const images = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;
const sounds = /^audio\/(wav|mpeg|ogg|flac|mp4|x-m4a|webm)$/;

/** @param {string} mime */
export const isShownImage = (mime) => images.test(mime);

/** Whether an item of a result is one that is shown as what it is. @param {import('../../types.js').ContentItem} item */
export function isMedia({ type, mimeType = '', data, result_id }) {
  return (type === 'image' ? images : type === 'audio' ? sounds : /^$/).test(mimeType) && Boolean(data || result_id);
}

/** A picture as large as the window lets it be. @param {string} src @param {string} name */
function enlarge(src, name) {
  openDialog((close) => html`<${Dialog} class="picture" title=${name} onClose=${close}><img src=${src} alt=${name} /><div class="row end"><${Button} autofocus onClick=${close}>${t('ui.close')}<//></div><//>`);
}

/** @param {{mime: string, base64?: string, path?: string, alt: string, large?: boolean}} props `path`: where the companion keeps the bytes */
export function Image({ mime, base64, path, alt, large = false }) {
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const [src, setSrc] = useState('');
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let address = '';
    let current = true;
    const load = async () => {
      const bytes = base64 !== undefined ? Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)) : await (await request(path ?? '', { headers: { Accept: 'application/octet-stream' } })).arrayBuffer();
      if (!current) return;
      address = URL.createObjectURL(new Blob([bytes], { type: mime }));
      setSrc(address);
    };
    // A long conversation fetches only what somebody gets to see.
    const near = new IntersectionObserver((entries) => {
      if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
      near.disconnect();
      load().catch(() => current && setFailed(true));
    }, { rootMargin: '600px' });
    near.observe(/** @type {HTMLElement} */ (box.current));
    return () => {
      current = false;
      near.disconnect();
      if (address) URL.revokeObjectURL(address);
    };
  }, [base64, path, mime]);
  const sound = sounds.test(mime);
  const shown = failed ? html`<span class="meta">${t('image.failed', { name: alt })}</span>`
    : !src ? null : sound ? html`<audio controls src=${src} aria-label=${alt}></audio>` : html`<img class="shot" src=${src} alt=${alt} onError=${() => setFailed(true)} /><button type="button" class="shot-open" aria-label=${t('image.enlarge', { name: alt })} onClick=${() => enlarge(src, alt)}></button>`;
  return html`<span class=${`shot-box ${sound ? 'sound' : large ? 'large' : ''}`} ref=${box}>${shown}</span>`;
}
