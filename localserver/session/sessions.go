package session

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"sync"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
	"zeroclaw/tools/results"
)

// Config is what sessions are made of. Every field is required but those that
// say what nil means.
type Config struct {
	Home  string
	State string        // the state folder; workspaces live in its sessions/
	Root  func() string // the root of sessions opened from now on
	Pids  func() []int  // the companion and its children

	Local       []tools.Tool
	Remote      Remote                      // nil: there are no servers
	Items       Items                       // nil: no server offers anything but tools
	Frames      results.Framer              // marks what servers say as untrusted; the zero value: with Redact
	Want        func(servers ...string)     // starts configured servers that a session reaches; nil: nothing is started
	Exposure    func(agent string) Exposure // nil: everything is shown
	Policy      *Policy
	Memory      *approval.Memory
	Definitions *approval.Definitions
	// Inputs are the agents, bundles, profiles and servers of the
	// configuration, after a look for servers that came from elsewhere: those
	// are in Remote. Agent, Allowed, Parent and Started are filled in here.
	Inputs func() permissions.Inputs

	Asker    tools.Asker
	Finisher tools.Finisher
	SaveRule func(rule string, root *resolve.Resolver) error // adds one line to the allowed directories, for the root that it was shown for
	Publish  func(kind string, payload any)                  // keeps nothing of the payload
	Redact   func(string) string
	Started  func(tools.Call, tools.Outcome)
	Changed  func(tools.Call, tools.Outcome) // between running and waiting
	Ended    func(tools.Call, tools.Outcome, tools.Judged, approval.Resolution)
	Closed   func(session string) // after the last call of a session has ended
	// Busy reports whether a session has background processes: then it is not
	// closed to make room for a new one. nil: none has any.
	Busy func(session string) bool

	Now   func() time.Time
	NewID func() string
	Log   *slog.Logger // faults inside the companion; nil is slog.Default
}

// Sessions holds every open session.
type Sessions struct {
	config  Config
	known   *known
	schemas tools.Schemas

	ctx    context.Context
	cancel context.CancelFunc

	kept    retained
	models  modelSchemas
	encoded encoded // AllTools

	mu      sync.Mutex
	changed chan struct{} // closed at the next change of any server
	open    map[string]*Session
	list    []string             // ids, oldest first
	used    map[string]time.Time // when a client last asked for a session, or a call of it ended
	closed  bool

	ending sync.WaitGroup // sessions that somebody is closing
}

// New returns an empty set of sessions. Close ends them.
func New(c Config) *Sessions {
	if c.Frames.Redact == nil {
		c.Frames = results.Framer{Redact: c.Redact, Rand: rand.Reader}
	}
	s := &Sessions{config: c, changed: make(chan struct{}), open: map[string]*Session{}, used: map[string]time.Time{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.known = &known{remote: c.Remote, seen: s.pin}
	for _, t := range s.locals() {
		s.known.local = append(s.known.local, t.Name)
	}
	return s
}

// ToolsChanged says that some server's tools or state changed.
func (s *Sessions) ToolsChanged() error {
	s.StateChanged() // who waits for it need not wait for the file as well
	s.known.get()
	return s.config.Definitions.SaveSoon()
}

// Get returns an open session for a client that uses it.
func (s *Sessions) Get(id string) (*Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.open[id]
	if !ok {
		return nil, ErrNotFound
	}
	s.used[id] = s.config.Now()
	return n, nil
}

// List returns the open sessions, oldest first.
func (s *Sessions) List() []*Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*Session, 0, len(s.list))
	for _, id := range s.list {
		out = append(out, s.open[id])
	}
	return out
}

// OpenCalls counts the calls under way in all sessions.
func (s *Sessions) OpenCalls() int {
	n := 0
	for _, one := range s.List() {
		n += one.open()
	}
	return n
}

// CloseSession cancels a session's calls, waits for them and forgets what was
// remembered for it.
func (s *Sessions) CloseSession(id string) error {
	s.mu.Lock()
	n, ok := s.open[id]
	delete(s.open, id)
	delete(s.used, id)
	s.list = slices.DeleteFunc(s.list, func(x string) bool { return x == id })
	if ok {
		s.ending.Add(1)
	}
	s.mu.Unlock()
	if !ok {
		return ErrNotFound
	}
	defer s.ending.Done()
	n.end()
	return nil
}

func (n *Session) end() {
	n.mu.Lock()
	n.closed = true
	for _, c := range n.calls {
		c.cancel()
	}
	n.mu.Unlock()
	n.cancel()
	n.work.Wait()
	n.drop()
	n.host.config.Memory.DropSession(n.ID)
	n.host.config.Closed(n.ID)
	n.host.config.Publish("session.closed", map[string]string{"id": n.ID})
}

// drop forgets the calls of a session that has ended.
func (n *Session) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.calls {
		n.host.kept.forget(c)
	}
	n.calls, n.order = map[string]*call{}, nil
}

// Close ends every session and waits for its calls, also for those of a session
// that somebody else is closing. From its beginning on no session opens any more.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	var all sync.WaitGroup
	for _, n := range s.List() {
		all.Go(func() { _ = s.CloseSession(n.ID) })
	}
	all.Wait()
	s.ending.Wait()
}
