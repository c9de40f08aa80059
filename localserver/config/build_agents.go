package config

import (
	"slices"

	"zeroclaw/permissions"
)

func (c *checker) profiles(s *Settings, root *node, narrow narrow) {
	s.Profiles = map[string]permissions.Profile{}
	n := root.member("risk_profiles")
	if n == nil {
		return
	}
	for _, name := range n.keys {
		entry := n.kids[name]
		if broken(entry) || narrow.profiles {
			s.Profiles[name] = narrowest()
			continue
		}
		s.Profiles[name] = permissions.Profile{
			Level:       permissions.Level(entry.text("level", "supervised")),
			AutoApprove: entry.texts("auto_approve"), AlwaysAsk: entry.texts("always_ask"),
			AllowedTools: entry.texts("allowed_tools"), ExcludedTools: entry.texts("excluded_tools"),
		}
	}
}

func (c *checker) runtime(s *Settings, n *node) {
	s.RuntimeProfiles = map[string]RuntimeProfile{}
	if n == nil {
		return
	}
	for _, name := range n.keys {
		entry := n.kids[name]
		if entry.kind != tableNode {
			continue
		}
		p := RuntimeProfile{MaxResultChars: int(entry.number("max_tool_result_chars", 32768))}
		if groups := entry.good("tool_filter_groups"); groups != nil {
			for _, g := range groups.elems {
				p.Groups = append(p.Groups, ToolFilterGroup{Always: g.text("mode", "") == "always", Tools: g.texts("tools"), Keywords: g.texts("keywords")})
			}
		}
		s.RuntimeProfiles[name] = p
	}
}

// bundles reads bundles and agents. What a broken bundle excludes cannot be
// known, so that an agent that names one gets no bundle at all.
func (c *checker) bundles(s *Settings, root *node, narrow narrow) {
	s.Bundles, s.Agents, s.AgentRuntime = map[string]permissions.Bundle{}, map[string]permissions.Agent{}, map[string]string{}
	wreck := map[string]bool{}
	all := root.member("mcp_bundles")
	if all != nil && all.bad {
		narrow.servers = true
	}
	if all != nil {
		for _, name := range all.keys {
			b := all.kids[name]
			if wreck[name] = broken(b); wreck[name] {
				s.Bundles[name] = permissions.Bundle{}
				continue
			}
			s.Bundles[name] = permissions.Bundle{Servers: b.texts("servers"), Exclude: b.texts("exclude")}
		}
	}
	agents := root.member("agents")
	if agents != nil && agents.kind == tableNode {
		for _, name := range agents.keys {
			s.Agents[name] = c.agent(s, agents.kids[name], name, wreck, narrow)
		}
	}
	if _, ok := s.Agents[builtinAgent]; !ok {
		a := permissions.Agent{Name: builtinAgent}
		if agents != nil && agents.bad {
			a.Profile = invalidProfile
			s.Profiles[invalidProfile] = narrowest()
		}
		s.Agents[builtinAgent] = a
	}
}

func (c *checker) agent(s *Settings, n *node, name string, wreck map[string]bool, narrow narrow) permissions.Agent {
	a := permissions.Agent{Name: name, Profile: n.text("risk_profile", ""), Bundles: n.texts("mcp_bundles"), Media: n.texts("media")}
	s.AgentRuntime[name] = n.text("runtime_profile", "")
	risk := root(n).member("risk_profiles")
	if n.bad || n.member("risk_profile") != nil && n.member("risk_profile").bad || narrow.agents || risk != nil && risk.bad {
		a.Profile = invalidProfile
		s.Profiles[invalidProfile] = narrowest()
	}
	if tools := n.good("tools"); tools != nil {
		a.Tools = map[string][]string{}
		for _, server := range tools.keys {
			a.Tools[server] = []string{}
			if !tools.kids[server].bad {
				a.Tools[server] = append(a.Tools[server], tools.texts(server)...)
			}
		}
	}
	lost := broken(n.member("mcp_bundles")) || n.member("tools") != nil && n.member("tools").bad || narrow.servers || narrow.agents
	for _, b := range a.Bundles {
		lost = lost || wreck[b]
	}
	if lost || n.bad {
		// What can still be read of the excludes goes on counting, for services
		// that are granted without a bundle.
		stand := Join(invalidProfile, name)
		s.Bundles[stand] = permissions.Bundle{Exclude: readableExcludes(root(n).member("mcp_bundles"))}
		a.Bundles = []string{stand}
		c.report(n, SevereWarning, CodeNoEffect, showPath(n), "reaches no MCP server until what is wrong with it or its bundles is repaired")
	}
	return a
}

// readableExcludes is every server name that any bundle excludes, also where
// the list is written wrongly.
func readableExcludes(bundles *node) []string {
	var list []string
	if bundles == nil {
		return nil
	}
	for _, b := range bundles.kids {
		list = append(list, b.texts("exclude")...)
		if e := b.member("exclude"); e != nil {
			if name, ok := e.value.(string); ok {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// root is the top of the tree that n is in.
func root(n *node) *node {
	for n.parent != nil {
		n = n.parent
	}
	return n
}
