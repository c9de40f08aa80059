// Runs before the first paint: takes the launch code out of the address bar, then sets theme and language so that neither flickers.
(() => {
  const root = document.documentElement;
  if (/^#(?!\/)(.*&)?(code|server)=/.test(location.hash)) {
    // main.js takes it from here, once; the address bar and the history never show it again.
    /** @type {any} */ (globalThis).zeroclawLaunch = location.hash;
    history.replaceState(null, '', location.pathname + location.search);
  }
  let theme = null;
  let lang = null;
  try {
    theme = localStorage.getItem('zc.theme');
    lang = localStorage.getItem('zc.lang');
  } catch {
    // Storage can be switched off; the defaults below then hold.
  }
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  root.lang = lang === 'en' || lang === 'es' ? lang : (navigator.languages || []).map((l) => l.slice(0, 2)).find((l) => l === 'en' || l === 'es') || 'en';
})();
