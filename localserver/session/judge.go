package session

import (
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

// mayRead reports whether the R rules, or the session's own folder, cover a
// path that was resolved already.
func (j Judge) mayRead(p permissions.Path) bool {
	p.Op = permissions.OpRead
	if p.Area != permissions.AreaNone {
		return true
	}
	for _, r := range j.Settings.Rules {
		if r.Covers(p) {
			return true
		}
	}
	return false
}

// Path judges one path as the local tool that does op would be judged.
func (j Judge) Path(path string, op permissions.Op) (permissions.Path, permissions.Verdict) {
	name := toolFor(op)
	got := j.Decide(Subject{Spec: tools.Spec{Name: name, OwnName: name, Origin: permissions.OriginLocal}},
		tools.Plan{Uses: []tools.Use{{Path: path, Op: op}}})
	return got.Paths[0], got.Verdict
}
