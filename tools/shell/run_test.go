//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

func TestRun(t *testing.T) {
	s := newShell(t, Config{})
	for _, tt := range []struct {
		command  string
		argv     []string
		exit     int
		signal   string
		out, err string
		reason   string
	}{
		{command: "echo a; echo b >&2", out: "a\n", err: "b\n"},
		{command: "exit 3", exit: 3},
		{command: "kill -TERM $$", exit: -1, signal: "SIGTERM"},
		{command: "kill -KILL $$", exit: -1, signal: "SIGKILL", reason: "killed"},
		{command: "kill -SEGV $$", exit: -1, signal: "SIGSEGV", reason: "crashed"},
		{command: "sh -c 'kill -SEGV $$'; exit $?", exit: 139, err: "*", reason: "crashed"},
		{command: "read x; echo \"$?[$x]\"", out: "1[]\n"},
		{command: "cat", out: ""},
		{command: "printf '\\033]0;x\\007\\033[2J\\377\\000ok'", out: "\x1b]0;x\a\x1b[2J\uFFFD\x00ok"},
		{command: "echo $PWD; pwd -P | grep -c .", out: "DIR\n1\n"},
		{command: "-x", exit: 127, err: "*", reason: "command_not_found"},
		{command: "no_such_tool_here", exit: 127, err: "*", reason: "command_not_found"},
		{command: "./no_such_script", exit: 127, err: "*", reason: "file_not_found"},
		{command: "/etc/passwd", exit: 126, err: "*", reason: "not_executable"},
		{command: "echo one two", argv: []string{"echo", "one", "two"}, out: "one two\n"},
		{command: "no_such_tool_here", argv: []string{"no_such_tool_here"}, exit: 127, reason: "command_not_found"},
	} {
		dir := t.TempDir()
		a := s.try(t, call{command: tt.command, argv: tt.argv, cwd: dir})
		if a.err != nil || a.isError {
			t.Errorf("%q: error %v, is_error %v", tt.command, a.err, a.isError)
			continue
		}
		if tt.err == "*" {
			tt.err = a.Stderr
		}
		if a.exit() != tt.exit || a.Signal != tt.signal || a.Stdout != strings.ReplaceAll(tt.out, "DIR", dir) || a.Stderr != tt.err {
			t.Errorf("%q: got %d %q %q %q", tt.command, a.exit(), a.Signal, a.Stdout, a.Stderr)
		}
		if a.Diagnosis.Reason != tt.reason || (tt.reason != "") != (a.Diagnosis.Hint != "") {
			t.Errorf("%q: reason %q, hint %q; want %q", tt.command, a.Diagnosis.Reason, a.Diagnosis.Hint, tt.reason)
		}
		if len(a.Running) != 0 || a.TimedOut || a.Truncated || a.Cwd != dir {
			t.Errorf("%q: %+v", tt.command, a.structured)
		}
		if (a.Shell == "") != (tt.argv != nil) {
			t.Errorf("%q: shell %q", tt.command, a.Shell)
		}
	}
}

func TestText(t *testing.T) {
	s := newShell(t, Config{})
	a := s.try(t, call{command: "printf out; printf err >&2; exit 4"})
	if !strings.HasPrefix(a.text, "out\n[stderr]\nerr\n[exit code 4 after ") {
		t.Errorf("text = %q", a.text)
	}
	a = s.try(t, call{command: "printf '\\377'"})
	if !a.Replaced || !strings.Contains(a.text, "not UTF-8") {
		t.Errorf("text = %q, replaced %v", a.text, a.Replaced)
	}
	a = s.try(t, call{command: "true"})
	if !strings.HasPrefix(a.text, "[no output]\n[exit code 0 after ") {
		t.Errorf("text = %q", a.text)
	}
	if d := a.Diagnosis; d.OS == "" || d.Arch == "" || d.Shell != "/bin/sh" || d.Cwd != a.Cwd {
		t.Errorf("diagnosis = %+v", d)
	}
}

func TestCwd(t *testing.T) {
	s := newShell(t, Config{})
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path permissions.Path
		want string
	}{
		{permissions.Path{Given: "x", Real: dir + "/x", Kind: permissions.KindNone}, "does not exist"},
		{permissions.Path{Given: "x", Real: dir + "/x", Kind: permissions.KindDir}, "does not exist"},
		{permissions.Path{Given: "f", Real: file, Kind: permissions.KindFile}, "not a folder"},
		{permissions.Path{Given: "x", Err: "a loop of links"}, "a loop of links"},
		{permissions.Path{}, "not judged"},
		{permissions.Path{Given: ".", Real: dir, Kind: permissions.KindDir, Dev: 1, Ino: 1}, "replaced"},
	} {
		mark := filepath.Join(t.TempDir(), "ran")
		c := permissions.Command{Text: "touch " + mark, Class: permissions.Unmodelled, Cwd: tt.path}
		raw, _ := json.Marshal(map[string]any{"command": c.Text})
		res, err := s.Tool().Run(tools.WithPass(context.Background(), &tools.Pass{Command: &c}), raw)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("cwd %+v: %+v, %v; want an error with %q", tt.path, res, err, tt.want)
		}
		if _, err := os.Stat(mark); err == nil {
			t.Errorf("cwd %+v: the command ran", tt.path)
		}
	}
}

func TestOutsideTheGate(t *testing.T) {
	s := newShell(t, Config{})
	cmd := permissions.Command{Text: "true", Class: permissions.Ambiguous, Cwd: permissions.Path{Real: t.TempDir(), Kind: permissions.KindDir}}
	for name, tt := range map[string]struct {
		pass *tools.Pass
		raw  string
	}{
		"no pass":                   {nil, `{"command":"true"}`},
		"no facts":                  {&tools.Pass{}, `{"command":"true"}`},
		"another command":           {&tools.Pass{Command: &cmd}, `{"command":"true "}`},
		"direct, but not simple":    {&tools.Pass{Command: &cmd, Direct: true}, `{"command":"true"}`},
		"arguments that do not fit": {&tools.Pass{Command: &cmd}, `{"command":7}`},
	} {
		ctx := context.Background()
		if tt.pass != nil {
			ctx = tools.WithPass(ctx, tt.pass)
		}
		if res, err := s.Tool().Run(ctx, json.RawMessage(tt.raw)); err == nil {
			t.Errorf("%s: ran: %+v", name, res)
		}
	}
}

func TestEnvironment(t *testing.T) {
	s := newShell(t, Config{
		Environ: func() []string {
			return []string{"HOME=/h", "PATH=/usr/bin:/bin", "ZEROCLAW_TOKEN=t", "zeroclaw_x=1", "API_KEY=sk-1", "HEADER=Bearer sk-1",
				"LANG=C", "EDITOR=vi", "PWD=/wrong", "broken", "=odd", "LD_PRELOAD="}
		},
		Secret: func(v string) bool { return strings.Contains(v, "sk-1") },
	})
	dir := t.TempDir()
	for _, tt := range []struct {
		argv []string
		want string
	}{
		{nil, "EDITOR=vi\nHOME=/h\nLANG=C\nLD_PRELOAD=\nPATH=/usr/bin:/bin\nPWD=" + dir + "\n"},
		{[]string{"env"}, "HOME=/h\nLANG=C\nPATH=" + fixedPath + "\nPWD=" + dir + "\n"},
	} {
		a := s.try(t, call{command: "env | sort | grep -v -e ^_= -e ^OLDPWD= -e ^SHLVL=", argv: tt.argv, cwd: dir})
		lines := strings.Split(strings.TrimSpace(a.Stdout), "\n")
		if tt.argv != nil {
			slices.Sort(lines)
		}
		if got := strings.Join(lines, "\n") + "\n"; got != tt.want {
			t.Errorf("direct %v: got\n%swant\n%s", tt.argv != nil, got, tt.want)
		}
	}
	with := newShell(t, Config{Environ: func() []string { return []string{"PATH=/bin"} }, Path: func(context.Context) string { return "/opt/x:/usr/bin:/bin" }})
	if a := with.try(t, call{command: "echo $PATH"}); a.Stdout != "/opt/x:/usr/bin:/bin\n" {
		t.Errorf("PATH = %q", a.Stdout)
	}
}
