// Package events owns what the companion tells the open pages: one numbered
// stream of typed events, sent to every tab as server-sent events.
//
// The encoding is that of github.com/r3labs/sse; numbering, replay, queues,
// deadlines and the end of a connection are the Hub's own, because that
// library replays everything to everybody, lets a client pick its stream and
// is stopped by one reader that stands still. Each connection has a private
// stream with a random name; a tab that falls behind is cut off and catches up
// with Last-Event-ID, so it never slows another.
package events
