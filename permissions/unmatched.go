package permissions

import (
	"fmt"
	"maps"
	"slices"
)

// KnownTool identifies a tool for UnmatchedNames.
type KnownTool struct {
	Name    string // full name
	Origin  Origin
	Server  string // "" for a local tool
	OwnName string
}

// UnmatchedNames warns of names in the agent's profile, access lists and
// per-run list, and in the servers' own lists, that match none of the known
// tools. Servers of which no tool is known yet are left out: nothing can be
// said about them.
func (g Grant) UnmatchedNames(known []KnownTool) []Warning {
	full := map[string]bool{}
	own := map[string]map[string]bool{}
	for _, k := range known {
		full[k.Name] = true
		if k.Origin.Remote() {
			if own[k.Server] == nil {
				own[k.Server] = map[string]bool{}
			}
			own[k.Server][k.OwnName] = true
		}
	}
	complete := true
	for n := range g.Servers {
		complete = complete && own[n] != nil
	}
	var out []Warning
	add := func(list []string, where string, star bool) {
		for _, n := range list {
			if !full[n] && !(star && n == "*") && complete {
				out = append(out, Warning{"unmatched_name", fmt.Sprintf("%q in %s matches no tool.", n, where)})
			}
		}
	}
	add(g.Profile.AutoApprove, "auto_approve", true)
	add(g.Profile.AlwaysAsk, "always_ask", true)
	add(g.Profile.AllowedTools, "allowed_tools", true)
	add(g.Profile.ExcludedTools, "excluded_tools", true)
	if g.allowed != nil {
		add(*g.allowed, "the list of this run", false)
	}
	servers := slices.Sorted(maps.Keys(g.Servers))
	for _, n := range servers {
		if own[n] == nil {
			continue
		}
		for _, l := range []struct {
			names []string
			where string
		}{
			{g.Servers[n].Tools, "tools"}, {g.Servers[n].RequireApproval, "require_approval"}, {g.access[n], "the agent's tools"},
		} {
			for _, t := range l.names {
				if !own[n][t] {
					out = append(out, Warning{"unmatched_name", fmt.Sprintf("%q in %s of the server %q matches none of its tools.", t, l.where, n)})
				}
			}
		}
	}
	return out
}
