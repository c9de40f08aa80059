package permissions

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// testGrant has a full set of everything that the rows look at.
func testGrant(t *testing.T, p Profile) Grant {
	t.Helper()
	g, warnings := NewGrant(Inputs{
		Agent: "a", MCPEnabled: true,
		Agents:   map[string]Agent{"a": {Profile: "p", Bundles: []string{"b"}}},
		Profiles: map[string]Profile{"p": p},
		Bundles:  map[string]Bundle{"b": {Servers: []string{"s"}}},
		Servers:  []Server{{Name: "s", Origin: OriginServer, RequireApproval: []string{"risky"}}},
	})
	if len(warnings) > 0 {
		t.Fatal(warnings)
	}
	return g
}

func readRequest(real string, change ...func(*Path)) Request {
	p := Path{Given: real, Op: OpRead, Clean: real, Real: real, Kind: KindFile, Links: 1}
	for _, c := range change {
		c(&p)
	}
	return Request{Tool: "read_file", Origin: OriginLocal, OwnName: "read_file", DefinitionHash: "h", Paths: []Path{p}}
}

func editRequest(real string, change ...func(*Path)) Request {
	r := readRequest(real, append([]func(*Path){func(p *Path) { p.Op = OpWrite }}, change...)...)
	r.Tool, r.OwnName = "edit_file", "edit_file"
	return r
}

func remoteRequest(own string) Request {
	return Request{Tool: "s__" + own, Origin: OriginServer, Server: "s", OwnName: own, DefinitionHash: "h"}
}

func commandRequest(class CommandClass, change ...func(*Command)) Request {
	c := Command{
		Text: "cat ./p/a", Class: class, Argv: []string{"cat", "./p/a"}, Binary: "/usr/bin/cat",
		Cwd: Path{Op: OpList, Real: "/r", Clean: "/r", Kind: KindDir}, CwdInRoot: true,
	}
	if class == Simple {
		c.Operands = []Operand{{Text: "./p/a", Op: OpRead}}
		c.Paths = []Path{{Given: "./p/a", Op: OpRead, Real: "/r/p/a", Clean: "/r/p/a", Kind: KindFile, Spelled: "./p/a"}}
	}
	for _, f := range change {
		f(&c)
	}
	return Request{Tool: CommandTool, Origin: OriginLocal, OwnName: CommandTool, DefinitionHash: "h", Command: &c}
}

func TestDecideRows(t *testing.T) {
	cover := []Anchored{anchored(t, "RW:./p/**")}
	mode := func(tool string, m Mode) map[string]ToolSetting { return map[string]ToolSetting{tool: {Mode: m}} }
	own := func(p *Path) { p.OwnState = true }
	broken := func(p *Path) { p.Err = "it is empty" }
	secret := func(p *Path) { p.Protected = ".env" }
	linked := func(p *Path) { p.Links = 2 }
	everything := Settings{Policy: PolicyAllowAll, Rules: cover}
	approve := Profile{AutoApprove: []string{"*"}}

	tests := []struct {
		name     string
		settings Settings
		profile  Profile
		request  Request
		want     Decision
		row      int
		code     string
		once     bool
	}{
		{"impossible path", everything, Profile{Level: LevelFull}, readRequest("/r/p/a", broken), Error, 0, "bad_path", false},
		{"impossible folder of a command", everything, Profile{}, commandRequest(Simple, func(c *Command) { c.Cwd.Err = "x" }), Error, 0, "bad_path", false},
		{"impossible operand asks", Settings{Rules: cover}, approve, commandRequest(Simple, func(c *Command) { c.Paths[0].Err = "a device" }), Ask, 0, "", true},
		{"impossible operand of a denied tool", Settings{Tools: mode(CommandTool, ModeDeny)}, Profile{}, commandRequest(Simple, func(c *Command) { c.Paths[0].Err = "x" }), Deny, 3, "tool_denied", false},
		{"impossible operand in own state", everything, Profile{}, commandRequest(Simple, func(c *Command) { c.Paths[0].Err = "x"; c.Paths[0].OwnState = true }), Deny, 2, "own_state", false},
		{"impossible operand, all authorised", everything, Profile{}, commandRequest(Simple, func(c *Command) { c.Paths[0].Err = "x" }), Allow, 8, "", false},

		{"unknown tool", everything, Profile{Level: LevelFull}, Request{Tool: "s2__x", Origin: OriginServer, Server: "s2", OwnName: "x"}, Deny, 1, "unknown_tool", false},
		{"excluded tool", everything, Profile{ExcludedTools: []string{"read_file"}}, readRequest("/r/p/a"), Deny, 1, "unknown_tool", false},
		{"hidden tool", everything, Profile{}, func() Request { r := remoteRequest("x"); r.Hidden = true; return r }(), Deny, 1, "unknown_tool", false},
		{"tool off", Settings{Policy: PolicyAllowAll, Tools: map[string]ToolSetting{"read_file": {Off: true, Mode: ModeAllow}}}, Profile{Level: LevelFull}, readRequest("/r/p/a", own), Deny, 1, "tool_off", false},

		{"own state", everything, Profile{Level: LevelFull}, readRequest("/r/p/a", own), Deny, 2, "own_state", false},
		{"own state in an operand", everything, Profile{Level: LevelFull}, commandRequest(Simple, func(c *Command) { own(&c.Paths[0]) }), Deny, 2, "own_state", false},
		{"own state as folder", everything, Profile{Level: LevelFull}, commandRequest(Unmodelled, func(c *Command) { own(&c.Cwd) }), Deny, 2, "own_state", false},
		{"own state in the text", everything, Profile{Level: LevelFull}, commandRequest(Ambiguous, func(c *Command) { c.NamesState = true }), Deny, 2, "own_state", false},

		{"tool set to Deny", Settings{Policy: PolicyAllowAll, Tools: mode("read_file", ModeDeny)}, Profile{Level: LevelFull}, readRequest("/r/p/a"), Deny, 3, "tool_denied", false},
		{"mode that we do not know", Settings{Policy: PolicyAllowAll, Tools: mode("read_file", "sometimes")}, Profile{}, readRequest("/r/p/a"), Deny, 3, "tool_denied", false},

		{"readonly refuses changes", everything, Profile{Level: LevelReadonly}, editRequest("/r/p/a"), Deny, 4, "readonly", false},
		{"readonly refuses commands", everything, Profile{Level: LevelReadonly}, commandRequest(Simple), Deny, 4, "readonly", false},
		{"readonly refuses remote tools", everything, Profile{Level: LevelReadonly}, remoteRequest("risky"), Deny, 4, "readonly", false},
		{"readonly reads", Settings{Rules: cover}, Profile{Level: LevelReadonly}, readRequest("/r/p/a"), Allow, 13, "", false},

		{"the server wants approval", Settings{Policy: PolicyAllowAll, Tools: mode("s__risky", ModeAllow)}, Profile{Level: LevelFull}, remoteRequest("risky"), Ask, 5, "", true},
		{"level full", Settings{}, Profile{Level: LevelFull, AlwaysAsk: []string{"*"}}, remoteRequest("x"), Allow, 6, "", false},
		{"level full, ambiguous", Settings{}, Profile{Level: LevelFull}, commandRequest(Ambiguous), Allow, 6, "", false},
		{"always_ask", everything, Profile{AlwaysAsk: []string{"read_file"}}, readRequest("/r/p/a"), Ask, 7, "", true},
		{"always_ask *", everything, Profile{AlwaysAsk: []string{"*"}, AutoApprove: []string{"*"}}, remoteRequest("x"), Ask, 7, "", true},
		{"always_ask is no pattern", Settings{Rules: cover}, Profile{AlwaysAsk: []string{"read_*"}}, readRequest("/r/p/a"), Allow, 13, "", false},
		{"all authorised", everything, Profile{}, readRequest("/x", secret), Allow, 8, "", false},
		{"all authorised, changed", everything, Profile{}, func() Request { r := remoteRequest("x"); r.Changed = true; return r }(), Allow, 8, "", false},
		{"changed definition", Settings{Tools: mode("s__x", ModeAllow)}, Profile{}, func() Request { r := remoteRequest("x"); r.Changed = true; return r }(), Ask, 9, "", false},

		{"ambiguous", Settings{Tools: mode(CommandTool, ModeAllow), Rules: cover}, approve, commandRequest(Ambiguous), Ask, 10, "", true},
		{"a class that we do not know", Settings{Tools: mode(CommandTool, ModeAllow)}, approve, commandRequest("safe"), Ask, 10, "", true},
		{"no command at all", Settings{Tools: mode(CommandTool, ModeAllow)}, approve, Request{Tool: CommandTool, Origin: OriginLocal}, Ask, 10, "", true},

		{"protected name", Settings{Tools: mode("read_file", ModeAllow), Rules: cover}, approve, readRequest("/r/p/.env", secret), Ask, 11, "", true},
		{"protected operand", Settings{Rules: cover}, approve, commandRequest(Simple, func(c *Command) { secret(&c.Paths[0]) }), Ask, 11, "", true},
		{"write with hard links", Settings{Rules: cover}, approve, editRequest("/r/p/a", linked), Ask, 11, "", true},
		{"read with hard links", Settings{Rules: cover}, Profile{}, readRequest("/r/p/a", linked), Allow, 13, "", false},

		{"set to Allow", Settings{Tools: mode("read_file", ModeAllow)}, Profile{}, readRequest("/x"), Allow, 12, "", false},
		{"set to Allow, command", Settings{Tools: mode(CommandTool, ModeAllow)}, Profile{}, commandRequest(Unmodelled), Allow, 12, "", false},
		{"auto_approve", Settings{}, Profile{AutoApprove: []string{"s__x"}}, remoteRequest("x"), Allow, 12, "", false},
		{"auto_approve *", Settings{}, approve, readRequest("/x"), Allow, 12, "", false},
		{"auto_approve is no pattern", Settings{}, Profile{AutoApprove: []string{"s__*", "x"}}, remoteRequest("x"), Ask, 14, "", false},
		{"tool_search", Settings{}, Profile{AllowedTools: []string{"read_file"}}, Request{Tool: "tool_search", Origin: OriginLocal}, Allow, 12, "", false},
		{"read_tool_result", Settings{}, Profile{}, Request{Tool: "read_tool_result", Origin: OriginLocal}, Allow, 12, "", false},
		{"tool_search of a server", Settings{}, Profile{}, remoteRequest("tool_search"), Ask, 14, "", false},
		{"mode Ask stops no rule", Settings{Rules: cover, Tools: mode("read_file", ModeAsk)}, Profile{}, readRequest("/r/p/a"), Allow, 13, "", false},

		{"covered", Settings{Rules: cover}, Profile{}, readRequest("/r/p/a"), Allow, 13, "", false},
		{"covered change", Settings{Rules: cover}, Profile{}, editRequest("/r/p/a"), Allow, 13, "", false},
		{"rules do not allow remote tools", Settings{Rules: cover}, Profile{}, func() Request { r := remoteRequest("x"); r.Paths = readRequest("/r/p/a").Paths; return r }(), Ask, 14, "", false},
		{"no path at all", Settings{Rules: cover}, Profile{}, Request{Tool: "read_file", Origin: OriginLocal}, Ask, 14, "", false},
		{"second place not covered", Settings{Rules: cover}, Profile{}, editRequest("/r/p/a", func(p *Path) { p.Second = "/x" }), Ask, 14, "", false},
		{"second place covered", Settings{Rules: cover}, Profile{}, editRequest("/r/p/a", func(p *Path) { p.Second = "/r/p/b" }), Allow, 13, "", false},
		{"one path of two", Settings{Rules: cover}, Profile{}, func() Request {
			r := readRequest("/r/p/a")
			r.Paths = append(r.Paths, readRequest("/x").Paths...)
			return r
		}(), Ask, 14, "", false},
		{"uploads are read", Settings{}, Profile{}, readRequest("/s/uploads/a", func(p *Path) { p.Area = AreaUploads }), Allow, 13, "", false},
		{"uploads are not changed", Settings{}, Profile{}, editRequest("/s/uploads/a", func(p *Path) { p.Area = AreaUploads }), Ask, 14, "", false},
		{"work is changed", Settings{}, Profile{}, editRequest("/s/work/a", func(p *Path) { p.Area = AreaWork }), Allow, 13, "", false},
		{"outputs are changed", Settings{}, Profile{}, editRequest("/s/outputs/a", func(p *Path) { p.Area = AreaOutputs }), Allow, 13, "", false},
		{"work is protected too", Settings{}, Profile{}, editRequest("/s/work/.git/x", func(p *Path) { p.Area, p.Protected = AreaWork, ".git" }), Ask, 11, "", true},

		{"simple command", Settings{Rules: cover}, Profile{}, commandRequest(Simple), Allow, 13, "", false},
		{"simple command without paths", Settings{}, Profile{}, commandRequest(Simple, func(c *Command) { c.Operands, c.Paths = nil, nil }), Allow, 13, "", false},
		{"operand not covered", Settings{}, Profile{}, commandRequest(Simple), Ask, 14, "", false},
		{"facts are missing", Settings{Rules: cover}, Profile{}, commandRequest(Simple, func(c *Command) { c.Paths = nil }), Ask, 14, "", false},
		{"program not installed", Settings{Rules: cover}, Profile{}, commandRequest(Simple, func(c *Command) { c.Binary = "" }), Ask, 14, "", false},
		{"folder outside", Settings{Rules: cover}, Profile{}, commandRequest(Simple, func(c *Command) { c.CwdInRoot, c.Cwd.Real = false, "/x" }), Ask, 14, "", false},
		{"folder outside, covered", Settings{Rules: cover}, Profile{}, commandRequest(Simple, func(c *Command) { c.CwdInRoot, c.Cwd.Real = false, "/r/p" }), Allow, 13, "", false},
		{"folder is none", Settings{Rules: cover}, Profile{}, commandRequest(Simple, func(c *Command) { c.Cwd.Kind = KindNone }), Ask, 14, "", false},
		{"unmodelled", Settings{Rules: cover}, Profile{}, commandRequest(Unmodelled), Ask, 14, "", false},
		{"tree covered", Settings{Rules: cover}, Profile{}, commandRequest(Simple, func(c *Command) { c.Paths[0].Walk = true }), Allow, 13, "", false},
		{"tree not covered", Settings{Rules: []Anchored{anchored(t, "R:./p/*")}}, Profile{}, commandRequest(Simple, func(c *Command) { c.Paths[0].Walk = true }), Ask, 14, "", false},
		{"tree too large", Settings{Rules: cover}, Profile{}, commandRequest(Simple, func(c *Command) { c.Paths[0].Walk, c.Paths[0].TooMany = true, true }), Ask, 14, "", false},
		{"nothing allows", Settings{}, Profile{}, remoteRequest("x"), Ask, 14, "", false},
	}
	rows := map[int]bool{}
	for _, tt := range tests {
		v := Decide(tt.settings, testGrant(t, tt.profile), tt.request)
		if v.Decision != tt.want || v.Row != tt.row || v.Code != tt.code || v.OnceOnly != tt.once {
			t.Errorf("%s: %s row %d code %q once %v (%s), want %s row %d code %q once %v", tt.name,
				v.Decision, v.Row, v.Code, v.OnceOnly, v.Reason, tt.want, tt.row, tt.code, tt.once)
		}
		if v.Reason == "" || strings.ContainsAny(v.Reason, "{}") || v.Key == "" {
			t.Errorf("%s: reason %q, key %q", tt.name, v.Reason, v.Key)
		}
		rows[v.Row] = true
	}
	for row := range 15 {
		if !rows[row] {
			t.Errorf("no case reaches row %d", row)
		}
	}
}

func TestRemembered(t *testing.T) {
	exact := Remembered{Tool: CommandTool, DefinitionHash: "h", Command: "go test ./...", Cwd: "/r"}
	goTest := func(change ...func(*Command)) Request {
		return commandRequest(Unmodelled, append([]func(*Command){func(c *Command) { c.Text = "go test ./..." }}, change...)...)
	}
	tests := []struct {
		name    string
		m       Remembered
		request Request
		want    Decision
		row     int
	}{
		{"this command here", exact, goTest(), Allow, 12},
		{"another folder", exact, goTest(func(c *Command) { c.Cwd.Real = "/r/p" }), Ask, 14},
		{"no prefix", exact, goTest(func(c *Command) { c.Text = "go test ./... -exec x" }), Ask, 14},
		{"no extra space", exact, goTest(func(c *Command) { c.Text = "go test  ./..." }), Ask, 14},
		{"ambiguous never", exact, goTest(func(c *Command) { c.Class = Ambiguous }), Ask, 10},
		{"the tool as a whole never", Remembered{Tool: CommandTool, DefinitionHash: "h"}, goTest(), Ask, 14},
		{"without a folder never", Remembered{Tool: CommandTool, DefinitionHash: "h", Command: "go test ./..."}, goTest(), Ask, 14},
		{"another definition", Remembered{Tool: CommandTool, DefinitionHash: "i", Command: "go test ./...", Cwd: "/r"}, goTest(), Ask, 14},
		{"a tool", Remembered{Tool: "s__x", DefinitionHash: "h"}, remoteRequest("x"), Allow, 12},
		{"a tool, other definition", Remembered{Tool: "s__x", DefinitionHash: "old"}, remoteRequest("x"), Ask, 14},
		{"a tool without a hash", Remembered{Tool: "s__x"}, func() Request { r := remoteRequest("x"); r.DefinitionHash = ""; return r }(), Ask, 14},
		{"its namesake", Remembered{Tool: "read_file", DefinitionHash: "h"}, remoteRequest("read_file"), Ask, 14},
		{"a local tool", Remembered{Tool: "read_file", DefinitionHash: "h"}, readRequest("/x"), Allow, 12},
		{"protected all the same", Remembered{Tool: "read_file", DefinitionHash: "h"}, readRequest("/x", func(p *Path) { p.Protected = ".env" }), Ask, 11},
		{"a command for another tool", Remembered{Tool: "read_file", DefinitionHash: "h", Command: "x", Cwd: "/r"}, readRequest("/x"), Ask, 14},
	}
	for _, tt := range tests {
		v := Decide(Settings{Remembered: []Remembered{tt.m}}, testGrant(t, Profile{}), tt.request)
		if v.Decision != tt.want || v.Row != tt.row {
			t.Errorf("%s: %s row %d, want %s row %d", tt.name, v.Decision, v.Row, tt.want, tt.row)
		}
	}
}

// TestRefusalsTeachNothing keeps words out of refusals that tell a model what
// would let its call through.
func TestRefusalsTeachNothing(t *testing.T) {
	for _, key := range []string{KeyBadPath, KeyUnknownTool, KeyToolOff, KeyOwnState, KeyOwnStateCommand, KeyToolDenied, KeyReadonly} {
		s := strings.ToLower(sentences[key])
		for _, w := range []string{"r:", "w:", "rule", "setting", "config", "allow", "permission", "profile", "policy", "level", "switch", "approve", "zeroclaw"} {
			if strings.Contains(s, w) {
				t.Errorf("the refusal %q speaks of %q: %s", key, w, s)
			}
		}
	}
}

func TestPropose(t *testing.T) {
	read := func(spelled string) Path { return Path{Op: OpRead, Kind: KindFile, Real: "/x", Spelled: spelled} }
	with := func(p Path, change func(*Path)) Path { change(&p); return p }
	list := func(p *Path) { p.Op, p.Kind = OpList, KindDir }
	write := func(p *Path) { p.Op = OpWrite }
	tests := []struct {
		name  string
		paths []Path
		want  []string
	}{
		{"below the root", []Path{read("./docs/a.md")}, []string{"R:./docs/**", "R:./docs/a.md"}},
		{"in the root", []Path{read("./README.md")}, []string{"R:./README.md"}},
		{"change", []Path{with(read("./docs/a.md"), write)}, []string{"W:./docs/**", "W:./docs/a.md"}},
		{"folder", []Path{with(read("./docs"), list)}, []string{"R:./docs/**"}},
		{"root", []Path{with(read("."), list)}, []string{"R:./**"}},
		{"home file", []Path{read("~/x.txt")}, []string{"R:~/x.txt"}},
		{"home folder", []Path{read("~/notes/x.txt")}, []string{"R:~/notes/**", "R:~/notes/x.txt"}},
		{"home itself", []Path{with(read("~/"), list)}, []string{"R:~/"}},
		{"outside", []Path{read("/etc/hosts")}, []string{"R:/etc/hosts"}},
		{"far outside", []Path{read("/opt/x/y")}, []string{"R:/opt/x/**", "R:/opt/x/y"}},
		{"top", []Path{with(read("/"), list)}, []string{"R:/"}},
		{"copy in one folder", []Path{read("./p/a"), with(read("./p/b"), write)}, []string{"RW:./p/**"}},
		{"copy between folders", []Path{read("./p/a"), with(read("./q/b"), write)}, nil},
		{"walk", []Path{with(read("./p"), func(p *Path) { list(p); p.Walk = true })}, []string{"R:./p/**"}},
		{"walk of the top", []Path{with(read("/"), func(p *Path) { list(p); p.Walk = true })}, nil},
		{"moved folder", []Path{with(read("./p"), func(p *Path) { p.Op, p.Kind, p.Walk = OpDelete, KindDir, true })}, nil},
		{"star in the name", []Path{read("./p/a*b")}, nil},
		{"newline in the name", []Path{read("./p/a\nRW:/**")}, nil},
		{"space at the end", []Path{read("./p ")}, nil},
		{"second place", []Path{with(read("./p/a"), func(p *Path) { p.Second = "/x" })}, nil},
		{"no spelling", []Path{read("")}, nil},
		{"folders made in a folder", []Path{{Op: OpWrite, Real: "/r/docs/a/b", Spelled: "./docs/a/b", Dir: "/r/docs", Parents: true}}, []string{"W:./docs/**"}},
		{"folders made in the root", []Path{{Op: OpWrite, Real: "/r/a/b", Spelled: "./a/b", Dir: "/r", Parents: true}}, nil},
		{"folder made without others", []Path{{Op: OpWrite, Real: "/r/docs/a", Spelled: "./docs/a", Dir: "/r/docs", Parents: true}}, []string{"W:./docs/**", "W:./docs/a"}},
	}
	for _, tt := range tests {
		got := propose(tt.paths)
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: propose = %q, want %q", tt.name, got, tt.want)
		}
		for _, line := range got {
			if _, bad := ParseRules([]string{line}); len(bad) > 0 {
				t.Errorf("%s: proposed %q is invalid: %v", tt.name, line, bad)
			}
		}
	}
}

func TestDecideProposes(t *testing.T) {
	g := testGrant(t, Profile{})
	r := readRequest("/r/docs/a.md", func(p *Path) { p.Spelled = "./docs/a.md" })
	if v := Decide(Settings{}, g, r); !slices.Contains(v.Proposed, "R:./docs/**") {
		t.Errorf("proposed %q, want R:./docs/**", v.Proposed)
	}
	r.Paths[0].Protected = ".env"
	if v := Decide(Settings{}, g, r); v.Proposed != nil {
		t.Errorf("a protected name proposes %q", v.Proposed)
	}
	for _, class := range []CommandClass{Unmodelled, Ambiguous} {
		if v := Decide(Settings{}, g, commandRequest(class)); v.Proposed != nil {
			t.Errorf("%s command proposes %q", class, v.Proposed)
		}
	}
}
