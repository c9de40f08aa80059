package session

import (
	"slices"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/permissions/shellscan"
	"zeroclaw/tools"
)

// Judge answers what would happen to a call under one root, with the settings
// and the grant as they are. It is what decides real calls.
type Judge struct {
	Resolver *resolve.Resolver
	Settings permissions.Settings
	Grant    permissions.Grant
}

// Subject is what is judged besides paths and command: the tool.
type Subject struct {
	Spec           tools.Spec
	Hidden         bool
	DefinitionHash string
	Changed        bool
}

// Decide collects the facts about a plan and decides.
func (j Judge) Decide(s Subject, p tools.Plan) tools.Judged {
	out := tools.Judged{DefinitionHash: s.DefinitionHash}
	for _, u := range p.Uses {
		out.Paths = append(out.Paths, j.Resolver.Path(u.Path, u.Op, u.Walk))
	}
	if s.Spec.Origin == permissions.OriginLocal && s.Spec.Name == "execute_command" {
		c := j.Resolver.Command(shellscan.Scan(p.Command), p.Cwd)
		out.Command = &c
	}
	out.Verdict = permissions.Decide(j.Settings, j.Grant, permissions.Request{
		Tool: s.Spec.Name, Origin: s.Spec.Origin, Server: s.Spec.Server, OwnName: s.Spec.OwnName,
		Hidden: s.Hidden, DefinitionHash: s.DefinitionHash, Changed: s.Changed,
		Paths: out.Paths, Command: out.Command,
	})
	return out
}

// mayRead reports whether a path that was resolved already could be read
// without a question: the R rules or the session's own folder cover it, and it
// is neither protected nor the companion's own.
func (j Judge) mayRead(p permissions.Path) bool {
	p.Op = permissions.OpRead
	if p.OwnState || permissions.Protected(permissions.OpRead, p.Clean, p.Real) != "" {
		return false
	}
	return p.Area != permissions.AreaNone || slices.ContainsFunc(j.Settings.Rules, func(r permissions.Anchored) bool { return r.Covers(p) })
}

// Path judges one path as a call of a local tool would be judged.
func (j Judge) Path(tool, path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
	got := j.Decide(Subject{Spec: tools.Spec{Name: tool, OwnName: tool, Origin: permissions.OriginLocal}},
		tools.Plan{Uses: []tools.Use{{Path: path, Op: op}}})
	return got.Paths[0], got.Verdict
}
