package session

import "strings"

// Exposure is what of a session's tools a model is shown. It is no permission:
// it binds only what a model may call in a turn, and every call passes the gate
// all the same.
type Exposure struct {
	// Deferred lists the tools of servers by name only; tool_search brings
	// their schemas.
	Deferred bool
	// Groups show tools of servers only when the message calls for them. With
	// none, everything is shown.
	Groups []FilterGroup
	// Pinned are, by server, resources that the session starts with.
	Pinned map[string][]string
}

// FilterGroup shows the tools that its patterns name: always, or in the turns
// whose message holds one of the keywords.
type FilterGroup struct {
	Always   bool
	Tools    []string // full names; the first * stands for any characters
	Keywords []string
}

// names reports whether a pattern of the group names a tool.
func (g FilterGroup) names(tool string) bool {
	for _, pattern := range g.Tools {
		before, after, wild := strings.Cut(pattern, "*")
		switch {
		case !wild && tool == pattern:
			return true
		case wild && len(tool) >= len(before)+len(after) && strings.HasPrefix(tool, before) && strings.HasSuffix(tool, after):
			return true
		}
	}
	return false
}

// called reports whether a message calls for the group; the message is in
// lower case. A dynamic group without keywords is never called for.
func (g FilterGroup) called(message string) bool {
	for _, k := range g.Keywords {
		if k = strings.ToLower(strings.TrimSpace(k)); k != "" && strings.Contains(message, k) {
			return true
		}
	}
	return g.Always
}

// shown is how a tool appears in a turn.
type shown uint8

const (
	hidden   shown = iota // not at all
	listed                // by name, for tool_search to find
	complete              // with its schema
)

// in says how a tool appears in the turn of a message (in lower case).
// activated: tool_search has brought it before. Where loading is deferred, the
// groups bring tools forward and hide none.
func (e Exposure) in(message, tool string, remote, activated bool) shown {
	if !remote {
		return complete
	}
	for _, g := range e.Groups {
		if g.names(tool) && g.called(message) {
			return complete
		}
	}
	switch {
	case e.Deferred && !activated:
		return listed
	case e.Deferred || len(e.Groups) == 0:
		return complete
	}
	return hidden
}

// searchTool is the tool that loads deferred ones.
const searchTool = "tool_search"
