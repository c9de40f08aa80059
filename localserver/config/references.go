package config

import (
	"fmt"
	"strings"
)

// references warns about names that lead nowhere. They grant nothing.
func (c *checker) references(s *Settings) {
	servers := map[string]bool{}
	list := s.root.member("mcp").member("servers")
	if list != nil {
		for _, e := range list.elems {
			if name := e.text("name", ""); name != "" {
				servers[name] = true
			}
		}
	}
	granted := map[string]bool{}
	bundles := s.root.member("mcp_bundles")
	if bundles != nil {
		for _, b := range bundles.keys {
			for _, key := range []string{"servers", "exclude"} {
				for _, name := range bundles.kids[b].texts(key) {
					granted[name] = true
					if !servers[name] {
						c.unknownName(bundles.kids[b].member(key), "server", name, sortedKeys(servers))
					}
				}
			}
		}
	}
	agents := s.root.member("agents")
	if agents != nil {
		for _, a := range agents.keys {
			n := agents.kids[a]
			for _, name := range n.texts("mcp_bundles") {
				if _, ok := s.Bundles[name]; !ok {
					c.unknownName(n.member("mcp_bundles"), "bundle", name, sortedKeys(s.Bundles))
				}
			}
			if name := n.text("risk_profile", ""); name != "" {
				if _, ok := s.Profiles[name]; !ok {
					c.unknownName(n.member("risk_profile"), "risk profile", name, sortedKeys(s.Profiles))
				}
			}
			if name := n.text("runtime_profile", ""); name != "" {
				if _, ok := s.RuntimeProfiles[name]; !ok {
					c.unknownName(n.member("runtime_profile"), "runtime profile", name, sortedKeys(s.RuntimeProfiles))
				}
			}
		}
	}
	switch {
	case len(servers) == 0:
	case bundles == nil || len(bundles.keys) == 0:
		c.report(list, SevereWarning, CodeNoEffect, "mcp.servers", "are in no bundle, so that no agent reaches them; add [mcp_bundles.NAME] and name it in an agent")
	default:
		for _, name := range sortedKeys(servers) {
			if n := enabledEntry(list, name); !granted[name] && n != nil {
				c.report(n, SevereWarning, CodeNoEffect, Join("mcp.servers", name), "is in no bundle, so that no agent reaches it")
			}
		}
	}
}

// enabledEntry is the entry of a server, nil when it is switched off.
func enabledEntry(list *node, name string) *node {
	for _, e := range list.elems {
		if e.text("name", "") == name && e.flag("enabled", true) {
			return e
		}
	}
	return nil
}

func (c *checker) unknownName(n *node, what, name string, known []string) {
	message := fmt.Sprintf("names the %s %q, which does not exist and grants nothing", what, name)
	if near := nearest(name, known); near != "" {
		message += fmt.Sprintf("; did you mean %q?", near)
	} else if len(known) > 0 && len(known) <= 8 {
		message += "; known: " + strings.Join(known, ", ")
	}
	c.report(n, SevereWarning, CodeUnknownName, showPath(n), "%s", message)
}
