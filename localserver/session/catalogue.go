package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/services"
	"zeroclaw/tools"
)

// Remote is what sessions need of the MCP servers.
type Remote interface {
	Generation() uint64
	Statuses() []services.Status
	Tools(name string) []services.ToolDef
	Call(context.Context, services.ToolCall) (services.CallResult, error)
}

// remoteTool is one tool of an MCP server under its full name.
type remoteTool struct {
	def    tools.Definition
	tool   services.ToolDef
	remote Remote
}

// Spec implements tools.Tool. The full name is filled in by the session.
func (t remoteTool) Spec() tools.Spec {
	return tools.Spec{
		Origin: t.def.Origin, Server: t.def.Server, OwnName: t.def.Tool,
		Title: t.tool.Title, Description: t.tool.Description,
		InputSchema: t.tool.InputSchema, OutputSchema: t.tool.OutputSchema, Annotations: t.tool.Annotations,
	}
}

// Run implements tools.Tool.
func (t remoteTool) Run(ctx context.Context, args json.RawMessage) (tools.Result, error) {
	call := services.ToolCall{Server: t.def.Server, Tool: t.def.Tool, Args: args, Definition: t.tool.Hash}
	whole := false
	if pass, ok := tools.PassFrom(ctx); ok {
		whole = pass.Whole
		call.Definition = pass.Definition
		call.Owner = ownerOf(pass.Session, pass.CallID)
		if pass.Progress != nil {
			call.Progress = func(done, total float64, message string) {
				pass.Progress(tools.Progress{Done: done, Total: total, Message: message})
			}
		}
	}
	got, err := t.remote.Call(ctx, call)
	if errors.Is(err, services.ErrChanged) {
		return tools.Result{}, fmt.Errorf("%w (%w)", tools.ErrChanged, err)
	}
	if err != nil {
		return tools.Result{}, err
	}
	if whole {
		return tools.WholeResult(got.Raw), nil
	}
	return tools.ResultOf(got.Raw)
}

// ownerOf is what a call is called where a server asks something meanwhile.
func ownerOf(session, call string) string { return session + "/" + call }

// CallOf reads the owner of a server's question: the session and the call.
func CallOf(owner string) (session, call string) {
	session, call, _ = strings.Cut(owner, "/")
	return session, call
}

// catalogue is every known remote tool, with the full names that follow from
// all of them together. It is built anew when a server's tools change.
type catalogue struct {
	names map[tools.Definition]string
	tools map[tools.Definition]remoteTool
	state map[string]services.Status // by server
}

// known builds catalogues and keeps the last one.
type known struct {
	remote Remote
	local  []string         // names of the local tools
	seen   func(*catalogue) // told of each before anybody gets it

	mu         sync.Mutex
	last       *catalogue
	generation uint64 // of last
}

func (k *known) get() *catalogue {
	k.mu.Lock()
	defer k.mu.Unlock()
	var now uint64
	if k.remote != nil {
		now = k.remote.Generation()
	}
	if k.last == nil || k.generation != now {
		// The number is read first: what changes meanwhile is built next time.
		c := k.build()
		k.seen(c)
		k.last, k.generation = c, now
	}
	return k.last
}

func (k *known) build() *catalogue {
	c := &catalogue{tools: map[tools.Definition]remoteTool{}, state: map[string]services.Status{}}
	if k.remote == nil {
		return c
	}
	for _, s := range k.remote.Statuses() {
		c.state[s.ID] = s
		for _, t := range k.remote.Tools(s.ID) {
			d := tools.Definition{Origin: permissions.Origin(s.Origin), Server: s.ID, Tool: t.Name}
			if _, twice := c.tools[d]; !twice { // of two tools with one name the first is called, always
				c.tools[d] = remoteTool{def: d, tool: t, remote: k.remote}
			}
		}
	}
	c.names, _ = tools.Names(slices.Collect(maps.Keys(c.tools)), k.local)
	return c
}

// pin takes the definitions that are new. It happens before a call can be judged
// by them: a definition that changes between a call and its pinning would pass
// for the first one.
func (s *Sessions) pin(c *catalogue) {
	fresh := map[string]approval.Accepted{}
	for d, n := range c.names {
		// A server that changes its list all the time costs what is new in it.
		if s.config.Definitions.Wants(d.Server, n) {
			fresh[n] = s.accepted(c.tools[d])
		}
	}
	if len(fresh) > 0 {
		s.config.Definitions.Pin(fresh)
	}
}

// accepted is a definition in the form in which it is pinned: the hash is that
// of what the server said, the text holds no secret that it may have put there.
func (s *Sessions) accepted(t remoteTool) approval.Accepted {
	return approval.Accepted{Server: t.def.Server, Hash: t.tool.Hash, Text: tools.RedactJSON(t.tool.Raw, s.config.Redact)}
}

// sorted lists the definitions by server and name.
func (c *catalogue) sorted() []tools.Definition {
	return slices.SortedFunc(maps.Keys(c.tools), func(a, b tools.Definition) int {
		return slices.Compare([]string{a.Server, a.Tool}, []string{b.Server, b.Tool})
	})
}

// AllTools lists every known tool, whether or not an agent reaches it.
func (s *Sessions) AllTools() []Tool {
	set := s.config.Policy.Values().Tools
	out := []Tool{}
	for _, t := range s.locals() {
		out = append(out, toolView(t, set, "ready", approval.DefinitionAccepted))
	}
	c := s.known.get()
	for _, d := range c.sorted() {
		n, ok := c.names[d]
		if !ok {
			continue
		}
		t := c.tools[d]
		state, old := s.config.Definitions.Check(d.Server, n, t.tool.Hash)
		view := toolView(named{t, n}.Spec(), set, toolState(c.state[d.Server]), state)
		if state == approval.DefinitionChanged {
			view.Diff = definitionDiff(old.Text, s.accepted(t).Text)
		}
		out = append(out, view)
	}
	return out
}

// Accept pins the current definition of a tool.
func (s *Sessions) Accept(name string) error {
	c := s.known.get()
	for d, n := range c.names {
		if n == name {
			return s.config.Definitions.Accept(name, s.accepted(c.tools[d]))
		}
	}
	return fmt.Errorf("accept %q: %w", name, ErrNoTool)
}
