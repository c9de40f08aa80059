//go:build unix

package resolve

import (
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// simple is what a scan would say of a command with these operands.
func simple(text string, operands ...permissions.Operand) permissions.Command {
	return permissions.Command{Text: text, Class: permissions.Simple, Argv: strings.Fields(text), Operands: operands, Words: strings.Fields(text)}
}

func (w world) command(t testing.TB, r *Resolver, rules []string, c permissions.Command, cwd string) (permissions.Command, permissions.Verdict) {
	t.Helper()
	parsed, bad := permissions.ParseRules(rules)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	c = r.Command(c, cwd)
	return c, permissions.Decide(permissions.Settings{Rules: r.Anchor(parsed, nil)}, grant(),
		permissions.Request{Tool: permissions.CommandTool, Origin: permissions.OriginLocal, Command: &c})
}

func TestCommandFacts(t *testing.T) {
	w := newWorld(t)
	at := func(p string) string { return filepath.Join(w.root, p) }
	w.mkdir(t, at("p/dst"))
	w.mkdir(t, at("q/tree/sub"))
	w.write(t, at("q/tree/sub/f"), "f")
	w.mkdir(t, at("p/tree/sub"))
	w.write(t, at("p/tree/sub/f"), "f")
	w.link(t, w.out, at("p/dlink"))
	w.link(t, filepath.Join(w.out, "secret.txt"), at("p/link"))
	w.link(t, at("p/a.txt"), at("pp/into"))
	w.link(t, at("p/dst"), at("p/dstlink"))
	w.mkdir(t, at("~"))
	w.write(t, at("~/literal"), "x")
	w.write(t, at("star*"), "x")

	read := func(s string) permissions.Operand { return permissions.Operand{Text: s, Op: permissions.OpRead} }
	list := func(s string) permissions.Operand { return permissions.Operand{Text: s, Op: permissions.OpList} }
	walk := func(s string) permissions.Operand {
		return permissions.Operand{Text: s, Op: permissions.OpList, Walk: true}
	}
	write := func(s string) permissions.Operand { return permissions.Operand{Text: s, Op: permissions.OpWrite} }
	deep := func(s string) permissions.Operand {
		return permissions.Operand{Text: s, Op: permissions.OpWrite, Parents: true}
	}
	into := func(s, name string) permissions.Operand {
		return permissions.Operand{Text: s, Op: permissions.OpWrite, Into: name}
	}
	del := func(s string) permissions.Operand { return permissions.Operand{Text: s, Op: permissions.OpDelete} }
	both := []string{"RW:./p/**"}

	tests := []struct {
		name  string
		rules []string
		c     permissions.Command
		cwd   string
		want  permissions.Decision
		row   int
		real  string // of the last path, below the root
	}{
		{"read", both, simple("cat ./p/a.txt", read("./p/a.txt")), "", permissions.Allow, 13, "p/a.txt"},
		{"from a folder", both, simple("cat a.txt", read("a.txt")), "p", permissions.Allow, 13, "p/a.txt"},
		{"up from a folder", both, simple("cat ../pp/x.txt", read("../pp/x.txt")), "p", permissions.Ask, 14, "pp/x.txt"},
		{"folder outside", both, simple("cat "+at("p/a.txt"), read(at("p/a.txt"))), "~/out", permissions.Ask, 14, "p/a.txt"},
		{"folder outside, covered", append(both, "R:~/out"), simple("cat "+at("p/a.txt"), read(at("p/a.txt"))), "~/out", permissions.Allow, 13, "p/a.txt"},
		{"folder by a link", both, simple("cat secret.txt", read("secret.txt")), "p/dlink", permissions.Ask, 14, "../out/secret.txt"},
		{"folder is missing", both, simple("ls", list(".")), "nowhere", permissions.Error, 0, ""},
		{"folder is a file", both, simple("ls", list(".")), "p/a.txt", permissions.Error, 0, ""},
		{"implied folder", both, simple("ls", list(".")), "", permissions.Ask, 14, "."},
		{"implied folder, covered", both, simple("ls", list(".")), "p", permissions.Allow, 13, "p"},
		{"link to outside", both, simple("cat ./p/link", read("./p/link")), "", permissions.Ask, 14, "../out/secret.txt"},
		{"up behind a link", []string{"R:~/**"}, simple("cat ./p/dlink/../x", read("./p/dlink/../x")), "", permissions.Ask, 10, ""},
		{"up behind a missing name", []string{"R:~/**"}, simple("cat ./nope/../p/a.txt", read("./nope/../p/a.txt")), "", permissions.Ask, 10, ""},
		{"up behind a file", []string{"R:~/**"}, simple("cat p/a.txt/../a.txt", read("p/a.txt/../a.txt")), "", permissions.Ask, 10, ""},
		{"up behind a folder", both, simple("cat ./p/src/../a.txt", read("./p/src/../a.txt")), "", permissions.Allow, 13, "p/a.txt"},
		{"tilde is literal", []string{"R:./~/**"}, simple("cat ~/literal", read("~/literal")), "", permissions.Allow, 13, "~/literal"},
		{"encoded names are literal", []string{"R:./p/**"}, simple("cat p/\ufffdff", read("p/\ufffdff")), "", permissions.Allow, 13, "p/\ufffdff"},
		{"star is literal", []string{"R:./*"}, simple("cat star*", read("star*")), "", permissions.Allow, 13, "star*"},
		{"device", both, simple("cat /dev/null", read("/dev/null")), "", permissions.Ask, 0, ""},
		{"empty operand", both, simple("cat ''", read("")), "", permissions.Ask, 0, ""},
		{"copy onto a new name", both, simple("cp ./p/a.txt ./p/c", read("./p/a.txt"), into("./p/c", "a.txt")), "", permissions.Allow, 13, "p/c"},
		{"copy into a folder", both, simple("cp ./p/a.txt ./p/dst", read("./p/a.txt"), into("./p/dst", "a.txt")), "", permissions.Allow, 13, "p/dst/a.txt"},
		{"copy into a folder by a link", both, simple("cp ./p/a.txt ./p/dstlink", read("./p/a.txt"), into("./p/dstlink", "a.txt")), "", permissions.Allow, 13, "p/dst/a.txt"},
		{"copy into a folder outside", both, simple("cp ./p/a.txt ./p/dlink", read("./p/a.txt"), into("./p/dlink", "a.txt")), "", permissions.Ask, 14, "../out/a.txt"},
		{"compare with a folder", both, simple("diff ./p/a.txt ./p/dst", read("./p/a.txt"), permissions.Operand{Text: "./p/dst", Op: permissions.OpRead, Into: "\x00"}), "", permissions.Ask, 0, "p/dst"},
		{"compare with a file", both, simple("diff ./p/a.txt ./p/src/b.go", read("./p/a.txt"), permissions.Operand{Text: "./p/src/b.go", Op: permissions.OpRead, Into: "\x00"}), "", permissions.Allow, 13, "p/src/b.go"},
		{"copy of nothing that has a name", both, simple("cp ./p/.. ./p/dst", read("./p/.."), into("./p/dst", "..")), "", permissions.Ask, 10, ""},
		{"copy over a link that is not covered", both, simple("cp ./p/a.txt ./pp/into", read("./p/a.txt"), into("./pp/into", "a.txt")), "", permissions.Ask, 14, "p/a.txt"},
		{"make a folder", both, simple("mkdir ./p/new", write("./p/new")), "", permissions.Allow, 13, "p/new"},
		{"make folders", both, simple("mkdir -p ./p/new/er", deep("./p/new/er")), "", permissions.Allow, 13, "p/new/er"},
		{"make folders above that are not covered", []string{"W:./n/e/w"}, simple("mkdir -p ./n/e/w", deep("./n/e/w")), "", permissions.Ask, 14, "n/e/w"},
		{"make the folder of the rule", []string{"W:./n/**"}, simple("mkdir -p ./n/e/w", deep("./n/e/w")), "", permissions.Ask, 14, "n/e/w"},
		{"make folders above that are covered", []string{"W:./n/**", "W:./n"}, simple("mkdir -p ./n/e/w", deep("./n/e/w")), "", permissions.Allow, 13, "n/e/w"},
		{"make folders where the upper ones are", []string{"W:./p/src/x"}, simple("mkdir -p ./p/src/x", deep("./p/src/x")), "", permissions.Allow, 13, "p/src/x"},
		{"remove", both, simple("rm ./p/a.txt", del("./p/a.txt")), "", permissions.Allow, 13, "p/a.txt"},
		{"remove a link to outside", both, simple("rm ./p/link", del("./p/link")), "", permissions.Ask, 14, "p/link"},
		{"remove the folder of the rule", both, simple("rmdir ./p", del("./p")), "", permissions.Ask, 14, "p"},
		{"move a folder", []string{"RW:./q/**"}, simple("mv ./q/tree ./q/t2", walk("./q/tree"), del("./q/tree"), into("./q/t2", "tree")), "", permissions.Allow, 13, "q/t2"},
		{"move a folder whose inside is not covered", []string{"RW:./q/*"}, simple("mv ./q/tree ./q/t2", walk("./q/tree"), del("./q/tree"), into("./q/t2", "tree")), "", permissions.Ask, 14, "q/t2"},
		{"move a folder to where its inside is not covered", []string{"RW:./q/**", "W:./p/dst/*"}, simple("mv ./q/tree ./p/dst", walk("./q/tree"), del("./q/tree"), into("./p/dst", "tree")), "", permissions.Ask, 14, "p/dst/tree"},
		{"walk", both, simple("ls -R ./p/src", walk("./p/src")), "", permissions.Allow, 13, "p/src"},
		{"walk under one star", []string{"R:./p/*"}, simple("ls -R ./p/src", walk("./p/src")), "", permissions.Ask, 14, "p/src"},
		{"walk of a file", []string{"R:./p/*"}, simple("du ./p/a.txt", walk("./p/a.txt")), "", permissions.Allow, 13, "p/a.txt"},
		{"walk over a secret", both, simple("find ./p", walk("./p")), "", permissions.Ask, 11, "p"},
		{"walk over own state", []string{"R:~/**"}, simple("find ..", walk("..")), "", permissions.Deny, 2, ".."},
		{"own state", []string{"R:/**"}, simple("cat "+w.state+"/config.toml", read(w.state+"/config.toml")), "", permissions.Deny, 2, "../.zeroclaw/config.toml"},
		{"not installed", both, simple("no-such-program ./p/a.txt", read("./p/a.txt")), "", permissions.Ask, 14, "p/a.txt"},
	}
	for _, tt := range tests {
		r := w.resolver(t)
		c, v := w.command(t, r, tt.rules, tt.c, tt.cwd)
		if v.Decision != tt.want || v.Row != tt.row {
			t.Errorf("%s: %s row %d (%s), want %s row %d", tt.name, v.Decision, v.Row, v.Reason, tt.want, tt.row)
		}
		if tt.real != "" && (len(c.Paths) == 0 || c.Paths[len(c.Paths)-1].Real != at(tt.real)) {
			t.Errorf("%s: paths %+v, want the last to be %q", tt.name, c.Paths, at(tt.real))
		}
		if c.Class == permissions.Ambiguous && (c.Why == "" || v.Reason == "") {
			t.Errorf("%s: ambiguous without a reason", tt.name)
		}
	}
}

// TestMoveMakesProtectedNames moves folders whose entries get a protected name
// in the new place only.
func TestMoveMakesProtectedNames(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{"auto/autostart", "flows/workflows", "plain/src", "into/.github", "into/sub/.config"} {
		w.mkdir(t, filepath.Join(w.root, "p", dir))
	}
	for _, tt := range []struct {
		from, to string
		want     permissions.Decision
	}{
		{"auto", ".config", permissions.Ask},
		{"auto", "into/sub/.config", permissions.Allow}, // becomes .config/auto
		{"auto/autostart", "into/sub/.config", permissions.Ask},
		{"flows", ".GitHub", permissions.Ask},
		{"flows", "other", permissions.Allow},
		{"plain", ".github", permissions.Allow},
		{"flows/workflows", "into/.github", permissions.Ask},
	} {
		name := path.Base(tt.from)
		c := permissions.Command{Text: "mv", Argv: []string{"mv", "p/" + tt.from, "p/" + tt.to}, Class: permissions.Simple, Operands: []permissions.Operand{
			{Text: "p/" + tt.from, Op: permissions.OpRead, Walk: true}, {Text: "p/" + tt.from, Op: permissions.OpDelete, Walk: true},
			{Text: "p/" + tt.to, Op: permissions.OpWrite, Into: name}, {Text: "p/" + tt.to, Op: permissions.OpDelete, Into: name},
		}}
		if _, v := w.command(t, w.resolver(t), []string{"RW:./p/**"}, c, ""); v.Decision != tt.want {
			t.Errorf("mv %s %s: %s row %d (%s), want %s", tt.from, tt.to, v.Decision, v.Row, v.Reason, tt.want)
		}
	}
}

func TestNamesState(t *testing.T) {
	w := newWorld(t)
	user := filepath.Base(w.home)
	w.link(t, w.state, filepath.Join(w.root, "p/innocent"))
	w.mkdir(t, filepath.Join(w.home, "project/.zeroclaw"))
	r := w.resolver(t)
	own := []string{
		"cat ~/.zeroclaw/config.toml", "ls ~/.zeroclaw", `cat "$HOME/.zeroclaw/x"`, "cat ${HOME}/.zeroclaw/x | head", "cat $HOME/.zeroclaw",
		"cat " + w.state + "/x", "cat ../.zeroclaw/x", "git -C ~/.zeroclaw status", "tool --file=~/.zeroclaw/x", "tool -f" + w.state,
		"echo x >~/.zeroclaw/config.toml", "cat<~/.zeroclaw/x", `cat ~/.zero""claw/x`, `cat ~/.zero\claw/x`, `cat '` + w.state + `/x'`,
		"cat ~" + user + "/.zeroclaw/x", "cd ~ && cat .zeroclaw/x", "cd .. ; cat .zeroclaw/x", "cd ~/docs && cat ../.zeroclaw/x",
		"cat ~/docs/../.zeroclaw/x", "cat ~/.zero*/config.toml", "cat ~/.zerocla?/x", "cat ~/.{zeroclaw,x}/y", "rm -rf ~/.zeroclaw/",
		"scp a@b:x ~/.zeroclaw", "git -C p/innocent log", "python3 -c open('" + w.state + "/x')", "a;cat ~/.zeroclaw/x", "cat\t~/.zeroclaw/x\ncat y",
		"PATH=~/.zeroclaw/bin:$PATH x",
		"cat $PWD/../.zeroclaw/x", "cat ${PWD}/../.zeroclaw/x", "cat ~+/../.zeroclaw/x", "cd p; cat ~-/../.zeroclaw/x", "cd p && cat $OLDPWD/../.zeroclaw/x",
		"cat " + filepath.Dir(w.home) + "/$USER/.zeroclaw/x", "cat " + filepath.Dir(w.home) + "/${LOGNAME}/.zeroclaw/x",
	}
	other := []string{
		"go test ./...", "cat ~/docs/n.md", "ls ~", "grep -r .zeroclawx ~/docs", "ls ~/*", "cat *", "cat ~/project/.zeroclaw/x", "rm -rf ~",
		"echo $HOMEX/.zeroclaw", "cat $PWD/.zeroclaw/x", "cat ${PWDX}/../.zeroclawx", "cat ~+/p/a.txt", "cat $/../x ${ $", "git -C p status", "cat .zeroclaw/x", "", "cd p && ls", "cat ~/.zeroclaw.bak", "echo ~x/.zeroclaw",
	}
	if _, err := os.Stat("/proc/self"); err == nil {
		own = append(own, "cat /proc/self/environ | tr x y", "cat /proc/$PPID/environ", "strings /proc/${PPID}/mem")
		other = append(other, "cat /proc/cpuinfo | grep x")
	}
	for _, class := range []permissions.CommandClass{permissions.Ambiguous, permissions.Unmodelled} {
		for _, text := range own {
			if c := r.Command(permissions.Command{Text: text, Class: class}, ""); !c.NamesState {
				t.Errorf("%s %q does not name own state", class, text)
			}
		}
		for _, text := range other {
			if c := r.Command(permissions.Command{Text: text, Class: class}, ""); c.NamesState {
				t.Errorf("%s %q names own state", class, text)
			}
		}
	}
	top, err := New(Config{Root: w.root, Home: "/", State: "/.zeroclaw"})
	if err != nil {
		t.Fatal(err)
	}
	if c := top.Command(permissions.Command{Text: "cat ~/.zeroclaw/x | head", Class: permissions.Ambiguous}, ""); !c.NamesState {
		t.Error("in a home at the top of the file system, ~ leads nowhere")
	}
	// A long text is looked at in bounded time.
	r.Command(permissions.Command{Text: strings.Repeat("a/b ../c ~/d:", 1500), Class: permissions.Ambiguous}, "")
}

// TestProposedRulesCover saves each proposed rule and asks again.
func TestProposedRulesCover(t *testing.T) {
	w := newWorld(t)
	r := w.resolver(t)
	w.mkdir(t, filepath.Join(w.home, "deep/er"))
	w.write(t, filepath.Join(w.root, "p/caf\xe9"), "x")
	proposed := 0
	for _, given := range []string{
		".", "p", "p/a.txt", "README.md", "p/src/b.go", "new/deep/x", "~", "~/docs/n.md", "~/deep/er/x", "..", "../out/secret.txt", "/etc/hosts", "/",
		"/usr/lib/x", "app/[slug]/page.tsx", "p/caf\ufffde9", "p/a*b", "p/ x ",
	} {
		for op := range toolFor {
			p, v := w.decide(t, r, nil, given, op)
			if want := v.Decision == permissions.Deny && op == permissions.OpDelete; v.Decision != permissions.Ask && !want {
				t.Errorf("%s of %q without rules: %s", op, given, v.Decision)
			}
			for _, rule := range v.Proposed {
				proposed++
				if _, again := w.decide(t, r, []string{rule}, given, op); again.Decision != permissions.Allow {
					t.Errorf("%s of %q at %q: the proposed rule %s does not cover it: %s", op, given, p.Real, rule, again.Reason)
				}
			}
		}
	}
	if proposed < 30 {
		t.Errorf("only %d rules were proposed", proposed)
	}
}
