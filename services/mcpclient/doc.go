// Package mcpclient owns the connections to MCP servers: it is the Connector
// that services.Supervisor uses.
//
// The messages travel through mcp-go's transports. What lies above them, the
// session, is ours, for reasons that were measured on mcp-go v1.2.1:
//
//   - Its client decodes tools into structs that drop every schema keyword it
//     does not know, and parses results that we must pass on byte for byte.
//     Requests here go through transport.Interface and answers are kept raw.
//   - Its discovery of the protocol era gives a server 5 s and then can only
//     fall back; a server that starts slowly and speaks 2026-07-28 alone is lost.
//     handshake.go leaves the first question standing while it asks the second.
//   - Its stdio transport reads lines of any length, skips what is not JSON in
//     silence, blocks every caller when a server stops reading, and ends only
//     the direct child. We start the process ourselves (tools/process), put
//     messageFilter (filter.go) before the transport's input and outbox
//     (outbox.go) behind its output.
package mcpclient
