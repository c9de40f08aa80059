// Images that a tool returned or a person attached. Only bytes that came from the companion are shown.
import { html, useEffect, useState } from '../../../vendor/preact.js';
import { request } from '../../api.js';
import { t } from '../../i18n/index.js';

const shown = /^image\/(png|jpeg|gif|webp|avif|bmp)$/;

/** @param {string} mime */
export const isShownImage = (mime) => shown.test(mime);

/** @param {{mime: string, base64?: string, path?: string, alt: string}} props `path`: where the companion keeps the bytes */
export function Image({ mime, base64, path, alt }) {
  const [src, setSrc] = useState('');
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    let address = '';
    let current = true;
    const show = (/** @type {Blob} */ blob) => {
      if (!current) return;
      address = URL.createObjectURL(blob);
      setSrc(address);
    };
    (async () => {
      if (base64 !== undefined) show(new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))], { type: mime }));
      else if (path) show(new Blob([await (await request(path, { headers: { Accept: 'application/octet-stream' } })).arrayBuffer()], { type: mime }));
    })().catch(() => setFailed(true));
    return () => {
      current = false;
      if (address) URL.revokeObjectURL(address);
    };
  }, [base64, path, mime]);
  if (failed) return html`<p class="meta">${t('image.failed', { name: alt })}</p>`;
  return src ? html`<img class="shot" src=${src} alt=${alt} />` : null;
}
