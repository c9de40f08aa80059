// How the page looks: theme and language, kept in this browser and the same in all of its tabs.
import { signal } from '../vendor/preact.js';
import { setLanguage } from './i18n/index.js';

const root = typeof document === 'undefined' ? null : document.documentElement;
/** The theme chosen: light, dark, or '' for the system's. */
export const theme = signal(root?.dataset.theme ?? '');

/** @param {string} next */
function show(next) {
  theme.value = next;
  if (!root) return;
  if (next) root.dataset.theme = next;
  else delete root.dataset.theme;
}

/** @param {string} next light, dark, or '' for the system's */
export function setTheme(next) {
  show(next);
  try {
    if (next) localStorage.setItem('zc.theme', next);
    else localStorage.removeItem('zc.theme');
  } catch {
    // Without storage the choice lasts for this tab.
  }
}

/** Follows what is chosen in another tab. */
export function followLook() {
  addEventListener('storage', ({ key, newValue }) => {
    if (key === 'zc.theme') show(newValue === 'light' || newValue === 'dark' ? newValue : '');
    else if (key === 'zc.lang' && (newValue === 'en' || newValue === 'es')) setLanguage(newValue);
  });
}
