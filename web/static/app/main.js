// Starts the page: pairing, the event stream, and the view that the route names.
import { html, render, useEffect, useErrorBoundary, useState } from '../vendor/preact.js';
import { api, doubt, pair, pairing, request, VERSION } from './api.js';
import { watchQuestions } from './calls/attention.js';
import { ChatView } from './chat/view.js';
import { followEvents } from './events.js';
import { Gate, LetIn, waitingOrigin } from './gate.js';
import { t } from './i18n/index.js';
import { loadProfiles } from './llm/profiles.js';
import { followLook } from './look.js';
import { followAddress, launchParts, route } from './router.js';
import { applyEvent, connection, loadShared, setConnection, status, ticks } from './store.js';
import { Announcer, Button, Dialogs, ErrorBox, setDrawer } from './ui.js';

/** @type {any} */
const globals = globalThis;
const launch = launchParts(globals.zeroclawLaunch ?? '');
delete globals.zeroclawLaunch;

/** The view of #/settings and #/config, loaded when first shown. */
function LazySettings() {
  const [view, setView] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  useEffect(() => {
    import('./settings/index.js').then((module) => setView(() => module.SettingsView), setError);
  }, []);
  if (error) return html`<div class="gate"><div><${ErrorBox} title=${t('error.view')} error=${error} /></div></div>`;
  return view ? html`<${view} />` : null;
}

function App() {
  const [error, reset] = useErrorBoundary((failure) => console.error(failure));
  if (pairing.value.state !== 'paired') return html`<${Gate} /><${Announcer} />`;
  const theirs = String(status.value?.api ?? VERSION);
  if (theirs !== VERSION) {
    return html`<main class="gate"><div><h1>${t('gate.version')}</h1><p>${t(newer(theirs) ? 'gate.page_old' : 'gate.companion_old', { page: VERSION, companion: theirs })}</p></div></main>`;
  }
  if (error) {
    return html`<main class="gate"><div><${ErrorBox} title=${t('error.view')} error=${error} /><p><${Button} onClick=${reset}>${t('gate.retry')}<//></p></div></main>`;
  }
  if (waitingOrigin()) return html`<${LetIn} /><${Announcer} />`;
  return html`${route.value.view === 'chat' ? html`<${ChatView} />` : html`<${LazySettings} />`}<${Dialogs} /><${Announcer} />`;
}

/** @param {string} theirs */
function newer(theirs) {
  const [a, b] = theirs.split('.').map(Number);
  const [x, y] = VERSION.split('.').map(Number);
  return a > x || (a === x && b > y);
}

/** Keeps one event stream while this tab is paired. */
function follow() {
  /** @type {(() => void) | null} */
  let stop = null;
  pairing.subscribe(({ state }) => {
    if (state === 'paired' && !stop) {
      stop = followEvents({
        open: (headers, signal) => {
          doubt();
          return request('/api/events', { headers, signal });
        },
        deliver: applyEvent,
        report: (state) => {
          // Before any view learns of it and asks for something anew.
          if (state === 'lost') doubt();
          setConnection(state);
        },
        locks: navigator.locks,
        channel: new BroadcastChannel('zc-events'),
        visible: () => document.visibilityState === 'visible',
      });
      // A tab that follows another's stream gets no hello of its own.
      loadShared();
      loadProfiles();
    } else if (state !== 'paired' && stop) {
      stop();
      stop = null;
    }
  });
  connection.subscribe((state) => {
    // Another tab's stream was refused: a cheap request makes this one notice, and ask the others for a token.
    if (state === 'unpaired' && pairing.value.state === 'paired') api.get('/api/status').catch(() => {});
  });
  let configs = 0;
  ticks.subscribe((counts) => {
    if ((counts.config ?? 0) !== configs) {
      configs = counts.config ?? 0;
      loadProfiles();
    }
  });
}

followAddress((parts) => pair(parts));
route.subscribe(() => setDrawer(false));
followLook();
follow();
watchQuestions();
render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
pair(launch);
