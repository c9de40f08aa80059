// Package mcpclient owns the connections to MCP servers: it is the Connector
// that services.Supervisor uses.
//
// The messages are those of mcp-go, and every transport is one by its interface.
// The session above them and the transports are ours, for reasons that were measured on mcp-go v1.2.1:
//
//   - Its client decodes tools into structs that drop every schema keyword it
//     does not know, and parses results that we must pass on byte for byte.
//     Requests here go through transport.Interface and answers are kept raw.
//   - Its discovery of the protocol era gives a server 5 s and then can only
//     fall back; a server that starts slowly and speaks 2026-07-28 alone is lost.
//     handshake.go leaves the first question standing while it asks the second.
//   - Its stdio transport reads lines of any length, skips what is not JSON in
//     silence, blocks every caller when a server stops reading, and ends only
//     the direct child. It decodes each answer a second time, too. We start the
//     process ourselves (tools/process); messageFilter (filter.go) reads what it
//     prints and gives each answer to whom it is for, outbox (outbox.go) writes.
//   - Its transport for Streamable HTTP ends what a server asks in the middle of
//     a call after 30 s, and then hangs; a person needs longer. That for HTTP+SSE
//     answers nothing that a server asks, takes such a request for our answer
//     when the ids are alike, and follows an endpoint from https to http. Neither
//     bounds what it reads, nor tells a server of revisions up to 2025-11-25 that
//     a call is cancelled. streamable.go and eventsource.go implement the same
//     interface on net/http in their place; the session above is one for all.
//
// # Over HTTP
//
// link.go is the exchange itself, roundtrip.go the client that reaches one
// origin and nothing else: redirects stay there (checkRedirect), addresses are
// judged when the connection is made (address.go), authorities may be added
// (authorities.go). eventstream.go reads streams of any size in bounded memory.
// remote.go keeps one session after the other: a server that has forgotten ours
// gets a new initialize at once, and no call is ever written twice.
package mcpclient
