package session

import (
	"context"

	"zeroclaw/services"
)

// settle waits while a server that the session reaches is starting and nothing
// is known of its tools yet, or until enough is true. ctx bounds the wait.
func (n *Session) settle(ctx context.Context, enough func() bool) {
	for {
		changed := n.host.news()
		if enough() || !n.unsettled() {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-n.ctx.Done():
			return
		}
	}
}

func (n *Session) unsettled() bool {
	if n.host.config.Remote == nil {
		return false
	}
	for _, st := range n.host.config.Remote.Statuses() {
		_, granted := n.grant.Servers[st.ID]
		if granted && st.State == services.Starting && st.ToolsFrom == "none" && st.NextTry == nil {
			return true
		}
	}
	return false
}

// news is closed at the next change of any server.
func (s *Sessions) news() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// StateChanged says that some server's state changed, be it one in which its
// tools stay the same.
func (s *Sessions) StateChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}
