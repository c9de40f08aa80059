// A server asks for a reply of the person's model. They read what would be sent, let the model answer or write themselves,
// and read and change the reply before the server gets it.
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { chatOf, profileOf } from '../chat/conversation.js';
import { streamAlone } from '../chat/models.js';
import { t, tx } from '../i18n/index.js';
import { lastChat } from '../router.js';
import { Button, ErrorBox, Sign } from '../ui.js';
import { tooSoon } from './approval.js';
import { Quoted } from './elicitation.js';
import { serverName } from './names.js';
import { Image } from './renderers/image.js';
import { TextBox } from './renderers/json.js';
import { messagesOf, replyOf, requestOf, wishesOf } from './sampling-request.js';

/** @typedef {import('../types.js').Approval} Approval @typedef {(decision: string, more?: any) => void} Decide */

/** Characters of a message shown before a person asks for more. */
const FIRST = 4_000;

/** @param {{params: any, server: string}} props */
function Asked({ params, server }) {
  const wishes = wishesOf(params);
  return html`<${Quoted} server=${t('sample.system', { server })} text=${typeof params.systemPrompt === 'string' ? params.systemPrompt : ''} />
    <ol class="sample-messages" aria-label=${t('sample.messages')}>${messagesOf(params).map(({ role, pieces }, at) => html`<li key=${at}><span class="meta">${t(`sample.${role}`)}</span>${pieces.map((piece, n) => (piece.type === 'text' ? html`<${TextBox} key=${n} text=${piece.text} label=${t(`sample.${role}`)} first=${FIRST} />`
      : piece.type === 'image' ? html`<${Image} key=${n} mime=${piece.mime} base64=${piece.data} alt=${t('image.of', { name: server })} />` : html`<p class="meta" key=${n}>${t('sample.other', { kind: piece.kind })}</p>`))}</li>`)}</ol>
    ${wishes.length ? html`<dl class="facts sample-wishes">${wishes.map(({ key, value }) => html`<div key=${key}><dt>${t(`sample.wish_${key}`)}</dt><dd>${value}</dd></div>`)}</dl>` : null}`;
}

/** @param {{approval: Approval, decide: Decide, disabled: boolean}} props */
export function Sampling({ approval, decide, disabled }) {
  const id = useId();
  const params = approval.arguments ?? {};
  const server = serverName(approval.server ?? '');
  const chat = chatOf(approval.conversation || lastChat.value);
  const profile = profileOf(chat);
  const none = profile.kind === 'mirror' || !profile.model;
  const [text, setText] = useState('');
  // Which model wrote what stands there; nobody's after a person began anew.
  const [by, setBy] = useState({ model: '', whole: true });
  const [phase, setPhase] = useState(/** @type {''|'slot'|'model'} */ (''));
  const [error, setError] = useState(/** @type {any} */ (null));
  const abort = useRef(/** @type {AbortController|null} */ (null));
  useEffect(() => () => abort.current?.abort(), []);
  const run = async () => {
    // It would send a server's words to a provider: not by the second half of a click on something else.
    if (tooSoon()) return;
    const mine = new AbortController();
    abort.current = mine;
    setPhase('model');
    setError(null);
    setText('');
    let said = '';
    try {
      for await (const delta of streamAlone(profile, requestOf(params, profile.model), mine.signal, () => setPhase('slot'))) {
        setPhase('model');
        if (delta.type === 'text') setText((said += delta.text));
      }
      setBy({ model: profile.model, whole: true });
    } catch (failure) {
      setBy({ model: said ? profile.model : '', whole: false });
      if (!mine.signal.aborted) setError(failure);
    }
    setPhase('');
  };
  const busy = phase !== '';
  return html`<${Asked} params=${params} server=${server} />
    <p class="why">${none ? t('sample.by_hand') : tx('sample.goes', { model: html`<b>${profile.model}</b>`, name: profile.name })}</p>
    ${none ? null : html`<div class="row"><${Button} small disabled=${disabled || busy} onClick=${run}>${t(text ? 'sample.again' : 'sample.let', { model: profile.model })}<//>
      ${busy ? html`<${Button} small kind="quiet" onClick=${() => abort.current?.abort()}>${t('ask.stop')}<//><span class="row meta" role="status"><${Sign} kind="run" />${t(phase === 'slot' ? 'sample.waits' : 'sample.runs')}</span>` : null}</div>`}
    <div class="label sample-reply"><label for=${id}>${t('sample.reply', { server })}</label><textarea id=${id} class="field grows" rows="3" maxlength="200000" value=${text} readonly=${busy} aria-describedby=${text ? `${id}-hint` : undefined} onInput=${(/** @type {any} */ event) => {
      setText(event.currentTarget.value);
      if (!event.currentTarget.value) setBy({ model: '', whole: true });
    }}></textarea>${text ? html`<span class="hint" id=${`${id}-hint`}>${t('sample.reply_hint')}</span>` : null}</div>
    ${error ? html`<${ErrorBox} title=${t('sample.failed')} error=${error} />` : null}
    <div class="choices"><${Button} disabled=${disabled || busy || !text.trim()} onClick=${() => decide('accept', { content: replyOf(text, by.model, by.whole) })}>${t('sample.send')}<//>
      <${Button} kind="danger" data-choice="deny" disabled=${disabled} onClick=${() => {
        abort.current?.abort();
        decide('deny');
      }}>${t('ask.decline')}<//></div>`;
}
