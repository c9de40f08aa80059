package session

import (
	"maps"
	"slices"
)

// maxSessions bounds how many sessions are open at once; the one that was
// idle longest is closed for a new one. Only sessions at work can be more.
const maxSessions = 256

// makeRoom closes the session that was idle longest while there are too many.
func (s *Sessions) makeRoom(opened *Session) {
	all := s.List()
	if len(all) <= maxSessions {
		return
	}
	s.mu.Lock()
	used := maps.Clone(s.used)
	s.mu.Unlock()
	slices.SortStableFunc(all, func(a, b *Session) int { return used[a.ID].Compare(used[b.ID]) })
	for _, one := range all {
		if one != opened && (s.config.Busy == nil || !s.config.Busy(one.ID)) && one.retire() {
			_ = s.CloseSession(one.ID)
			return
		}
	}
}

// touch notes that a session is in use.
func (s *Sessions) touch(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.open[id]; ok {
		s.used[id] = s.config.Now()
	}
}

// retire ends a session that has no call under way, and reports whether it
// did: no call can begin any more.
func (n *Session) retire() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.calls {
		if !c.out.Status.Ended() {
			return false
		}
	}
	n.closed = true
	return true
}
