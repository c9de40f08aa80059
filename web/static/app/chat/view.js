import { html } from '../../vendor/preact.js';
import { t } from '../i18n/index.js';
import { MenuButton, Shell } from '../ui.js';

/** The chat: conversations beside the one that is open. */
export function ChatView() {
  return html`<${Shell} label=${t('nav.conversations')} side=${null}><header class="top"><${MenuButton} /></header><//>`;
}
