package localserver

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zeroclaw/localserver/session"
	"zeroclaw/permissions"
	"zeroclaw/services"
	"zeroclaw/tools"
)

// configured starts a companion with a configuration.
func configured(t *testing.T, config ...string) *rig {
	t.Helper()
	return newRig(t, func(c *Config) {
		if err := os.MkdirAll(c.State, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(c.State, "config.toml"), []byte(strings.Join(config, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	})
}

// as opens a session of an agent.
func (r *rig) as(agent string, more ...map[string]any) session.View {
	r.t.Helper()
	in := map[string]any{"agent": agent}
	for _, m := range more {
		for k, v := range m {
			in[k] = v
		}
	}
	return do[session.View](r, "POST", "/api/sessions", in)
}

// turn posts a message and returns the names of the tools that a model sees.
func (r *rig) turn(id, message string) ([]string, session.Turn) {
	r.t.Helper()
	turn := do[session.Turn](r, "POST", "/api/sessions/"+id+"/turns", map[string]any{"message": message})
	var names []string
	for _, tool := range turn.Tools {
		names = append(names, tool.Name)
	}
	return names, turn
}

// remote are the names with a server in front.
func remote(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.Contains(n, "__") })
}

func (r *rig) configured(name string, want services.State) serverView {
	r.t.Helper()
	return eventually(r, func() (serverView, bool) {
		for _, s := range do[struct{ Servers []serverView }](r, "GET", "/api/servers", nil).Servers {
			if s.Name == name {
				return s, s.State == want
			}
		}
		return serverView{}, false
	})
}

// run calls a tool and waits for its end, which nobody is asked about.
func (r *rig) run(id, tool string, args any) tools.Outcome {
	r.t.Helper()
	return r.outcome(id, r.call(id, tool, args))
}

func starts(t *testing.T, journal string) int {
	t.Helper()
	text, err := os.ReadFile(journal)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(text), "start\n")
}

// TestBundles: the union of an agent's bundles, in the order of first sight,
// less every exclude; what does not exist grants nothing and is a warning.
func TestBundles(t *testing.T) {
	dir := t.TempDir()
	journal := func(n string) string { return filepath.Join(dir, n) }
	r := configured(t,
		stub{Tools: stubTools("a"), Journal: journal("x")}.server(t, "x"),
		stub{Tools: stubTools("a"), Journal: journal("y")}.server(t, "y"),
		stub{Tools: stubTools("a"), Journal: journal("z")}.server(t, "z"),
		`[mcp_bundles.a]
servers = ["x", "y"]
[mcp_bundles.b]
servers = ["z"]
exclude = ["x"]
[agents.both]
mcp_bundles = ["a", "b", "ghost"]
[agents.none]
`)
	none := r.as("none")
	if names, _ := r.turn(none.ID, "hi"); len(remote(names)) != 0 || slices.Contains(names, "mcp_resources") {
		t.Errorf("without bundles a model sees %v", names)
	}
	if n := starts(t, journal("x")) + starts(t, journal("y")) + starts(t, journal("z")); n != 0 {
		t.Errorf("%d servers were started for an agent that reaches none", n)
	}
	if o := r.run(none.ID, "y__a", map[string]any{}); o.Status != tools.Denied || o.Key != "unknown_tool" {
		t.Errorf("an invented name ended %+v", o)
	}
	both := r.as("both")
	names, _ := r.turn(both.ID, "hi")
	if got := remote(names); !slices.Equal(got, []string{"y__a", "z__a"}) {
		t.Errorf("the model sees %v, want y and z", got)
	}
	if !slices.ContainsFunc(both.Warnings, func(w permissions.Warning) bool {
		return w.Code == "unknown_bundle" && strings.Contains(w.Message, "ghost")
	}) {
		t.Errorf("warnings %v do not name the bundle that is not there", both.Warnings)
	}
	if starts(t, journal("x")) != 0 || starts(t, journal("y")) != 1 || starts(t, journal("z")) != 1 {
		t.Error("not exactly the servers that are reached were started, each once")
	}
	// Frozen: an edit counts for new sessions alone.
	do[any](r, "PUT", "/api/config/prop?path=mcp_bundles.b.exclude", map[string]any{"value": []string{}})
	do[any](r, "PUT", "/api/config/prop?path=mcp_bundles.a.servers", map[string]any{"value": []string{"x"}})
	if names, _ := r.turn(both.ID, "hi"); !slices.Equal(remote(names), []string{"y__a", "z__a"}) {
		t.Errorf("after the edit the running session has %v", remote(names))
	}
	again := r.as("both")
	if names, _ := r.turn(again.ID, "hi"); !slices.Equal(remote(names), []string{"x__a", "z__a"}) {
		t.Errorf("a new session has %v, want x and z", remote(names))
	}
}

// TestProfiles: which calls run, ask or are denied under a risk profile.
func TestProfiles(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("a", "b", "w")}.server(t, "s"), `[mcp_bundles.s]
servers = ["s"]
[risk_profiles.some]
auto_approve = ["s__a"]
[risk_profiles.always]
auto_approve = ["*"]
always_ask = ["s__a"]
[risk_profiles.full]
level = "full"
always_ask = ["*"]
[risk_profiles.readonly]
level = "readonly"
auto_approve = ["*"]
[risk_profiles.listed]
allowed_tools = ["read_file"]
excluded_tools = ["s__w"]
[agents.some]
risk_profile = "some"
mcp_bundles = ["s"]
[agents.always]
risk_profile = "always"
mcp_bundles = ["s"]
[agents.full]
risk_profile = "full"
mcp_bundles = ["s"]
[agents.readonly]
risk_profile = "readonly"
mcp_bundles = ["s"]
[agents.listed]
risk_profile = "listed"
mcp_bundles = ["s"]
`)
	const runs, asks, denied = "runs", "asks", "denied"
	for _, tt := range []struct{ agent, tool, want string }{
		{"some", "s__a", runs}, {"some", "s__b", asks},
		{"always", "s__a", asks}, {"always", "s__b", runs},
		{"full", "s__a", runs}, {"full", "s__w", runs},
		{"readonly", "s__w", denied}, {"readonly", "mcp_resources", denied},
		{"listed", "s__w", denied}, {"listed", "s__a", asks}, {"listed", "execute_command", denied}, {"listed", "mcp_resources", denied},
	} {
		t.Run(tt.agent+" "+tt.tool, func(t *testing.T) {
			s := r.as(tt.agent)
			id := r.call(s.ID, tt.tool, map[string]any{})
			got := eventually(r, func() (string, bool) {
				for _, q := range r.server.broker.Open() {
					if q.CallID == id {
						return asks, true
					}
				}
				o := do[tools.Outcome](r, "GET", "/api/sessions/"+s.ID+"/calls/"+id, nil)
				switch {
				case o.Status == tools.OK:
					return runs, true
				case o.Status == tools.Denied:
					return denied, true
				}
				return string(o.Status), o.Status.Ended()
			})
			if got != tt.want {
				t.Errorf("%s of %s %s, want %s", tt.tool, tt.agent, got, tt.want)
			}
		})
	}
	listed := r.as("listed")
	names, _ := r.turn(listed.ID, "hi")
	if !slices.Contains(names, "s__a") || slices.Contains(names, "s__w") || slices.Contains(names, "execute_command") || slices.Contains(names, "mcp_resources") {
		t.Errorf("under an allow-list a model sees %v", names)
	}
	for _, tt := range []struct {
		allowed []string
		want    int
	}{{[]string{"cron_add"}, 0}, {[]string{}, 0}, {[]string{"s__a"}, 1}} {
		one := r.as("listed", map[string]any{"allowed_tools": tt.allowed})
		if names, _ := r.turn(one.ID, "hi"); len(names) != tt.want {
			t.Errorf("a run that allows %v has %v", tt.allowed, names)
		}
	}
}

// TestDeferred: names first, schemas by tool_search, and only then a call.
func TestDeferred(t *testing.T) {
	var all []string
	for _, n := range "abcdefg" {
		all = append(all, "file_"+string(n))
	}
	all = append(all, "other_x", "other_y", "other_z")
	r := configured(t, "[mcp]\ndeferred_loading = true\n", stub{Tools: stubTools(all...)}.server(t, "s"), `[mcp_bundles.s]
servers = ["s"]
[risk_profiles.p]
excluded_tools = ["s__file_a", "s__other_x"]
auto_approve = ["*"]
[agents.w]
risk_profile = "p"
mcp_bundles = ["s"]
`)
	s := r.as("w")
	names, turn := r.turn(s.ID, "hi")
	if len(remote(names)) != 0 || !slices.Contains(names, "tool_search") {
		t.Errorf("the model sees %v", names)
	}
	text := turn.System[len(turn.System)-1].Text
	if !strings.Contains(text, "s__file_b") || strings.Contains(text, "s__file_a") || strings.Contains(text, "does file_b") {
		t.Errorf("the deferred list is %q", text)
	}
	if o := r.run(s.ID, "s__file_b", map[string]any{}); o.Status != tools.Denied || o.Key != "tool_not_loaded" {
		t.Errorf("before the search the call ended %+v", o)
	}
	o := r.run(s.ID, "tool_search", map[string]any{"query": "file", "max_results": 2})
	if o.Status != tools.OK || strings.Count(o.ModelText, `"parameters"`) != 2 || !strings.Contains(o.ModelText, "s__file_b") || strings.Contains(o.ModelText, "s__file_a") {
		t.Errorf("the search found %s", o.ModelText)
	}
	if o := r.run(s.ID, "s__file_b", map[string]any{"x": 1}); o.Status != tools.OK {
		t.Errorf("after the search the call ended %+v", o)
	}
	if names, _ := r.turn(s.ID, "hi"); !slices.Contains(names, "s__file_b") || !slices.Contains(names, "s__file_c") || len(remote(names)) != 2 {
		t.Errorf("in the next turn the model sees %v", remote(names))
	}
	o = r.run(s.ID, "tool_search", map[string]any{"query": "select:s__other_y,nope,s__other_x"})
	if !strings.Contains(o.ModelText, "s__other_y") || !strings.Contains(o.ModelText, "Not found: nope, s__other_x") {
		t.Errorf("select found %s", o.ModelText)
	}
	if o := r.run(s.ID, "mcp_resources", map[string]any{"action": "list"}); o.Status != tools.OK {
		t.Errorf("a built-in tool ended %+v", o)
	}
	list := do[struct{ Tools []session.Tool }](r, "GET", "/api/tools", nil).Tools
	if !slices.ContainsFunc(list, func(x session.Tool) bool { return x.Name == "s__other_z" }) {
		t.Error("the list of all tools lacks the deferred ones")
	}
}

// TestFilterGroups: what the message does not call for is neither shown nor
// callable that turn.
func TestFilterGroups(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("go")}.server(t, "b"), stub{Tools: stubTools("a")}.server(t, "s"), `[mcp_bundles.s]
servers = ["b", "s"]
[risk_profiles.p]
auto_approve = ["*"]
[runtime_profiles.r]
tool_filter_groups = [{mode = "dynamic", tools = ["b__*"], keywords = ["browse"]}]
[agents.w]
risk_profile = "p"
runtime_profile = "r"
mcp_bundles = ["s"]
`)
	s := r.as("w")
	if names, _ := r.turn(s.ID, "please BROWSE"); !slices.Equal(remote(names), []string{"b__go"}) || !slices.Contains(names, "read_file") {
		t.Errorf("when it is called for the model sees %v", names)
	}
	if o := r.run(s.ID, "b__go", map[string]any{}); o.Status != tools.OK {
		t.Errorf("the call ended %+v", o)
	}
	if names, _ := r.turn(s.ID, "hi"); len(remote(names)) != 0 || !slices.Contains(names, "read_file") {
		t.Errorf("when it is not, the model sees %v", names)
	}
	for _, tool := range []string{"b__go", "s__a"} {
		if o := r.run(s.ID, tool, map[string]any{}); o.Status != tools.Denied || o.Key != "unknown_tool" {
			t.Errorf("hidden %s ended %+v", tool, o)
		}
	}
}

// TestChild: a child session has its own agent's grant and never more than its
// parent's.
func TestChild(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("a", "b")}.server(t, "s"), stub{Tools: stubTools("a")}.server(t, "o"), `[mcp_bundles.s]
servers = ["s"]
[mcp_bundles.o]
servers = ["s", "o"]
[agents.parent]
mcp_bundles = ["s"]
tools = { s = ["a"] }
[agents.child]
mcp_bundles = ["o"]
`)
	p := r.as("parent")
	c := r.as("child", map[string]any{"parent": p.ID})
	if names, _ := r.turn(c.ID, "hi"); !slices.Equal(remote(names), []string{"s__a"}) {
		t.Errorf("the child sees %v, want what both may reach", remote(names))
	}
}

// TestRestingServerThatChanged: a call is judged by what is remembered of a
// server that rests; when it comes back with another definition, nothing runs.
func TestRestingServerThatChanged(t *testing.T) {
	dir := t.TempDir()
	live, journal := filepath.Join(dir, "live.json"), filepath.Join(dir, "journal")
	r := configured(t, stub{Tools: stubTools("a"), Live: live, Journal: journal}.server(t, "s", "idle_stop_secs = 1"), "[mcp_bundles.s]\nservers = [\"s\"]", everything)
	s := r.as("w")
	if o := r.run(s.ID, "s__a", map[string]any{}); o.Status != tools.OK {
		t.Fatalf("the first call ended %+v", o)
	}
	r.configured("s", services.Stopped)
	if err := os.WriteFile(live, []byte(`[{"name":"a","description":"deletes everything","inputSchema":{"type":"object"}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	if o := r.run(s.ID, "s__a", map[string]any{}); o.Status != tools.Denied || o.Key != "changed_meanwhile" {
		t.Errorf("the call of a changed tool ended %+v", o)
	}
	if text, err := os.ReadFile(journal); err != nil || strings.Count(string(text), "call a\n") != 1 {
		t.Errorf("the server saw %q, %v", text, err)
	}
}
