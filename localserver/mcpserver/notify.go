package mcpserver

import (
	"context"
	"encoding/json"
	"time"

	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
)

const (
	methodMessage = "notifications/message"
	methodUpdated = "notifications/resources/updated"
)

// resource is one of a server.
type resource struct{ server, uri string }

// watch notes that a client watches a resource.
func (s *Server) watch(c *client, uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := resource{c.server, uri}
	if s.watched[at] == nil {
		s.watched[at] = map[*client]bool{}
	}
	s.watched[at][c] = true
}

// unwatch notes that a client no longer watches a resource, and reports whether
// nobody does now.
func (s *Server) unwatch(c *client, uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unwatchedLocked(c, resource{c.server, uri})
}

func (s *Server) unwatchedLocked(c *client, at resource) bool {
	delete(s.watched[at], c)
	if len(s.watched[at]) > 0 {
		return false
	}
	delete(s.watched, at)
	return true
}

// unwatchTime bounds how long a server is told that nobody watches any more.
const unwatchTime = 10 * time.Second

// unwatchLocked ends what a client watches, and tells the server.
func (s *Server) unwatchLocked(c *client) {
	for at, clients := range s.watched {
		if !clients[c] || !s.unwatchedLocked(c, at) || s.closed {
			continue
		}
		s.work.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), unwatchTime)
			defer cancel()
			params := append(appendText([]byte(`{"uri":`), at.uri), '}')
			if _, err := s.config.Servers.Request(ctx, at.server, "resources/unsubscribe", params); err != nil {
				s.config.Log.Debug("a server could not be told that a resource is no longer watched", "server", at.server, "err", err)
			}
		})
	}
}

// Notified passes on what a server tells: to clients whose call is under way, on
// the answer of that, to others on a stream that they hold open. What a server
// writes to its log while calls are under way belongs to those.
func (s *Server) Notified(server, method string, params json.RawMessage) {
	runs, streams := s.hearers(server, method, jsonparts.Text(member(params, "uri")))
	if len(runs) == 0 && len(streams) == 0 {
		return
	}
	text := `{"jsonrpc":"2.0","method":"` + method + `","params":` + string(tools.RedactJSON(params, s.config.Redact)) + `}`
	for _, run := range runs {
		run.tell(func() {
			if len(run.passed) < maxNews {
				run.passed = append(run.passed, text)
			}
		})
	}
	for _, of := range streams {
		for _, st := range of {
			// One without sessions may have subscribed on several.
			if st.offer(method, text) && st.wants == nil {
				break
			}
		}
	}
}

// hearers are the calls and, by client, the streams that a notification goes to.
// A client without sessions gets on its streams what it subscribed to, no more.
func (s *Server) hearers(server, method, uri string) (runs []*running, streams [][]*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wants := func(c *client) bool {
		return c.server == server && (method != methodUpdated || s.watched[resource{server, uri}][c])
	}
	busy, calls := map[*client]bool{}, false
	for _, run := range s.running {
		c := run.client
		calls = calls || c.server == server
		if c.version != modernVersion && wants(c) && !busy[c] {
			busy[c] = true
			runs = append(runs, run)
		}
	}
	if calls && method == methodMessage {
		return runs, nil
	}
	for _, c := range s.clients {
		if len(c.streams) == 0 || busy[c] || !wants(c) {
			continue
		}
		var of []*stream
		for st := range c.streams {
			of = append(of, st)
		}
		streams = append(streams, of)
	}
	return runs, streams
}
