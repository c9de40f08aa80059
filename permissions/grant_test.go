package permissions

import (
	"maps"
	"slices"
	"testing"
)

func inputs() Inputs {
	return Inputs{
		Agent: "a", MCPEnabled: true,
		Agents: map[string]Agent{
			"a": {Bundles: []string{"one", "two", "ghost"}},
			"b": {Bundles: []string{"one"}},
			"n": {},
		},
		Bundles: map[string]Bundle{
			"one":   {Servers: []string{"x", "y", "missing"}},
			"two":   {Servers: []string{"z", "y"}, Exclude: []string{"x", "nobody"}},
			"other": {Servers: []string{"o"}, Exclude: []string{"y"}},
		},
		Servers: []Server{
			{Name: "x", Origin: OriginServer}, {Name: "y", Origin: OriginServer},
			{Name: "z", Origin: OriginServer}, {Name: "o", Origin: OriginServer},
			{Name: "svc", Origin: OriginService}, {Name: "idle", Origin: OriginService},
		},
		Started: []string{"svc", "gone", "o"},
	}
}

func servers(g Grant) []string { return slices.Sorted(maps.Keys(g.Servers)) }

func codes(w []Warning) []string {
	var out []string
	for _, x := range w {
		out = append(out, x.Code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestGrantServers(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Inputs)
		want   []string
		codes  []string
	}{
		{"union less exclude", func(*Inputs) {}, []string{"y", "z"}, []string{"unknown_bundle", "unknown_server"}},
		{"a bundle that is not the agent's changes nothing", func(in *Inputs) { in.Agent = "b" }, []string{"x", "y"}, []string{"unknown_server"}},
		{"no bundles", func(in *Inputs) { in.Agent = "n" }, nil, nil},
		{"MCP off", func(in *Inputs) { in.MCPEnabled = false }, nil, []string{"mcp_disabled", "unknown_bundle", "unknown_server"}},
		{"unknown agent", func(in *Inputs) { in.Agent = "who" }, nil, []string{"unknown_agent"}},
		{"names are exact", func(in *Inputs) { in.Bundles["one"] = Bundle{Servers: []string{"X", " y"}}; in.Agent = "b" }, nil, []string{"unknown_server"}},
		{"assistant without configuration", func(in *Inputs) { in.Agent = BuiltinAgent }, []string{"svc"}, nil},
		{"assistant with bundles", func(in *Inputs) {
			in.Agent = BuiltinAgent
			in.Agents[BuiltinAgent] = Agent{Bundles: []string{"other"}}
		}, []string{"o", "svc"}, nil},
		{"assistant with an exclude", func(in *Inputs) {
			in.Agent = BuiltinAgent
			in.Agents[BuiltinAgent] = Agent{Bundles: []string{"e"}}
			in.Bundles["e"] = Bundle{Exclude: []string{"svc"}}
		}, nil, nil},
		{"assistant, MCP off", func(in *Inputs) { in.Agent = BuiltinAgent; in.MCPEnabled = false }, nil, []string{"mcp_disabled"}},
		{"unknown profile", func(in *Inputs) { in.Agents["a"] = Agent{Profile: "p", Bundles: []string{"one"}} }, nil, []string{"unknown_profile"}},
	}
	for _, tt := range tests {
		in := inputs()
		tt.change(&in)
		g, w := NewGrant(in)
		if !slices.Equal(servers(g), tt.want) || !slices.Equal(codes(w), tt.codes) {
			t.Errorf("%s: servers %v, warnings %v; want %v, %v", tt.name, servers(g), w, tt.want, tt.codes)
		}
		for _, n := range []string{"x", "y", "z", "o", "svc", "idle", ""} {
			if got := g.Reaches(n+"__t", OriginServer, n, "t") || g.Reaches("mcp_"+n+"_t", OriginService, n, "t"); got != slices.Contains(tt.want, n) {
				t.Errorf("%s: reaches a tool of %q = %v", tt.name, n, got)
			}
		}
		local := len(tt.codes) == 0 || tt.codes[0] != "unknown_agent" && tt.codes[0] != "unknown_profile"
		if g.Reaches("read_file", OriginLocal, "", "read_file") != local {
			t.Errorf("%s: reaches read_file = %v, want %v", tt.name, !local, local)
		}
	}
}

func TestGrantTools(t *testing.T) {
	list := func(s ...string) *[]string { return &s }
	tests := []struct {
		name    string
		server  Server
		agent   Agent
		profile Profile
		run     *[]string
		want    []string
	}{
		{name: "everything", want: []string{"s__a", "s__b", "read_file", "mcp_resources", "tool_search"}},
		{name: "ceiling", server: Server{Tools: []string{"a"}}, want: []string{"s__a", "read_file", "mcp_resources", "tool_search"}},
		{name: "access", agent: Agent{Tools: map[string][]string{"s": {"b"}}}, want: []string{"s__b", "read_file", "mcp_resources", "tool_search"}},
		{name: "empty access", agent: Agent{Tools: map[string][]string{"s": {}}}, want: []string{"read_file", "mcp_resources", "tool_search"}},
		{name: "access of another server", agent: Agent{Tools: map[string][]string{"o": {}}}, want: []string{"s__a", "s__b", "read_file", "mcp_resources", "tool_search"}},
		{name: "full names are no own names", server: Server{Tools: []string{"s__a"}}, want: []string{"read_file", "mcp_resources", "tool_search"}},
		{name: "excluded", profile: Profile{ExcludedTools: []string{"s__a", "read_file", "s__*", "b"}}, want: []string{"s__b", "mcp_resources", "tool_search"}},
		{name: "all excluded", profile: Profile{ExcludedTools: []string{"*"}}, want: nil},
		{name: "allowed admits remote", profile: Profile{AllowedTools: []string{"read_file"}}, want: []string{"s__a", "s__b", "read_file", "tool_search"}},
		{name: "resources must be listed", profile: Profile{AllowedTools: []string{"mcp_resources"}}, want: []string{"s__a", "s__b", "mcp_resources", "tool_search"}},
		{name: "allowed *", profile: Profile{AllowedTools: []string{"*"}}, want: []string{"s__a", "s__b", "read_file", "mcp_resources", "tool_search"}},
		{name: "excluded beats allowed", profile: Profile{AllowedTools: []string{"read_file"}, ExcludedTools: []string{"read_file", "s__a"}}, want: []string{"s__b", "tool_search"}},
		{name: "run list is exact", run: list("s__a", "s__*", "*"), want: []string{"s__a"}},
		{name: "run list cannot widen", profile: Profile{ExcludedTools: []string{"s__a"}}, run: list("s__a", "read_file"), want: []string{"read_file"}},
		{name: "empty run list", run: list(), want: nil},
	}
	for _, tt := range tests {
		tt.server.Name, tt.server.Origin = "s", OriginServer
		tt.agent.Bundles, tt.agent.Profile = []string{"b"}, "p"
		g, _ := NewGrant(Inputs{
			Agent: "x", MCPEnabled: true, Agents: map[string]Agent{"x": tt.agent}, Profiles: map[string]Profile{"p": tt.profile},
			Bundles: map[string]Bundle{"b": {Servers: []string{"s"}}}, Servers: []Server{tt.server, {Name: "o", Origin: OriginServer}}, Allowed: tt.run,
		})
		var got []string
		for _, k := range []KnownTool{
			{"s__a", OriginServer, "s", "a"}, {"s__b", OriginServer, "s", "b"}, {"read_file", OriginLocal, "", "read_file"},
			{"mcp_resources", OriginLocal, "", "mcp_resources"}, {"tool_search", OriginLocal, "", "tool_search"},
		} {
			if g.Reaches(k.Name, k.Origin, k.Server, k.OwnName) {
				got = append(got, k.Name)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: reaches %v, want %v", tt.name, got, tt.want)
		}
		if g.Reaches("s__a", OriginService, "s", "a") || g.Reaches("o__a", OriginServer, "o", "a") {
			t.Errorf("%s: reaches a tool of another origin or server", tt.name)
		}
	}
	if (Grant{}).Reaches("read_file", OriginLocal, "", "read_file") || (Grant{}).ReachesItem("s", "x") || (Grant{}).AdmitsMedia("s") {
		t.Error("the zero grant reaches something")
	}
}

func TestGrantChild(t *testing.T) {
	base := func() Inputs {
		return Inputs{
			MCPEnabled: true,
			Agents: map[string]Agent{
				"parent": {Profile: "p", Bundles: []string{"s", "t"}, Tools: map[string][]string{"s": {"a"}}, Media: []string{"s"}},
				"child":  {Profile: "c", Bundles: []string{"s", "u"}, Media: []string{"s", "u"}},
			},
			Bundles: map[string]Bundle{"s": {Servers: []string{"s"}}, "t": {Servers: []string{"t"}}, "u": {Servers: []string{"u"}}},
			Profiles: map[string]Profile{
				"p": {AlwaysAsk: []string{"edit_file"}, AutoApprove: []string{"read_file"}, ExcludedTools: []string{"search_files"}},
				"c": {Level: LevelFull, AutoApprove: []string{"*"}},
			},
			Servers: []Server{{Name: "s", Origin: OriginServer}, {Name: "t", Origin: OriginServer}, {Name: "u", Origin: OriginServer}},
		}
	}
	in := base()
	in.Agent = "parent"
	parent, _ := NewGrant(in)
	in = base()
	in.Agent, in.Parent = "child", &parent
	child, _ := NewGrant(in)
	for _, tt := range []struct {
		name   string
		origin Origin
		server string
		own    string
		want   bool
	}{
		{"s__a", OriginServer, "s", "a", true},
		{"s__b", OriginServer, "s", "b", false},
		{"t__a", OriginServer, "t", "a", false},
		{"u__a", OriginServer, "u", "a", false},
		{"read_file", OriginLocal, "", "read_file", true},
		{"search_files", OriginLocal, "", "search_files", false},
	} {
		if got := child.Reaches(tt.name, tt.origin, tt.server, tt.own); got != tt.want {
			t.Errorf("child reaches %s = %v, want %v", tt.name, got, tt.want)
		}
	}
	p := child.Profile
	if p.Level != LevelSupervised || !slices.Equal(p.AutoApprove, []string{"read_file"}) || !slices.Contains(p.AlwaysAsk, "edit_file") {
		t.Errorf("child's profile = %+v, want it narrowed by the parent's", p)
	}
	if !child.AdmitsMedia("s") || child.AdmitsMedia("u") {
		t.Error("media are not narrowed by the parent")
	}
	if !child.ReachesItem("s", "file:///x") || child.ReachesItem("u", "file:///x") {
		t.Error("resources are not narrowed by the parent")
	}

	full := base()
	full.Profiles["p"] = Profile{Level: LevelFull}
	full.Profiles["c"] = Profile{Level: LevelReadonly}
	full.Agent = "parent"
	parent, _ = NewGrant(full)
	full.Agent, full.Parent = "child", &parent
	if child, _ := NewGrant(full); child.Profile.Level != LevelReadonly {
		t.Errorf("a readonly child of a full parent has level %q", child.Profile.Level)
	}
}

func TestGrantIsFrozen(t *testing.T) {
	in := inputs()
	in.Agents["a"] = Agent{Profile: "p", Bundles: []string{"one"}, Tools: map[string][]string{"x": {"a"}}}
	in.Profiles = map[string]Profile{"p": {ExcludedTools: []string{"y__t"}}}
	in.Allowed = &[]string{"x__a", "x__b", "y__t"}
	in.Servers[0].Tools = []string{"a"}
	g, _ := NewGrant(in)
	in.Agents["a"].Tools["x"][0] = "b"
	in.Profiles["p"].ExcludedTools[0] = "other"
	in.Servers[0].Tools[0] = "b"
	(*in.Allowed)[0] = "nothing"
	if !g.Reaches("x__a", OriginServer, "x", "a") || g.Reaches("x__b", OriginServer, "x", "b") || g.Reaches("y__t", OriginServer, "y", "t") {
		t.Error("a grant changes with what it was made from")
	}
}

func TestReachesItem(t *testing.T) {
	in := inputs()
	in.Agent = "b"
	in.Agents["b"] = Agent{Profile: "p", Bundles: []string{"one"}}
	in.Profiles = map[string]Profile{"p": {ExcludedTools: []string{"x__file:///secret"}, AllowedTools: []string{"mcp_resources"}}}
	g, _ := NewGrant(in)
	if !g.ReachesItem("x", "file:///a") || g.ReachesItem("x", "file:///secret") || g.ReachesItem("z", "file:///a") {
		t.Error("ReachesItem does not follow servers and excluded_tools")
	}
	in.Allowed = &[]string{"x__file:///a"}
	g, _ = NewGrant(in)
	if !g.ReachesItem("x", "file:///a") || g.ReachesItem("x", "file:///b") {
		t.Error("ReachesItem does not follow the run's list")
	}
}

func TestUnmatchedNames(t *testing.T) {
	in := inputs()
	in.Agent = "b"
	in.Agents["b"] = Agent{Profile: "p", Bundles: []string{"one"}, Tools: map[string][]string{"x": {"a", "zz"}}}
	in.Profiles = map[string]Profile{"p": {AutoApprove: []string{"*", "x__a", "typo"}, AlwaysAsk: []string{"x__*"}}}
	in.Servers[0].RequireApproval = []string{"gone"}
	g, _ := NewGrant(in)
	known := []KnownTool{{"x__a", OriginServer, "x", "a"}, {"read_file", OriginLocal, "", "read_file"}}
	if got := len(g.UnmatchedNames(known)); got != 2 {
		t.Errorf("with y still starting: %v, want only the two of x", g.UnmatchedNames(known))
	}
	known = append(known, KnownTool{"y__a", OriginServer, "y", "a"})
	if got := len(g.UnmatchedNames(known)); got != 4 {
		t.Errorf("UnmatchedNames = %v, want typo, x__*, gone and zz", g.UnmatchedNames(known))
	}
}
