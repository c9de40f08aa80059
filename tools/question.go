package tools

import (
	"slices"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
)

// questionOf is the question about a call.
func questionOf(c Call, s Spec, j Judged) approval.Question {
	v := j.Verdict
	q := approval.Question{
		Kind: approval.KindCall, Session: c.Session, Conversation: c.Conversation, CallID: c.ID,
		Agent: c.Agent, Client: c.Client, App: c.App, ClientName: c.ClientName,
		Tool: s.Name, Server: s.Server, Title: s.Title, Reason: v.Reason, Key: v.Key, Args: v.Args, Rule: v.Rule, Row: v.Row,
		Arguments: c.Arguments, Proposed: v.Proposed, Definition: j.DefinitionDiff, DefinitionHash: j.DefinitionHash,
		Choices: []approval.Decision{approval.Once, approval.Session, approval.Always, approval.Rule, approval.Deny, approval.Stop},
	}
	if v.OnceOnly {
		q.Choices, q.Proposed = []approval.Decision{approval.Once, approval.Deny, approval.Stop}, nil
	} else if len(q.Proposed) == 0 {
		q.Choices = slices.DeleteFunc(q.Choices, func(d approval.Decision) bool { return d == approval.Rule })
	}
	paths := j.Paths
	if cmd := j.Command; cmd != nil {
		q.Command = &approval.Command{Text: cmd.Text, Cwd: cmd.Cwd.Real, Class: cmd.Class, Marks: append([]permissions.Mark{}, cmd.Marks...)}
		paths = cmd.Paths
	}
	for _, p := range paths {
		q.Resolved = append(q.Resolved, approval.Resolved{Path: p.Real, Access: p.Op.Access(), Op: p.Op})
	}
	return q
}

// sameConsent reports whether what would run is what was shown: the same
// definition, paths and files, and for a write the same contents before it.
func sameConsent(shown, now Judged) bool {
	same := func(a, b permissions.Path) bool {
		if a.Real != b.Real || a.Op != b.Op || a.Kind != b.Kind || a.Dev != b.Dev || a.Ino != b.Ino {
			return false
		}
		// What is written was shown as a difference to what was there.
		return a.Op != permissions.OpWrite || a.Size == b.Size && a.Modified == b.Modified
	}
	if shown.DefinitionHash != now.DefinitionHash || !slices.EqualFunc(shown.Paths, now.Paths, same) {
		return false
	}
	if shown.Command == nil || now.Command == nil {
		return shown.Command == now.Command
	}
	return shown.Command.Class == now.Command.Class && same(shown.Command.Cwd, now.Command.Cwd) &&
		slices.EqualFunc(shown.Command.Paths, now.Command.Paths, same)
}
