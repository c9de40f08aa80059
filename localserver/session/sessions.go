package session

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/resolve"
	"zeroclaw/services"
	"zeroclaw/tools"
	"zeroclaw/tools/meta"
	"zeroclaw/tools/results"
)

// Config is what sessions are made of. Every field but Busy and Log is
// required.
type Config struct {
	Home  string
	State string        // the state folder; workspaces live in its sessions/
	Root  func() string // the root of sessions opened from now on
	Pids  func() []int  // the companion and its children

	Local       []tools.Tool
	Remote      Remote
	Items       Items                       // nil: no server offers anything but tools
	Frames      results.Framer              // marks what servers say as untrusted; the zero value: with Redact
	Want        func(servers ...string)     // starts configured servers that a session reaches; nil: nothing is started
	Exposure    func(agent string) Exposure // nil: everything is shown
	Policy      *Policy
	Memory      *approval.Memory
	Definitions *approval.Definitions
	// Inputs are the agents, bundles, profiles and servers of the
	// configuration; Agent, Allowed, Parent and Started are filled in here.
	Inputs func() permissions.Inputs

	Asker    tools.Asker
	Finisher tools.Finisher
	SaveRule func(rule string, root *resolve.Resolver) error // adds one line to the allowed directories, for the root that it was shown for
	Publish  func(kind string, payload any)
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
	s.known = &known{remote: c.Remote}
	for _, t := range s.locals() {
		s.known.local = append(s.known.local, t.Name)
	}
	return s
}

// locals are the tools of our own that a session can have: those of every
// session, and those that are about its servers.
func (s *Sessions) locals() []tools.Spec {
	var out []tools.Spec
	for _, t := range s.config.Local {
		out = append(out, t.Spec())
	}
	if s.config.Items != nil {
		out = append(out, meta.Resources{}.Spec(), meta.Prompts{}.Spec(), meta.ToolSearch{}.Spec())
	}
	return out
}

// ToolsChanged says that some server's tools or state changed.
func (s *Sessions) ToolsChanged() error {
	defer s.tellNews()
	c := s.known.get()
	seen := make(map[string]approval.Accepted, len(c.tools))
	for d, n := range c.names {
		seen[n] = s.accepted(c.tools[d])
	}
	return s.config.Definitions.Observe(seen)
}

// OpenRequest says what session to open.
type OpenRequest struct {
	Agent        string    `json:"agent"`
	AllowedTools *[]string `json:"allowed_tools"`
	Parent       string    `json:"parent"`
	Conversation string    `json:"conversation"`
}

// Open starts a session: its grant, root, exposure and names are fixed from here
// on. The configured servers that it reaches are started.
func (s *Sessions) Open(r OpenRequest) (*Session, error) {
	n, err := s.build(r)
	if err != nil {
		return nil, err
	}
	n.ctx, n.cancel = context.WithCancel(s.ctx)
	if s.config.Want != nil {
		s.config.Want(n.servers()...)
	}
	n.pins = n.readPins()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		n.cancel()
		n.work.Wait()
		return nil, fmt.Errorf("open a session: the companion is ending: %w", ErrClosed)
	}
	s.open[n.ID] = n
	s.list = append(s.list, n.ID)
	s.used[n.ID] = n.Created
	s.mu.Unlock()
	s.makeRoom(n)
	s.config.Publish("session.opened", map[string]any{"session": n.View(false)})
	return n, nil
}

// Preview is what a session of an agent would reach if it was opened now.
func (s *Sessions) Preview(agent string) (View, []string, error) {
	n, err := s.build(OpenRequest{Agent: agent})
	if err != nil {
		return View{}, nil, err
	}
	return n.View(true), n.servers(), nil
}

// build makes a session that is not open yet.
func (s *Sessions) build(r OpenRequest) (*Session, error) {
	if r.Agent == "" {
		r.Agent = permissions.BuiltinAgent
	}
	in := s.config.Inputs()
	in.Agent, in.Allowed = r.Agent, r.AllowedTools
	if _, ok := in.Agents[r.Agent]; !ok && r.Agent != permissions.BuiltinAgent {
		return nil, fmt.Errorf("open a session: %w", &UnknownAgentError{r.Agent})
	}
	root := s.config.Root()
	if r.Parent != "" {
		p, err := s.Get(r.Parent)
		if err != nil {
			return nil, fmt.Errorf("open a child session: %w", err)
		}
		in.Parent, root = &p.grant, p.Root
	}
	s.addServices(&in)
	n := &Session{
		ID: s.config.NewID(), Agent: r.Agent, Conversation: r.Conversation, Root: root, Created: s.config.Now().UTC(),
		host: s, child: r.Parent != "", local: map[string]tools.Tool{}, calls: map[string]*call{}, pins: noPins(),
		pinned: map[tools.Definition]string{}, owner: map[string]tools.Definition{}, active: map[string]bool{},
	}
	folder := n.Conversation
	if folder == "" {
		folder = n.ID
	}
	n.Workspace = filepath.Join(s.config.State, "sessions", folder)
	var err error
	n.resolver, err = resolve.New(resolve.Config{Root: root, Home: s.config.Home, State: s.config.State, Workspace: n.Workspace, Pids: s.config.Pids})
	if err != nil {
		return nil, fmt.Errorf("open a session in %s: %w", root, err)
	}
	n.grant, n.Warnings = permissions.NewGrant(in)
	if s.config.Exposure != nil {
		n.exposure = s.config.Exposure(r.Agent)
	}
	n.takeLocal()
	n.runner = &tools.Runner{Asker: s.config.Asker, Finisher: s.config.Finisher, Recorder: recorder{n}, Schemas: &s.schemas, Now: s.config.Now, Log: s.config.Log}
	return n, nil
}

// addServices makes known what was found besides the configuration.
func (s *Sessions) addServices(in *permissions.Inputs) {
	if s.config.Remote == nil {
		return
	}
	for _, st := range s.config.Remote.List() {
		if st.Origin == services.OriginServer {
			continue // one that the policy does not know cannot be used
		}
		if !slices.ContainsFunc(in.Servers, func(x permissions.Server) bool { return x.Name == st.ID }) {
			in.Servers = append(in.Servers, permissions.Server{Name: st.ID, Origin: permissions.Origin(st.Origin)})
		}
		if st.State == services.Running || st.State == services.Starting {
			in.Started = append(in.Started, st.ID)
		}
	}
}

// takeLocal gives the session its local tools: those of every session, and
// those that are about its servers.
func (n *Session) takeLocal() {
	n.locals = slices.Clone(n.host.config.Local)
	if frames := n.host.config.Frames; len(n.grant.Servers) > 0 && n.host.config.Items != nil {
		n.locals = append(n.locals, meta.Resources{Remote: items{n}, Frames: frames}, meta.Prompts{Remote: items{n}, Frames: frames})
	}
	if len(n.grant.Servers) > 0 && n.exposure.Deferred {
		n.locals = append(n.locals, meta.ToolSearch{Index: n, Frames: n.host.config.Frames})
	}
	for _, t := range n.locals {
		n.local[t.Spec().Name] = t
	}
}

// UnknownAgentError says that no such agent is configured.
type UnknownAgentError struct{ Agent string }

func (e *UnknownAgentError) Error() string {
	return fmt.Sprintf("there is no agent %q; Settings → Agents lists them", e.Agent)
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

// servers are the granted ones by name.
func (n *Session) servers() []string { return slices.Sorted(maps.Keys(n.grant.Servers)) }
