// What a call brought: the view that fits it, what is stored of it, and the way back from an edit.
import { html, useState } from '../../vendor/preact.js';
import { api, url } from '../api.js';
import { formatSize, t, tx } from '../i18n/index.js';
import { link } from '../router.js';
import { sessions } from '../store.js';
import { Button, ErrorBox } from '../ui.js';
import { serverName, toolLabel } from './names.js';
import { changeOf, subjectOf, textsOf } from './outcome.js';
import { Diff } from './renderers/diff.js';
import { Entries, Matches } from './renderers/files.js';
import { Image, isMedia } from './renderers/image.js';
import { TextBox } from './renderers/json.js';
import { LiveOutput, ShellResult } from './renderers/shell.js';
import { Visible } from './text.js';

/** @typedef {import('../types.js').Call} Call */

/** Characters of a result that are shown before a person asks for more. */
const FIRST = 20_000;

/** @param {{call: Call, args: any, output?: {stream: string, text: string}[]}} props */
function Body({ call, args, output }) {
  const result = call.structured;
  const change = changeOf(call, args);
  const texts = textsOf(call);
  const box = (/** @type {string} */ text, at = 0) => html`<${TextBox} key=${at} text=${text} label=${t('card.result')} first=${FIRST} columns />`;
  if (call.tool === 'execute_command' && result) return html`<${ShellResult} result=${result} />`;
  if (change) return html`<${Diff} text=${change} />`;
  if (call.tool === 'list_directory' && result?.entries) return html`<${Entries} result=${result} />`;
  if (call.tool === 'search_files' && result?.matches) return html`<${Matches} result=${result} />`;
  if (texts.length) return texts.map(box);
  // A picture says what these facts say.
  if (result && !(call.tool === 'read_file' && call.content?.some(isMedia))) return box(JSON.stringify(result, null, 2));
  return output?.length ? html`<${LiveOutput} output=${output} />` : null;
}

/** @param {{call: Call, args: any, output?: {stream: string, text: string}[]}} props */
export function Result({ call, args, output }) {
  return html`<${Body} call=${call} args=${args} output=${output} />${call.result_id ? html`<${StoredResult} id=${call.result_id} />` : null}`;
}

/** The images and sounds of a result, which show without opening the card. @param {{call: Call, args: any, large: boolean}} props */
export function Media({ call, args, large }) {
  const items = (call.content ?? []).filter(isMedia);
  if (!items.length) return null;
  const name = call.server ? toolLabel(call) : subjectOf(args) || call.tool;
  return html`<div class="shots">${items.map((item, at) => html`<${Image} key=${item.result_id ?? at} mime=${item.mimeType} base64=${item.data} path=${item.result_id ? url`/api/results/${item.result_id}` : undefined} large=${large}
    alt=${items.length > 1 ? t('image.nth', { name, n: at + 1, all: items.length }) : t('image.of', { name })} />`)}</div>`;
}

/** What stands in place of a picture or sound that the agent does not admit where only the text is known any more; once it said how to admit them. */
const leftOut = /^\[(image|audio) left out: media of \S+ are not admitted for this agent(?:; media = \[\S+\] under \[agents\.([\w-]+)\] in config\.toml admits them)?\]$/;

/** Of the media of a result those that were not admitted: which kind, and the agent that would have to. @param {Call} call @returns {{kind: string, agent: string}|null} */
export function notAdmitted(call) {
  if (!call.server) return null;
  const said = call.content?.find(({ type, admit }) => type === 'text' && admit)?.admit;
  if (said) return { kind: said.kind === 'audio' ? 'audio' : 'image', agent: String(said.agent ?? '') };
  const hit = textsOf(call).flatMap((text) => text.split('\n')).map((line) => leftOut.exec(line)).find(Boolean);
  return hit ? { kind: hit[1], agent: hit[2] ?? '' } : null;
}

/** How to see what was left out. It stands on the card, folded or not. @param {{call: Call}} props */
export function LeftOut({ call }) {
  const found = notAdmitted(call);
  if (!found) return null;
  const agent = found.agent || sessions.value[call.session ?? '']?.agent || 'assistant';
  const where = html`<a href=${link('settings', 'agents', agent, 'media')}>${t('card.admit_at', { agent })}</a>`;
  return html`<p class="note ended">${tx(`card.left_out_${found.kind}`, { server: html`<b><${Visible} text=${serverName(call.server ?? '')} /></b>`, where })}</p>`;
}

/** A result too big for the conversation, page by page. @param {{id: string}} props */
function StoredResult({ id }) {
  const [text, setText] = useState('');
  const [next, setNext] = useState(/** @type {number|null} */ (0));
  const [info, setInfo] = useState(/** @type {any} */ (null));
  const [error, setError] = useState(/** @type {any} */ (null));
  const more = async () => {
    try {
      const page = await api.get(`${url`/api/results/${id}`}?offset=${next}&limit=65536`);
      setText(text + (page.text ?? ''));
      setNext(page.next || null);
      setInfo(page);
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  };
  return html`${text ? html`<${TextBox} text=${text} label=${t('card.stored')} columns />` : null}${error ? html`<${ErrorBox} error=${error} />` : null}
    ${next === null ? null : html`<p class="row"><${Button} small onClick=${more}>${info ? t('card.stored_more', { size: formatSize(info.size - text.length) }) : t('card.stored_open')}<//></p>`}`;
}

/** @param {{undo: string, path: string, done?: boolean}} props `done`: taken back before, here or elsewhere */
export function Undo({ undo, path, done = false }) {
  const [state, setState] = useState(/** @type {'ready'|'working'|'done'|Error} */ ('ready'));
  const run = async () => {
    setState('working');
    try {
      await api.post(url`/api/undo/${undo}`);
      setState('done');
    } catch (error) {
      setState(/** @type {Error} */ (error));
    }
  };
  if (done || state === 'done') return html`<span class="saved" role="status">${t('card.undone')}</span>`;
  if (state instanceof Error) return html`<${ErrorBox} title=${t('card.undo_failed')} error=${state} />`;
  return html`<${Button} kind="quiet" small disabled=${state === 'working'} onClick=${run} aria-label=${t('card.undo_label', { path })}>${t('card.undo')}<//>`;
}
