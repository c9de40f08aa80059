// A form made from a JSON schema, with the same value as JSON beside it.
import { html, useEffect, useId, useRef, useState } from '../../vendor/preact.js';
import { Visible } from '../calls/text.js';
import { t } from '../i18n/index.js';
import { Button, Segmented } from '../ui.js';
import { below, cleaned, Draft, initialValue, memberOf, parseJson, parseNumber, problemsOf, severalOf, variantOf, widgetOf, withMember } from './schema-values.js';

/** @typedef {import('./schema-values.js').Problem} Problem @typedef {import('./schema-values.js').Widget} Widget */

/** @typedef {{label: string, schema: any, root: any, value: any, required: boolean, onChange: (value: any) => void, path: string, problems: Map<string, Problem>, depth: number, onRemove?: () => void, plain?: boolean}} FieldProps `plain`: for people who are asked, not for those who know the schema */

const ONE_LINE = new Set(['uri', 'url', 'email', 'date', 'time', 'date-time', 'hostname', 'ipv4', 'ipv6', 'uuid']);

/** Which keys a telephone shows. @type {Record<string, string>} */
const MODES = { uri: 'url', url: 'url', email: 'email' };

/** What is wrong, in words. @param {Problem} problem */
export function problemText({ code, limit }) {
  return t(`form.bad_${code}`, { limit: limit ?? '', n: typeof limit === 'number' ? limit : 0 });
}

/**
 * Text of a field that is typed before it is a value: what is typed stays as typed.
 * @param {any} value @param {(value: any) => string} show @param {(text: string) => any} parse @param {(value: any) => void} onChange
 */
function useTyped(value, show, parse, onChange) {
  const [text, setText] = useState(() => show(value));
  const last = useRef(value);
  useEffect(() => {
    if (!Object.is(value, last.current)) {
      last.current = value;
      setText(show(value));
    }
  }, [value]);
  return {
    text,
    type: (/** @type {string} */ next) => {
      setText(next);
      last.current = parse(next);
      onChange(last.current);
    },
  };
}

/** @param {any} value */
const shownNumber = (value) => (value instanceof Draft ? value.text : value === undefined || value === null ? '' : String(value));
/** @param {any} value */
const shownJson = (value) => (value instanceof Draft ? value.text : value === undefined ? '' : JSON.stringify(value, null, 2));

/** @param {FieldProps & {attributes: any, widget: Widget, placeholder: string}} props */
function NumberInput({ attributes, widget, value, onChange, placeholder }) {
  const typed = useTyped(value, shownNumber, (text) => parseNumber(text, widget.kind === 'integer'), onChange);
  return html`<input ...${attributes} type="text" inputmode=${widget.kind === 'integer' ? 'numeric' : 'decimal'} autocomplete="off" placeholder=${placeholder} value=${typed.text} onInput=${(/** @type {any} */ event) => typed.type(event.currentTarget.value)} />`;
}

/** @param {FieldProps & {attributes: any, placeholder: string}} props */
function JsonInput({ attributes, value, onChange, placeholder }) {
  const typed = useTyped(value, shownJson, parseJson, onChange);
  return html`<textarea ...${attributes} class="field mono grows" rows="3" spellcheck=${false} placeholder=${placeholder} value=${typed.text} onInput=${(/** @type {any} */ event) => typed.type(event.currentTarget.value)}></textarea>`;
}

/** @param {FieldProps & {attributes: any, widget: Widget, placeholder: string}} props */
function TextInput({ attributes, widget, value, onChange, required, placeholder }) {
  const type = (/** @type {any} */ event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.value);
  const text = typeof value === 'string' ? value : '';
  if (ONE_LINE.has(widget.schema.format)) return html`<input ...${attributes} type=${widget.schema.format === 'date' ? 'date' : 'text'} inputmode=${MODES[widget.schema.format]} autocomplete="off" spellcheck=${false} placeholder=${placeholder} value=${text} required=${required} onInput=${type} />`;
  return html`<textarea ...${attributes} class="field grows" rows="1" spellcheck=${false} placeholder=${placeholder} value=${text} onInput=${type}></textarea>`;
}

/** @param {FieldProps & {attributes: any, widget: Widget}} props */
function Choices({ attributes, widget, value, onChange, required }) {
  const choices = widget.choices ?? [];
  const at = value === undefined ? '' : value === null ? 'null' : String(choices.indexOf(value));
  return html`<select ...${attributes} value=${at} onChange=${(/** @type {any} */ event) => {
    const chosen = event.currentTarget.value;
    onChange(chosen === '' ? undefined : chosen === 'null' ? null : choices[Number(chosen)]);
  }}><option value="" disabled=${required}>${t(required ? 'form.choose' : 'form.left_out')}</option>
    ${widget.nullable ? html`<option value="null">null</option>` : null}
    ${at === '-1' ? html`<option value="-1">${String(value)}</option>` : null}
    ${choices.map((_, index) => html`<option key=${index} value=${String(index)}>${widget.labels?.[index] ?? String(choices[index])}</option>`)}</select>`;
}

/** @param {FieldProps & {widget: Widget}} props */
function Flag({ label, widget, value, onChange, required }) {
  const options = [...(required ? [] : [{ value: '', label: t('form.left_out') }]), { value: 'true', label: t('form.yes') }, { value: 'false', label: t('form.no') }, ...(widget.nullable ? [{ value: 'null', label: 'null' }] : [])];
  return html`<${Segmented} label=${label} value=${value === undefined ? '' : String(value)} options=${options} onChange=${(/** @type {string} */ chosen) => onChange(chosen === '' ? undefined : JSON.parse(chosen))} />`;
}

/** Several of a few choices. @param {FieldProps & {widget: Widget}} props */
function Several({ label, widget, value, onChange, root }) {
  const { choices = [], labels = [] } = widgetOf(widget.items, root);
  const set = Array.isArray(value) ? value : [];
  return html`<div class="schema-several" role="group" aria-label=${label}>${choices.map((choice, at) => html`<label class="opt" key=${at}><input type="checkbox" checked=${set.includes(choice)} onChange=${(/** @type {any} */ event) => onChange(choices.filter((one) => (one === choice ? event.currentTarget.checked : set.includes(one))))} /> <${Visible} text=${labels[at] ?? String(choice)} /></label>`)}</div>`;
}

/** @param {FieldProps & {widget: Widget}} props */
function Items({ label, widget, value, onChange, path, problems, depth, root }) {
  if (severalOf(widget, root)) return html`<${Several} ...${{ label, widget, value, onChange, path, problems, depth, root, schema: widget.schema, required: true }} />`;
  return html`<${ItemList} ...${{ label, widget, value, onChange, path, problems, depth, root, schema: widget.schema, required: true }} />`;
}

/** @param {FieldProps & {widget: Widget}} props */
function ItemList({ label, widget, value, onChange, path, problems, depth, root }) {
  const items = Array.isArray(value) ? value : [];
  const box = useRef(/** @type {HTMLElement|null} */ (null));
  const change = (/** @type {number} */ at, /** @type {any} */ next) => onChange(items.map((item, index) => (index === at ? next : item)));
  const add = () => {
    onChange([...items, initialValue(widget.items, root, true, depth + 1)]);
    setTimeout(() => /** @type {HTMLElement|null|undefined} */ ([...(box.current?.querySelectorAll('.schema-item') ?? [])].at(-1)?.querySelector('textarea, input, select, button'))?.focus());
  };
  const full = items.length >= (widget.schema.maxItems ?? 1_000);
  return html`<div class="schema-items" ref=${box}>${items.map((item, at) => html`<div class="schema-item" key=${at}>
      <${SchemaField} label=${`${label} ${at + 1}`} schema=${widget.items} root=${root} value=${item} required path=${below(path, at)} problems=${problems} depth=${depth + 1}
        onChange=${(/** @type {any} */ next) => change(at, next)} onRemove=${() => onChange(items.filter((_, index) => index !== at))} /></div>`)}
    <div class="row"><${Button} small disabled=${full} aria-label=${t('form.add_to', { name: label })} onClick=${add}>${t('form.add')}<//></div></div>`;
}

/** @param {FieldProps & {widget: Widget}} props */
function Members({ widget, value, onChange, path, problems, depth, root, plain }) {
  return html`<div class="schema-members">${(widget.fields ?? []).map((field) => html`<${SchemaField} key=${field.name} label=${field.name} schema=${field.schema} root=${root} required=${field.required}
    value=${memberOf(value, field.name)} plain=${plain} path=${below(path, field.name)} problems=${problems} depth=${depth + 1} onChange=${(/** @type {any} */ next) => onChange(withMember(value, field.name, next))} />`)}</div>`;
}

/** @param {FieldProps & {widget: Widget, attributes: any, placeholder: string}} props */
function Union(props) {
  const { widget, value, onChange, root, label, attributes } = props;
  const variants = widget.variants ?? [];
  const [picked, setPicked] = useState(() => variantOf(variants, value, root));
  const at = value === undefined || value === null || value instanceof Draft ? picked : variantOf(variants, value, root);
  const inner = widgetOf(variants[at], root);
  const shared = { ...props, widget: inner, schema: variants[at] };
  return html`<div class="row nowrap union"><select class="field" aria-label=${t('form.type_of', { name: label })} value=${String(at)} onChange=${(/** @type {any} */ event) => {
    const next = Number(event.currentTarget.value);
    setPicked(next);
    const kept = convert(value, widgetOf(variants[next], root).kind);
    onChange(kept);
  }}>${variants.map((variant, index) => html`<option key=${index} value=${String(index)}>${variant.title ?? t(`form.kind_${widgetOf(variant, root).kind}`)}</option>`)}</select>
    ${inner.kind === 'boolean' ? html`<${Flag} ...${shared} />` : inner.kind === 'enum' ? html`<${Choices} ...${shared} attributes=${attributes} />` : inner.kind === 'string' ? html`<${TextInput} ...${shared} />` : html`<${NumberInput} ...${shared} />`}</div>`;
}

/** What was typed, as another type where it can be one. @param {any} value @param {string} kind */
function convert(value, kind) {
  const text = value instanceof Draft ? value.text : value === undefined || value === null ? '' : String(value);
  if (kind === 'string') return text || undefined;
  if (kind === 'number' || kind === 'integer') {
    const number = parseNumber(text, kind === 'integer');
    return number instanceof Draft ? undefined : number;
  }
  if (kind === 'boolean' && /^(true|false)$/.test(text)) return text === 'true';
  return undefined;
}

/** One value of a schema, with its label, its hints and what leaves it out. @param {FieldProps} props */
export function SchemaField(props) {
  const { schema, root, value, required, onChange, path, problems, depth, onRemove, plain } = props;
  const id = useId();
  const widget = widgetOf(schema, root, depth);
  const label = plain && widget.schema?.title ? String(widget.schema.title) : props.label;
  const { kind, nullable } = widget;
  const problem = problems.get(path);
  const description = widget.schema?.description;
  const group = kind === 'object' || kind === 'array' || kind === 'boolean';
  const attributes = {
    id, class: 'field', 'aria-required': required ? 'true' : undefined, 'aria-invalid': problem ? 'true' : undefined,
    'aria-describedby': [description ? `${id}-hint` : '', problem ? `${id}-bad` : ''].filter(Boolean).join(' ') || undefined,
  };
  const placeholder = value === null ? 'null' : value === '' ? t('form.empty_text') : widget.schema?.default !== undefined && value === undefined ? t('form.default', { value: JSON.stringify(widget.schema.default) }) : required ? '' : t('form.left_out');
  const absent = value === undefined;
  const composite = kind === 'object' || kind === 'array';
  const open = composite && !absent && value !== null && !(value instanceof Draft);
  const shared = { ...props, label, widget, attributes, placeholder };
  const name = html`<span class="schema-name"><${Visible} text=${label} /></span>${widget.schema?.title && widget.schema.title !== label ? html` <span class="meta"><${Visible} text=${String(widget.schema.title)} /></span>` : null}`;
  // Choosing and flags have “left out” and null among their choices.
  const actions = [
    kind === 'string' && absent && !plain ? { key: 'empty', text: t('form.set_empty'), run: () => onChange('') } : null,
    nullable && value !== null && !plain && !['enum', 'boolean'].includes(kind) ? { key: 'null', text: t('form.set_null'), run: () => onChange(null) } : null,
    !absent && (!required || value === null || value === '') && !['enum', 'boolean'].includes(kind) ? { key: 'out', text: required ? t('form.clear') : t('form.leave_out'), run: () => onChange(undefined) } : null,
    onRemove ? { key: 'remove', text: t('form.remove'), run: onRemove } : null,
  ].filter((action) => action !== null);
  const head = html`<div class="schema-head">${group ? html`<span id=${`${id}-name`}>${name}</span>` : html`<label for=${id}>${name}</label>`}
    ${required && !onRemove ? html`<span class="req">${t('form.required')}</span>` : null}<span class="grow"></span>
    ${actions.map((action) => html`<button type="button" class="tiny" key=${action.key} aria-label=${`${action.text}: ${label}`} onClick=${action.run}>${action.text}</button>`)}</div>`;
  const control = composite
    ? open ? html`<${kind === 'object' ? Members : Items} ...${shared} />`
      : html`<div class="row"><span class="meta">${value === null ? 'null' : t('form.left_out')}</span><${Button} small aria-label=${t('form.add_to', { name: label })} onClick=${() => onChange(initialValue({ ...widget.schema, default: undefined }, root, true, depth))}>${t('form.add')}<//></div>`
    : kind === 'boolean' ? html`<${Flag} ...${shared} />` : kind === 'enum' ? html`<${Choices} ...${shared} />` : kind === 'union' ? html`<${Union} ...${shared} />`
      : kind === 'string' ? html`<${TextInput} ...${shared} />` : kind === 'number' || kind === 'integer' ? html`<${NumberInput} ...${shared} />` : html`<${JsonInput} ...${shared} />`;
  return html`<div class=${`schema-field ${open ? 'open' : ''}`} role=${group ? 'group' : undefined} aria-labelledby=${group ? `${id}-name` : undefined} data-path=${path}>${head}
    ${description ? html`<div class="hint" id=${`${id}-hint`}><${Visible} text=${String(description)} /></div>` : null}${control}
    ${problem ? html`<div class="bad" id=${`${id}-bad`}>${problemText(problem)}</div>` : null}</div>`;
}

/**
 * @param {{schema: any, label: string, submit: any, busy?: boolean, initial?: any, onSubmit: (value: any) => void, children?: any, disabled?: boolean, judge?: (value: any) => Problem[], plain?: boolean}} props
 * `children` stand beside the submit button; `judge` finds more that is wrong; `plain`: the form alone, with a quiet button.
 */
export function SchemaForm({ schema, label, submit, busy, initial, onSubmit, children, disabled, judge, plain }) {
  const shape = schema && typeof schema === 'object' ? schema : {};
  const widget = widgetOf(shape);
  const fits = widget.kind === 'object';
  const [value, setValue] = useState(() => initial ?? initialValue(shape) ?? {});
  const [text, setText] = useState(/** @type {string|null} */ (fits ? null : () => JSON.stringify(initial ?? {}, null, 2)));
  const [tried, setTried] = useState(false);
  const [broken, setBroken] = useState('');
  const form = useRef(/** @type {HTMLFormElement|null} */ (null));
  const found = [...problemsOf(shape, value), ...(judge?.(value) ?? [])];
  // While a person has not tried yet, only what they typed wrongly is pointed at, not what is still missing.
  const problems = new Map(found.filter(({ code }) => tried || (code !== 'required' && !code.startsWith('format_'))).map((problem) => [problem.path, problem]));
  /** @returns {any} undefined when the text is no JSON object */
  const fromText = () => {
    const parsed = parseJson(text || '{}');
    const fine = parsed && typeof parsed === 'object' && !Array.isArray(parsed) && !(parsed instanceof Draft);
    setBroken(fine ? '' : t('form.bad_object'));
    return fine ? parsed : undefined;
  };
  const asForm = () => {
    const parsed = fromText();
    if (parsed === undefined) return;
    setValue(parsed);
    setText(null);
  };
  const send = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy || disabled) return;
    if (text !== null) {
      const parsed = fromText();
      if (parsed !== undefined) onSubmit(parsed);
      return;
    }
    setTried(true);
    if (found.length) {
      setTimeout(() => /** @type {HTMLElement|null|undefined} */ (form.current?.querySelector('[aria-invalid=true]'))?.focus());
      return;
    }
    onSubmit(cleaned(value));
  };
  const known = new Set((widget.fields ?? []).map(({ name }) => name));
  const extra = fits ? Object.keys(value).filter((key) => !known.has(key)) : [];
  const id = useId();
  return html`<form class="schema" ref=${form} noValidate aria-label=${label} onSubmit=${send} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(event);
  }}>
    ${text === null ? html`${known.size ? null : html`<p class="meta">${t('form.nothing')}</p>`}
      <${Members} widget=${widget} label=${label} plain=${plain} schema=${shape} root=${shape} value=${value} required path="" problems=${problems} depth=${0} onChange=${setValue} />
      ${extra.length ? html`<p class="note">${t('form.extra', { names: extra.join(', '), n: extra.length })}</p>` : null}`
    : html`<div class="label"><label for=${id}>${t('form.json_label')}</label><textarea id=${id} class="field mono grows" rows="6" spellcheck=${false} value=${text} aria-invalid=${broken ? 'true' : undefined} aria-describedby=${broken ? `${id}-bad` : undefined}
      onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}></textarea>${broken ? html`<span class="bad" id=${`${id}-bad`} role="alert">${broken}</span>` : null}</div>`}
    <div class="row schema-foot"><${Button} kind=${plain ? '' : 'primary'} type="submit" disabled=${busy || disabled}>${submit}<//>${children}<span class="grow"></span>
      ${fits && !plain ? html`<${Segmented} label=${t('form.view')} value=${text === null ? 'form' : 'json'} options=${[{ value: 'form', label: t('form.as_form') }, { value: 'json', label: t('form.as_json') }]}
        onChange=${(/** @type {string} */ view) => (view === 'json' ? setText(JSON.stringify(cleaned(value), null, 2)) : asForm())} />` : null}</div></form>`;
}
