package services

import (
	"context"
	"fmt"
)

// Discoveries are the recorded differences in a server's list of tools, the
// newest first.
func (v *Supervisor) Discoveries(name string) []Discovery {
	s, err := v.find(name)
	if err != nil {
		return []Discovery{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Discovery{}, s.memory.Discoveries...)
}

// Discover reads the tools of a server again, now, and returns what is
// different from the last time. A server that does not run is started for it
// and left as it was found, unless a call would have started it: then it runs
// on until it is idle.
func (v *Supervisor) Discover(ctx context.Context, name string) (Discovery, error) {
	s, err := v.find(name)
	if err != nil {
		return Discovery{}, err
	}
	fail := func(err error) (Discovery, error) {
		return Discovery{}, s.clean(fmt.Errorf("reading the tools of %s: %w", name, err))
	}
	var before int
	s.edit(func() {
		before = s.requested
		if err = s.startableLocked(); err == nil {
			// The reading at the start is the one that was asked for.
			s.onRequest = s.peer == nil
		}
	})
	if err != nil {
		return fail(err)
	}
	defer s.borrow()()
	for {
		s.mu.Lock()
		done, d, state, reason, changed, life := s.requested != before, s.answer, s.state, s.reason, s.changed, s.life
		waits := state == Starting && (reason == "" || reason == restarting) || state == Stopping && s.wantedLocked()
		s.mu.Unlock()
		switch {
		case done:
			return d, nil
		case state == Running:
			reply := make(chan error, 1)
			select {
			case s.orders <- reply:
				select {
				case err := <-reply:
					if err != nil {
						return fail(err)
					}
				case <-ctx.Done():
					return fail(context.Cause(ctx))
				}
				continue
			case <-life.Done():
				// Its end is a change of the state too.
			case <-ctx.Done():
				return fail(context.Cause(ctx))
			}
		case !waits:
			return fail(fmt.Errorf("the server is %w (%s): %s", ErrNotRunning, state, reason))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fail(context.Cause(ctx))
		}
	}
}
