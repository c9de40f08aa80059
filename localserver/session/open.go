package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/services"
	"zeroclaw/tools"
	"zeroclaw/tools/meta"
)

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

// Stale reports whether a session that was opened as r says would reach something
// else, or work elsewhere, if it was opened now.
func (s *Sessions) Stale(n *Session, r OpenRequest) bool {
	now, err := s.build(r)
	return err != nil || now.Root != n.Root || !reflect.DeepEqual(now.grant, n.grant)
}

// build makes a session that is not open yet.
func (s *Sessions) build(r OpenRequest) (*Session, error) {
	r.Agent = cmp.Or(r.Agent, permissions.BuiltinAgent)
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
	n.Workspace = filepath.Join(s.config.State, "sessions", cmp.Or(n.Conversation, n.ID))
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
	for _, st := range s.config.Remote.Statuses() {
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

// servers are the granted ones by name.
func (n *Session) servers() []string { return slices.Sorted(maps.Keys(n.grant.Servers)) }
