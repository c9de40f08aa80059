package localserver

import (
	"context"
	"time"
)

// Serve ends tokens when their time is up and saves when they were last used,
// off the path of requests, until ctx ends; then it saves once more. What cannot
// be saved is tried again, and costs nothing but the knowledge.
func (s *tokenStore) Serve(ctx context.Context) error {
	if s.broken != nil {
		return nil
	}
	var saved time.Time
	for {
		now := s.c.now()
		wait, ended := s.expire(now)
		if ended {
			s.c.changed()
		}
		if s.fresh.Load() {
			if since := now.Sub(saved); since < 0 || since >= tokensSaved {
				saved = now
				_ = s.saveUse()
				continue
			}
			wait = min(wait, tokensSaved-now.Sub(saved))
		}
		var due <-chan time.Time
		if wait < forGood {
			due = time.After(wait)
		}
		select {
		case <-ctx.Done():
			if s.fresh.Load() {
				return s.saveUse()
			}
			return nil
		case <-s.wake:
		case <-due:
		}
	}
}

// expire ends the tokens whose time is up, says whether there was one, and when
// to look again.
func (s *tokenStore) expire(now time.Time) (wait time.Duration, ended bool) {
	wait = forGood
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, n := range s.list {
		switch {
		case n.Expires.IsZero():
		case n.expired(now):
			ended = s.c.keys.Revoke(n.ID) || ended
		default:
			wait = min(wait, n.Expires.Sub(now), tokensSaved)
		}
	}
	return wait, ended
}

// saveUse saves when tokens were last used.
func (s *tokenStore) saveUse() error {
	s.saving.Lock()
	defer s.saving.Unlock()
	s.fresh.Store(false)
	s.mu.RLock()
	list := s.listLocked()
	s.mu.RUnlock()
	if err := s.save(list); err != nil {
		s.fresh.Store(true)
		return err
	}
	s.c.changed()
	return nil
}
