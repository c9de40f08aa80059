package session

import (
	"fmt"

	"zeroclaw/permissions/approval"
)

// Remember saves what an answer asks to be remembered. It is the hook of
// approval.Config of the same name.
func (s *Sessions) Remember(q approval.Question, a approval.Answer) error {
	if a.Decision == approval.Rule {
		asking, err := s.Get(q.Session)
		if err != nil {
			return err
		}
		return s.config.SaveRule(a.Rule, asking.resolver)
	}
	d := approval.Remembered{Scope: approval.ScopeSession, Session: q.Session, Tool: q.Tool, DefinitionHash: q.DefinitionHash}
	if a.Decision == approval.Always {
		d.Scope, d.Session = approval.ScopeAlways, ""
	}
	if q.Command != nil {
		d.Command, d.Cwd = q.Command.Text, q.Command.Cwd
	}
	err := s.config.Memory.Add(d)
	if err == nil && q.Definition != "" {
		err = s.acceptAsShown(q)
	}
	return err
}

// acceptAsShown pins a changed definition, unless it changed again while the
// question waited.
func (s *Sessions) acceptAsShown(q approval.Question) error {
	for d, t := range s.known.get().tools {
		if t.tool.Hash == q.DefinitionHash && d.Server == q.Server {
			return s.config.Definitions.Accept(q.Tool, s.accepted(t))
		}
	}
	return fmt.Errorf("the definition of %s changed again", q.Tool)
}
