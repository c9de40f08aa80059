package guard

import (
	"context"
	"net/http"
)

// Kind tells who holds a token.
type Kind string

// The kinds of token.
const (
	Page  Kind = "page"  // a browser tab that was paired
	CLI   Kind = "cli"   // the command line of the same user
	Named Kind = "named" // another program, as an agent; opens only routes of class Host
)

// TokenInfo is what the holder of a token is known by. ID is public (it may
// be logged and shown). Origin is the UI origin that a page token was given
// to, empty for a page on loopback. Name and Agent belong to named tokens.
type TokenInfo struct {
	ID     string
	Kind   Kind
	Origin string
	Name   string
	Agent  string

	// valid ends when the token is revoked; nil for one that never is.
	valid context.Context
}

// Client is who sent a request: its token and the origin of the page, if that
// page is the configured UI on another origin.
type Client struct {
	TokenInfo
	UIOrigin string
}

// Valid ends when the token is revoked, for what outlives its request.
func (c Client) Valid() context.Context {
	if c.valid == nil {
		return context.Background()
	}
	return c.valid
}

// Loopback reports whether the request comes from the page on 127.0.0.1 or
// from the command line. Shell approvals and "always" decisions are taken
// only from there, never from a page on another origin or a named token.
func (c Client) Loopback() bool {
	return (c.Kind == Page || c.Kind == CLI) && c.UIOrigin == "" && c.Origin == ""
}

type clientKey struct{}

// From returns who sent r. On routes of class None and State only UIOrigin
// can be set. A request that did not pass the guard has the zero Client,
// which may do nothing.
func From(r *http.Request) Client {
	c, _ := r.Context().Value(clientKey{}).(Client)
	return c
}

// WithClient returns ctx with c in it, for handlers that are tested without
// the guard.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}
