package services

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// useKey finds, in a context, the use that a Connector works for.
type useKey struct{}

// ask passes a question of the server on to a person. One that comes without
// the context of a call belongs to the only call under way. The timers of
// everything that it may belong to stand still meanwhile, and it is withdrawn
// with its call and with the connection.
func (s *service) ask(ctx, life context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	owner, _ := ctx.Value(useKey{}).(*use)
	var held []*callTimers
	s.mu.Lock()
	if owner == nil {
		owner = s.onlyCallLocked()
	}
	for u := range s.uses {
		if owner == nil || u == owner {
			held = append(held, u.timers)
		}
	}
	s.asking++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asking--
		s.lastUse = time.Now()
	}()
	for _, t := range held {
		t.hold()
		defer t.release()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(life, func() { cancel(endOf(life)) })()
	q := Question{Server: s.name, Method: method, Params: params}
	if owner != nil {
		q.Owner = owner.owner
		defer context.AfterFunc(owner.ctx, func() { cancel(context.Cause(owner.ctx)) })()
	}
	return s.sup.config.Ask(ctx, q)
}

// onlyCallLocked is the call under way when there is exactly one.
func (s *service) onlyCallLocked() *use {
	var only *use
	for u := range s.uses {
		switch {
		case !u.call && u.owner == "":
		case only != nil:
			return nil
		default:
			only = u
		}
	}
	return only
}

// maxHeld is for how long in all the timers of one call stand still, so that a
// server that asks again and again keeps no call alive for ever.
const maxHeld = 2 * time.Hour

// callTimers end a call that is silent for too long or takes too long.
type callTimers struct {
	idle, whole time.Duration
	end         context.CancelCauseFunc

	mu     sync.Mutex
	open   int           // questions
	still  bool          // the timers stand still
	over   bool          // the call is
	since  time.Time     // when they began to stand still, or to run again
	spent  time.Duration // of the whole time, before that
	left   time.Duration // of maxHeld, before that
	silent *time.Timer
	total  *time.Timer
	bound  *time.Timer // of standing still
}

func newCallTimers(spec Spec, end context.CancelCauseFunc) *callTimers {
	t := &callTimers{idle: spec.callTimeout(), whole: spec.maxDuration(), end: end, since: time.Now(), left: maxHeld}
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
	if !t.still && !t.over {
		t.silent.Reset(t.idle)
	}
}

func (t *callTimers) hold() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open++; t.open > 1 || t.over || t.left <= 0 {
		return
	}
	t.silent.Stop()
	t.total.Stop()
	now := time.Now()
	t.spent += now.Sub(t.since)
	t.still, t.since = true, now
	t.bound = time.AfterFunc(t.left, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.resumeLocked()
	})
}

func (t *callTimers) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open--; t.open == 0 {
		t.resumeLocked()
	}
}

func (t *callTimers) resumeLocked() {
	if !t.still || t.over {
		return
	}
	t.bound.Stop()
	now := time.Now()
	t.left -= now.Sub(t.since)
	t.still, t.since = false, now
	t.silent.Reset(t.idle)
	t.total.Reset(max(0, t.whole-t.spent))
}

func (t *callTimers) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true // a question that is still open starts nothing again
	t.silent.Stop()
	t.total.Stop()
	if t.bound != nil {
		t.bound.Stop()
	}
}
