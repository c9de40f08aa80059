package permissions

import (
	"slices"
	"strings"
)

func covered(s Settings, _ Grant, r Request) *Verdict {
	if r.Origin.Remote() {
		return nil
	}
	var by coverage
	switch {
	case slices.Contains(fileTools, r.Tool):
		if len(r.Paths) == 0 || !by.all(s.Rules, r.Paths) {
			return nil
		}
	case r.Tool == CommandTool && r.Command != nil:
		c := r.Command
		if c.Class != Simple || c.Binary == "" || len(c.Paths) != len(c.Operands) || !by.all(s.Rules, c.Paths) {
			return nil
		}
		if c.Cwd.Kind != KindDir || !c.CwdInRoot && !by.all(s.Rules, []Path{c.Cwd}) {
			return nil
		}
	default:
		return nil
	}
	if len(by.rules) == 0 && by.workspace {
		return verdict(Allow, 13, KeyWorkspace).by("workspace")
	}
	if len(by.rules) == 0 {
		return verdict(Allow, 13, KeyNoPaths)
	}
	names := strings.Join(by.rules, ", ")
	return verdict(Allow, 13, KeyCovered, "rule", names).by(names)
}

// coverage collects what let paths through.
type coverage struct {
	rules     []string
	workspace bool
}

func (c *coverage) all(rules []Anchored, paths []Path) bool {
	for _, p := range paths {
		if !c.path(rules, p) {
			return false
		}
	}
	return true
}

// path reports whether every place that p touches is covered.
func (c *coverage) path(rules []Anchored, p Path) bool {
	if p.Err != "" || p.OwnState || p.TooMany {
		return false
	}
	if p.Area.admits(p.Op) && p.Second == "" {
		c.workspace = true
		return true
	}
	for _, made := range p.made() {
		if !c.one(rules, made, Anchored.Covers) {
			return false
		}
	}
	if !c.one(rules, p, Anchored.Covers) || p.Walk && !c.one(rules, p, Anchored.CoversTree) {
		return false
	}
	if p.Second == "" {
		return true
	}
	p.Real = p.Second
	return c.one(rules, p, Anchored.Covers)
}

func (c *coverage) one(rules []Anchored, p Path, covers func(Anchored, Path) bool) bool {
	for _, a := range rules {
		if covers(a, p) {
			if !slices.Contains(c.rules, a.Text) {
				c.rules = append(c.rules, a.Text)
			}
			return true
		}
	}
	return false
}

// touched are all paths of the call, the folder of a command included.
func (r Request) touched() []Path {
	if r.Command == nil {
		return r.Paths
	}
	all := slices.Concat(r.Paths, r.Command.Paths)
	if r.Command.Cwd.Real != "" || r.Command.Cwd.OwnState {
		all = append(all, r.Command.Cwd)
	}
	return all
}

func undecided(s Settings, r Request) Verdict {
	v := verdict(Ask, 14, KeyNothingAllows, "tool", r.Tool)
	c := r.Command
	var paths []Path
	switch {
	case r.Origin.Remote():
	case r.Tool == CommandTool && c != nil:
		switch {
		case c.Class == Unmodelled && c.Why != "":
			return *verdict(Ask, 14, KeyUnmodelledWhy, "why", strings.TrimSuffix(c.Why, "."))
		case c.Class == Unmodelled:
			return *verdict(Ask, 14, KeyUnmodelled)
		case c.Binary == "" && len(c.Argv) > 0:
			return *verdict(Ask, 14, KeyNotInstalled, "program", Visible(c.Argv[0]))
		case !c.CwdInRoot && !new(coverage).all(s.Rules, []Path{c.Cwd}):
			return *verdict(Ask, 14, KeyCwdOutside, "path", Visible(c.Cwd.Real))
		}
		paths = c.Paths
	case slices.Contains(fileTools, r.Tool):
		paths = r.Paths
	}
	var open []Path
	flags := true // nothing but flags is open
	for i, p := range paths {
		if !new(coverage).path(s.Rules, p) {
			open = append(open, p)
			flags = flags && c != nil && i < len(c.Operands) && c.Operands[i].Late
		}
	}
	if len(open) > 0 && flags {
		return *verdict(Ask, 14, KeyFlagBehind, "flag", short(open[0].Given))
	}
	if len(open) > 0 {
		v = uncovered(s.Rules, open[0])
		v.Proposed = propose(open)
	}
	return *v
}

// uncovered says which place of p no rule covers.
func uncovered(rules []Anchored, p Path) *Verdict {
	switch {
	case p.TooMany:
		return verdict(Ask, 14, KeyTooMany, "path", Visible(p.Real))
	case new(coverage).one(rules, p, Anchored.Covers) && p.Walk && !new(coverage).one(rules, p, Anchored.CoversTree):
		return verdict(Ask, 14, KeyTreeNotCovered, "path", Visible(p.Real), "access", p.Op.Access())
	case p.Parents:
		for _, made := range p.made() {
			if !new(coverage).one(rules, made, Anchored.Covers) {
				return verdict(Ask, 14, KeyNotCovered, "path", Visible(made.Real), "access", p.Op.Access())
			}
		}
	case p.Second != "" && new(coverage).one(rules, p, Anchored.Covers):
		return verdict(Ask, 14, KeyNotCovered, "path", Visible(p.Second), "access", p.Op.Access())
	}
	return verdict(Ask, 14, KeyNotCovered, "path", Visible(p.Real), "access", p.Op.Access())
}
