package session

import (
	"context"
	"slices"

	"zeroclaw/tools"
)

// Do runs a call and returns how it ended, for a client that waits for it: the
// call is listed while it lasts and not kept afterwards. It is cancelled with
// ctx, which cancel ends: so do the session and whoever cancels the call. progress
// may be nil; it is called from any goroutine, only while Do runs.
func (s *Session) Do(ctx context.Context, cancel context.CancelFunc, c tools.Call, progress func(tools.Progress)) (tools.Outcome, error) {
	live, err := s.begin(&call{Call: c, cancel: cancel, direct: true, progress: progress})
	if err != nil {
		return tools.Outcome{}, err
	}
	defer s.work.Done()
	defer s.unlist(live)
	defer close(live.done)
	out := s.runner.Run(ctx, s, live.Call)
	live.end(out)
	return out, nil
}

// unlist forgets a call that nobody will ask for.
func (s *Session) unlist(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c.ID)
	for i := len(s.order) - 1; i >= 0; i-- {
		if s.order[i] == c.ID {
			s.order = append(s.order[:i], s.order[i+1:]...)
			return
		}
	}
}

// Specs lists the tools that a client may be shown now, with their schemas as
// received: those that are on, not forbidden, and whose server can be called. It
// waits a while for servers that are starting for the first time.
func (n *Session) Specs(ctx context.Context) []tools.Spec {
	n.awaitServers(ctx)
	var out []tools.Spec
	for _, t := range n.offered() {
		out = append(out, t.spec)
	}
	return out
}

// Offers reports whether a tool is among those of Specs.
func (n *Session) Offers(name string) bool {
	return slices.ContainsFunc(n.offered(), func(t Tool) bool { return t.Name == name })
}

// Ended reports whether the session runs no call any more.
func (n *Session) Ended() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

// State is a value that changes whenever what Specs returns may have changed.
func (n *Session) State() any { return n.host.stamp() }

// ReachesServer reports whether the grant holds a server.
func (n *Session) ReachesServer(name string) bool {
	_, ok := n.grant.Servers[name]
	return ok
}

// ReachesItem reports whether the policy admits a resource, by its URI, or a
// prompt, by its name, of a server.
func (n *Session) ReachesItem(server, item string) bool { return n.grant.ReachesItem(server, item) }
