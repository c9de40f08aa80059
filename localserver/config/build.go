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
	c.mcp(s, root.member("mcp"), store, narrow)
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
