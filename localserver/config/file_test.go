package config

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// folder makes a state folder with a config.toml, unless text is "-".
func folder(t *testing.T, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "state")
	if text == "-" {
		return dir
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, dir, text)
	return dir
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func open(t *testing.T, dir string, environ ...string) *File {
	t.Helper()
	f, err := Open(Config{Dir: dir, Environ: append([]string{}, environ...)})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func put(path string, value any) []Edit { return []Edit{{Path: path, Value: value}} }

func mustSet(t *testing.T, f *File, edits ...Edit) {
	t.Helper()
	if _, err := f.Set(t.Context(), "", edits); err != nil {
		t.Fatal(err)
	}
}

func TestDefaults(t *testing.T) {
	dir := folder(t, "-")
	s := open(t, dir).Current()
	if s.Server.Port != 6388 || s.Server.ApprovalTimeout.Seconds() != 120 || s.Permissions.Policy != permissions.PolicyAsk || !s.Secrets.Encrypt || !s.MCP.Enabled {
		t.Errorf("defaults: %+v", s)
	}
	if _, ok := s.Agents["assistant"]; !ok || s.Exists || len(s.Problems) > 0 {
		t.Errorf("assistant %v, exists %v, problems %v", s.Agents, s.Exists, s.Problems)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("opening made the folder")
	}
}

func TestFirstSave(t *testing.T) {
	dir := folder(t, "-")
	f := open(t, dir)
	old := f.Current().Version
	version, err := f.Set(t.Context(), old, []Edit{
		{Path: "providers.work.kind", Value: "openai"},
		{Path: "providers.work.api_key", Value: "s3cret-key"},
		{Path: "permissions.directories", Value: []any{"R:./**"}},
		{Path: "permissions.tools.execute_command.mode", Value: "deny"},
		{Path: "server.port", Value: json.Number("7000")},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := f.Current()
	if version == old || s.Version != version || !s.Exists {
		t.Errorf("version %q, was %q", version, old)
	}
	if p := s.Providers["work"]; p.APIKey != "s3cret-key" || p.BaseURL != "https://api.openai.com/v1" {
		t.Errorf("provider %+v", p)
	}
	if len(s.Permissions.Rules) != 1 || s.Permissions.Tools["execute_command"].Mode != permissions.ModeDeny || s.Server.Port != 7000 {
		t.Errorf("settings %+v", s.Permissions)
	}
	text := read(t, dir)
	if strings.Contains(text, "s3cret") || !strings.Contains(text, "api_key = \"enc2:") {
		t.Errorf("the file holds\n%s", text)
	}
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]os.FileMode{".": 0o700, FileName: 0o600, ".secret_key": 0o600} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v %v, want %v", name, info.Mode(), err, mode)
			}
		}
	}
	again := open(t, dir).Current()
	if again.Providers["work"].APIKey != "s3cret-key" || again.Version != version {
		t.Errorf("opened again: %+v", again.Providers)
	}
	// The redactor knows the key from now on.
	if got := f.config.Secrets.Redact("x s3cret-key y"); strings.Contains(got, "s3cret") {
		t.Errorf("Redact = %q", got)
	}
}

func TestSetRefuses(t *testing.T) {
	text := "# mine\n[providers.work]\nkind = \"openai\"\n\n[[mcp.servers]]\nname = \"fs\"\n"
	tests := []struct {
		name, path string
		value      any
		want       string
		unknown    bool
	}{
		{"unknown", "providers.work.modle", "x", "did you mean providers.work.model?", true},
		{"unknown section", "provider.work.model", "x", "did you mean providers.work.model?", true},
		{"nothing like it", "zzz", "x", "known here: agents", true},
		{"empty path", "", "x", "empty part", true},
		{"empty part", "server..port", 1, "empty part", true},
		{"bad quote", `providers."x`, "x", "quote", true},
		{"deep", "server.port.x", 1, "server.port has no parts", true},
		{"no name", "mcp.servers.args", []any{"x"}, "mcp.servers.NAME.args", false},
		{"section", "server", 3, "is a section", false},
		{"text for number", "server.port", "80", "whole number from 1 to 65535, not text", false},
		{"too large", "server.port", 65536, "from 1 to 65535, not 65536", false},
		{"zero", "server.port", 0, "from 1 to 65535", false},
		{"fraction", "server.port", 1.5, "not a decimal number", false},
		{"huge", "server.port", json.Number("1e99"), "not a decimal number", false},
		{"timeout 0", "mcp.servers.fs.tool_timeout_secs", 0, "from 1 to 600", false},
		{"timeout 601", "mcp.servers.fs.tool_timeout_secs", 601, "from 1 to 600", false},
		{"enum", "permissions.policy", "allow-all", `did you mean "allow_all"?`, false},
		{"enum of kind", "providers.work.kind", "gpt", `must be "openai" or "anthropic"`, false},
		{"bool", "permissions.tools.x.enabled", "yes", "true or false, not text", false},
		{"list", "permissions.directories", "R:./**", "list of texts, not text", false},
		{"list of numbers", "permissions.directories", []any{"R:./**", 3}, "entry 2 is a whole number", false},
		{"rule", "permissions.directories", []any{"R:./**", "X:oops"}, "line 2 (X:oops)", false},
		{"url", "providers.work.base_url", "ftp://x", "http or https", false},
		{"url junk", "providers.work.base_url", "not a url", "not a valid URL", false},
		{"url password", "providers.work.base_url", "https://u:p@x", "user name", false},
		{"origin", "server.ui_origin", "http://evil.example", "https://", false},
		{"origin star", "server.ui_origin", "https://*.example", "without a path or a star", false},
		{"duration", "server.exit_when_idle", "ten minutes", "such as 10m", false},
		{"masked", "providers.work.api_key", "****", "not overwritten", false},
		{"foreign ciphertext", "providers.work.api_key", "enc2:0011", "another key", false},
		{"nul", "providers.work.model", "a\x00b", "NUL", false},
		{"bytes", "providers.work.model", "a\xffb", "UTF-8", false},
		{"server name", "mcp.servers.a__b.command", "x", `"__"`, false},
		{"server path", "mcp.servers.../x.command", "x", "", true},
		{"server slash", `mcp.servers."../x".command`, "x", "must not hold /", false},
		{"other case", "mcp.servers.FS.command", "x", "without regard to case", false},
		{"name", "mcp.servers.fs.name", "x", "rename", false},
		{"provider name", `providers."a/b".kind`, "openai", "must not hold /", false},
		{"strange value", "server.port", struct{}{}, "not understood", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, text)
			f := open(t, dir)
			_, err := f.Set(t.Context(), "", []Edit{{Path: "server.port", Value: 9}, {Path: tt.path, Value: tt.value}})
			var fe *FieldError
			if !errors.As(err, &fe) || !strings.Contains(fe.Message, tt.want) || fe.Path != tt.path {
				t.Errorf("Set(%s, %v) = %v, want %q", tt.path, tt.value, err, tt.want)
			}
			if errors.Is(err, ErrUnknownPath) != tt.unknown {
				t.Errorf("unknown = %v, want %v", !tt.unknown, tt.unknown)
			}
			if got := read(t, dir); got != text {
				t.Errorf("the file was changed to\n%s", got)
			}
			if _, err := os.Stat(filepath.Join(dir, FileName+".bak")); err == nil {
				t.Error("a backup was written")
			}
		})
	}
}

func TestEdits(t *testing.T) {
	tests := []struct {
		name, text string
		edits      []Edit
		want       string
	}{
		{"new server", "", put("mcp.servers.filesystem.command", "npx"), "[[mcp.servers]]\nname = \"filesystem\"\ncommand = \"npx\"\n"},
		{"second server", "[[mcp.servers]]\nname = \"a\"\n", put("mcp.servers.my.srv.args", []any{"-y", "a,b"}), "[[mcp.servers]]\nname = \"a\"\n\n[[mcp.servers]]\nname = \"my\"\nsrv = \"x\"\n"},
		{"longest name", "[[mcp.servers]]\nname = \"acme\"\n\n[[mcp.servers]]\nname = \"acme.tools\"\n", put("mcp.servers.acme.tools.command", "x"), "[[mcp.servers]]\nname = \"acme\"\n\n[[mcp.servers]]\nname = \"acme.tools\"\ncommand = \"x\"\n"},
		{"inline servers", "mcp.servers = [{ name = \"a\" }]\n", put("mcp.servers.a.command", "x"), "mcp.servers = [{ name = \"a\", command = \"x\" }]\n"},
		{"same name again", "[[mcp.servers]]\nname = \"a\"\n", put("mcp.servers.a.name", "a"), "[[mcp.servers]]\nname = \"a\"\n"},
		{"tool with dots", "", put("permissions.tools.fs__read.all.mode", "deny"), "[permissions.tools.\"fs__read.all\"]\nmode = \"deny\"\n"},
		{"unset by nil", "[server]\nport = 1 # x\nui_origin = \"https://a.example\"\n", put("server.port", nil), "[server]\nui_origin = \"https://a.example\"\n"},
		{"unset by empty", "[providers.w]\nkind = \"openai\"\nmodel = \"m\"\n", put("providers.w.model", ""), "[providers.w]\nkind = \"openai\"\n"},
		{"unset", "[providers.w]\nmodel = \"m\"\n", []Edit{{Op: Unset, Path: "providers.w.model"}}, "[providers.w]\n"},
		{"add provider", "[server]\nport = 1\n", []Edit{{Op: Add, Path: "providers.work"}}, "[server]\nport = 1\n\n[providers.work]\n"},
		{"add provider below header", "[providers]\n", []Edit{{Op: Add, Path: `providers."my.work"`}}, "[providers]\n\n[providers.\"my.work\"]\n"},
		{"add provider twice", "[providers.work]\n", []Edit{{Op: Add, Path: "providers.work"}}, "[providers.work]\n"},
		{"add server", "", []Edit{{Op: Add, Path: "mcp.servers.a"}}, "[[mcp.servers]]\nname = \"a\"\n"},
		{"remove provider", "# top\n[providers.work]\nmodel = \"m\"\n\n[server]\n", []Edit{{Op: Remove, Path: "providers.work"}}, "# top\n[server]\n"},
		{"remove server", "[[mcp.servers]]\nname = \"a\"\n[mcp.servers.env]\n\n[[mcp.servers]]\nname = \"b\"\n", []Edit{{Op: Remove, Path: "mcp.servers.a"}}, "[[mcp.servers]]\nname = \"b\"\n"},
		{"add rule", "[permissions]\ndirectories = [\n  \"R:./a\", # one\n]\n", []Edit{{Op: Add, Path: "permissions.directories", Value: "W:./b"}}, "[permissions]\ndirectories = [\n  \"R:./a\", # one\n  \"W:./b\",\n]\n"},
		{"add rule twice", "[permissions]\ndirectories = [\"R:./a\"]\n", []Edit{{Op: Add, Path: "permissions.directories", Value: "R:./a"}}, "[permissions]\ndirectories = [\"R:./a\"]\n"},
		{"remove rule", "[permissions]\ndirectories = [\"R:./a\", \"R:./b\"]\n", []Edit{{Op: Remove, Path: "permissions.directories", Value: "R:./a"}}, "[permissions]\ndirectories = [\"R:./b\"]\n"},
		{"table of settings", "[providers.w]\nkind = \"openai\"\nx = 1\n", put("providers.w", map[string]any{"model": "m", "kind": "anthropic"}), "[providers.w]\nkind = \"anthropic\"\nx = 1\nmodel = \"m\"\n"},
		{"unknown keys stay", "[future]\nx=1 # note\n[server]\n", put("server.port", 5), "[future]\nx=1 # note\n[server]\nport = 5\n"},
		{"into a broken file part", "[server]\nport = \"x\"\n", put("server.port", 5), "[server]\nport = 5\n"},
		{"plain secret on purpose", "[secrets]\nencrypt = false\n", put("providers.w.api_key", "plain"), "[secrets]\nencrypt = false\n\n[providers.w]\napi_key = \"plain\"\n"},
	}
	tests[1].edits, tests[1].want = put("mcp.servers.my.srv.args", []any{"-y", "a,b"}), "[[mcp.servers]]\nname = \"a\"\n\n[[mcp.servers]]\nname = \"my.srv\"\nargs = [\"-y\", \"a,b\"]\n"
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.text)
			mustSet(t, open(t, dir), tt.edits...)
			if got := read(t, dir); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestConflict(t *testing.T) {
	dir := folder(t, "[server]\nport = 1\n")
	f := open(t, dir)
	var seen []string
	f.Subscribe(func(s *Settings) { seen = append(seen, s.Version) })
	old := f.Current().Version
	write(t, dir, "[server]\nport = 2\n# by hand\n")
	if _, err := f.Set(t.Context(), old, put("server.port", 3)); !errors.Is(err, ErrChanged) {
		t.Fatalf("Set over a hand edit = %v", err)
	}
	if got := read(t, dir); got != "[server]\nport = 2\n# by hand\n" {
		t.Errorf("the hand edit became %q", got)
	}
	if f.Current().Server.Port != 2 || len(seen) != 1 {
		t.Errorf("the hand edit was not taken over: port %d, %d notices", f.Current().Server.Port, len(seen))
	}
	version, err := f.Set(t.Context(), f.Current().Version, put("server.port", 3))
	if err != nil || read(t, dir) != "[server]\nport = 3\n# by hand\n" {
		t.Errorf("second try: %v, %q", err, read(t, dir))
	}
	if len(seen) != 2 || seen[1] != version {
		t.Errorf("notices %v", seen)
	}
	if bak, _ := os.ReadFile(filepath.Join(dir, FileName+".bak")); string(bak) != "[server]\nport = 2\n# by hand\n" {
		t.Errorf("backup %q", bak)
	}
	again, err := f.Set(t.Context(), version, put("server.port", 3))
	if err != nil || again != version || len(seen) != 2 {
		t.Errorf("saving the same again: %v %v, %d notices", again, err, len(seen))
	}
}

func TestUpdateSeesNewest(t *testing.T) {
	dir := folder(t, "[server]\nport = 1\n")
	f := open(t, dir)
	write(t, dir, "[server]\nport = 41\n")
	_, err := f.Update(t.Context(), func(s *Settings) ([]Edit, error) { return put("server.port", s.Server.Port+1), nil })
	if err != nil || f.Current().Server.Port != 42 {
		t.Errorf("Update: %v, port %d", err, f.Current().Server.Port)
	}
	stop := errors.New("stop")
	if _, err := f.Update(t.Context(), func(*Settings) ([]Edit, error) { return nil, stop }); err != stop {
		t.Errorf("an error of change came back as %v", err)
	}
}

func TestSetCancelled(t *testing.T) {
	dir := folder(t, "[server]\nport = 1\n")
	f := open(t, dir)
	unlock, err := f.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := open(t, dir).Set(ctx, "", put("server.port", 2)); !errors.Is(err, context.Canceled) {
		t.Errorf("Set while another saves = %v", err)
	}
}
