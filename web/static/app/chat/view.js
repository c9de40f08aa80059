// The chat screen: conversations beside the one that is open, its messages, the questions, the composer.
import { Fragment, html, useEffect, useLayoutEffect, useRef, useState } from '../../vendor/preact.js';
import { Question } from '../calls/approval.js';
import { setTitle } from '../calls/attention.js';
import { Whole } from '../calls/card.js';
import { t } from '../i18n/index.js';
import { openCalls, unfinished } from '../llm/loop.js';
import { link, route } from '../router.js';
import { approvals, conversations, status } from '../store.js';
import { Button, Empty, ErrorBox, Shell, Sign } from '../ui.js';
import { Composer } from './composer.js';
import { chatOf, continueChat, load, profileOf } from './conversation.js';
import { useFollow } from './follow.js';
import { History } from './history.js';
import { AssistantMessage, UserMessage } from './message.js';
import { usePlace } from './place.js';
import { Banner, SessionRemarks } from './remarks.js';
import { LiveAnswer } from './stream.js';
import { TopBar } from './topbar.js';
import { WaitingBar } from './waiting.js';
import { Welcome, welcomed } from './welcome.js';
import { MOST, useWindow } from './window.js';

/** @typedef {import('./conversation.js').Chat} Chat @typedef {import('../types.js').Message} Message @typedef {import('../types.js').MessageData} MessageData */

export function ChatView() {
  const id = route.value.parts[0] ?? '';
  const chat = chatOf(id);
  const first = Boolean(status.value?.first_run) && !welcomed.value && !id && !conversations.value.length && !chat.messages.value.length;
  useEffect(() => setTitle(id ? chat.head.value.title : ''), [id, chat.head.value.title]);
  return html`<${Shell} label=${t('nav.conversations')} side=${html`<${History} />`}>${first ? html`<${Welcome} chat=${chat} />` : html`<${Fragment} key=${id}>
    <h1 class="sr">${chat.head.value.title || t('history.new')}</h1><${TopBar} chat=${chat} /><${Banner} /><${SessionRemarks} chat=${chat} /><${Messages} chat=${chat} /><${Errors} chat=${chat} /><${Composer} chat=${chat} /><//>`}<//>`;
}

/** @param {{chat: Chat}} props */
function Errors({ chat }) {
  const error = chat.error.value;
  if (!error || chat.state.value === 'missing' || chat.state.value === 'error') return null;
  return html`<div class="composer-error"><${ErrorBox} error=${error}>${error.code === 'no_model' ? html`<a class="btn small" href=${link('settings', 'providers')}>${t('chat.providers')}</a>` : null}<${Button} small kind="quiet" onClick=${() => {
    chat.error.value = null;
  }}>${t('ui.close')}<//><//></div>`;
}

/** Results of calls by their id. @param {Message[]} messages */
function resultsOf(messages) {
  /** @type {Record<string, MessageData>} */
  const results = {};
  for (const { role, data } of messages) if (role === 'tool' && data.call_id) results[data.call_id] = data;
  return results;
}

/** Whether a message is drawn by itself: a result shows in the card of its call. @param {Message} message */
const ownRow = ({ role }) => role !== 'tool';

/** Without what is kept of an answer that still streams: that shows in the stream itself. @param {Chat} chat */
function settled(chat) {
  const messages = chat.messages.value;
  const last = messages.at(-1)?.data;
  const kept = last?.partial && chat.running.value !== 'idle' ? last.text : '';
  if (!kept) return messages;
  const live = chat.live.value?.text ?? '';
  return live && (live.startsWith(kept) || kept.startsWith(live)) ? messages.slice(0, -1) : messages;
}

/** Whether a turn that ended like this can be gone on with. @param {MessageData} data */
const goesOn = ({ kind, stopped, partial }) => Boolean(stopped || partial || (kind && kind !== 'summary'));

/** @param {{chat: Chat}} props */
function Messages({ chat }) {
  const scroll = useFollow();
  const { box, inner, away, onScroll } = scroll;
  const drawn = useRef(/** @type {Map<string, {deps: any[], view: any}>} */ (new Map()));
  const state = chat.state.value;
  const busy = chat.running.value !== 'idle';
  const messages = settled(chat);
  const shown = messages.filter(ownRow);
  const { visible, earlier, later, full, showEarlier, showLater, toEnd, mount } = useWindow(chat, shown, scroll);
  usePlace(chat, (message) => mount(settled(chat).filter(ownRow), message), scroll.bring);

  // What a person just sent is always shown, wherever they had scrolled.
  const own = messages.findLast(({ role }) => role === 'user');
  useLayoutEffect(() => {
    if (own && own === messages.at(-1)) toEnd();
  }, [own?.id]);

  const results = resultsOf(messages);
  const last = shown.at(-1)?.id;
  const cache = drawn.current;
  const views = visible.map((message) => {
    const isLast = message.id === last;
    const mine = (message.data.calls ?? []).map((call) => results[call.call_id]);
    const deps = [message.data, busy, isLast, ...mine];
    const before = cache.get(message.id);
    if (before && before.deps.length === deps.length && before.deps.every((dep, at) => dep === deps[at])) return before.view;
    const view = message.role === 'user' ? html`<${UserMessage} key=${message.id} chat=${chat} message=${message} busy=${busy} />`
      : html`<${AssistantMessage} key=${message.id} chat=${chat} message=${message} results=${results} busy=${busy} last=${isLast} />`;
    cache.set(message.id, { deps, view });
    return view;
  });
  const called = new Set(messages.flatMap(({ data }) => (data.calls ?? []).map((call) => call.call_id)));
  // Questions of other clients, and of calls whose message this tab has not got yet, must be answerable, too.
  // A chat that still loads draws none: its questions would move into their cards a moment later and lose the focus.
  const loose = state === 'loading' ? [] : approvals.value.filter((approval) => (!approval.conversation || approval.conversation === chat.id) && !(approval.call_id && called.has(approval.call_id)));
  const resting = state === 'ready' && !busy && messages.length > 0;
  const halfWay = resting && unfinished(messages);
  const stuck = halfWay || (resting && (openCalls(messages).length > 0 || goesOn(messages.at(-1)?.data ?? {})));
  return html`<div class="log" role="log" aria-live="off" tabindex="0" aria-label=${t('chat.log')} ref=${box} onScroll=${onScroll}><div class="log-inner" ref=${inner}>
    ${state === 'loading' ? html`<p class="meta" role="status">${t('ui.loading')}</p>` : null}
    ${state === 'missing' ? html`<${Empty} title=${t('chat.missing')} action=${html`<a class="btn" href=${link('chat')}>${t('history.new')}</a>`} />` : null}
    ${state === 'error' ? html`<${ErrorBox} title=${t('chat.load_failed')} error=${chat.error.value}><${Button} small onClick=${() => load(chat)}>${t('ui.retry')}<//><//>` : null}
    ${earlier ? html`<p class="earlier">${full ? html`<span class="meta">${t('chat.most', { n: MOST })}</span>` : html`<${Button} kind="quiet" small onClick=${showEarlier}>${t('chat.earlier')}<//>`}</p>` : null}
    ${state === 'new' && !messages.length ? html`<${Start} chat=${chat} />` : null}
    ${views}${later ? html`<p class="earlier"><${Button} kind="quiet" small onClick=${showLater}>${t('chat.later')}<//></p>` : null}<${LiveAnswer} chat=${chat} />
    ${loose.map((approval) => html`<${Whole} key=${approval.id}><${Question} approval=${approval} /><//>`)}
    ${chat.running.value === 'elsewhere' ? html`<p class="live-note"><${Sign} kind="run" />${t('chat.elsewhere')}</p>` : null}
    ${halfWay && (!chat.error.value || chat.error.value.code === 'no_model') ? html`<p class="divider">${t('chat.interrupted')}</p>` : null}
    ${stuck ? html`<p class="row"><${Button} onClick=${() => continueChat(chat).catch((error) => {
      chat.error.value = error;
    })}>${t('chat.continue')}<//><span class="meta">${t('chat.continue_hint')}</span></p>` : null}</div></div>
    <${WaitingBar} chat=${chat} box=${box}>${away ? html`<${Button} small class="to-end" onClick=${toEnd}>${t('chat.to_end')}<//>` : null}<//>`;
}

/** An empty chat says what to do next. @param {{chat: Chat}} props */
function Start({ chat }) {
  const mirror = profileOf(chat).kind === 'mirror';
  const examples = mirror ? ['/list_directory path=.', '/read_file path=README.md', '/execute_command command="ls | wc -l"'] : [t('chat.example_1'), t('chat.example_2'), t('chat.example_3')];
  return html`<${Empty} title=${t('chat.start')} action=${html`<div class="row examples">${examples.map((text) => html`<${Button} key=${text} class=${mirror ? 'mono' : ''} onClick=${() => {
    const area = /** @type {HTMLTextAreaElement} */ (document.querySelector('.composer textarea'));
    area.value = text;
    area.dispatchEvent(new Event('input', { bubbles: true }));
    area.focus();
  }}>${text}<//>`)}</div>`}>${t(mirror ? 'chat.start_mirror' : 'chat.start_text')}<//>`;
}
