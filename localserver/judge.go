package localserver

import (
	"zeroclaw/localserver/config"
	"zeroclaw/localserver/session"
	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/resolve"
)

// rootResolver resolves under the root of new sessions.
func (s *Server) rootResolver() *resolve.Resolver {
	r, err := s.resolver(s.Root())
	if err != nil {
		// The root was checked when it was set; should it be gone, nothing
		// relative resolves, so that no rule covers anything.
		r, _ = s.resolver(s.config.State)
	}
	return r
}

func (s *Server) resolver(root string) (*resolve.Resolver, error) {
	return s.resolvers.New(resolve.Config{Root: root, Home: s.config.Home, State: s.config.State, Pids: s.pids})
}

// judgeFor decides as a new session of the built-in agent would under a root.
func (s *Server) judgeFor(root string) (session.Judge, error) {
	r, err := s.resolver(root)
	if err != nil {
		return session.Judge{}, err
	}
	return judgeOf(s.file.Current(), r, s.policy, s.memory), nil
}

// judgeOf decides as a new session of the built-in agent would.
func judgeOf(c *config.Settings, r *resolve.Resolver, p *session.Policy, m *approval.Memory) session.Judge {
	in := inputsOf(c)
	in.Agent = permissions.BuiltinAgent
	grant, _ := permissions.NewGrant(in)
	return session.Judge{Resolver: r, Grant: grant, Settings: p.Settings(r, m.For(""))}
}
