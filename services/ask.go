package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

type ownerKey struct{}

// withCall marks what a Connector does for one call as belonging to it.
func withCall(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

// underway is one call that the server has not answered yet.
type underway struct {
	owner  string
	timers *callTimers
}

// enter notes a call for as long as it is under way.
func (s *service) enter(owner string, timers *callTimers) (leave func()) {
	u := &underway{owner, timers}
	s.mu.Lock()
	s.calls[u] = struct{}{}
	s.mu.Unlock()
	return func() {
		s.mu.Lock()
		delete(s.calls, u)
		s.mu.Unlock()
	}
}

// ask passes a question of the server on to a person. The timers of the calls
// that it may belong to stand still meanwhile.
func (s *service) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := Question{Server: s.name, Method: method, Params: params}
	owner, known := ctx.Value(ownerKey{}).(string)
	var held []*callTimers
	s.mu.Lock()
	if !known && len(s.calls) == 1 {
		for u := range s.calls {
			owner, known = u.owner, true
		}
	}
	for u := range s.calls {
		if !known || u.owner == owner {
			held = append(held, u.timers)
		}
	}
	s.mu.Unlock()
	q.Owner = owner
	for _, t := range held {
		t.hold()
		defer t.release()
	}
	return s.sup.config.Ask(ctx, q)
}

// callTimers end a call that is silent for too long or takes too long.
type callTimers struct {
	idle, whole time.Duration
	end         context.CancelCauseFunc

	mu     sync.Mutex
	held   int           // questions that are open
	since  time.Time     // when the whole time began to run
	spent  time.Duration // of the whole time, before that
	silent *time.Timer
	total  *time.Timer
}

func newCallTimers(spec Spec, end context.CancelCauseFunc) *callTimers {
	t := &callTimers{idle: spec.callTimeout(), whole: spec.maxDuration(), end: end, since: time.Now()}
	t.silent = time.AfterFunc(t.idle, func() {
		end(fmt.Errorf("%w: no answer and no progress for %s; whether it had an effect is not known, it was not sent again", ErrTimeout, t.idle))
	})
	t.total = time.AfterFunc(t.whole, func() {
		end(fmt.Errorf("%w: still not finished after %s; whether it had an effect is not known, it was not sent again", ErrTimeout, t.whole))
	})
	return t
}

// progress says that the server has given a sign of the call.
func (t *callTimers) progress() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held == 0 {
		t.silent.Reset(t.idle)
	}
}

func (t *callTimers) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held++; t.held > 1 {
		return
	}
	t.silent.Stop()
	t.total.Stop()
	t.spent += time.Since(t.since)
}

func (t *callTimers) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.held--; t.held > 0 {
		return
	}
	t.since = time.Now()
	t.silent.Reset(t.idle)
	t.total.Reset(max(0, t.whole-t.spent))
}

func (t *callTimers) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held++ // a question that is still open starts nothing again
	t.silent.Stop()
	t.total.Stop()
}

// methods are the requests that Supervisor.Request passes on: what reads or
// watches, and never tools/call, which has its own way through the gate.
var methods = map[string]bool{
	"resources/list": true, "resources/templates/list": true, "resources/read": true,
	"resources/subscribe": true, "resources/unsubscribe": true,
	"prompts/list": true, "prompts/get": true, "completion/complete": true, "logging/setLevel": true,
}

// Request sends one of the protocol's other requests to a server: resources,
// prompts, completion, log level. It waits for a server that is starting. The
// answer is the result object as received: untrusted. A server that does not
// declare that part is not asked: the error wraps ErrUnsupported.
func (v *Supervisor) Request(ctx context.Context, name, method string, params json.RawMessage) (json.RawMessage, error) {
	s, err := v.find(name)
	if err != nil {
		return nil, err
	}
	if !methods[method] {
		return nil, fmt.Errorf("sending %s to %s: this companion does not send it", Visible(clip(method, 100)), name)
	}
	fail := func(err error) (json.RawMessage, error) {
		return nil, fmt.Errorf("sending %s to %s: %w", method, name, err)
	}
	peer, life, spec, err := s.ready(ctx)
	if err != nil {
		return fail(err)
	}
	cctx, cancel := context.WithCancelCause(withCall(ctx, ""))
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(endOf(life)) })()
	timers := newCallTimers(spec, cancel)
	defer timers.stop()
	raw, err := peer.Request(cctx, method, params)
	switch {
	case err == nil:
		return raw, nil
	case life.Err() != nil && ctx.Err() == nil:
		err = endOf(life)
	case cctx.Err() != nil && errors.Is(err, cctx.Err()):
		err = context.Cause(cctx)
	}
	return fail(err)
}
