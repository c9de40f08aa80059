// Runs before the first paint, so that neither theme nor language flickers. Appearance is all that is kept across tabs.
(() => {
  let theme = null;
  let lang = null;
  try {
    theme = localStorage.getItem('zc.theme');
    lang = localStorage.getItem('zc.lang');
  } catch {
    // Storage can be switched off; the defaults below then hold.
  }
  const root = document.documentElement;
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  root.lang = lang === 'en' || lang === 'es' ? lang : (navigator.languages || []).map((l) => l.slice(0, 2)).find((l) => l === 'en' || l === 'es') || 'en';
})();
