// What a server asks of a model, as it is shown and as it is sent: exactly its messages, nothing of the chat. Pure.

/** @typedef {import('../llm/loop.js').ModelRequest} ModelRequest
 * @typedef {{type: 'text', text: string} | {type: 'image', mime: string, data: string} | {type: 'other', kind: string}} Piece
 * @typedef {{role: 'user'|'assistant', pieces: Piece[]}} Said */

const shownImage = /^image\/(png|jpeg|gif|webp)$/;

/** @param {any} content one item, or several */
function piecesOf(content) {
  return (Array.isArray(content) ? content : [content]).map((item) => {
    if (item?.type === 'text') return /** @type {Piece} */ ({ type: 'text', text: String(item.text ?? '') });
    if (item?.type === 'image' && shownImage.test(item.mimeType ?? '') && typeof item.data === 'string') return /** @type {Piece} */ ({ type: 'image', mime: item.mimeType, data: item.data });
    return /** @type {Piece} */ ({ type: 'other', kind: typeof item?.type === 'string' ? item.type : typeof item === 'string' ? 'text' : '?' });
  });
}

/** The messages of a request. @param {any} params @returns {Said[]} */
export function messagesOf(params) {
  return (Array.isArray(params?.messages) ? params.messages : []).map((/** @type {any} */ message) => ({ role: message?.role === 'assistant' ? /** @type {const} */ ('assistant') : /** @type {const} */ ('user'), pieces: piecesOf(message?.content) }));
}

/** What is asked for beside the messages, in a few words for a person. @param {any} params @returns {{key: string, value: string}[]} */
export function wishesOf(params) {
  const { maxTokens, temperature, stopSequences, modelPreferences, tools } = params ?? {};
  const hints = (modelPreferences?.hints ?? []).map((/** @type {any} */ hint) => hint?.name).filter(Boolean).join(', ');
  return [
    { key: 'model', value: hints }, { key: 'tokens', value: Number.isFinite(maxTokens) ? String(maxTokens) : '' }, { key: 'temperature', value: Number.isFinite(temperature) ? String(temperature) : '' },
    { key: 'stop', value: Array.isArray(stopSequences) ? stopSequences.join(' ') : '' }, { key: 'tools', value: Array.isArray(tools) ? tools.map((/** @type {any} */ tool) => tool?.name).filter(Boolean).join(', ') : '' },
  ].filter(({ value }) => value);
}

/** The request that a model gets: the system prompt and the messages of the server, no tools, nothing of the chat. @param {any} params @param {string} model @returns {ModelRequest} */
export function requestOf(params, model) {
  const system = typeof params?.systemPrompt === 'string' && params.systemPrompt ? [params.systemPrompt] : [];
  return {
    model, system, tools: [],
    messages: messagesOf(params).map(({ role, pieces }) => {
      const text = pieces.map((piece) => (piece.type === 'text' ? piece.text : '')).filter(Boolean).join('\n\n');
      if (role === 'assistant') return { role, text };
      const images = pieces.flatMap((piece) => (piece.type === 'image' ? [{ mime: piece.mime, base64: piece.data }] : []));
      return { role, text, ...(images.length ? { images } : {}) };
    }),
  };
}

/** What the server gets. @param {string} text @param {string} model which wrote it; '' for a person @param {boolean} whole the model came to its end */
export function replyOf(text, model, whole = true) {
  return { role: 'assistant', model: model || 'human', content: { type: 'text', text }, stopReason: whole ? 'endTurn' : 'maxTokens' };
}
