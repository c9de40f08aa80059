package services

import (
	"errors"
	"time"
)

// admit asks the breaker for a use.
func (s *service) admit(u *use) (err error) {
	now := time.Now()
	s.mu.Lock()
	next, trial, err := s.breaker.admit(now)
	same := next == s.breaker
	s.mu.Unlock()
	if same {
		return err
	}
	s.edit(func() {
		s.breaker, trial, err = s.breaker.admit(now)
		u.trial = trial
	})
	return err
}

// together is how close to each other the end of a connection and the failures
// of what was under way on it are noticed.
const together = time.Second

// settle tells the breaker what came of a use. lost: the connection may have
// gone with it, and then it is one failure for all that were under way.
func (s *service) settle(u *use, o outcome, lost bool) {
	s.feed(func(b breaker, now time.Time) breaker {
		if lost && !u.trial && u.began.Before(s.faulted) {
			b.mute = b.mute || o == mute && b.failures > 0
			return b
		}
		if lost {
			s.faulted = now
		}
		return b.settle(o, u.trial, now)
	})
}

// lose tells the breaker that the connection was lost.
func (s *service) lose() {
	s.feed(func(b breaker, now time.Time) breaker {
		if now.Sub(s.faulted) < together {
			// It died over a call that has been counted.
			b.mute = b.mute || b.failures > 0
			return b
		}
		s.faulted = now
		return b.settle(unreachable, b.trying, now)
	})
}

// feed changes the breaker, and announces it only when it is another then.
func (s *service) feed(next func(breaker, time.Time) breaker) {
	now := time.Now()
	s.mu.Lock()
	b := next(s.breaker, now)
	same := b == s.breaker
	if !same {
		s.breaker = b
	}
	s.mu.Unlock()
	if same {
		return
	}
	s.edit(func() {})
}

// wasAnswered reports whether an error is one of a server that did answer, or
// of what it answered, so that the connection works.
func wasAnswered(err error) bool {
	var a interface{ Answered() bool }
	return errors.As(err, &a) && a.Answered()
}
