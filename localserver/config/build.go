package config

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/services/secrets"
)

// narrow says which sections must count as broken although they look well: an
// override that was ignored might have narrowed them.
type narrow struct{ permissions, profiles, agents, servers bool }

// build makes the plain structs out of a checked tree. Whatever is marked bad
// counts as the value that permits least.
func (c *checker) build(store *secrets.Store, narrow narrow) *Settings {
	root := c.doc.root
	s := &Settings{root: root}
	c.server(s, root.member("server"))
	c.permissions(s, root.member("permissions"), narrow)
	c.secrets(s, root.member("secrets"), store)
	c.providers(s, root.member("providers"), store)
	c.profiles(s, root, narrow)
	c.runtime(s, root.member("runtime_profiles"))
	c.mcp(s, root.member("mcp"), narrow)
	c.bundles(s, root, narrow)
	c.references(s)
	slices.SortStableFunc(c.problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(string(a.Severity), string(b.Severity)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	s.Problems = c.problems
	return s
}

// good is the value under a key when it fits, else nil.
func (n *node) good(key string) *node {
	kid := n.member(key)
	if kid == nil || kid.bad {
		return nil
	}
	return kid
}

func (n *node) text(key, otherwise string) string {
	if kid := n.good(key); kid != nil {
		if s, ok := kid.value.(string); ok {
			return s
		}
	}
	return otherwise
}

func (n *node) flag(key string, otherwise bool) bool {
	if kid := n.good(key); kid != nil {
		if b, ok := kid.value.(bool); ok {
			return b
		}
	}
	return otherwise
}

func (n *node) number(key string, otherwise int64) int64 {
	if kid := n.good(key); kid != nil {
		if i, ok := kid.value.(int64); ok {
			return i
		}
	}
	return otherwise
}

// texts is a list of strings; elements that are none are left out.
func (n *node) texts(key string) []string {
	kid := n.member(key)
	if kid == nil {
		return nil
	}
	var list []string
	for _, e := range kid.elems {
		if s, ok := e.value.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

func (c *checker) server(s *Settings, n *node) {
	idle, _ := time.ParseDuration(n.text("exit_when_idle", ""))
	s.Server = Server{
		Port:            int(n.number("port", 6388)),
		UIOrigin:        n.text("ui_origin", ""),
		ExitWhenIdle:    idle,
		ApprovalTimeout: time.Duration(n.number("approval_timeout_secs", 120)) * time.Second,
	}
}

// permissions reads [permissions]. A rule that is none grants nothing and a
// tool whose entry is broken is denied and off; anything broken at all makes
// the policy ask.
func (c *checker) permissions(s *Settings, n *node, narrow narrow) {
	p := Permissions{Policy: permissions.PolicyAsk, Tools: map[string]permissions.ToolSetting{}}
	if n.text("policy", "") == string(permissions.PolicyAllowAll) && !broken(n) && !narrow.permissions {
		p.Policy = permissions.PolicyAllowAll
	}
	p.Directories = n.texts("directories")
	p.Rules, p.Invalid = permissions.ParseRules(p.Directories)
	for _, bad := range p.Invalid {
		c.report(n.member("directories"), SevereWarning, CodeInvalidRule, "permissions.directories", "rule %d (%s) is ignored: %s", bad.Line, bad.Text, bad.Message)
	}
	if narrow.permissions {
		p.Rules = nil
	}
	tools := n.member("tools")
	if tools != nil && tools.kind == tableNode {
		for _, name := range tools.keys {
			entry := tools.kids[name]
			if broken(entry) {
				p.Tools[name] = permissions.ToolSetting{Mode: permissions.ModeDeny, Off: entry.member("enabled") != nil && entry.member("enabled").bad}
				continue
			}
			set := permissions.ToolSetting{Mode: permissions.Mode(entry.text("mode", "ask")), Off: !entry.flag("enabled", true)}
			if narrow.permissions && set.Mode == permissions.ModeAllow {
				set.Mode = permissions.ModeAsk
			}
			p.Tools[name] = set
		}
	}
	s.Permissions = p
}

func (c *checker) secrets(s *Settings, n *node, store *secrets.Store) {
	s.Secrets = Secrets{Encrypt: n.flag("encrypt", true), Vault: map[string]string{}}
	if !s.Secrets.Encrypt {
		c.report(n.member("encrypt"), SevereWarning, CodePlainSecret, "secrets.encrypt", "is false: secrets stand in the file as plain text")
	}
	if vault := n.good("vault"); vault != nil {
		for _, name := range vault.keys {
			if v, ok := c.secret(vault, name, store); ok {
				s.Secrets.Vault[name] = v
			}
		}
	}
}

// secret unseals one value. A failure is loud and marks the node bad, so that
// no ciphertext goes anywhere.
func (c *checker) secret(n *node, key string, store *secrets.Store) (string, bool) {
	kid := n.member(key)
	if kid == nil {
		return "", true
	}
	value, ok := kid.value.(string)
	if kid.bad || !ok {
		return "", false
	}
	plain, err := store.Unseal(value)
	if err != nil {
		kid.bad = true
		c.report(kid, SevereError, CodeSecret, showPath(kid), "cannot be used: %v", err)
		return "", false
	}
	return plain, true
}

func (c *checker) providers(s *Settings, n *node, store *secrets.Store) {
	s.Providers = map[string]Provider{}
	if n == nil || n.bad {
		return
	}
	for _, name := range n.keys {
		entry := n.kids[name]
		key, ok := c.secret(entry, "api_key", store)
		if broken(entry) || !ok {
			continue
		}
		kind := entry.text("kind", "")
		if kind == "" {
			c.report(entry, SevereWarning, CodeIncomplete, showPath(entry), "needs a kind, openai or anthropic; it is not used until then")
			continue
		}
		s.Providers[name] = Provider{
			Name: name, Kind: kind, APIKey: key,
			BaseURL: cmp.Or(entry.text("base_url", ""), defaultURL[kind]),
			Model:   entry.text("model", ""), Models: entry.texts("models"),
		}
	}
}

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

func (c *checker) mcp(s *Settings, n *node, narrow narrow) {
	s.MCP = MCP{Enabled: n.flag("enabled", true), Deferred: n.flag("deferred_loading", false)}
	if n != nil && n.member("enabled") != nil && n.member("enabled").bad || narrow.servers || n != nil && n.bad {
		s.MCP.Enabled = false
	}
	servers := n.good("servers")
	if servers == nil {
		return
	}
	for _, e := range servers.elems {
		if broken(e) || !e.flag("enabled", true) {
			continue
		}
		s.MCP.Servers = append(s.MCP.Servers, permissions.Server{
			Name: e.text("name", ""), Origin: permissions.OriginServer,
			Tools: e.texts("tools"), RequireApproval: e.texts("require_approval"),
		})
	}
	if len(s.MCP.Servers) > 0 && !s.MCP.Enabled {
		c.report(n.member("enabled"), SevereWarning, CodeNoEffect, "mcp.enabled", "is false, so that the configured servers are not used")
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
