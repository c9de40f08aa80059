package services

import (
	"context"
	"strings"
	"time"
)

// Resolver is a Connector that knows which program a start would run, without
// running it.
type Resolver interface {
	// Resolve returns the absolute path of s.Command. s has been expanded.
	Resolve(ctx context.Context, s Spec) (program string, err error)
}

// Preparer is a Connector that needs something which takes a time of its own,
// such as an answer of the user's login shell. No server's time runs meanwhile.
type Preparer interface {
	// Prepare returns once it is there, or when ctx ends.
	Prepare(ctx context.Context)
}

// resolveTime bounds one look-up, which may ask the user's login shell for the
// PATH.
const resolveTime = 5 * time.Second

// resolve finds out which program a start would run, so that a person sees it
// before the first one. Nothing depends on it: a start looks again.
func (s *service) resolve(ctx context.Context) {
	r, ok := s.sup.config.Connector.(Resolver)
	if !ok {
		return
	}
	s.mu.Lock()
	spec, values, key := s.spec, s.saved.Options, launchKey(s.spec, s.saved.Options)
	known := key == s.resolvedFor || spec.remote() || spec.Invalid != nil
	s.mu.Unlock()
	if known {
		return
	}
	program := ""
	// A folder that only lies there runs nothing, not even to find a program.
	asks := strings.Contains(spec.Command, "${node}") || strings.Contains(spec.Command, "${python}")
	if spec, err := Expand(ctx, spec, values, s.sup.vars().still()); err == nil && !asks {
		ctx, cancel := context.WithTimeout(ctx, resolveTime)
		defer cancel()
		if program, err = r.Resolve(ctx, spec); err != nil {
			program = "" // the start will say why
		}
	}
	s.mu.Lock()
	same := program == s.program
	s.resolvedFor, s.program = key, program
	s.mu.Unlock()
	if !same {
		s.edit(func() {})
	}
}
