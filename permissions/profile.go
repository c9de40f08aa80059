package permissions

import "slices"

// Level is how much a risk profile lets an agent do on its own.
type Level string

// The levels; "" counts as LevelSupervised.
const (
	LevelReadonly   Level = "readonly"
	LevelSupervised Level = "supervised"
	LevelFull       Level = "full"
)

// rank orders the levels; a level that we do not know is the lowest.
func (l Level) rank() int {
	switch l {
	case LevelSupervised, "":
		return 1
	case LevelFull:
		return 2
	}
	return 0
}

// Profile is a risk profile. Names in its lists are exact full names of
// tools; "*" alone stands for all in AutoApprove and AlwaysAsk.
type Profile struct {
	Level         Level
	AutoApprove   []string
	AlwaysAsk     []string
	AllowedTools  []string // empty: no restriction
	ExcludedTools []string
}

func (p Profile) clone() Profile {
	p.AutoApprove = slices.Clone(p.AutoApprove)
	p.AlwaysAsk = slices.Clone(p.AlwaysAsk)
	p.AllowedTools = slices.Clone(p.AllowedTools)
	p.ExcludedTools = slices.Clone(p.ExcludedTools)
	return p
}

// unlisted are the tools that every profile approves and that an allow-list
// need not name: they only show more of what the session already reaches.
var unlisted = []string{"tool_search", "read_tool_result"}

// autoApproves reports whether auto_approve names the tool or holds "*", and
// which of the two.
func (p Profile) autoApproves(tool string) (entry string, ok bool) {
	if entry, ok := namedIn(p.AutoApprove, tool); ok {
		return entry, true
	}
	if slices.Contains(unlisted, tool) {
		return tool, true
	}
	return "", false
}

func namedIn(list []string, tool string) (entry string, ok bool) {
	if slices.Contains(list, tool) {
		return tool, true
	}
	if slices.Contains(list, "*") {
		return "*", true
	}
	return "", false
}

// admits applies excluded_tools and allowed_tools to one full name. An
// allow-list lets every remote tool in: those are governed by bundles.
func (p Profile) admits(name string, origin Origin) bool {
	if _, ok := namedIn(p.ExcludedTools, name); ok {
		return false
	}
	if len(p.AllowedTools) == 0 || origin.Remote() || slices.Contains(unlisted, name) {
		return true
	}
	_, ok := namedIn(p.AllowedTools, name)
	return ok
}

// narrow returns what is left of p under a parent's profile: the lower level,
// the questions of both, and no approval that the parent would not have. The
// allow-lists stay with the grants, which are asked one after the other.
func (p Profile) narrow(parent Profile) Profile {
	p = p.clone()
	if parent.Level.rank() < p.Level.rank() {
		p.Level = parent.Level
		if p.Level == "" {
			p.Level = LevelSupervised
		}
	}
	if parent.Level == LevelFull {
		return p // its lists bind nobody: level comes first in the order
	}
	for _, n := range parent.AlwaysAsk {
		if !slices.Contains(p.AlwaysAsk, n) {
			p.AlwaysAsk = append(p.AlwaysAsk, n)
		}
	}
	if slices.Contains(p.AutoApprove, "*") {
		p.AutoApprove = slices.Clone(parent.AutoApprove)
	} else {
		p.AutoApprove = slices.DeleteFunc(p.AutoApprove, func(n string) bool {
			_, ok := parent.autoApproves(n)
			return !ok
		})
	}
	return p
}
