package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/services"
)

// stub is a server over Streamable HTTP with a session, that misbehaves where
// its fields say so.
type stub struct {
	*httptest.Server
	// tools answer tools/call; they are listed by name.
	tools map[string]func(c stubCall)
	// get answers GET; nil = 405.
	get func(w http.ResponseWriter, r *http.Request)
	// before sees each POST; true = it has answered.
	before func(w http.ResponseWriter, r *http.Request, m stubMessage) bool
	// capabilities are declared.
	capabilities string
	// stateless gives no session id.
	stateless bool

	mu       sync.Mutex
	sessions map[string]bool
	begun    int      // initializes
	ended    []string // sessions that were deleted
	seen     []stubMessage
	replies  chan stubMessage // answers of the client
}

type stubMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	header http.Header
}

// stubCall is one tools/call.
type stubCall struct {
	w    http.ResponseWriter
	r    *http.Request
	id   json.RawMessage
	args json.RawMessage
}

func (c stubCall) text(text string) {
	c.w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(c.w, c.answer(text))
}

func (c stubCall) answer(text string) string {
	b, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "result": map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// events begins a stream.
func (c stubCall) events() {
	c.w.Header().Set("Content-Type", "text/event-stream")
	c.w.WriteHeader(http.StatusOK)
	flush(c.w)
}

func (c stubCall) event(text string) {
	fmt.Fprintf(c.w, "data: %s\n\n", text)
	flush(c.w)
}

func flush(w http.ResponseWriter) {
	if err := http.NewResponseController(w).Flush(); err != nil {
		panic(http.ErrAbortHandler)
	}
}

func newStub(t *testing.T, s *stub) *stub {
	t.Helper()
	prepare(s)
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func prepare(s *stub) {
	s.sessions, s.replies = map[string]bool{}, make(chan stubMessage, 100)
	if s.tools == nil {
		s.tools = map[string]func(stubCall){}
	}
	if s.tools["echo"] == nil {
		s.tools["echo"] = func(c stubCall) { c.text(string(c.args)) }
	}
	if s.capabilities == "" {
		s.capabilities = `{"tools":{"listChanged":true}}`
	}
}

func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get("Mcp-Session-Id")
	switch r.Method {
	case http.MethodDelete:
		s.mu.Lock()
		s.ended = append(s.ended, id)
		delete(s.sessions, id)
		s.mu.Unlock()
		return
	case http.MethodGet:
		if s.get == nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		s.mu.Lock()
		known := s.sessions[id]
		s.mu.Unlock()
		if !known && !s.stateless {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		s.get(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	var m stubMessage
	if err := json.Unmarshal(body, &m); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	m.header = r.Header
	s.mu.Lock()
	s.seen = append(s.seen, m)
	s.mu.Unlock()
	if s.before != nil && s.before(w, r, m) {
		return
	}
	s.mu.Lock()
	known := s.sessions[id]
	s.mu.Unlock()
	s.answer(w, r, m, known)
}

func (s *stub) answer(w http.ResponseWriter, r *http.Request, m stubMessage, known bool) {
	reply := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch {
	case m.Method == "initialize":
		s.mu.Lock()
		s.begun++
		id := fmt.Sprintf("session-%d", s.begun)
		s.sessions[id] = true
		s.mu.Unlock()
		if !s.stateless {
			w.Header().Set("Mcp-Session-Id", id)
		}
		reply(`{"protocolVersion":"2025-11-25","serverInfo":{"name":"stub","version":"1"},"capabilities":` + s.capabilities + `}`)
	case m.Method == "server/discover":
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"unknown method"}}`, m.ID)
	case !known && !s.stateless:
		w.WriteHeader(http.StatusNotFound)
	case m.Method == "":
		s.replies <- m
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/list":
		var list []string
		for name := range s.tools {
			list = append(list, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		slices.Sort(list)
		reply(`{"tools":[` + strings.Join(list, ",") + `]}`)
	case m.Method == "tools/call":
		var p struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		if err := json.Unmarshal(m.Params, &p); err != nil || s.tools[p.Name] == nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		s.tools[p.Name](stubCall{w: w, r: r, id: m.ID, args: p.Arguments})
	default:
		reply(`{}`)
	}
}

// forget loses every session.
func (s *stub) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = map[string]bool{}
}

// count is how many messages with the method came.
func (s *stub) count(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, m := range s.seen {
		if m.Method == method {
			n++
		}
	}
	return n
}

func (s *stub) beginnings() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

// reach connects to url with the transport.
func reach(t *testing.T, transport, url string, change func(*services.Spec, *services.Hooks)) (services.Peer, *rig) {
	t.Helper()
	p, r, err := tryReach(t, transport, url, change)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return p, r
}

func tryReach(t *testing.T, transport, url string, change func(*services.Spec, *services.Hooks)) (services.Peer, *rig, error) {
	t.Helper()
	r := newRig()
	spec := services.Spec{Name: "far", Origin: services.OriginServer, Transport: transport, URL: url}
	if change != nil {
		change(&spec, &r.hooks)
	}
	ctx, cancel := context.WithTimeout(t.Context(), slowdown*15*time.Second)
	defer cancel()
	p, err := New(testConfig()).Connect(ctx, spec, r.hooks)
	if err == nil {
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
			defer cancel()
			if err := p.Close(ctx); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	return p, r, err
}

// holds fails unless err is one that says all parts.
func holds(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error %q does not hold %q", err, part)
		}
	}
}
