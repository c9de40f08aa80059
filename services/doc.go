// Package services keeps MCP servers alive: it holds what a server is (Spec),
// what is known about it (Status), and the Supervisor that starts, watches,
// restarts and stops each one.
//
// Supervisor gives every server one goroutine that owns its process or
// connection from the first attempt to the verified end, so that a server that
// hangs, floods or dies delays no other. Methods of Supervisor only set what is
// wanted and wake that goroutine; what to do next is decided by pure functions
// (reconcile, nextStep, Backoff.next, breaker, compare).
//
// A service is started by a person, or by itself once a person has started that
// very launch. A configured server is started by Want, or by the first call; one
// that nobody uses may rest until the next. What a server offered last is kept
// in a Cache, so that its tools can be listed while it does not run, and
// every difference is recorded as a Discovery.
//
// The loop is our own rather than a tree of suture supervisors: the restart
// policy here is per server and visible (a back-off with its reason and time is
// part of Status), a person can stop, retry or restart in any state, and a
// second start joins the first. suture has one policy per supervisor and takes
// every context error for a wish to stop, so it would need one supervisor per
// server and still leave the states to us.
//
// The package knows no transport. A Connector turns a Spec into a Peer:
// services/mcpclient for MCP servers. Bundled definitions are in
// services/catalog, servers of our own in services/builtin.
package services
