// Package approval holds the questions that wait for a person, the decisions
// that a person asked to be remembered, and the tool definitions that a person
// has accepted.
//
// A Broker keeps the questions: Ask blocks until a decision, the deadline or
// the end of the call; the first Resolve wins, whoever it comes from. Memory
// keeps decisions for a session or for good; Definitions keeps the accepted
// hashes. Both write one JSON file atomically.
package approval
