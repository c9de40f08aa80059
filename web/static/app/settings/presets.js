// Known model providers, and the providers of the configuration as entries. Pure.

/**
 * @typedef {{id: string, name: string, kind: 'openai'|'anthropic', base_url: string, key: 'needed'|'none'|'maybe', keys_at?: string, local?: boolean}} Preset
 * @typedef {{path: string, value?: any, kind?: string, populated?: boolean, default?: boolean, override?: string}} Prop
 * @typedef {{name: string, props: Record<string, Prop>}} Provider
 */

/** @type {Preset[]} */
export const presets = [
  { id: 'openai', name: 'OpenAI', kind: 'openai', base_url: 'https://api.openai.com/v1', key: 'needed', keys_at: 'https://platform.openai.com/api-keys' },
  { id: 'anthropic', name: 'Anthropic', kind: 'anthropic', base_url: 'https://api.anthropic.com', key: 'needed', keys_at: 'https://console.anthropic.com/settings/keys' },
  { id: 'openrouter', name: 'OpenRouter', kind: 'openai', base_url: 'https://openrouter.ai/api/v1', key: 'needed', keys_at: 'https://openrouter.ai/keys' },
  { id: 'gemini', name: 'Gemini', kind: 'openai', base_url: 'https://generativelanguage.googleapis.com/v1beta/openai', key: 'needed', keys_at: 'https://aistudio.google.com/apikey' },
  { id: 'mistral', name: 'Mistral', kind: 'openai', base_url: 'https://api.mistral.ai/v1', key: 'needed', keys_at: 'https://console.mistral.ai/api-keys' },
  { id: 'groq', name: 'Groq', kind: 'openai', base_url: 'https://api.groq.com/openai/v1', key: 'needed', keys_at: 'https://console.groq.com/keys' },
  { id: 'deepseek', name: 'DeepSeek', kind: 'openai', base_url: 'https://api.deepseek.com/v1', key: 'needed', keys_at: 'https://platform.deepseek.com/api_keys' },
  { id: 'ollama', name: 'Ollama', kind: 'openai', base_url: 'http://127.0.0.1:11434/v1', key: 'none', local: true },
  { id: 'lm_studio', name: 'LM Studio', kind: 'openai', base_url: 'http://127.0.0.1:1234/v1', key: 'none', local: true },
  { id: 'llama_cpp', name: 'llama.cpp', kind: 'openai', base_url: 'http://127.0.0.1:8080/v1', key: 'none', local: true },
  { id: 'vllm', name: 'vLLM', kind: 'openai', base_url: 'http://127.0.0.1:8000/v1', key: 'none', local: true },
  { id: 'custom', name: '', kind: 'openai', base_url: '', key: 'maybe' },
];

/** Path of a member of the configuration; names with dots are quoted. @param {...string} parts */
export function pathOf(...parts) {
  return parts.map((part) => (part === '' || /[."\\]/.test(part) ? JSON.stringify(part) : part)).join('.');
}

/** The parts of a path. @param {string} path @returns {string[]} */
export function partsOf(path) {
  const parts = [];
  for (const match of path.matchAll(/(?:^|\.)(?:("(?:[^"\\]|\\.)*")|([^.]*))/g)) {
    if (match[1] === undefined) parts.push(match[2]);
    else {
      try {
        parts.push(JSON.parse(match[1]));
      } catch {
        parts.push(match[1].slice(1, -1));
      }
    }
  }
  return parts;
}

/** The providers among the properties, in the order of the file. @param {Prop[]} props @returns {Provider[]} */
export function providersFrom(props) {
  /** @type {Map<string, Provider>} */
  const found = new Map();
  for (const prop of props) {
    const [head, name, field] = partsOf(prop.path);
    if (head !== 'providers' || name === undefined) continue;
    const entry = found.get(name) ?? { name, props: {} };
    found.set(name, entry);
    if (field !== undefined) entry.props[field] = prop;
  }
  return [...found.values()];
}

/** A name that no provider has yet. @param {string} wish @param {string[]} taken */
export function freeName(wish, taken) {
  const base = wish.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, '') || 'provider';
  const used = new Set(taken.map((name) => name.toLowerCase()));
  if (!used.has(base)) return base;
  let n = 2;
  while (used.has(`${base}_${n}`)) n++;
  return `${base}_${n}`;
}

/** What is wrong with the name of a new entry: a code, '' for nothing. @param {string} name @param {string[]} taken @param {boolean} [server] its tools are named after it */
export function nameFault(name, taken, server = false) {
  if (!name.trim()) return 'empty';
  if (name !== name.trim() || name.includes('__') || /[/\\\p{Cc}\p{Cf}]/u.test(name) || name === '.' || name === '..' || new TextEncoder().encode(name).length > 128) return 'form';
  if (server && /^_|_$/.test(name)) return 'edge';
  if (taken.some((other) => other.toLowerCase() === name.toLowerCase())) return 'taken';
  return '';
}

/** An address as it is meant: without a scheme a server on this computer is asked plainly, any other encrypted. @param {string} typed */
export function fullAddress(typed) {
  const text = typed.trim();
  if (!text || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) || text.startsWith('/')) return text;
  return `${/^(localhost|[^/:@]+\.localhost|127(\.\d+){3}|\[::1\])(?=[:/]|$)/i.test(text) ? 'http' : 'https'}://${text}`;
}

/** What is wrong with an address: a code, '' for nothing. @param {string} address */
export function addressFault(address) {
  if (!address.trim()) return '';
  let url;
  try {
    url = new URL(fullAddress(address));
  } catch {
    return 'form';
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'scheme';
  return url.username || url.password ? 'user' : '';
}

/** Names of models, one a line or with commas between them. @param {string} text */
export function modelsOf(text) {
  return [...new Set(text.split(/[\n,]/).map((name) => name.trim()).filter(Boolean))];
}
