// Package tools holds what every call goes through: Tool, Spec, Call and
// Result, the Registry that finds a tool by its full name, the Names that
// tools are known by, and Runner, the one gate between a request and an
// effect.
//
// Subpackages implement the local tools. Tools of MCP servers are adapted to
// the same interface by localserver/session, so that a local and a remote call
// take the same seven stops.
package tools
