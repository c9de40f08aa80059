package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Call runs a tool of a server. It waits for a server that is starting, and
// never starts one. A call that is silent for Spec.CallTimeout, or that takes
// longer than Spec.MaxDuration, is cancelled at the server and ends with
// ErrTimeout; when the server dies, the call fails at once with an *ExitError.
// No call is ever sent twice. progress may be nil.
func (v *Supervisor) Call(ctx context.Context, name, tool string, args json.RawMessage, progress Progress) (CallResult, error) {
	s, err := v.find(name)
	if err != nil {
		return CallResult{}, err
	}
	fail := func(err error) (CallResult, error) {
		return CallResult{}, fmt.Errorf("calling %s of %s: %w", Visible(tool), name, err)
	}
	peer, life, spec, err := s.await(ctx, tool)
	if err != nil {
		return fail(err)
	}
	cctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(endOf(life)) })()

	idle := spec.callTimeout()
	silent := time.AfterFunc(idle, func() {
		cancel(fmt.Errorf("%w: no answer and no progress for %s; whether it had an effect is not known, it was not sent again", ErrTimeout, idle))
	})
	defer silent.Stop()
	whole := time.AfterFunc(spec.maxDuration(), func() {
		cancel(fmt.Errorf("%w: still not finished after %s; whether it had an effect is not known, it was not sent again", ErrTimeout, spec.maxDuration()))
	})
	defer whole.Stop()

	began := time.Now()
	result, err := peer.Call(cctx, tool, args, func(done, total float64, message string) {
		silent.Reset(idle)
		if progress != nil {
			progress(done, total, message)
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

// await returns the connection to use for a call, once there is one.
func (s *service) await(ctx context.Context, tool string) (Peer, context.Context, Spec, error) {
	for {
		s.mu.Lock()
		peer, life, spec, state, reason, changed, tools := s.peer, s.life, s.spec, s.state, s.reason, s.changed, s.tools
		s.mu.Unlock()
		switch {
		case peer != nil && state == Running:
			if !slices.ContainsFunc(tools, func(t ToolDef) bool { return t.Name == tool }) {
				return nil, nil, spec, fmt.Errorf("%w: the server offers %d others", ErrNoTool, len(tools))
			}
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
