package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"zeroclaw/services"
)

// told are servers that note what they are sent.
type told struct {
	mu   sync.Mutex
	sent []string
}

func (o *told) About(context.Context, string) (services.Info, error) { return services.Info{}, nil }
func (o *told) Tools(string) []services.ToolDef                      { return nil }
func (o *told) Request(_ context.Context, server, method string, params json.RawMessage) (json.RawMessage, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, server+" "+method+" "+string(params))
	return json.RawMessage(`{}`), nil
}

func (o *told) all() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.sent)
}

func watching(t *testing.T) (*Server, *told) {
	servers := &told{}
	s := New(Config{Servers: servers, Redact: func(s string) string { return s }, Now: time.Now, NewID: func() string { return "id" }, Log: slog.New(slog.DiscardHandler)})
	return closed(t, s), servers
}

// known enters a client with one open stream.
func known(s *Server, key, server, version string, wants map[string]bool) (*client, *stream) {
	c := &client{key: key, server: server, version: version, streams: map[*stream]struct{}{}}
	st := &stream{out: make(chan string, 4), gone: make(chan struct{}), wants: wants}
	c.streams[st] = struct{}{}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients[key] = c
	return c, st
}

// left takes a client out without its session, which it does not have here.
func (s *Server) left(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, c.key)
	s.unwatchLocked(c)
}

// TestWatchedResources: a server hears that nobody watches a resource once the
// last client is gone, and not before.
func TestWatchedResources(t *testing.T) {
	s, servers := watching(t)
	a, _ := known(s, "a", "s", "2025-11-25", nil)
	b, _ := known(s, "b", "s", "2025-11-25", nil)
	s.watch(a, "x://1")
	s.watch(a, "x://2")
	s.watch(b, "x://1")
	if s.unwatch(b, "x://1") {
		t.Error("somebody still watches it")
	}
	s.watch(b, "x://1")
	s.left(a)
	s.left(b)
	end := time.Now().Add(5 * time.Second)
	for len(servers.all()) < 2 && time.Now().Before(end) {
		time.Sleep(time.Millisecond)
	}
	sent := servers.all()
	slices.Sort(sent)
	if want := []string{`s resources/unsubscribe {"uri":"x://1"}`, `s resources/unsubscribe {"uri":"x://2"}`}; !slices.Equal(sent, want) || len(s.watched) != 0 {
		t.Errorf("sent %q, %d left", sent, len(s.watched))
	}
}

// TestNotified: what a server tells reaches whom it concerns.
func TestNotified(t *testing.T) {
	s, _ := watching(t)
	got := func(st *stream) string {
		select {
		case text := <-st.out:
			return text
		default:
			return ""
		}
	}
	a, of := known(s, "a", "s", "2025-11-25", nil)
	_, other := known(s, "b", "t", "2025-11-25", nil)
	_, listens := known(s, "m", "s", modernVersion, map[string]bool{"notifications/prompts/list_changed": true})
	t.Cleanup(func() { // they have no sessions that could be closed
		s.mu.Lock()
		defer s.mu.Unlock()
		clear(s.clients)
		clear(s.running)
	})

	s.Notified("s", "notifications/prompts/list_changed", json.RawMessage(`{}`))
	if got(of) == "" || got(listens) == "" || got(other) != "" {
		t.Error("a list that changed is told to every client of the server, and no other")
	}
	s.Notified("s", methodUpdated, json.RawMessage(`{"uri":"x://1"}`))
	if got(of) != "" {
		t.Error("a resource that nobody watches")
	}
	s.watch(a, "x://1")
	s.Notified("s", methodUpdated, json.RawMessage(`{"uri":"x://1"}`))
	if got(of) == "" || got(listens) != "" {
		t.Error("a resource that is watched")
	}
	s.Notified("s", methodMessage, json.RawMessage(`{"data":"hi"}`))
	if got(of) == "" {
		t.Error("a line of the log while no call is under way")
	}

	b, silent := known(s, "c", "s", "2025-11-25", nil)
	run := &running{client: b, news: make(chan struct{}, 1), open: map[string]Question{}}
	s.mu.Lock()
	s.running["1"] = run
	s.mu.Unlock()
	s.Notified("s", methodMessage, json.RawMessage(`{"data":"of the call"}`))
	if len(run.take().passed) != 1 || got(of) != "" || got(silent) != "" {
		t.Error("a line of the log belongs to the call that is under way")
	}
}

// TestSurplus: a client with a call under way stays, however long it is silent.
func TestSurplus(t *testing.T) {
	s, _ := watching(t)
	now := time.Now()
	s.config.Now = func() time.Time { return now }
	a, b := &client{key: "a", used: now}, &client{key: "b", used: now}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients["a"], s.clients["b"] = a, b
	s.running["1"] = &running{client: b}
	now = now.Add(idleTime + time.Second)
	if gone := s.surplusLocked(nil); len(gone) != 1 || gone[0] != a || s.clients["b"] != b {
		t.Errorf("gone: %v", gone)
	}
	clear(s.clients)
	clear(s.running)
}

// TestSurplusOfOneToken: a program that opens session after session and ends none
// costs others none of theirs.
func TestSurplusOfOneToken(t *testing.T) {
	s, _ := watching(t)
	now := time.Now()
	s.config.Now = func() time.Time { return now }
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.clients)
	quiet := &client{key: "quiet", caller: "a", used: now}
	s.clients["quiet"] = quiet
	for i := range maxClients + 3 {
		now = now.Add(time.Second)
		key := strconv.Itoa(i)
		s.clients[key] = &client{key: key, caller: "b", used: now}
	}
	gone := s.surplusLocked(nil)
	if len(gone) != 4 || len(s.clients) != maxClients || s.clients["quiet"] != quiet || gone[0].key != "0" || gone[3].key != "3" {
		t.Errorf("%d are gone, %d are left", len(gone), len(s.clients))
	}
	now = now.Add(idleTime)
	if s.surplusLocked(nil); len(s.clients) != 0 {
		t.Errorf("%d that did nothing for long are left", len(s.clients))
	}
}

// TestTake: what was answered before anybody heard of it is not asked.
func TestTake(t *testing.T) {
	s, _ := watching(t)
	run := &running{client: &client{}, news: make(chan struct{}, 1), open: map[string]Question{}, dismissed: map[string]bool{}, can: capabilities{forms: true}}
	s.mu.Lock()
	s.running["1"] = run
	s.mu.Unlock()
	one, two := Question{ID: "q1", Call: "1", Kind: KindCall, Text: "?"}, Question{ID: "q2", Call: "1", Kind: KindCall, Text: "?"}
	s.Asked(one)
	s.Asked(two)
	s.Resolved("1", "q1")
	if n := run.take(); len(n.asked) != 1 || n.asked[0].ID != "q2" || len(n.resolved) != 1 || !n.waits {
		t.Errorf("news: %+v", n)
	}
	// Each question is put aside by itself.
	s.config.Dismissed = func() {}
	s.dismiss(run, one)
	if s.Reaches(one) || !s.Reaches(two) {
		t.Error("only the question that was put aside is left to others")
	}
	s.mu.Lock()
	clear(s.running)
	s.mu.Unlock()
}
