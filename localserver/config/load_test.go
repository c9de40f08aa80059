package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// TestUnreadable: a file that is no TOML starts with defaults that ask for
// everything, says where and why, and is not saved over.
func TestUnreadable(t *testing.T) {
	wide := "[permissions]\npolicy = \"allow_all\"\n"
	tests := []struct {
		name, text string
		line       int
		want       string
	}{
		{"no value", "[[mcp.servers]]\nname=", 2, "value"},
		{"no bracket", wide + "[x\n", 3, "]"},
		{"duplicate key", wide + "policy = \"ask\"\n", 3, ""},
		{"duplicate table", wide + "[permissions]\n", 3, ""},
		{"duplicate across forms", wide + "[a]\nb = 1\n[a.b]\n", 5, ""},
		{"element of a table", "[mcp.servers]\nx = 1\n[[mcp.servers]]\n", 3, ""},
		{"NUL", wide + "a = \"\x00\"\n", 3, "NUL"},
		{"UTF-16 LE", "\xff\xfe[\x00a\x00]\x00", 1, "UTF-16"},
		{"UTF-16 BE", "\xfe\xff\x00[\x00a\x00]", 1, "UTF-16"},
		{"Latin-1", wide + "a = \"\xe9\"\n", 3, "UTF-8"},
		{"bare CR", wide + "a = 1\rb = 2\n", 3, "newline"},
		{"unquoted", "a = ten\n", 1, ""},
		{"number too large", "a = 99999999999999999999\n", 1, "too large"},
		{"bad date", "a = 2024-13-45\n", 1, ""},
		{"deep", "a = " + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + "\n", 1, "deep"},
		{"nested too much", "a = " + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "\n", 1, "64 deep"},
		{"JSON", "{\"permissions\": {}}\n", 1, ""},
		{"binary", "\x7fELF\x01\x02\x03", 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.text)
			f := open(t, dir, "ZEROCLAW_permissions__policy=allow_all")
			s := f.Current()
			if !s.Unreadable || s.Permissions.Policy != permissions.PolicyAsk || len(s.Permissions.Rules) > 0 {
				t.Fatalf("unreadable %v, policy %s", s.Unreadable, s.Permissions.Policy)
			}
			p := s.Problems[0]
			if p.Code != CodeUnreadable || p.Line != tt.line || p.Column < 1 || !strings.Contains(strings.ToLower(p.Message), strings.ToLower(tt.want)) {
				t.Errorf("problem %s (line %d), want line %d, %q", p, p.Line, tt.line, tt.want)
			}
			if !strings.HasPrefix(p.String(), filepath.Join(dir, FileName)+":") {
				t.Errorf("String = %s", p)
			}
			if _, err := f.Set(t.Context(), s.Version, put("server.port", 1)); !errors.Is(err, ErrUnrepaired) {
				t.Errorf("Set = %v", err)
			}
			if got := read(t, dir); got != tt.text {
				t.Errorf("the file was changed to %q", got)
			}
			write(t, dir, wide)
			if s := f.Reload(); s.Unreadable || s.Permissions.Policy != permissions.PolicyAllowAll {
				t.Errorf("after the repair: %v", s.Problems)
			}
			if _, err := f.Set(t.Context(), "", put("server.port", 1)); err != nil {
				t.Errorf("Set after the repair = %v", err)
			}
		})
	}
}

// TestInTheWay: what stands in the place of the file.
func TestInTheWay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("pipes, links and modes are those of unix")
	}
	tests := []struct {
		name, want string
		make       func(path string) error
	}{
		{"folder", "is a folder", func(p string) error { return os.Mkdir(p, 0o700) }},
		{"loop", "circle", func(p string) error { return os.Symlink(p, p) }},
		{"50 MB", "the limit is", func(p string) error {
			if err := os.WriteFile(p, nil, 0o600); err != nil {
				return err
			}
			return os.Truncate(p, 50<<20)
		}},
		{"pipe", "no regular file", makePipe},
		{"device", "no regular file", func(p string) error { return os.Symlink("/dev/zero", p) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, "-")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.make(filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
			f := open(t, dir)
			s := f.Current()
			if !s.Unreadable || !strings.Contains(s.Problems[0].String(), tt.want) {
				t.Errorf("problems %v, want %q", s.Problems, tt.want)
			}
			if _, err := f.Set(t.Context(), "", put("server.port", 1)); !errors.Is(err, ErrUnrepaired) {
				t.Errorf("Set = %v", err)
			}
		})
	}
}

// TestInvalidNarrows: one wrong value never widens anything, is named with its
// place, and the rest goes on.
func TestInvalidNarrows(t *testing.T) {
	tests := []struct {
		name, text string
		place      string // line:column
		want       string // in the problem
		check      func(s *Settings) bool
	}{
		{"permissions is no table", "permissions = 3\n", "1:1", "permissions must be a table, not a whole number", nil},
		{"policy", "[permissions]\npolicy = \"alow_all\"\n", "2:1", `did you mean "allow_all"?`, nil},
		{"policy of another type", "[permissions]\npolicy = true\n", "2:1", "must be text", nil},
		{"tools is no table", "[permissions]\npolicy = \"allow_all\"\ntools = 3\n", "3:1", "must be a table", nil},
		{"directories is no list", "[permissions]\ndirectories = \"RW:/**\"\n", "2:1", "list of texts", func(s *Settings) bool { return len(s.Permissions.Rules) == 0 }},
		{"one rule of another type", "[permissions]\ndirectories = [3, \"R:./a\"]\n", "2:1", "entry 1 is a whole number", func(s *Settings) bool { return len(s.Permissions.Rules) == 1 }},
		{"mode", "[permissions]\npolicy = \"allow_all\"\n[permissions.tools.x]\nmode = \"denied\"\n", "4:1", `did you mean "deny"?`,
			func(s *Settings) bool { return s.Permissions.Tools["x"].Mode == permissions.ModeDeny }},
		{"enabled", "[permissions.tools.x]\nenabled = \"false\"\n", "2:1", "must be true or false", func(s *Settings) bool { return s.Permissions.Tools["x"].Off }},
		{"tool is no table", "[permissions.tools]\nx = \"deny\"\n", "2:1", "must be a table", func(s *Settings) bool { return s.Permissions.Tools["x"].Mode == permissions.ModeDeny }},
		{"level", "[agents.a]\nrisk_profile = \"p\"\n[risk_profiles.p]\nlevel = \"read_only\"\n", "4:1", `did you mean "readonly"?`,
			func(s *Settings) bool { return s.Profiles["p"].Level == permissions.LevelReadonly }},
		{"excluded_tools", "[risk_profiles.p]\nlevel = \"full\"\nexcluded_tools = \"x\"\n", "3:1", "list of texts",
			func(s *Settings) bool { return s.Profiles["p"].Level == permissions.LevelReadonly }},
		{"risk_profiles is no table", "risk_profiles = 1\n[agents.a]\nrisk_profile = \"p\"\n", "1:1", "must be a table",
			func(s *Settings) bool {
				return s.Profiles[s.Agents["a"].Profile].Level == permissions.LevelReadonly
			}},
		{"risk_profile of an agent", "[agents.a]\nrisk_profile = 3\n", "2:1", "must be text",
			func(s *Settings) bool {
				return s.Profiles[s.Agents["a"].Profile].Level == permissions.LevelReadonly
			}},
		{"exclude", "[agents.a]\nmcp_bundles = [\"b\", \"c\"]\n[mcp_bundles.b]\nservers = [\"x\"]\n[mcp_bundles.c]\nexclude = \"x\"\n", "6:1", "list of texts",
			func(s *Settings) bool {
				bundles := s.Agents["a"].Bundles
				return len(bundles) == 1 && len(s.Bundles[bundles[0]].Servers) == 0 && slices.Contains(s.Bundles[bundles[0]].Exclude, "x")
			}},
		{"tools of an agent", "[agents.a.tools]\nx = \"all\"\n", "2:1", "list of texts", func(s *Settings) bool { l, ok := s.Agents["a"].Tools["x"]; return ok && len(l) == 0 }},
		{"assistant is no table", "[agents]\nassistant = 3\n", "2:1", "must be a table",
			func(s *Settings) bool {
				return s.Profiles[s.Agents["assistant"].Profile].Level == permissions.LevelReadonly
			}},
		{"mcp.enabled", "[mcp]\nenabled = \"no\"\n", "2:1", "true or false", func(s *Settings) bool { return !s.MCP.Enabled }},
		{"servers is a number", "mcp.servers = 3\n", "1:1", "mcp.servers must be a list of tables", func(s *Settings) bool { return len(s.MCP.Servers) == 0 }},
		{"timeout", "[[mcp.servers]]\nname = \"a\"\ntool_timeout_secs = 601\n[[mcp.servers]]\nname = \"b\"\n", "3:1", "mcp.servers.a.tool_timeout_secs must be from 1 to 600",
			func(s *Settings) bool { return len(s.MCP.Servers) == 1 && s.MCP.Servers[0].Name == "b" }},
		{"timeout 1e99", "[[mcp.servers]]\nname = \"a\"\ntool_timeout_secs = 1e99\n", "3:1", "not a decimal number", nil},
		{"duplicate server", "[[mcp.servers]]\nname = \"fs\"\n[[mcp.servers]]\nname = \"FS \"\n", "4:1", "", func(s *Settings) bool { return len(s.MCP.Servers) == 1 }},
		{"duplicate server in another case", "[[mcp.servers]]\nname = \"fs\"\n[[mcp.servers]]\nname = \"FS\"\n", "3:1", "has the name of another one (line 1)", func(s *Settings) bool { return len(s.MCP.Servers) == 1 }},
		{"server without a name", "[[mcp.servers]]\ncommand = \"x\"\n", "1:1", "needs a name", func(s *Settings) bool { return len(s.MCP.Servers) == 0 }},
		{"server as a path", "[[mcp.servers]]\nname = \"../x\"\n", "2:1", "must not hold /", func(s *Settings) bool { return len(s.MCP.Servers) == 0 }},
		{"port", "[server]\nport = 70000\n", "2:1", "not 70000", func(s *Settings) bool { return s.Server.Port == 6388 }},
		{"provider", "[providers.a]\nkind = \"openai\"\nbase_url = \"file:///x\"\n[providers.b]\nkind = \"openai\"\n", "3:1", "http or https",
			func(s *Settings) bool { _, a := s.Providers["a"]; _, b := s.Providers["b"]; return !a && b }},
		{"key of a provider", "[providers.a]\nkind = \"openai\"\napi_key = 3\n", "3:1", "must be text", func(s *Settings) bool { _, a := s.Providers["a"]; return !a }},
		{"inline", "permissions = { policy = 3 }\n", "1:17", "must be text", nil},
		{"with a mark", "\xef\xbb\xbfpermissions = 3\r\n", "1:1", "must be a table", nil},
		{"encrypt", "[secrets]\nencrypt = \"no\"\n", "2:1", "true or false", func(s *Settings) bool { return s.Secrets.Encrypt }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.text)
			s := open(t, dir).Current()
			if s.Unreadable || s.Permissions.Policy != permissions.PolicyAsk {
				t.Errorf("unreadable %v, policy %s", s.Unreadable, s.Permissions.Policy)
			}
			prefix := filepath.Join(dir, FileName) + ":" + tt.place + ": "
			if !slices.ContainsFunc(s.Problems, func(p Problem) bool {
				return p.Severity == SevereError && strings.HasPrefix(p.String(), prefix) && strings.Contains(p.String(), tt.want)
			}) {
				t.Errorf("problems %v, want %s … %s", s.Problems, tt.place, tt.want)
			}
			if tt.check != nil && !tt.check(s) {
				t.Errorf("not narrowed: %+v", s)
			}
		})
	}
}

// TestWarnings never change what is granted.
func TestWarnings(t *testing.T) {
	tests := []struct{ name, text, code, want string }{
		{"unknown key", "[server]\nprot = 1\n", CodeUnknownKey, "did you mean port?"},
		{"unknown section", "[future]\nx = 1\n", CodeUnknownKey, "is kept"},
		{"bad rule", "[permissions]\ndirectories = [\"R:./a\", \"nonsense\"]\n", CodeInvalidRule, "rule 2 (nonsense)"},
		{"bundle names unknown server", "[[mcp.servers]]\nname = \"typo\"\n[mcp_bundles.b]\nservers = [\"tpyo\"]\n", CodeUnknownName, `did you mean "typo"?`},
		{"agent names unknown bundle", "[agents.a]\nmcp_bundles = [\"ghost\"]\n", CodeUnknownName, `bundle "ghost"`},
		{"agent names unknown profile", "[agents.a]\nrisk_profile = \"ghost\"\n", CodeUnknownName, `risk profile "ghost"`},
		{"servers but no bundle", "[[mcp.servers]]\nname = \"a\"\n", CodeNoEffect, "in no bundle"},
		{"server in no bundle", "[[mcp.servers]]\nname = \"a\"\n[[mcp.servers]]\nname = \"b\"\n[mcp_bundles.x]\nservers = [\"b\"]\n", CodeNoEffect, "mcp.servers.a is in no bundle"},
		{"disabled", "[mcp]\nenabled = false\n[[mcp.servers]]\nname = \"a\"\n", CodeNoEffect, "is false"},
		{"plain secrets", "[secrets]\nencrypt = false\n", CodePlainSecret, "plain text"},
		{"provider without kind", "[providers.a]\nmodel = \"m\"\n", CodeIncomplete, "needs a kind"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, folder(t, tt.text)).Current()
			if !slices.ContainsFunc(s.Problems, func(p Problem) bool {
				return p.Severity == SevereWarning && p.Code == tt.code && p.Line > 0 && strings.Contains(p.String(), tt.want)
			}) {
				t.Errorf("problems %v, want %s %q", s.Problems, tt.code, tt.want)
			}
		})
	}
}

func TestReadsEverything(t *testing.T) {
	s := open(t, folder(t, `
[server]
ui_origin = "https://ui.example.org"
exit_when_idle = "10m"
approval_timeout_secs = 60
[permissions]
policy = "allow_all"
directories = ["R:./docs/**", "# note", ""]
[permissions.tools.execute_command]
mode = "allow"
enabled = false
[mcp]
deferred_loading = true
[[mcp.servers]]
name = "fs"
command = "npx"
tools = ["read"]
require_approval = ["write"]
[[mcp.servers]]
name = "off"
enabled = false
[mcp_bundles.files]
servers = ["fs"]
exclude = ["off"]
[agents.writer]
risk_profile = "careful"
runtime_profile = "long"
mcp_bundles = ["files"]
tools = { fs = ["read"] }
media = ["fs"]
[risk_profiles.careful]
level = "full"
auto_approve = ["a"]
always_ask = ["*"]
allowed_tools = ["b"]
excluded_tools = ["c"]
[runtime_profiles.long]
tool_filter_groups = [{mode="always", tools=["browser__*"], keywords=["browse"]}]
max_tool_result_chars = 7
[providers.work]
kind = "anthropic"
model = "m"
models = ["m", "n"]
[secrets.vault]
name = "value-of-it"
`)).Current()
	if len(s.Problems) != 0 {
		t.Errorf("problems %v", s.Problems)
	}
	a, p := s.Agents["writer"], s.Profiles["careful"]
	ok := s.Server.UIOrigin == "https://ui.example.org" && s.Server.ExitWhenIdle.Minutes() == 10 && s.Server.ApprovalTimeout.Seconds() == 60 &&
		s.Permissions.Policy == permissions.PolicyAllowAll && len(s.Permissions.Rules) == 1 && s.Permissions.Tools["execute_command"] == permissions.ToolSetting{Mode: permissions.ModeAllow, Off: true} &&
		s.MCP.Deferred && len(s.MCP.Servers) == 2 && s.MCP.Servers[1].Off && s.MCP.Servers[0].Tools[0] == "read" && s.MCP.Servers[0].RequireApproval[0] == "write" &&
		s.Bundles["files"].Servers[0] == "fs" && s.Bundles["files"].Exclude[0] == "off" &&
		a.Profile == "careful" && a.Bundles[0] == "files" && a.Tools["fs"][0] == "read" && a.Media[0] == "fs" && s.AgentRuntime["writer"] == "long" &&
		p.Level == permissions.LevelFull && p.AutoApprove[0] == "a" && p.AlwaysAsk[0] == "*" && p.AllowedTools[0] == "b" && p.ExcludedTools[0] == "c" &&
		s.RuntimeProfiles["long"].MaxResultChars == 7 && s.RuntimeProfiles["long"].Groups[0].Always &&
		s.Providers["work"].Kind == "anthropic" && s.Providers["work"].Models[1] == "n" && s.Secrets.Vault["name"] == "value-of-it"
	if !ok {
		t.Errorf("settings %+v", s)
	}
}

func TestModes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are checked on unix only")
	}
	dir := folder(t, "[server]\nport = 1\n")
	if err := os.Chmod(filepath.Join(dir, FileName), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir)
	if s := f.Current(); len(s.Problems) != 1 || s.Problems[0].Code != CodeFileMode {
		t.Errorf("problems %v", s.Problems)
	}
	// A save that changes nothing else repairs the mode.
	mustSet(t, f, put("server.port", 1)...)
	for name, want := range map[string]os.FileMode{FileName: 0o600, FileName + ".bak": 0o600, ".": 0o700} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", name, info.Mode(), err)
		}
	}
	if s := f.Current(); len(s.Problems) != 0 {
		t.Errorf("problems after the save %v", s.Problems)
	}
	for _, mode := range []os.FileMode{0o777, 0o770} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("Open with mode %o = %v", mode, err)
		}
	}
	if _, err := Open(Config{Dir: "relative"}); err == nil {
		t.Error("a relative folder was accepted")
	}
	if _, err := Open(Config{Dir: filepath.Join(dir, FileName)}); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("Open of a file = %v", err)
	}
}

func TestSymlink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on windows")
	}
	dir, dotfiles := folder(t, "-"), t.TempDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	link, target := filepath.Join(dir, FileName), filepath.Join(dotfiles, "zeroclaw.toml")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir)
	if s := f.Current(); s.Exists || len(s.Problems) > 0 {
		t.Fatalf("a dangling link: %v", s.Problems)
	}
	for port := range 3 {
		mustSet(t, f, put("server.port", port+1)...)
	}
	if to, err := os.Readlink(link); err != nil || to != target {
		t.Errorf("the link became %q, %v", to, err)
	}
	data, err := os.ReadFile(target)
	if err != nil || string(data) != "[server]\nport = 3\n" {
		t.Errorf("target %q, %v", data, err)
	}
	entries, _ := os.ReadDir(dotfiles)
	if len(entries) != 1 {
		t.Errorf("left in the other folder: %v", entries)
	}
	if os.Geteuid() == 0 {
		if err := os.Chown(target, 12345, 12345); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Set(t.Context(), "", put("server.port", 9)); err == nil || !strings.Contains(err.Error(), "another user") {
			t.Errorf("saving over another user's file = %v", err)
		}
	}
}

// TestKeepsTighter: a file that breaks while the companion runs asks for
// everything, and what was denied stays so.
func TestKeepsTighter(t *testing.T) {
	dir := folder(t, "[permissions]\npolicy = \"allow_all\"\n[permissions.tools.x]\nmode = \"deny\"\n[permissions.tools.y]\nmode = \"allow\"\n[providers.p]\nkind = \"openai\"\n")
	f := open(t, dir)
	write(t, dir, "[permissions\n")
	s := f.Reload()
	if !s.Unreadable || s.Permissions.Policy != permissions.PolicyAsk || s.Permissions.Tools["x"].Mode != permissions.ModeDeny || s.Permissions.Tools["y"].Mode == permissions.ModeAllow {
		t.Errorf("permissions %+v", s.Permissions)
	}
	if _, ok := s.Providers["p"]; !ok {
		t.Error("the provider is gone")
	}
}
