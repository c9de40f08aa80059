// Settings → Appearance: theme and language, both kept in this browser.
import { html } from '../../vendor/preact.js';
import { language, setLanguage, t } from '../i18n/index.js';
import { setTheme, theme } from '../look.js';
import { Segmented } from '../ui.js';

export function AppearanceSection() {
  return html`<h1 tabindex="-1">${t('look.title')}</h1><p class="lead">${t('look.lead')}</p>
    <section class="svc pair"><div><h2 class="plain">${t('look.theme')}</h2><p class="desc">${t('look.theme_text')}</p></div>
      <${Segmented} label=${t('look.theme')} value=${theme.value || 'system'} options=${['system', 'light', 'dark'].map((value) => ({ value, label: t(`look.${value}`) }))} onChange=${(/** @type {string} */ value) => setTheme(value === 'system' ? '' : value)} /></section>
    <section class="svc pair"><div><h2 class="plain">${t('look.language')}</h2><p class="desc">${t('look.language_text')}</p></div>
      <${Segmented} label=${t('look.language')} value=${language.value} options=${[{ value: 'en', label: 'English' }, { value: 'es', label: 'Español' }]} onChange=${(/** @type {any} */ value) => setLanguage(value)} /></section>`;
}
