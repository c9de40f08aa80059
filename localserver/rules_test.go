package localserver

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

func (r *rig) setRules(rules ...string) permissionsView {
	r.t.Helper()
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Directories = rules
	return do[permissionsView](r, "PUT", "/api/permissions", p)
}

func (r *rig) status(rule string) permissions.RuleStatus {
	r.t.Helper()
	for _, v := range do[permissionsView](r, "GET", "/api/permissions", nil).Rules {
		if v.Text == rule {
			return v.Status
		}
	}
	return ""
}

// TestRuleBelongsToTheRootItWasShownFor answers a question of a session in one
// folder with a rule, after another folder was picked for new sessions.
func TestRuleBelongsToTheRootItWasShownFor(t *testing.T) {
	for _, known := range []bool{false, true} {
		r := newRig(t)
		r.write("work/docs/a.txt", "a")
		r.write("other/docs/a.txt", "b")
		other := filepath.Join(r.home, "other")
		s := r.session()
		do[map[string]string](r, "PUT", "/api/root", map[string]string{"path": other})
		if known { // the same text was saved for the other folder before
			r.setRules("R:./docs/**")
		}
		id := r.call(s.ID, "read_file", map[string]any{"path": "docs/a.txt"})
		r.answer(r.question(id), map[string]any{"decision": "always", "rule": "R:./docs/**"})
		if o := r.outcome(s.ID, id); o.Status != tools.OK {
			t.Errorf("ended %+v", o)
		}
		if o := r.outcome(s.ID, r.call(s.ID, "read_file", map[string]any{"path": "docs/a.txt"})); o.By != "rule" {
			t.Errorf("known %v: the same call again ended %+v", known, o)
		}
		want := permissions.RuleElsewhere
		if known {
			want = permissions.RuleActive
		}
		if got := r.status("R:./docs/**"); got != want {
			t.Errorf("known %v: under the other folder the rule is %q, want %q", known, got, want)
		}
	}
}

// TestRulesSurviveABrokenMoment breaks and empties the file for a moment, as an
// editor may, while a rule belongs to another root.
func TestRulesSurviveABrokenMoment(t *testing.T) {
	r := newRig(t)
	r.write("other/x", "")
	r.setRules("R:./docs/**")
	do[map[string]string](r, "PUT", "/api/root", map[string]string{"path": filepath.Join(r.home, "other")})
	path := filepath.Join(r.home, ".zeroclaw", "config.toml")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, moment := range []string{"[permissions", ""} {
		if err := os.WriteFile(path, []byte(moment), 0o600); err != nil {
			t.Fatal(err)
		}
		eventually(r, func() (permissions.RuleStatus, bool) { s := r.status("R:./docs/**"); return s, s == "" })
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
		got := eventually(r, func() (permissions.RuleStatus, bool) { s := r.status("R:./docs/**"); return s, s != "" })
		if got != permissions.RuleElsewhere {
			t.Errorf("after %q the rule is %q, want elsewhere", moment, got)
		}
	}
	for _, v := range do[permissionsView](r, "GET", "/api/permissions", nil).Rules {
		if len(v.SavedFor) != 1 || filepath.Base(v.SavedFor[0]) != "work" {
			t.Errorf("the rule was saved for %q, want the first folder", v.SavedFor)
		}
	}
}

// TestDiffNeverShowsWhatMustAsk edits a file that is protected for reading.
func TestDiffNeverShowsWhatMustAsk(t *testing.T) {
	r := newRig(t)
	r.write("work/.env", "TOKEN=planted-secret\n")
	r.setRules("RW:./**")
	s := r.session()
	o := r.outcome(s.ID, r.call(s.ID, "edit_file", map[string]any{"path": ".env", "mode": "append", "content": "x=1\n"}))
	if o.Status != tools.OK || strings.Contains(o.ModelText+string(o.Structured), "planted-secret") {
		t.Errorf("ended %+v with %s", o, o.Structured)
	}
}

// TestSearchIsJudgedAsItself searches in a session that has no other tool.
func TestSearchIsJudgedAsItself(t *testing.T) {
	r := newRig(t)
	r.setRules("R:./**")
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Tools["read_file"] = toolSetting{Mode: permissions.ModeDeny, Enabled: true}
	do[permissionsView](r, "PUT", "/api/permissions", p)
	s := r.session()
	if o := r.outcome(s.ID, r.call(s.ID, "search_files", map[string]any{"query": "second"})); !strings.Contains(o.ModelText, "second line") {
		t.Errorf("ended %+v", o)
	}
}

func TestPermissionsNeedTheirVersion(t *testing.T) {
	r := newRig(t)
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	for _, version := range []string{"", "old"} {
		p.Version = version
		if status, body := r.request("PUT", "/api/permissions", p); status != http.StatusConflict || !strings.Contains(body, "changed_meanwhile") {
			t.Errorf("with version %q it answers %d %s", version, status, body)
		}
	}
}

func TestPermissionsNeedTheirRules(t *testing.T) {
	r := newRig(t)
	p := r.setRules("R:./**")
	for _, body := range []string{`{"version":"` + p.Version + `","policy":"ask"}`, `{"version":"` + p.Version + `","policy":"ask","directories":null}`} {
		if status, text := r.request("PUT", "/api/permissions", body); status != http.StatusBadRequest || !strings.Contains(text, "directories") {
			t.Errorf("%s answers %d %s", body, status, text)
		}
	}
	if got := r.status("R:./**"); got != permissions.RuleActive {
		t.Errorf("afterwards the rule is %q", got)
	}
}

// TestDamagedBasesCoverNothing starts with a configuration whose stored
// prefixes are gone: what a rule once stood for is not known any more.
func TestDamagedBasesCoverNothing(t *testing.T) {
	rules := []string{"R:./**", "R:~/work/docs/**"}
	r := newRig(t, func(c *Config) {
		if err := os.MkdirAll(filepath.Join(c.State, "state"), 0o700); err != nil {
			t.Fatal(err)
		}
		text := "[permissions]\ndirectories = [\"" + strings.Join(rules, "\", \"") + "\"]\n"
		if err := os.WriteFile(filepath.Join(c.State, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(statePath(c.State, "rule-bases.json"), []byte("junk"), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	for _, rule := range rules {
		if got := r.status(rule); got != permissions.RuleMoved {
			t.Errorf("%s is %q, want moved", rule, got)
		}
		do[permissionsView](r, "POST", "/api/permissions/rebase", map[string]string{"rule": rule})
		if got := r.status(rule); got != permissions.RuleActive {
			t.Errorf("after it was saved again, %s is %q", rule, got)
		}
	}
}

func TestUIOriginMustBeSafe(t *testing.T) {
	for _, origin := range []string{"http://evil.example", "http://evil.example/", "https://ui.example/path", "null", "https://*.example", "javascript:alert(1)"} {
		c := Config{State: t.TempDir(), Home: t.TempDir(), Root: t.TempDir(), UIOrigin: origin}
		if err := os.Chmod(c.State, 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := New(c); err == nil {
			t.Errorf("the companion starts with the page of %q", origin)
		}
	}
}

// TestWideningIsForTheOwnPage walks the routes that widen what may happen with
// the token of a page on another origin.
func TestWideningIsForTheOwnPage(t *testing.T) {
	const origin = "https://ui.example"
	r := newRig(t, func(c *Config) { c.UIOrigin = origin })
	do[map[string]string](r, "POST", "/api/ui", map[string]any{"origin": origin, "confirmed": true})
	_, rest, _ := strings.Cut(r.server.LaunchURL(Launch{}), "#code=")
	code, _, _ := strings.Cut(rest, "&")
	r.token = do[struct {
		Token string `json:"token"`
	}](r, "POST", "/api/pair", map[string]string{"code": code}, "Origin: "+origin, "Authorization: ").Token
	if status, body := r.request("GET", "/api/status", nil, "Origin: "+origin); status != http.StatusOK {
		t.Fatalf("the page is not let in: %d %s", status, body)
	}
	for _, route := range []struct{ method, path string }{
		{"PUT", "/api/permissions"}, {"POST", "/api/permissions/rebase"}, {"POST", "/api/tools/x/accept"},
		{"POST", "/api/services/dummy_mcp/start"}, {"PUT", "/api/services/dummy_mcp/options"},
		{"PUT", "/api/config/prop?path=permissions.policy"}, {"DELETE", "/api/config/prop?path=permissions.policy"},
		{"POST", "/api/config/map-key?path=providers&key=x"}, {"DELETE", "/api/config/map-key?path=providers&key=x"},
		{"POST", "/api/launch"}, {"POST", "/api/ui"},
	} {
		var body any
		if route.method != "DELETE" {
			body = map[string]any{}
		}
		if status, text := r.request(route.method, route.path, body, "Origin: "+origin); status != http.StatusForbidden || !strings.Contains(text, "loopback_only") {
			t.Errorf("%s %s answers %d %s, want 403", route.method, route.path, status, text)
		}
	}
}

// TestUnknownNamesAreWarnings names a tool that does not exist in a profile.
func TestUnknownNamesAreWarnings(t *testing.T) {
	r := newRig(t, func(c *Config) {
		if err := os.MkdirAll(c.State, 0o700); err != nil {
			t.Fatal(err)
		}
		text := "[risk_profiles.careful]\nalways_ask = [\"raed_file\"]\n[agents.assistant]\nrisk_profile = \"careful\"\n"
		if err := os.WriteFile(filepath.Join(c.State, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	if w := r.session().Warnings; len(w) != 1 || !strings.Contains(w[0].Message, "raed_file") {
		t.Errorf("warnings are %+v", w)
	}
}
