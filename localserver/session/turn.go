package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// Turn is what a model may see in one turn.
type Turn struct {
	Tools  []TurnTool `json:"tools"`
	System []Part     `json:"system"`
}

// TurnTool is one tool in the form that model providers take.
type TurnTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema any    `json:"input_schema"`
}

// firstWait is how long the turns of a session wait, all together, for servers
// that have never been seen: a model that is shown no tool of theirs would do
// without for the whole turn, but one that does not start holds up no chat.
const firstWait = 8 * time.Second

// turn is what the last posted turn showed. A session in which none was posted
// is bound by no exposure.
type turn struct {
	message string // in lower case
}

// Turn begins a turn with a message of the user: it lists the tools that are
// on, whose server can be called and that the exposure shows. It waits a while
// for servers that are starting for the first time.
func (n *Session) Turn(ctx context.Context, message string) Turn {
	n.awaitServers(ctx)

	now := &turn{message: strings.ToLower(message)}
	out := Turn{Tools: []TurnTool{}}
	var names []string
	for _, t := range n.offered() {
		switch n.exposure.in(now.message, t.Name, t.Origin.Remote(), n.isActive(t.Name)) {
		case complete:
			out.Tools = append(out.Tools, n.turnTool(t))
		case listed:
			names = append(names, t.Name)
		}
	}
	n.mu.Lock()
	n.turn = now
	n.mu.Unlock()
	out.System = n.System()
	if len(names) > 0 {
		out.System = append(out.System, Part{Kind: "deferred_tools", Text: deferredText(names)})
	}
	return out
}

// offered lists the tools that are on, not forbidden, and whose server can be
// called.
func (n *Session) offered() []Tool {
	return slices.DeleteFunc(n.Tools(), func(t Tool) bool {
		return !t.Enabled || t.Mode == permissions.ModeDeny || t.State == "offline"
	})
}

// awaitServers waits for what the session's servers bring at their first start,
// for as long as is left of firstWait.
func (n *Session) awaitServers(ctx context.Context) {
	n.mu.Lock()
	left := firstWait - n.waited
	n.mu.Unlock()
	if left <= 0 {
		return
	}
	wait, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	from := time.Now()
	n.settle(wait, func() bool { return false })
	n.pins.wait(wait)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waited += time.Since(from)
}

func (n *Session) turnTool(t Tool) TurnTool {
	spec := tools.Spec{Name: t.Name, Origin: t.Origin, Server: t.Server, Title: t.Title, Description: t.Description}
	return TurnTool{t.Name, n.host.config.Frames.Description(spec), n.host.models.schema(t, n.host.config.Redact)}
}

// deferredText tells a model of tools whose schemas it does not get yet. The
// names are ours: they hold nothing that a server could say.
func deferredText(names []string) string {
	return "More tools can be loaded with " + searchTool + ": search by words, or select:NAME,NAME. Their names:\n" + strings.Join(names, "\n")
}

func (n *Session) isActive(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.active[name]
}

// concealed words the refusal of what the turn under way does not show. What a
// server has come to offer since is judged like the rest.
func (n *Session) concealed(name string, origin permissions.Origin, unknown permissions.Verdict) permissions.Verdict {
	if n.appears(name, origin) == listed {
		unknown.Key, unknown.Code, unknown.Args = "tool_not_loaded", "tool_not_loaded", map[string]string{"tool": name}
		unknown.Reason = fmt.Sprintf("The tool %q is not loaded yet: find it with %s first.", name, searchTool)
	}
	return unknown
}

// appears says how a tool appears in the turn under way, completely where none
// was posted.
func (n *Session) appears(name string, origin permissions.Origin) shown {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.turn == nil {
		return complete
	}
	return n.exposure.in(n.turn.message, name, origin.Remote(), n.active[name])
}

// Deferred implements meta.Index: the tools that the turn under way lists by
// name only. Before any turn those are all that are not active.
func (n *Session) Deferred() []tools.Spec {
	n.mu.Lock()
	posted := n.turn != nil
	n.mu.Unlock()
	var out []tools.Spec
	for _, t := range n.offered() {
		if !t.Origin.Remote() {
			continue
		}
		// What was loaded before is found again: a model may have forgotten it.
		if posted && n.appears(t.Name, t.Origin) != listed && !n.isActive(t.Name) {
			continue
		}
		out = append(out, tools.Spec{Name: t.Name, Origin: t.Origin, Server: t.Server, OwnName: t.OwnName, Title: t.Title,
			Description: t.Description, InputSchema: t.spec.InputSchema})
	}
	return out
}

// Activate implements meta.Index.
func (n *Session) Activate(names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		n.active[name] = true
	}
}
