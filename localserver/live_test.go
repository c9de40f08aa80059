package localserver

import (
	"os"
	"path/filepath"
	"testing"

	"zeroclaw/tools"
)

// withConfig lays out config.toml before the start.
func withConfig(t *testing.T, text string) func(*Config) {
	return func(c *Config) {
		if err := os.MkdirAll(c.State, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.State, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// edited saves config.toml as an editor does, which no watcher sees half done.
func (r *rig) edited(text string) {
	r.t.Helper()
	path := filepath.Join(r.home, ".zeroclaw", "config.toml")
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		r.t.Fatal(err)
	}
}

// TestDeniedFromTheFirstCall is peer bug J6: what the file denies, allows and
// switches off counts from the first call on, with no edit in between.
func TestDeniedFromTheFirstCall(t *testing.T) {
	for _, c := range []struct{ name, config, tool, status, by string }{
		{"denied", "[permissions.tools.read_file]\nmode = \"deny\"\n", "read_file", "denied", "policy"},
		{"denied beside a rule", "[permissions]\ndirectories = [\"R:./**\"]\n[permissions.tools.read_file]\nmode = \"deny\"\n", "read_file", "denied", "policy"},
		{"denied under allow_all", "[permissions]\npolicy = \"allow_all\"\n[permissions.tools.read_file]\nmode = \"deny\"\n", "read_file", "denied", "policy"},
		{"off", "[permissions.tools.read_file]\nenabled = false\n", "read_file", "denied", "policy"},
		{"covered by a rule", "[permissions]\ndirectories = [\"R:./**\"]\n", "read_file", "ok", "rule"},
		{"no tool of the profile", "[risk_profiles.x]\nexcluded_tools = [\"read_file\"]\n[agents.assistant]\nrisk_profile = \"x\"\n", "read_file", "denied", "policy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, withConfig(t, c.config))
			s := r.session()
			o := do[tools.Outcome](r, "POST", "/api/sessions/"+s.ID+"/calls", map[string]any{"tool": c.tool, "arguments": map[string]any{"path": "README.md"}})
			if string(o.Status) != c.status || o.By != c.by {
				t.Errorf("the first call ended %q by %q, want %q by %q (%s)", o.Status, o.By, c.status, c.by, o.Reason)
			}
		})
	}
}

// TestEditedByHandWhileRunning changes the file under a running companion: the
// next call of the same session is judged by what it says now.
func TestEditedByHandWhileRunning(t *testing.T) {
	r := newRig(t, withConfig(t, "[permissions]\ndirectories = [\"R:./**\"]\n"))
	s := r.session()
	read := func() tools.Outcome {
		return r.outcome(s.ID, r.call(s.ID, "read_file", map[string]any{"path": "README.md"}))
	}
	if o := read(); o.Status != tools.OK || o.By != "rule" {
		t.Fatalf("with the rule it ended %+v", o)
	}
	for _, c := range []struct{ config, status string }{
		{"[permissions.tools.read_file]\nmode = \"deny\"\n", "denied"},
		{"[permissions]\ndirectories = [\"R:./**\"] # back again\n", "ok"},
		{"[permissions]\ndirectories = [\"R:./**\"]\n[permissions.tools.read_file]\nenabled = false\n", "denied"},
		{"[permissions.tools.read_file]\nmode = \"allow\"\n", "ok"},
	} {
		r.edited(c.config)
		eventually(r, func() (tools.Outcome, bool) {
			o := read()
			return o, string(o.Status) == c.status
		})
	}
}
