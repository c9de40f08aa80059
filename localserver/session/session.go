package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/resolve"
	"zeroclaw/services"
	"zeroclaw/tools"
)

// Session is one conversation's frozen grant with its live tools.
type Session struct {
	ID           string
	Agent        string
	Conversation string // "" for a session that belongs to none
	Root         string
	Workspace    string // the session's own folder; it exists once something was put there
	Created      time.Time
	Warnings     []permissions.Warning

	host     *Sessions
	grant    permissions.Grant
	resolver *resolve.Resolver
	child    bool // opened under a parent
	runner   *tools.Runner
	local    map[string]tools.Tool
	locals   []tools.Tool // the same, in order
	exposure Exposure
	pins     *pins
	encoded  encoded // Tools

	ctx    context.Context // ends with the session
	cancel context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	pinned  map[tools.Definition]string // names that this session has shown
	owner   map[string]tools.Definition // the reverse of pinned
	named   *catalogue                  // the last one of which every tool has its name
	turn    *turn                       // the last one posted, nil before the first
	active  map[string]bool             // what tool_search has brought
	waited  time.Duration               // by turns, for servers that were starting
	calls   map[string]*call
	order   []string // ids of calls, oldest first
	running int      // of them
	closed  bool
}

// Tool is one tool of a session as clients see it.
type Tool struct {
	Name        string             `json:"name"`
	Origin      permissions.Origin `json:"origin"`
	Server      string             `json:"server,omitempty"`
	OwnName     string             `json:"own_name"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description"`
	InputSchema any                `json:"input_schema"`
	Mode        permissions.Mode   `json:"mode"`
	Enabled     bool               `json:"enabled"`
	State       string             `json:"state"` // ready, starting, offline
	Definition  approval.State     `json:"definition"`
	Diff        string             `json:"diff,omitempty"`

	spec tools.Spec // with the schemas as received
	hash string     // of the definition of a remote tool
}

// name gives a remote tool its name in this session: the first one it was
// shown under, so that a server that appears later renames nothing.
func (s *Session) name(d tools.Definition, c *catalogue) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, ok := s.pinned[d]; ok {
		return n, true
	}
	n, ok := c.names[d]
	if !ok {
		return "", false
	}
	if _, taken := s.owner[n]; taken {
		return "", false
	}
	s.pinned[d], s.owner[n] = n, d
	return n, true
}

// named is a tool with its name in the session.
type named struct {
	tools.Tool
	name string
}

// Spec implements tools.Tool.
func (n named) Spec() tools.Spec {
	s := n.Tool.Spec()
	s.Name = n.name
	return s
}

// Lookup implements tools.Decider: a tool that the grant does not reach does
// not exist here, whatever its name. A name that is not known waits for the
// servers that are starting for the first time.
func (s *Session) Lookup(ctx context.Context, name string) (tools.Tool, permissions.Verdict) {
	if _, ok := s.local[name]; !ok {
		s.settle(ctx, func() bool {
			s.nameAll(s.host.known.get())
			s.mu.Lock()
			defer s.mu.Unlock()
			_, known := s.owner[name]
			return known
		})
	}
	// To a session, what it does not reach is as what it never heard of.
	unknown := func() permissions.Verdict {
		return permissions.Decide(permissions.Settings{}, s.grant, permissions.Request{Tool: name, Hidden: true})
	}
	if t, ok := s.local[name]; ok {
		if !s.grant.Reaches(name, permissions.OriginLocal, "", name) {
			return nil, unknown()
		}
		if s.appears(name, permissions.OriginLocal) != complete {
			return nil, s.concealed(name, permissions.OriginLocal, unknown())
		}
		return t, permissions.Verdict{}
	}
	c := s.host.known.get()
	s.nameAll(c)
	s.mu.Lock()
	d, ok := s.owner[name]
	s.mu.Unlock()
	t, live := c.tools[d]
	if !ok || !s.grant.Reaches(name, d.Origin, d.Server, d.Tool) {
		return nil, unknown()
	}
	if s.appears(name, d.Origin) != complete {
		return nil, s.concealed(name, d.Origin, unknown())
	}
	if !live || toolState(c.state[d.Server]) == "offline" {
		return nil, notOffered(unknown(), name, c.state[d.Server])
	}
	return named{t, name}, permissions.Verdict{}
}

// notOffered words the refusal of a granted tool that its server does not offer
// now: most often because the server does not run.
func notOffered(v permissions.Verdict, tool string, server services.Status) permissions.Verdict {
	why := strings.TrimSuffix(server.Reason, ".")
	switch {
	case server.State == "" || server.State == services.Running:
		v.Key, v.Args = "tool_gone", map[string]string{"tool": tool}
		v.Reason = fmt.Sprintf("The server of the tool %q no longer offers it.", tool)
	case why == "":
		v.Key, v.Args = "server_stopped", map[string]string{"server": server.ID}
		v.Reason = fmt.Sprintf("The server %s is not running: a person can start it.", server.ID)
	default:
		v.Key, v.Args = "server_down", map[string]string{"server": server.ID, "why": why}
		v.Reason = fmt.Sprintf("The server %s does not run now: %s.", server.ID, why)
	}
	v.Code = v.Key
	return v
}

// nameAll pins the names of every granted tool, in a fixed order. It does so once
// for each catalogue.
func (s *Session) nameAll(c *catalogue) {
	s.mu.Lock()
	done := s.named == c
	s.mu.Unlock()
	if done {
		return
	}
	for _, d := range s.reached(c) {
		s.name(d, c)
	}
	s.mu.Lock()
	s.named = c
	s.mu.Unlock()
}

// reached lists every granted tool, in a fixed order.
func (s *Session) reached(c *catalogue) []tools.Definition {
	return slices.DeleteFunc(c.sorted(), func(d tools.Definition) bool {
		_, granted := s.grant.Servers[d.Server]
		return !granted
	})
}

// Tools lists what the session reaches, local tools first.
func (s *Session) Tools() []Tool {
	set := s.host.config.Policy.Values().Tools
	out := []Tool{}
	for _, t := range s.locals {
		spec := t.Spec()
		if s.grant.Reaches(spec.Name, permissions.OriginLocal, "", spec.Name) {
			out = append(out, toolView(spec, set, "ready", approval.DefinitionAccepted))
		}
	}
	c := s.host.known.get()
	for _, d := range s.reached(c) {
		n, ok := s.name(d, c)
		if !ok || !s.grant.Reaches(n, d.Origin, d.Server, d.Tool) {
			continue
		}
		state, _ := s.host.config.Definitions.Check(d.Server, n, c.tools[d].tool.Hash)
		view := toolView(named{c.tools[d], n}.Spec(), set, toolState(c.state[d.Server]), state)
		view.hash = c.tools[d].tool.Hash
		out = append(out, view)
	}
	return out
}

func toolView(spec tools.Spec, set map[string]permissions.ToolSetting, state string, def approval.State) Tool {
	mode := set[spec.Name].Mode
	if mode == "" {
		mode = permissions.ModeAsk
	}
	return Tool{
		Name: spec.Name, Origin: spec.Origin, Server: spec.Server, OwnName: spec.OwnName, Title: spec.Title,
		Description: spec.Description, InputSchema: schemaOf(spec.InputSchema), Mode: mode,
		Enabled: !set[spec.Name].Off, State: state, Definition: def, spec: spec,
	}
}

// Decide implements tools.Decider.
func (s *Session) Decide(_ tools.Call, spec tools.Spec, p tools.Plan) tools.Judged {
	subject := Subject{Spec: spec}
	var diff string
	if spec.Origin.Remote() {
		c := s.host.known.get()
		var t remoteTool // none while its server cannot be called
		if toolState(c.state[spec.Server]) != "offline" {
			t = c.tools[tools.Definition{Origin: spec.Origin, Server: spec.Server, Tool: spec.OwnName}]
		}
		state, old := s.host.config.Definitions.Check(spec.Server, spec.Name, t.tool.Hash)
		subject.DefinitionHash, subject.Changed = t.tool.Hash, state == approval.DefinitionChanged
		if subject.Changed {
			diff = definitionDiff(old.Text, s.host.accepted(t).Text)
		}
	}
	j := s.judge().Decide(subject, p)
	j.DefinitionDiff = diff
	return j
}

func (s *Session) judge() Judge {
	remembered := s.host.config.Memory.For
	if s.child {
		remembered = s.host.config.Memory.ForChild
	}
	return Judge{Resolver: s.resolver, Grant: s.grant, Settings: s.host.config.Policy.Settings(s.resolver, remembered(s.ID))}
}

// Explain answers the rule tester with this session's root, rules and grant.
func (s *Session) Explain(q Query) Answer { return Explain(s.judge(), q) }
