// Tool calls in plain text, for models that have no native ones: told in the system text, read back from the answer.

/** @typedef {import('../types.js').ToolInfo} ToolInfo */

/** What the system text says. @param {ToolInfo[]} tools */
export function describeTools(tools) {
  if (!tools.length) return '';
  const list = tools.map((tool) => JSON.stringify({ name: tool.name, description: tool.description, parameters: tool.input_schema }));
  return `You can use tools. To use one, write exactly one block like this for each call, and then stop:\n<tool_call>{"name": "TOOL", "arguments": {…}}</tool_call>\nThe result comes in the next message. Never invent a result. Tools, one a line:\n${list.join('\n')}`;
}

/**
 * Takes the calls out of an answer. `arguments` stays text, so that broken JSON is treated like that of a native call.
 * Calls inside code fences are quotations, not calls.
 * @param {string} text @returns {{text: string, calls: {name: string, arguments: string}[]}}
 */
export function readTextCalls(text) {
  /** @type {{name: string, arguments: string}[]} */
  const calls = [];
  const fences = [...text.matchAll(/^(`{3,}|~{3,}).*?^\1/gms)].map((match) => [match.index, match.index + match[0].length]);
  const rest = text.replace(/<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/g, (all, body, at) => {
    if (fences.some(([from, to]) => at > from && at < to)) return all;
    let parsed;
    try {
      parsed = JSON.parse(body);
    } catch {
      const name = /"name"\s*:\s*"([^"]+)"/.exec(body)?.[1];
      if (!name) return all;
      calls.push({ name, arguments: body });
      return '';
    }
    if (typeof parsed?.name !== 'string') return all;
    const given = parsed.arguments ?? parsed.parameters ?? {};
    calls.push({ name: parsed.name, arguments: typeof given === 'string' ? given : JSON.stringify(given) });
    return '';
  });
  return { text: calls.length ? rest.trim() : text, calls };
}

/** Whether a provider's refusal says that the model knows no tools. @param {any} error */
export function refusesTools(error) {
  const status = error?.status ?? 0;
  return status >= 400 && status < 500 && status !== 401 && status !== 403 && status !== 429 && /\btools?\b|function.?call/i.test(String(error?.message ?? ''));
}
