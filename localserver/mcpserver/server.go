package mcpserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"zeroclaw/localserver/session"
	"zeroclaw/services"
)

// Sessions opens and ends the sessions in which clients call tools.
type Sessions interface {
	Open(session.OpenRequest) (*session.Session, error)
	// Stale reports whether a session that was opened so would reach something
	// else if it was opened now.
	Stale(*session.Session, session.OpenRequest) bool
	CloseSession(id string) error
}

// Servers are the MCP servers behind the companion.
type Servers interface {
	// About is what a server says of itself; it waits for the server.
	About(ctx context.Context, server string) (services.Info, error)
	// Request sends one of the protocol's requests other than tools/call.
	Request(ctx context.Context, server, method string, params json.RawMessage) (json.RawMessage, error)
	Tools(server string) []services.ToolDef
}

// Caller is who sent a request.
type Caller struct {
	ID    string // of the token; nothing is shared between two of them
	Name  string // of a named token, else ""
	Agent string // that the token is bound to; "" = any
	// Valid ends with the token: nothing that it began outlives it.
	Valid context.Context
}

// Config of a Server. Every field is required.
type Config struct {
	Sessions Sessions
	Servers  Servers
	Caller   func(*http.Request) Caller
	// Check says what is wrong with the text of a message, as a sentence: a
	// name that is there twice, nesting without end. nil error: nothing.
	Check func([]byte) error
	// Answer gives a client's answer to a question, see Asked. The error is
	// that of somebody who was faster.
	Answer func(question string, a Answer) error
	// Dismissed is told when Reaches may answer no by now.
	Dismissed func()
	Redact    func(string) string
	Version   string // of the companion
	Now       func() time.Time
	NewID     func() string // unguessable ids
	Log       *slog.Logger
}

// Server serves /mcp and /mcp/{server}. Make one with New, end it with Close.
type Server struct {
	config Config

	mu      sync.Mutex
	clients map[string]*client  // by session id, and the key of those without
	running map[string]*running // calls under way, by id
	watched map[resource]map[*client]bool
	closed  bool

	closing chan struct{}  // closed with Close
	work    sync.WaitGroup // calls
}

const (
	// maxClients bounds how many clients are known at a time: the one that was
	// idle longest goes.
	maxClients = 128
	// idleTime is after how long a client that does nothing is forgotten.
	idleTime = time.Hour
	// maxMessage bounds one message of a client, in bytes.
	maxMessage = 16 << 20
)

// sweepTime is the time between two looks for clients that are idle.
const sweepTime = 5 * time.Minute

// New returns a Server without clients.
func New(c Config) *Server {
	s := &Server{
		config: c, clients: map[string]*client{}, running: map[string]*running{},
		watched: map[resource]map[*client]bool{}, closing: make(chan struct{}),
	}
	s.work.Go(s.sweep)
	return s
}

// sweep forgets clients that do nothing, until the Server is closed.
func (s *Server) sweep() {
	tick := time.NewTicker(sweepTime)
	defer tick.Stop()
	for {
		select {
		case <-s.closing:
			return
		case <-tick.C:
			s.mu.Lock()
			gone := s.surplusLocked(nil)
			s.mu.Unlock()
			s.retire(gone...)
		}
	}
}

// ServeHTTP serves one request of a client that the guard has let in. The path
// value server names the one server that is passed through under its own names;
// without it there is every tool of the agent under its full name. The query
// parameters agent and allowed_tools (names, separated by commas) narrow what a
// session reaches.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodGet:
		s.stream(w, r)
	case http.MethodDelete:
		s.end(w, r)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "use POST, GET or DELETE", http.StatusMethodNotAllowed)
	}
}

// Busy counts what keeps a companion from being idle: clients that listen, and
// calls.
func (s *Server) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.running)
	for _, c := range s.clients {
		n += len(c.streams)
	}
	return n
}

// ToolsChanged tells clients that listen that the list of tools may be another
// one now.
func (s *Server) ToolsChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.clients {
		for st := range c.streams {
			st.offer(methodToolsChanged, toolsChanged)
		}
	}
}

// Close ends every stream and call, and returns when none is left or ctx ends.
func (s *Server) Close(ctx context.Context) {
	s.mu.Lock()
	if !s.closed {
		close(s.closing)
	}
	s.closed = true
	for _, r := range s.running {
		r.cancel()
	}
	var gone []*client
	for key, c := range s.clients {
		gone = append(gone, c)
		delete(s.clients, key)
	}
	s.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.retire(gone...)
		s.work.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
