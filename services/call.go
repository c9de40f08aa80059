package services

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Call runs a tool of a server. It waits for a server that is starting, and
// never starts one. A call that is silent for Spec.CallTimeout, or that takes
// longer than Spec.MaxDuration, is cancelled at the server and ends with
// ErrTimeout; when the server dies, the call fails at once with an *ExitError.
// No call is ever sent twice. The timers stand still while a person answers
// what the server asks meanwhile.
func (v *Supervisor) Call(ctx context.Context, c ToolCall) (CallResult, error) {
	s, err := v.find(c.Server)
	if err != nil {
		return CallResult{}, err
	}
	fail := func(err error) (CallResult, error) {
		return CallResult{}, fmt.Errorf("calling %s of %s: %w", Visible(c.Tool), c.Server, err)
	}
	peer, life, spec, err := s.await(ctx, c.Tool)
	if err != nil {
		return fail(err)
	}
	cctx, cancel := context.WithCancelCause(withCall(ctx, c.Owner))
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(endOf(life)) })()

	timers := newCallTimers(spec, cancel)
	defer timers.stop()
	defer s.enter(c.Owner, timers)()

	began := time.Now()
	result, err := peer.Call(cctx, c.Tool, c.Args, func(done, total float64, message string) {
		timers.progress()
		if c.Progress != nil {
			c.Progress(done, total, message)
		}
	})
	if err != nil {
		switch {
		case life.Err() != nil && ctx.Err() == nil:
			// The peer may have noticed its end before the call did.
			err = endOf(life)
		case cctx.Err() != nil && errors.Is(err, cctx.Err()):
			err = context.Cause(cctx)
		}
		return fail(err)
	}
	took := time.Since(began)
	s.mu.Lock()
	if s.life == life {
		s.lastOK = s.sup.config.Now()
		if s.latency == 0 {
			s.latency = took
		}
	}
	s.mu.Unlock()
	return result, nil
}

// endOf says why a connection is over, to those who wait for an answer.
func endOf(life context.Context) error {
	cause := context.Cause(life)
	if errors.Is(cause, errStop) || errors.Is(cause, errRestart) || errors.Is(cause, context.Canceled) {
		return fmt.Errorf("the server %w", ErrStopped)
	}
	return cause
}

// await returns the connection to use for a call of a tool, once there is one.
func (s *service) await(ctx context.Context, tool string) (Peer, context.Context, Spec, error) {
	peer, life, spec, err := s.ready(ctx)
	if err != nil {
		return nil, nil, spec, err
	}
	s.mu.Lock()
	tools := s.tools
	s.mu.Unlock()
	if !slices.ContainsFunc(tools, func(t ToolDef) bool { return t.Name == tool }) {
		return nil, nil, spec, fmt.Errorf("%w: the server offers %d others", ErrNoTool, len(tools))
	}
	return peer, life, spec, nil
}

// ready returns the connection of a running server, once there is one.
func (s *service) ready(ctx context.Context) (Peer, context.Context, Spec, error) {
	for {
		s.mu.Lock()
		peer, life, spec, state, reason, changed := s.peer, s.life, s.spec, s.state, s.reason, s.changed
		s.mu.Unlock()
		switch {
		case peer != nil && state == Running:
			return peer, life, spec, nil
		case state == Starting && reason == "":
		case state == Starting && reason == "restarting":
		case reason != "":
			return nil, nil, spec, fmt.Errorf("the server is %w (%s): %s", ErrNotRunning, state, reason)
		default:
			return nil, nil, spec, fmt.Errorf("the server is %w (%s): start it first", ErrNotRunning, state)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, spec, fmt.Errorf("waiting for the server to start: %w", context.Cause(ctx))
		}
	}
}
