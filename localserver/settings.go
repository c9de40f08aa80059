package localserver

import (
	"slices"

	"zeroclaw/localserver/config"
	"zeroclaw/localserver/relay"
	"zeroclaw/localserver/session"
	"zeroclaw/permissions"
	"zeroclaw/tools/results"
)

// applyConfig makes a configuration count for what is live: permissions, tool
// modes and which servers there are.
func (s *Server) applyConfig(now *config.Settings) {
	s.mu.Lock()
	old := s.settings
	s.settings = now
	s.mu.Unlock()
	if old == now {
		return
	}
	if err := s.policy.Set(valuesOf(now), s.rootResolver()); err != nil {
		s.problem("rule_bases", err.Error())
	}
	s.services.Set(now.MCP.Definitions)
}

func valuesOf(c *config.Settings) session.Values {
	return session.Values{Version: c.Version, Policy: c.Permissions.Policy, Directories: c.Permissions.Directories, Tools: c.Permissions.Tools, Unreadable: c.Unreadable}
}

// inputs are what the grant of a session that is being opened is computed from.
func (s *Server) inputs() permissions.Inputs {
	s.services.Rescan()
	return inputsOf(s.file.Current())
}

// inputsOf are what grants are computed from.
func inputsOf(c *config.Settings) permissions.Inputs {
	return permissions.Inputs{Agents: c.Agents, Bundles: c.Bundles, Profiles: c.Profiles, Servers: slices.Clone(c.MCP.Servers), MCPEnabled: c.MCP.Enabled}
}

func (s *Server) maxChars(agent string) int {
	c := s.file.Current()
	if n := c.RuntimeProfiles[c.AgentRuntime[agent]].MaxResultChars; n > 0 {
		return n
	}
	return results.DefaultMaxChars
}

// exposure is what a model is shown of an agent's tools.
func (s *Server) exposure(agent string) session.Exposure {
	c := s.file.Current()
	e := session.Exposure{Deferred: c.MCP.Deferred, Pinned: c.MCP.Pinned}
	for _, g := range c.RuntimeProfiles[c.AgentRuntime[agent]].Groups {
		e.Groups = append(e.Groups, session.FilterGroup{Always: g.Always, Tools: g.Tools, Keywords: g.Keywords})
	}
	return e
}

// media reports whether an agent admits images and audio of a server.
func (s *Server) media(agent, server string) bool {
	return slices.Contains(s.file.Current().Agents[agent].Media, server)
}

func (s *Server) provider(name string) (relay.Provider, bool) {
	p, ok := s.file.Current().Providers[name]
	return relay.Provider{Name: p.Name, Kind: p.Kind, BaseURL: p.BaseURL, Key: p.APIKey}, ok
}
