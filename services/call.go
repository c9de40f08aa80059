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
// starts a configured server that nobody stopped and one that was stopped
// because nobody used it. A call that is silent for Spec.CallTimeout, or that
// takes longer than Spec.MaxDuration, is cancelled at the server and ends with
// ErrTimeout; when the server dies, the call fails at once with an *ExitError;
// after several failures in a row it fails at once with ErrPaused. No call is
// ever sent twice, but for one that the server refuses until a page was opened
// (error -32042): it is sent once more after the user opened it. The timers
// stand still while a person answers what the server asks meanwhile, for two
// hours in all.
func (v *Supervisor) Call(ctx context.Context, c ToolCall) (CallResult, error) {
	s, err := v.find(c.Server)
	if err != nil {
		return CallResult{}, err
	}
	fail := func(err error) (CallResult, error) {
		return CallResult{}, s.clean(fmt.Errorf("calling %s of %s: %w", Shown(c.Tool, 200), c.Server, err))
	}
	u := &use{s: s, owner: c.Owner, call: true, caller: ctx}
	if err := u.take(func() error { return s.offersLocked(c.Tool, c.Definition) }); err != nil {
		return fail(err)
	}
	result, err := u.peer.Call(u.ctx, c.Tool, c.Args, func(done, total float64, message string) {
		u.timers.progress()
		if c.Progress != nil {
			c.Progress(done, total, message)
		}
	})
	if err = u.over(err); err != nil {
		return fail(err)
	}
	return result, nil
}

// methods are the requests that Supervisor.Request passes on: what reads or
// watches, and never tools/call, which has its own way through the gate.
var methods = map[string]bool{
	"resources/list": true, "resources/templates/list": true, "resources/read": true,
	"resources/subscribe": true, "resources/unsubscribe": true,
	"prompts/list": true, "prompts/get": true, "completion/complete": true, "logging/setLevel": true,
}

// Request sends one of the protocol's other requests to a server: resources,
// prompts, completion, log level. It waits for the server, starts it and is
// refused as Call does. The answer is the result object as received: untrusted.
// A server that does not declare that part is not asked: the error wraps
// ErrUnsupported.
func (v *Supervisor) Request(ctx context.Context, name, method string, params json.RawMessage) (json.RawMessage, error) {
	s, err := v.find(name)
	if err != nil {
		return nil, err
	}
	if !methods[method] {
		return nil, fmt.Errorf("sending %s to %s: this companion does not send it", Shown(method, 100), name)
	}
	fail := func(err error) (json.RawMessage, error) {
		return nil, s.clean(fmt.Errorf("sending %s to %s: %w", method, name, err))
	}
	u := &use{s: s, owner: ownerFrom(ctx), caller: ctx}
	if err := u.take(nil); err != nil {
		return fail(err)
	}
	var raw json.RawMessage
	err = ErrUnsupported
	if p, ok := u.peer.(RequestPeer); ok {
		raw, err = p.Request(u.ctx, method, params)
	}
	if err = u.over(err); err != nil {
		return fail(err)
	}
	return raw, nil
}

type ownerKey struct{}

// WithOwner names the call that a Request is made for to whoever answers what
// the server asks meanwhile, as ToolCall.Owner does.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerKey{}, owner)
}

func ownerFrom(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}

// About returns what a server says of itself when it runs. It waits for the
// server, starts it and is refused as Call does.
func (v *Supervisor) About(ctx context.Context, name string) (Info, error) {
	s, err := v.find(name)
	if err != nil {
		return Info{}, err
	}
	u := &use{s: s, caller: ctx}
	if err := u.take(nil); err != nil {
		return Info{}, s.clean(fmt.Errorf("asking %s what it offers: %w", name, err))
	}
	_ = u.over(errUnasked)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info, nil
}

// errUnasked ends a use for which the server was asked nothing.
var errUnasked = errors.New("the server was asked nothing")

// offersLocked reports whether the running server has a tool of that name, as it
// was defined when the call was judged.
func (s *service) offersLocked(tool, definition string) error {
	i := slices.IndexFunc(s.tools, func(t ToolDef) bool { return t.Name == tool })
	switch {
	case i < 0:
		return fmt.Errorf("%w: the server offers %d others", ErrNoTool, len(s.tools))
	case definition != "" && s.tools[i].Hash != definition:
		return fmt.Errorf("%w; nothing was sent", ErrChanged)
	}
	return nil
}

// use is one call or request that a server has not answered yet.
type use struct {
	s      *service
	owner  string
	call   bool // of a tool
	trial  bool // of the breaker
	timers *callTimers

	caller, ctx context.Context // ctx ends with the caller, the timers and the connection
	cancel      context.CancelCauseFunc
	began       time.Time

	peer Peer
	life context.Context
}

// take waits until the server can be used, starting it where a call may, and
// notes the use. check, if any, is asked under the lock of the server.
func (u *use) take(check func() error) error {
	if err := u.s.admit(u); err != nil {
		return err
	}
	err := u.ready(check)
	if err != nil {
		u.s.settle(u, nothing, false)
	}
	return err
}

// ready waits for a running server and enters the use there.
func (u *use) ready(check func() error) error {
	s := u.s
	for {
		s.mu.Lock()
		if s.peer != nil && s.state == Running {
			var err error
			if check != nil {
				err = check()
			}
			if err == nil {
				s.enterLocked(u)
			}
			s.mu.Unlock()
			return err
		}
		state, reason, changed, wanted, lazy := s.state, s.reason, s.changed, s.wantedLocked(), s.lazyLocked()
		s.mu.Unlock()
		switch {
		case lazy:
			s.startLazily()
			continue
		case state == Starting && (reason == "" || reason == restarting):
		case state == Stopping && wanted:
		case reason != "":
			return fmt.Errorf("the server is %w (%s): %s", ErrNotRunning, state, reason)
		default:
			return fmt.Errorf("the server is %w (%s): start it first", ErrNotRunning, state)
		}
		select {
		case <-changed:
		case <-u.caller.Done():
			return fmt.Errorf("waiting for the server to start: %w", context.Cause(u.caller))
		}
	}
}

func (s *service) enterLocked(u *use) {
	u.peer, u.life, u.began = s.peer, s.life, time.Now()
	u.ctx, u.cancel = context.WithCancelCause(context.WithValue(u.caller, useKey{}, u))
	u.timers = newCallTimers(s.spec, u.cancel)
	s.uses[u] = struct{}{}
	if u.life.Err() != nil { // cut came too early for it
		u.cancel(endOf(u.life))
	}
}

// cut ends what the server has not answered when the life ends that it belongs to.
func (s *service) cut(life context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for u := range s.uses {
		if u.life == life {
			u.cancel(endOf(life))
		}
	}
}

// over ends a use. It returns the error that the caller gets for err.
func (u *use) over(err error) error {
	s := u.s
	u.timers.stop()
	stopped := u.caller.Err() == nil && u.life.Err() != nil
	if err != nil {
		switch {
		case stopped:
			// The peer may have noticed its end before the call did.
			err = endOf(u.life)
		case u.ctx.Err() != nil && errors.Is(err, u.ctx.Err()):
			err = context.Cause(u.ctx)
		}
	}
	s.mu.Lock()
	delete(s.uses, u)
	s.lastUse = time.Now()
	if err == nil && s.life == u.life {
		s.lastOK = s.sup.config.Now()
		if s.latency == 0 {
			s.latency = time.Since(u.began)
		}
	}
	unneeded := s.unneededLocked()
	s.mu.Unlock()
	o, lost := u.outcome(err)
	s.settle(u, o, lost)
	u.cancel(errOver)
	if unneeded {
		s.giveUp()
	}
	return err
}

// errOver ends what still belongs to a call that is over.
var errOver = errors.New("the call that it belongs to is over")

// outcome is what the end of a use shows of the server, and whether the
// connection may have gone with it.
func (u *use) outcome(err error) (o outcome, lost bool) {
	switch {
	case err == nil, wasAnswered(err):
		return answered, false
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrStopped), errors.Is(err, errUnasked):
		return nothing, false
	case errors.Is(err, ErrTimeout):
		return mute, false
	case u.caller.Err() != nil:
		return nothing, false
	case u.life.Err() != nil:
		return mute, true
	}
	return unreachable, restartable(err)
}

// endOf says why a connection is over, to those who wait for an answer.
func endOf(life context.Context) error {
	cause := context.Cause(life)
	if errors.Is(cause, errStop) || errors.Is(cause, errRestart) || errors.Is(cause, errIdle) || errors.Is(cause, context.Canceled) {
		return fmt.Errorf("the server %w", ErrStopped)
	}
	return cause
}
