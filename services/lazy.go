package services

import (
	"errors"
	"time"
)

// errIdle ends a connection that nobody used.
var errIdle = errors.New("nobody used it")

// What is said of a server that starts or rests by itself.
const (
	restarting = "restarting"
	idleReason = "idle: the next call starts it again"
)

// Want says that somebody is about to use these servers: the configured ones
// that run only when they are needed start now. One that a person stopped, that
// is switched off or that waits for its next attempt is left as it is, and so
// is a service, unless it only rests because nobody used it. It returns at
// once; what comes of it is in the Status.
func (v *Supervisor) Want(names ...string) {
	for _, name := range names {
		if s, err := v.find(name); err == nil {
			s.startLazily()
		}
	}
}

// lazyLocked reports whether a use starts the server.
func (s *service) lazyLocked() bool {
	switch {
	case s.state != Stopped && s.state != Stopping || s.wantedLocked():
		return false
	case s.spec.Invalid != nil || s.spec.Disabled || !s.installed || s.removed || s.byPerson:
		return false
	}
	return s.rested || s.spec.Origin != OriginService
}

func (s *service) startLazily() {
	s.mu.Lock()
	lazy := s.lazyLocked()
	s.mu.Unlock()
	if !lazy {
		return
	}
	s.edit(func() {
		if s.lazyLocked() {
			s.wantLocked()
		}
	})
	s.wake()
}

// wantedLocked reports whether the server is to run.
func (s *service) wantedLocked() bool { return s.want || len(s.loans) > 0 }

// rest ends the use of a server that nobody used for the time that its
// definition gives. Otherwise it returns after how long to look again, 0 =
// never.
func (s *service) rest() (rests bool, again time.Duration) {
	s.mu.Lock()
	limit, left := s.spec.IdleStop, s.spec.IdleStop-time.Since(s.lastUse)
	busy := len(s.uses) > 0 || s.asking > 0 || len(s.loans) > 0
	s.mu.Unlock()
	switch {
	case limit <= 0:
		return false, 0
	case busy:
		return false, limit
	case left > 0:
		return false, left
	}
	s.edit(func() {
		// What came meanwhile keeps it.
		if len(s.uses) > 0 || s.asking > 0 || len(s.loans) > 0 {
			return
		}
		rests = true
		s.want, s.rested = false, true
		s.peer, s.state, s.reason = nil, Stopping, ""
	})
	return rests, limit
}

// unneededLocked reports whether a server runs that was only lent and that
// nobody uses any more.
func (s *service) unneededLocked() bool {
	return s.active && s.state == Running && !s.removed && !s.wantedLocked() && len(s.uses) == 0
}

// giveUp ends a server that nobody needs.
func (s *service) giveUp() {
	s.edit(func() {
		if s.unneededLocked() { // still
			s.cancel(errStop)
			s.state, s.reason = Stopping, ""
		}
	})
}

// loan is one wish for a server to run for a moment. It is not empty, so that
// no two of them are the same pointer.
type loan struct{ _ byte }

// borrow has the server run until it is given back, which leaves it as it was
// found once what still uses it is over. A person's Stop ends every loan.
func (s *service) borrow() (back func()) {
	l := new(loan)
	s.edit(func() {
		if s.lazyLocked() {
			s.want = true
		}
		s.loans[l] = struct{}{}
		if !s.active {
			s.freshLocked()
		}
	})
	s.wake()
	return func() {
		s.edit(func() {
			if _, held := s.loans[l]; !held {
				return
			}
			delete(s.loans, l)
			s.lastUse, s.onRequest = time.Now(), false
			switch {
			case s.wantedLocked():
			case s.active && s.state == Running && len(s.uses) > 0:
				// The end of the last use ends it.
			case s.active:
				s.cancel(errStop)
				s.state, s.reason = Stopping, ""
			default:
				s.notBefore = time.Time{}
				s.settleLocked()
			}
		})
		s.wake()
	}
}
