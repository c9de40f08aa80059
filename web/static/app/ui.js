// The few components that every view is made of. No view brings its own button, field or dialog.
import { Fragment, html, render, signal, useEffect, useId, useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { language, t } from './i18n/index.js';

/** Sign of a state; the word stands beside it. @param {{kind: 'ok'|'no'|'wait'|'off'|'run'}} props */
export function Sign({ kind }) {
  if (kind === 'run') return html`<span class="spin" aria-hidden="true"></span>`;
  return html`<span class=${`ico ${kind}`} aria-hidden="true">${{ ok: '✓', no: '✕', wait: '?', off: '–' }[kind]}</span>`;
}

/**
 * @param {{children?: any, kind?: 'primary'|'quiet'|'danger'|'', small?: boolean, wide?: boolean, keys?: string, type?: string, class?: string, [attr: string]: any}} props
 * `keys` is shown as the key that does the same; other attributes go to the button.
 */
export function Button({ children, kind = '', small, wide, keys, type = 'button', class: extra = '', ...rest }) {
  const classes = ['btn', kind, small ? 'small' : '', wide ? 'wide' : '', extra].filter(Boolean).join(' ');
  return html`<button type=${type} class=${classes} ...${rest}>${children}${keys ? html`<kbd aria-hidden="true">${keys}</kbd>` : null}</button>`;
}

/**
 * A labelled control with its hint and error beside it. Give `children` a function of the attributes to set on the control,
 * or nothing for a text input that gets the other attributes.
 * @param {{label: any, hint?: any, error?: any, children?: (attributes: any) => any, [attr: string]: any}} props
 */
export function Field({ label, hint, error, children, ...rest }) {
  const id = useId();
  const described = [hint ? `${id}-hint` : '', error ? `${id}-bad` : ''].filter(Boolean).join(' ');
  const attributes = { id, class: 'field', 'aria-describedby': described || undefined, 'aria-invalid': error ? 'true' : undefined };
  return html`<div class="label"><label for=${id}>${label}</label>
    ${children ? children(attributes) : html`<input type="text" ...${attributes} ...${rest} />`}
    ${hint ? html`<span class="hint" id=${`${id}-hint`}>${hint}</span>` : null}
    ${error ? html`<span class="bad" id=${`${id}-bad`} role="alert">${error}</span>` : null}</div>`;
}

/** On or off. @param {{label: string, checked: boolean, onChange: (on: boolean) => void, disabled?: boolean, hidden?: boolean}} props `hidden` keeps the label for screen readers only */
export function Switch({ label, checked, onChange, disabled, hidden }) {
  const input = html`<input type="checkbox" role="switch" checked=${checked} disabled=${disabled} aria-label=${hidden ? label : undefined}
    onChange=${(/** @type {any} */ event) => onChange(event.currentTarget.checked)} />`;
  return hidden ? input : html`<label class="opt">${input} ${label}</label>`;
}

/** One of a few. @param {{label: string, value: string, options: {value: string, label: string, title?: string}[], onChange: (value: string) => void, disabled?: boolean}} props */
export function Segmented({ label, value, options, onChange, disabled }) {
  const name = useId();
  return html`<fieldset class="seg" disabled=${disabled}><legend class="sr">${label}</legend>
    ${options.map((option) => html`<label key=${option.value} title=${option.title}><input type="radio" name=${name} value=${option.value} checked=${option.value === value}
      onChange=${() => onChange(option.value)} />${option.label}</label>`)}</fieldset>`;
}

/** @param {{kind?: 'ask'|'danger'|'ok'|'', children?: any}} props */
export function Pill({ kind = '', children }) {
  return html`<span class=${`pill ${kind}`}>${children}</span>`;
}

/** @param {{text: string, label?: string, small?: boolean}} props */
export function CopyButton({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<${Button} kind="quiet" small onClick=${copy}>${done ? t('ui.copied') : label ?? t('ui.copy')}<//>`;
}

/** An error that stays, can be copied, and says what to do. @param {{title?: any, error?: any, children?: any}} props `error`: an Error or a text */
export function ErrorBox({ title, error, children }) {
  const text = error instanceof Error ? errorText(error) : String(error ?? '');
  return html`<div class="err" role="alert"><div>${title ? html`<b>${title}</b> ` : null}${text}</div>${children}${text ? html`<${CopyButton} text=${text} />` : null}</div>`;
}

/** What a person reads of an error: our own words for what has no words. @param {any} error */
export function errorText(error) {
  if (error?.code === 'unreachable') return t('error.unreachable');
  return String(error?.message ?? error);
}

/** One sentence and one button. @param {{title: any, children?: any, action?: any}} props */
export function Empty({ title, children, action }) {
  return html`<div class="empty"><h2>${title}</h2>${children ? html`<p>${children}</p>` : null}${action}</div>`;
}

/**
 * A modal dialog; closing by Escape calls onClose.
 * @param {{title: any, onClose: () => void, children?: any, class?: string}} props
 */
export function Dialog({ title, onClose, children, class: classes }) {
  const ref = useRef(/** @type {HTMLDialogElement|null} */ (null));
  const id = useId();
  useLayoutEffect(() => {
    const dialog = /** @type {HTMLDialogElement} */ (ref.current);
    const before = /** @type {HTMLElement|null} */ (document.activeElement);
    dialog.showModal();
    return () => {
      dialog.close();
      before?.focus?.();
      // What opened it may leave the page together with it.
      requestAnimationFrame(() => requestAnimationFrame(refocus));
    };
  }, []);
  return html`<dialog ref=${ref} class=${classes} aria-labelledby=${id} onCancel=${(/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  }}><h2 id=${id}>${title}</h2>${children}</dialog>`;
}

/** Gives a lost focus to where the view begins. */
function refocus() {
  if (document.activeElement && document.activeElement !== document.body) return;
  /** @type {HTMLElement|null} */ (document.querySelector('.composer textarea') ?? document.querySelector('h1[tabindex]'))?.focus({ preventScroll: true });
}

const dialogs = signal(/** @type {{id: number, view: any}[]} */ ([]));
let dialogNumber = 0;

/** Opened dialogs; main mounts this once. */
export function Dialogs() {
  return html`<${Fragment}>${dialogs.value.map(({ id, view }) => html`<${Fragment} key=${id}>${view}<//>`)}<//>`;
}

/** Opens a dialog made by `view(close)`; resolves with what close is given. @param {(close: (value?: any) => void) => any} view @returns {Promise<any>} */
export function openDialog(view) {
  return new Promise((resolve) => {
    const id = ++dialogNumber;
    const close = (/** @type {any} */ value) => {
      dialogs.value = dialogs.value.filter((dialog) => dialog.id !== id);
      resolve(value);
    };
    dialogs.value = [...dialogs.value, { id, view: view(close) }];
  });
}

/** Asks before something that cannot be taken back. @param {{title: string, text?: any, action: string, danger?: boolean}} question @returns {Promise<boolean>} */
export function confirmDialog({ title, text, action, danger = false }) {
  return openDialog((close) => html`<${Dialog} title=${title} onClose=${() => close(false)}>${text ? html`<p>${text}</p>` : null}
    <div class="row end"><${Button} onClick=${() => close(false)} autofocus>${t('ui.cancel')}<//><${Button} kind=${danger ? 'danger' : 'primary'} onClick=${() => close(true)}>${action}<//></div><//>`);
}

/** Asks for one line of text. @param {{title: string, label: string, value?: string, action: string}} question @returns {Promise<string|null>} */
export function promptDialog({ title, label, value = '', action }) {
  return openDialog((close) => html`<${PromptForm} ...${{ title, label, value, action, close }} />`);
}

/** @param {any} props */
function PromptForm({ title, label, value, action, close }) {
  const [text, setText] = useState(value);
  return html`<${Dialog} title=${title} onClose=${() => close(null)}><form onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault();
    close(text);
  }}><${Field} label=${label} value=${text} autofocus onFocus=${(/** @type {any} */ event) => event.currentTarget.select()} onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)} />
    <div class="row end"><${Button} onClick=${() => close(null)}>${t('ui.cancel')}<//><${Button} kind="primary" type="submit">${action}<//></div></form><//>`;
}

/**
 * A button that opens a list of choices; arrows move, Escape closes, focus returns.
 * @param {{label: any, name: string, class?: string, items: {key: string, label: any, meta?: any, checked?: boolean, danger?: boolean, href?: string, run?: () => void}[], side?: ''|'right', title?: string, onOpen?: () => void}} props
 * `name` is the accessible name of the button; `onOpen` may bring more items.
 */
export function Menu({ label, name, class: classes = 'chip', items, side = '', title, onOpen }) {
  const [open, setOpen] = useState(false);
  const wrap = useRef(/** @type {HTMLElement|null} */ (null));
  const list = useRef(/** @type {HTMLElement|null} */ (null));
  const button = () => /** @type {HTMLElement} */ (wrap.current?.querySelector('button'));
  const close = () => {
    setOpen(false);
    button()?.focus();
  };
  useLayoutEffect(() => {
    if (!open) return;
    // In the top layer nothing clips it; it stays inside the window, above its button when there is no room below.
    const menu = /** @type {HTMLElement} */ (list.current);
    menu.showPopover();
    const at = button().getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = menu;
    menu.style.left = `${Math.max(8, Math.min(side === 'right' ? at.right - width : at.left, innerWidth - width - 8))}px`;
    menu.style.top = `${at.bottom + height + 8 > innerHeight && at.top - height - 4 > 8 ? at.top - height - 4 : at.bottom + 4}px`;
  }, [open]);
  useEffect(() => {
    if (!open) return undefined;
    const entries = () => /** @type {HTMLElement[]} */ ([...(list.current?.querySelectorAll('[role^=menuitem]') ?? [])]);
    (entries().find((item) => item.getAttribute('aria-checked') === 'true') ?? entries()[0])?.focus();
    const outside = (/** @type {Event} */ event) => {
      if (!wrap.current?.contains(/** @type {Node} */ (event.target))) setOpen(false);
    };
    addEventListener('pointerdown', outside);
    return () => removeEventListener('pointerdown', outside);
  }, [open]);
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    if (!open) return;
    const entries = /** @type {HTMLElement[]} */ ([...(list.current?.querySelectorAll('[role^=menuitem]') ?? [])]);
    const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    const go = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 }[event.key];
    if (go !== undefined) {
      event.preventDefault();
      entries[(go + entries.length) % entries.length]?.focus();
    } else if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === 'Tab') setOpen(false);
  };
  return html`<span class="menu-wrap" ref=${wrap} onKeyDown=${onKey}>
    <button type="button" class=${classes} aria-haspopup="menu" aria-expanded=${open} aria-label=${name} title=${title} onClick=${() => {
      if (!open) onOpen?.();
      setOpen(!open);
    }}><span>${label}</span></button>
    ${open ? html`<div class="menu" popover="manual" role="menu" aria-label=${name} ref=${list}>${items.map((item) => {
      const radio = item.checked !== undefined;
      const content = html`${radio ? html`<span class="tick" aria-hidden="true">${item.checked ? '✓' : ''}</span>` : null}<span class="two"><span>${item.label}</span>${item.meta ? html`<span class="meta">${item.meta}</span>` : null}</span>`;
      return item.href
        ? html`<a key=${item.key} role="menuitem" tabindex="-1" href=${item.href} onClick=${() => setOpen(false)}>${content}</a>`
        : html`<button key=${item.key} type="button" tabindex="-1" class=${item.danger ? 'danger' : ''} role=${radio ? 'menuitemradio' : 'menuitem'} aria-checked=${radio ? String(item.checked) : undefined} onClick=${() => {
          close();
          item.run?.();
        }}>${content}</button>`;
    })}</div>` : null}</span>`;
}

const announcement = signal('');
// What was said in one language is not left standing in another.
language.subscribe(() => {
  announcement.value = '';
});

/** Says something once to screen readers: “reply finished”, “question waiting”. @param {string} text */
export function announce(text) {
  announcement.value = '';
  setTimeout(() => {
    announcement.value = text;
  }, 50);
}

/** The one polite live region; main mounts it once. */
export function Announcer() {
  return html`<div class="sr" role="status" aria-live="polite">${announcement.value}</div>`;
}

/** Whether the sidebar is out as a drawer (narrow windows only). */
export const drawerOpen = signal(false);
/** @param {boolean} open */
export function setDrawer(open) {
  drawerOpen.value = open;
}

/** Opens the drawer; shown in narrow windows only. Put it first in each view's top bar. */
export function MenuButton() {
  return html`<button type="button" class="btn quiet small icon menu-btn" aria-label=${t('nav.open')} aria-expanded=${drawerOpen.value} aria-controls="side" onClick=${() => setDrawer(true)}>☰</button>`;
}

/** Sidebar and main. @param {{label: string, side: any, children?: any}} props `label` names the sidebar */
export function Shell({ label, side, children }) {
  const nav = useRef(/** @type {HTMLElement|null} */ (null));
  const open = drawerOpen.value;
  useEffect(() => {
    if (!open) return undefined;
    /** @type {HTMLElement|null} */ (nav.current?.querySelector('a, button, input'))?.focus();
    const close = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      setDrawer(false);
      requestAnimationFrame(() => /** @type {HTMLElement|null} */ (document.querySelector('.menu-btn'))?.focus());
    };
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [open]);
  return html`<div class="app"><a class="skip" href="#main" onClick=${(/** @type {Event} */ event) => {
    event.preventDefault();
    document.getElementById('main')?.focus();
  }}>${t('nav.skip')}</a>
    <nav id="side" class=${`side ${open ? 'open' : ''}`} aria-label=${label} ref=${nav}>${side}</nav>
    <button type="button" class="backdrop" tabindex="-1" aria-label=${t('nav.close')} onClick=${() => setDrawer(false)}></button>
    <main id="main" class="main" tabindex="-1" inert=${open}>${children}</main></div>`;
}

export { html, render };
