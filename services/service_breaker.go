package services

import "time"

// admit asks the breaker for a use.
func (s *service) admit(u *use) (err error) {
	s.feed(func(b breaker, now time.Time) (next breaker) {
		next, u.trial, err = b.admit(now)
		return next
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
	was := s.breaker
	s.breaker = next(was, now)
	same := s.breaker == was
	s.mu.Unlock()
	if !same {
		s.edit(func() {})
	}
}
