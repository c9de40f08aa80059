package config

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/services"
	"zeroclaw/services/secrets"
)

// mcp reads [mcp]. Every entry of mcp.servers becomes a definition, so that one
// which cannot be used is shown with its reason; only those that fit the schema
// are known to the policy.
func (c *checker) mcp(s *Settings, n *node, store *secrets.Store, narrow narrow) {
	s.MCP = MCP{Enabled: n.flag("enabled", true), Deferred: n.flag("deferred_loading", false), Off: map[string]bool{}, Pinned: map[string][]string{}}
	if n != nil && n.member("enabled") != nil && n.member("enabled").bad || narrow.servers || n != nil && n.bad {
		s.MCP.Enabled = false
	}
	servers := n.good("servers")
	if servers == nil {
		return
	}
	taken := map[string]bool{}
	for _, e := range servers.elems {
		spec := c.definition(s, e, store)
		if key := strings.ToLower(spec.Name); spec.Name == "" || taken[key] {
			spec.Name = strings.TrimSpace(fmt.Sprintf("%s [%d]", spec.Name, e.index+1))
		}
		taken[strings.ToLower(spec.Name)] = true
		s.MCP.Off[spec.Name] = spec.Disabled
		spec.Disabled = spec.Disabled || !s.MCP.Enabled
		s.MCP.Definitions = append(s.MCP.Definitions, spec)
		if broken(e) {
			continue
		}
		s.MCP.Servers = append(s.MCP.Servers, permissions.Server{
			Name: spec.Name, Origin: permissions.OriginServer, Off: !e.flag("enabled", true),
			Tools: e.texts("tools"), RequireApproval: e.texts("require_approval"),
		})
		if pins := e.texts("pinned_resources"); len(pins) > 0 {
			s.MCP.Pinned[spec.Name] = pins
		}
	}
	if !s.MCP.Enabled && slices.ContainsFunc(s.MCP.Servers, func(x permissions.Server) bool { return !x.Off }) {
		c.report(n.member("enabled"), SevereWarning, CodeNoEffect, "mcp.enabled", "is false, so that the configured servers are not used")
	}
}

// definition is the definition in one entry. What keeps it from being used is in
// its Invalid.
func (c *checker) definition(s *Settings, e *node, store *secrets.Store) services.Spec {
	seconds := func(key string, otherwise int64) time.Duration {
		return time.Duration(e.number(key, otherwise)) * time.Second
	}
	spec := services.Spec{
		Name: e.text("name", ""), Origin: services.OriginServer, Transport: e.text("transport", services.TransportStdio),
		Command: e.text("command", ""), Args: e.texts("args"), Cwd: e.text("cwd", ""),
		URL: e.text("url", ""), CACertPath: e.text("tls_ca_cert_path", ""), MaxResponseBytes: e.number("max_response_bytes", 0),
		CallTimeout: seconds("tool_timeout_secs", 180), HandshakeTimeout: seconds("connect_timeout_secs", 30),
		Probe: seconds("probe_secs", 60), IdleStop: seconds("idle_stop_secs", 0),
		Disabled: !e.flag("enabled", true),
	}
	if spec.Probe == 0 {
		spec.Probe = -1
	}
	env, readable := c.secretMap(e, "env", store)
	for _, k := range sortedKeys(env) {
		spec.Env = append(spec.Env, k+"="+env[k])
	}
	headers, ok := c.secretMap(e, "headers", store)
	readable = readable && ok
	spec.Headers = headers
	missing := c.signIn(s, e, &spec)
	if missing == "" {
		missing = incomplete(spec, e)
	}
	switch line, _ := c.doc.place(e); {
	case broken(e) || !readable:
		spec.Invalid = &services.ManifestError{File: c.file, Line: line, Message: c.firstError(e)}
	case missing != "":
		if !spec.Disabled {
			c.report(e, SevereWarning, CodeIncomplete, showPath(e), "%s", missing)
		}
		spec.Invalid = &services.ManifestError{File: c.file, Line: line, Message: missing}
	}
	return spec
}

// secretMap unseals env or headers; not ok when one of them could not be.
func (c *checker) secretMap(e *node, key string, store *secrets.Store) (values map[string]string, ok bool) {
	values, ok = map[string]string{}, true
	n := e.good(key)
	if n == nil {
		return nil, true
	}
	for _, k := range n.keys {
		v, good := c.secret(n, k, store)
		if ok = ok && good; good {
			values[k] = v
		}
	}
	return values, ok
}

// signIn puts the secret that auth names into the headers. It says what is
// missing.
func (c *checker) signIn(s *Settings, e *node, spec *services.Spec) (missing string) {
	auth := e.text("auth", "none")
	name, isSecret := strings.CutPrefix(auth, "secret:")
	switch {
	case auth == "oauth":
		return "signs in with OAuth, which this version cannot do yet; give a header or a secret of the vault"
	case !isSecret:
		return ""
	}
	value, ok := s.Secrets.Vault[name]
	if !ok {
		return fmt.Sprintf("signs in with the secret %q, which is not in [secrets.vault]", name)
	}
	header := cmp.Or(e.text("auth_header", ""), "Authorization")
	if strings.EqualFold(header, "Authorization") && !strings.Contains(value, " ") {
		value = "Bearer " + value
	}
	if spec.Headers == nil {
		spec.Headers = map[string]string{}
	}
	spec.Headers[header] = value
	return ""
}

// incomplete says what a definition needs before it can be used, "" for
// nothing. It is no error: a server is built up field by field.
func incomplete(spec services.Spec, e *node) string {
	if spec.Transport == services.TransportStdio {
		if strings.TrimSpace(spec.Command) == "" {
			return "needs a command, the program to start"
		}
		return ""
	}
	if strings.TrimSpace(spec.URL) == "" {
		return fmt.Sprintf("needs a url, because its transport is %s", spec.Transport)
	}
	if u, err := url.Parse(spec.URL); err == nil && spec.CACertPath != "" && u.Scheme != "https" {
		return "needs a url with https, because tls_ca_cert_path is set"
	}
	if n := e.good("tls_ca_cert_path"); n != nil && strings.TrimSpace(spec.CACertPath) == "" {
		return "has a tls_ca_cert_path that is empty; name a file or take the setting out"
	}
	return ""
}

// firstError is what was said first about a node or what is below it.
func (c *checker) firstError(e *node) string {
	path := showPath(e)
	for _, p := range c.problems {
		if p.Severity == SevereError && (p.Path == path || strings.HasPrefix(p.Path, path+".")) {
			return strings.TrimPrefix(p.Path+" "+p.Message, path+" ")
		}
	}
	return "cannot be used as it is written"
}
