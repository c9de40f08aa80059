package config

import (
	"errors"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

func TestEnvironment(t *testing.T) {
	dir := folder(t, "[[mcp.servers]]\nname = \"fs\"\ncommand = \"npx\"\n[permissions]\npolicy = \"ask\"\n")
	f := open(t, dir,
		"HOME=/x", "ZEROCLAW_CONFIG_DIR=/elsewhere", "ZEROCLAW_PORT=nonsense",
		"ZEROCLAW_server__port=7001",
		"ZEROCLAW_permissions__policy=allow_all",
		"ZEROCLAW_permissions__directories=R:./a, R:./b",
		"ZEROCLAW_permissions__tools__fs__read__enabled=false",
		"ZEROCLAW_mcp__servers__fs__command=uvx",
		"ZEROCLAW_mcp__servers__fresh__args=[\"-y\", \"a,b\"]",
		"ZEROCLAW_mcp__servers__fresh__env={\"KEY\":\"planted-secret\"}",
		"ZEROCLAW_providers__work__kind=openai",
		"ZEROCLAW_providers__work__api_key=planted-key",
		"ZEROCLAW_mcp_bundles__files__servers=fs")
	s := f.Current()
	if s.Server.Port != 7001 || s.Permissions.Policy != permissions.PolicyAllowAll || len(s.Permissions.Rules) != 2 || !s.Permissions.Tools["fs__read"].Off {
		t.Errorf("settings %+v %+v", s.Server, s.Permissions)
	}
	if len(s.MCP.Servers) != 2 || s.Providers["work"].APIKey != "planted-key" || s.Bundles["files"].Servers[0] != "fs" {
		t.Errorf("servers %+v, providers %+v", s.MCP.Servers, s.Providers)
	}
	values := map[string]Prop{}
	for _, p := range s.List("") {
		values[p.Path] = p
	}
	if p := values["mcp.servers.fs.command"]; p.Value != "uvx" || p.Override != "ZEROCLAW_mcp__servers__fs__command" {
		t.Errorf("prop %+v", p)
	}
	if p := values["mcp.servers.fresh.env.KEY"]; p.Override == "" || p.Value != nil || !p.Populated {
		t.Errorf("prop %+v", p)
	}
	if s.Overrides["permissions.tools.fs__read.enabled"] == "" || s.Overrides["mcp.servers.fresh.args"] == "" {
		t.Errorf("overrides %v", s.Overrides)
	}
	warned := 0
	for _, p := range s.Problems {
		if strings.Contains(p.String(), "planted") {
			t.Errorf("a problem shows the value: %s", p)
		}
		if p.Code == CodeEnvSecret && strings.HasPrefix(p.String(), "ZEROCLAW_providers__work__api_key: ") {
			warned++
		}
	}
	if warned != 1 {
		t.Errorf("problems %v", s.Problems)
	}

	// Nothing of it is ever saved, neither with another setting nor with its own.
	mustSet(t, f, put("server.ui_origin", "https://a.example")...)
	mustSet(t, f, put("mcp.servers.fs.command", "node")...)
	if got := read(t, dir); got != "[[mcp.servers]]\nname = \"fs\"\ncommand = \"node\"\n[permissions]\npolicy = \"ask\"\n\n[server]\nui_origin = \"https://a.example\"\n" {
		t.Errorf("the file holds\n%s", got)
	}
	if p, _ := f.Current().Get("mcp.servers.fs.command"); p.Value != "uvx" {
		t.Errorf("the override no longer counts: %+v", p)
	}
}

func TestEnvironmentRefuses(t *testing.T) {
	tests := []struct{ variable, value, want string }{
		{"ZEROCLAW_mcp__nope", "1", "known here"},
		{"ZEROCLAW_server__prot", "1", "the nearest is server.port"},
		{"ZEROCLAW_sever__port", "1", "the nearest is server.port"},
		{"ZEROCLAW_schema_version", "1", "names no setting"},
		{"ZEROCLAW_server", "1", "a section"},
		{"ZEROCLAW_server__port", "many", "whole number"},
		{"ZEROCLAW_server__port", "0", "from 1 to 65535"},
		{"ZEROCLAW_permissions__policy", "everything", `"ask" or "allow_all"`},
		{"ZEROCLAW_permissions__tools__x__enabled", "TRUE", "true or false"},
		{"ZEROCLAW_mcp__servers__a__b__command", "x", `must not hold "__"`},
		{"ZEROCLAW_mcp__servers__a__args", "[\"x\"", "no list in JSON"},
		{"ZEROCLAW_mcp__servers__a__env", "[1]", "object in JSON"},
		{"ZEROCLAW_mcp__servers__a__name", "b", "part of the variable"},
		{"ZEROCLAW_mcp__servers__", "b", "names no setting"},
		{"ZEROCLAW_mcp__servers", "[]", "a section"},
		{"ZEROCLAW_Server__port", "1", "names no setting"},
	}
	for _, tt := range tests {
		t.Run(tt.variable, func(t *testing.T) {
			dir := folder(t, "[permissions]\npolicy = \"ask\"\n")
			c := Config{Dir: dir, Environ: []string{tt.variable + "=" + tt.value}}
			_, err := Open(c)
			var ee *EnvError
			if !errors.As(err, &ee) || ee.Variable != tt.variable || !strings.Contains(ee.Message, tt.want) {
				t.Errorf("Open = %v, want %q", err, tt.want)
			}
			c.IgnoreBadEnv = true
			f, err := Open(c)
			if err != nil {
				t.Fatal(err)
			}
			if p := f.Current().Problems; len(p) == 0 || p[0].Code != CodeOverride || p[0].Variable != tt.variable {
				t.Errorf("problems %v", p)
			}
		})
	}
}

// TestIgnoredOverrideNarrows: an ignored variable may have been meant to
// narrow what the file allows.
func TestIgnoredOverrideNarrows(t *testing.T) {
	text := "[permissions]\npolicy = \"allow_all\"\ndirectories = [\"RW:./**\"]\n[permissions.tools.x]\nmode = \"allow\"\n[risk_profiles.p]\nlevel = \"full\"\n"
	tests := []struct {
		variable        string
		policy, profile bool
	}{
		{"ZEROCLAW_permissions__polcy", true, false},
		{"ZEROCLAW_permission__policy", true, false},
		{"ZEROCLAW_risk_profiles__p__lvl", false, true},
		{"ZEROCLAW_server__prot", false, false},
		{"ZEROCLAW_qqqqqqqq", true, true},
	}
	for _, tt := range tests {
		f, err := Open(Config{Dir: folder(t, text), Environ: []string{tt.variable + "=ask"}, IgnoreBadEnv: true})
		if err != nil {
			t.Fatal(err)
		}
		s := f.Current()
		if got := s.Permissions.Policy == permissions.PolicyAsk; got != tt.policy {
			t.Errorf("%s: asks %v, want %v", tt.variable, got, tt.policy)
		}
		if got := s.Permissions.Tools["x"].Mode == permissions.ModeAsk && len(s.Permissions.Rules) == 0; got != tt.policy {
			t.Errorf("%s: tools and rules narrowed %v, want %v", tt.variable, got, tt.policy)
		}
		if got := s.Profiles["p"].Level == permissions.LevelReadonly; got != tt.profile {
			t.Errorf("%s: profile narrowed %v, want %v", tt.variable, got, tt.profile)
		}
	}
}
