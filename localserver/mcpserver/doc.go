// Package mcpserver is the companion as an MCP server: other MCP clients reach,
// over Streamable HTTP, the tools that one agent reaches, through the same gate.
//
// It speaks revisions 2024-11-05 to 2025-11-25, with sessions, and 2026-07-28,
// without. It is a handler of our own and not that of mcp-go, because a gateway
// passes results of many megabytes through as they came, which that server
// decodes and encodes again; answers in plain JSON unless something has to be
// told before the answer; and sends no notification that could be lost behind
// one. What a session asks a person goes to the page and, where the client can
// show it, to the client: the first answer wins.
package mcpserver
