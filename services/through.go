package services

import (
	"context"
	"encoding/json"
)

// Through says that a request is made for another MCP client of the revision
// without sessions (2026-07-28), which answers by itself what the server asks: a
// server of that revision is told the client's capabilities, and its result comes
// back as it is, also one that asks for input. With other servers it means
// nothing. The parts are JSON values; nil = none.
type Through struct {
	Capabilities json.RawMessage // an object
	Responses    json.RawMessage // inputResponses of a client that comes back
	State        json.RawMessage // requestState likewise
}

type throughKey struct{}

// WithThrough returns a context whose Call or Request is made for another client.
func WithThrough(ctx context.Context, t Through) context.Context {
	return context.WithValue(ctx, throughKey{}, &t)
}

// ThroughFrom returns for which other client a request is made, nil = for none.
func ThroughFrom(ctx context.Context) *Through {
	t, _ := ctx.Value(throughKey{}).(*Through)
	return t
}
