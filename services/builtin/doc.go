// Package builtin holds the MCP servers that are part of the companion itself.
//
// ServeDummy is dummy-mcp, a small server without dependencies for trying out
// everything between the page and a service. It speaks JSON-RPC by hand, so
// that a mistake in the MCP library that the client side uses cannot hide
// behind the same mistake here.
package builtin
