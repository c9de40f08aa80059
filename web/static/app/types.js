// Shapes shared by the modules of the page; docs/api.md is where they come from.

/**
 * @typedef {{type: string, text?: string, data?: string, mimeType?: string, uri?: string, name?: string, resource?: any, [key: string]: any}} ContentItem
 *
 * @typedef {'running'|'waiting'|'ok'|'error'|'denied'|'timeout'|'cancelled'|'interrupted'} CallStatus
 *
 * @typedef {{stream: string, text: string, at?: number}} OutputPiece `at`: bytes that were printed before it
 *
 * @typedef {object} Call
 * @property {string} call_id
 * @property {string} tool
 * @property {string} [server]
 * @property {CallStatus} status
 * @property {boolean} [is_error]
 * @property {ContentItem[]} [content]
 * @property {any} [structured]
 * @property {string} [reason]
 * @property {string} [key] stable name of the reason
 * @property {Record<string, string>} [args] what fills it
 * @property {string} [rule]
 * @property {string} [by]
 * @property {string} [result_id]
 * @property {string} [started]
 * @property {number} [duration_ms]
 * @property {string} [model_text]
 * @property {boolean} [partial]
 * @property {boolean} [undone] a person took the edit back
 * @property {number} [waited_ms] how long its question waited
 * @property {OutputPiece[]} [output] of a call that runs: what it printed so far
 * @property {number} [output_end] bytes that it printed in all
 * @property {any} [arguments]
 * @property {string} [session]
 *
 * @typedef {object} Approval
 * @property {string} id
 * @property {'call'|'elicitation'|'sampling'} kind
 * @property {string} [session]
 * @property {string} [conversation]
 * @property {string} [call_id]
 * @property {string} [agent]
 * @property {string} [client] who called: page, cli or mcp
 * @property {string} [app] of mcp: the name of its token
 * @property {string} [client_name] of mcp: what it calls itself
 * @property {string} tool
 * @property {string} [server]
 * @property {string} [title]
 * @property {string} [reason]
 * @property {string} [key] stable name of the reason
 * @property {Record<string, string>} [args] what fills it
 * @property {string} [rule]
 * @property {any} [arguments]
 * @property {{text: string, cwd?: string, class?: string, marks?: {start: number, end: number}[]}} [command]
 * @property {{path: string, access?: string, op?: string}[]} [resolved]
 * @property {string} [diff]
 * @property {any} [schema]
 * @property {string[]} choices
 * @property {string[]} [proposed_rules]
 * @property {string} [asked]
 * @property {string} [deadline]
 *
 * @typedef {object} ToolInfo
 * @property {string} name
 * @property {string} [origin]
 * @property {string} [server]
 * @property {string} [title]
 * @property {string} [description]
 * @property {any} [input_schema]
 * @property {string} [mode]
 * @property {boolean} [enabled]
 * @property {string} [state]
 * @property {string} [definition]
 * @property {string} [diff]
 *
 * @typedef {object} Session
 * @property {string} id
 * @property {string} agent
 * @property {string} [created]
 * @property {string} [conversation]
 * @property {string} [root]
 * @property {ToolInfo[]} [tools]
 * @property {{kind: string, text: string}[]} [system]
 * @property {{code: string, message: string}[]} [warnings]
 * @property {string} [workspace]
 *
 * @typedef {object} Conversation
 * @property {string} id
 * @property {string} title
 * @property {string} [created]
 * @property {string} [updated]
 * @property {number} [messages]
 * @property {any} [meta]
 * @property {number} [version]
 *
 * @typedef {{name: string, path: string, size: number, mime: string}} StoredFile
 *
 * One call that a model asked for. `id` is the model's, `call_id` ours. `broken` holds arguments that were no JSON object.
 * @typedef {{id: string, call_id: string, tool: string, arguments: any, broken?: string}} AskedCall
 *
 * @typedef {object} MessageData
 * @property {string} [text]
 * @property {StoredFile[]} [files]
 * @property {string} [reasoning]
 * @property {AskedCall[]} [calls]
 * @property {string} [profile]
 * @property {string} [model]
 * @property {boolean} [stopped]
 * @property {boolean} [partial] what had arrived when the page went away
 * @property {{message: string, code?: string}} [error]
 * @property {'summary'|'limit'|'repeat'|'interrupted'|'branch'} [kind]
 * @property {{input?: number, output?: number}} [usage]
 * @property {string} [call_id]
 * @property {string} [tool]
 * @property {string} [status]
 * @property {boolean} [is_error]
 * @property {string} [session]
 * @property {string} [provider_id]
 *
 * @typedef {{seq?: number, id: string, role: 'user'|'assistant'|'tool'|'call', created?: string, data: MessageData}} Message
 *
 * What GET /api/agents answers.
 * @typedef {{code: string, message: string}} Warning
 * @typedef {{name: string, builtin?: boolean, risk_profile?: string, runtime_profile?: string, mcp_bundles?: string[], tools?: Record<string, string[]>, media?: string[], servers?: string[], warnings?: Warning[]}} Agent
 * @typedef {{name: string, servers?: string[], exclude?: string[]}} Bundle
 * @typedef {{name: string, level?: string, auto_approve?: string[], always_ask?: string[], allowed_tools?: string[], excluded_tools?: string[]}} RiskProfile
 * @typedef {{mode?: string, tools?: string[], keywords?: string[]}} FilterGroup
 * @typedef {{name: string, tool_filter_groups?: FilterGroup[], max_tool_result_chars?: number}} RuntimeProfile
 * @typedef {{agents: Agent[], bundles: Bundle[], risk_profiles: RiskProfile[], runtime_profiles: RuntimeProfile[], version?: string}} Agents
 *
 * @typedef {{id: string, kind: string, name: string, base_url?: string, model: string, models?: string[], context?: number, native_tools?: boolean}} Profile
 */

export {};
