package tools

import (
	"context"
	"time"

	"zeroclaw/permissions"
)

// Pass is what the gate hands to Run: the facts that were judged, and ways to
// report progress. A tool acts on these facts only, never on the paths as the
// caller wrote them.
type Pass struct {
	CallID  string
	Session string
	Owner   string               // what stored results belong to, see Call.Owner
	Paths   []permissions.Path   // in the order of Plan.Uses
	Command *permissions.Command // execute_command only
	Root    string               // the session's root
	// Definition is the hash of the definition that was judged, "" for a local
	// tool. A tool that is defined otherwise by now must not run.
	Definition string
	// Direct is set for a simple command that the rules or a setting let
	// through: it runs as argv, without a shell. Unset, a person has seen the
	// text and it runs in the user's shell exactly as shown.
	Direct bool
	// MayRead reports whether the session's R rules cover a resolved path, so
	// that what a call returns never shows more than the model may read.
	MayRead func(permissions.Path) bool
	// Judge resolves and judges one more path for a tool that meets paths while
	// it runs (search_files). It never asks.
	Judge func(path string, op permissions.Op) (permissions.Path, permissions.Verdict)
	// Whole says that the result is passed through: a tool may leave it as it
	// came, in Result.Whole.
	Whole bool
	// Item is that of the call.
	Item     bool
	Progress func(Progress)
	Output   func(stream, text string) // "stdout" or "stderr", live
}

// Progress is how far a call has come. Total is 0 when it is not known.
type Progress struct {
	Done    float64       `json:"progress"`
	Total   float64       `json:"total,omitempty"`
	Message string        `json:"message,omitempty"`
	Elapsed time.Duration `json:"-"`
}

type passKey struct{}

// WithPass returns a context that carries p to Run.
func WithPass(ctx context.Context, p *Pass) context.Context {
	return context.WithValue(ctx, passKey{}, p)
}

// PassFrom returns the Pass of a call. Outside the gate there is none and
// every tool must refuse to run.
func PassFrom(ctx context.Context) (*Pass, bool) {
	p, ok := ctx.Value(passKey{}).(*Pass)
	return p, ok
}
