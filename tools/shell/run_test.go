//go:build unix

package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/process"
)

func TestMain(m *testing.M) {
	if err := process.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("zeroclaw/tools/process.reapForever"))
}

// answer is what a call brought back.
type answer struct {
	structured
	text    string
	isError bool
	err     error
	took    time.Duration
	live    *recorder
}

// recorder takes live output.
type recorder struct {
	mu     sync.Mutex
	events int
	text   map[string]string
}

func (r *recorder) add(stream, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events++
	if r.text == nil {
		r.text = map[string]string{}
	}
	r.text[stream] += text
}

func (r *recorder) get(stream string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text[stream]
}

// call is one test call; zero fields have usable defaults.
type call struct {
	args    map[string]any
	command string
	cwd     string
	argv    []string // runs directly
	session string
	ctx     context.Context
}

func newShell(t *testing.T, c Config) *Shell {
	t.Helper()
	if c.Shell == "" {
		c.Shell = "/bin/sh"
	}
	s := New(c)
	t.Cleanup(func() { s.Close("") })
	return s
}

func (s *Shell) try(t *testing.T, c call) answer {
	t.Helper()
	if c.args == nil {
		c.args = map[string]any{}
	}
	c.args["command"] = c.command
	raw, err := json.Marshal(c.args)
	if err != nil {
		t.Fatal(err)
	}
	if c.cwd == "" {
		c.cwd = t.TempDir()
	}
	if c.ctx == nil {
		c.ctx = context.Background()
	}
	if c.session == "" {
		c.session = "s"
	}
	a := answer{live: &recorder{}}
	cmd := permissions.Command{Text: c.command, Class: permissions.Ambiguous, Words: strings.Fields(c.command),
		Cwd: permissions.Path{Given: c.cwd, Real: c.cwd, Kind: permissions.KindDir}}
	pass := &tools.Pass{Session: c.session, Command: &cmd, Output: a.live.add}
	if c.argv != nil {
		pass.Direct, cmd.Class, cmd.Argv = true, permissions.Simple, c.argv
		cmd.Binary, _ = process.LookPath(c.argv[0], fixedPath, "/")
	}
	began := time.Now()
	res, err := s.Tool().Run(tools.WithPass(c.ctx, pass), raw)
	a.took, a.err, a.isError = time.Since(began), err, res.IsError
	if res.Structured != nil {
		if err := json.Unmarshal(res.Structured, &a.structured); err != nil {
			t.Fatal(err)
		}
		a.text = res.Content[0].Text
	}
	return a
}

func (a answer) exit() int {
	if a.ExitCode == nil {
		return -1
	}
	return *a.ExitCode
}

func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within 5 s", what)
		}
	}
}

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

// patience is what anything may take on a machine that is busy with other
// things. What a test makes wait for ever waits far longer.
const patience = 20 * time.Second

func TestTimeout(t *testing.T) {
	s := newShell(t, Config{})
	for _, command := range []string{
		"echo first; sleep 300 | cat",
		"trap '' TERM; echo first; while :; do sleep 300; done",
		"echo first; setsid sh -c 'trap \"\" TERM; sleep 300' & wait",
		"echo first; sleep 9999",
	} {
		a := s.try(t, call{command: command, args: map[string]any{"timeout_seconds": 1}})
		if a.err != nil || !a.isError || !a.TimedOut || a.Diagnosis.Reason != "timeout" {
			t.Errorf("%q: %v %+v", command, a.err, a.structured)
		}
		if a.Stdout != "first\n" || a.took > patience || len(a.Running) != 0 {
			t.Errorf("%q: %q after %v, running %v", command, a.Stdout, a.took, a.Running)
		}
	}
	if n := len(s.of("")); n != 0 {
		t.Errorf("%d jobs left", n)
	}
}

func TestCancel(t *testing.T) {
	s := newShell(t, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	pidFile := filepath.Join(t.TempDir(), "pid")
	go func() {
		for {
			if b, _ := os.ReadFile(pidFile); len(b) > 0 {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	a := s.try(t, call{command: "echo first; sleep 300 & echo $! >" + pidFile + "; wait", ctx: ctx})
	if !errors.Is(a.err, context.Canceled) || !a.Cancelled || a.Stdout != "first\n" {
		t.Errorf("err %v, %+v", a.err, a.structured)
	}
	if a.took > patience {
		t.Errorf("took %v", a.took)
	}
	b, _ := os.ReadFile(pidFile)
	var pid int
	_, _ = fmt.Sscan(string(b), &pid)
	if pid == 0 || !gone(pid) {
		t.Errorf("the sleep %d is still there", pid)
	}
	// A call whose context has ended before does not get far either.
	a = s.try(t, call{command: "sleep 300", ctx: ctx})
	if !errors.Is(a.err, context.Canceled) || a.took > patience {
		t.Errorf("err %v after %v", a.err, a.took)
	}
}

func TestLeftInBackground(t *testing.T) {
	s := newShell(t, Config{})
	for _, command := range []string{
		"sleep 300 & echo hi",
		"sleep 300 >/dev/null 2>&1 & echo hi",
		"setsid sleep 300 & echo hi",
		"nohup sleep 300 2>/dev/null & echo hi",
	} {
		a := s.try(t, call{command: command})
		if a.err != nil || a.exit() != 0 || a.Stdout != "hi\n" || a.took > patience {
			t.Errorf("%q: %v %+v after %v", command, a.err, a.structured, a.took)
		}
		if len(a.Running) != 1 || !strings.Contains(a.text, "still running: process") {
			t.Fatalf("%q: running %v, text %q", command, a.Running, a.text)
		}
		pid := a.Running[0]
		list := s.Processes("s")
		if len(list) != 1 || list[0].Pid != pid || list[0].Command != command || list[0].Cwd != a.Cwd || list[0].Started.IsZero() {
			t.Errorf("%q: Processes = %+v", command, list)
		}
		if other := s.Processes("other"); len(other) != 0 {
			t.Errorf("another session sees %+v", other)
		}
		var none *NoProcessError
		if err := s.StopProcess("other", pid); !errors.As(err, &none) {
			t.Errorf("StopProcess of another session = %v", err)
		}
		if err := s.StopProcess("s", pid); err != nil {
			t.Errorf("StopProcess: %v", err)
		}
		if !gone(pid) {
			t.Errorf("%q: %d is still there", command, pid)
		}
		until(t, "forgotten", func() bool { return len(s.Processes("s")) == 0 })
		if err := s.StopProcess("s", pid); !errors.As(err, &none) {
			t.Errorf("second StopProcess = %v", err)
		}
	}
}

func TestBackground(t *testing.T) {
	s := newShell(t, Config{})
	a := s.try(t, call{command: "echo up; sleep 1.5; echo later; sleep 300", args: map[string]any{"background": true}})
	if a.err != nil || a.isError || a.ExitCode != nil || a.Stdout != "up\n" || len(a.Running) == 0 {
		t.Fatalf("%v %+v", a.err, a.structured)
	}
	if a.took < backgroundMoment || a.took > patience || !strings.Contains(a.text, "running in the background") {
		t.Errorf("took %v, text %q", a.took, a.text)
	}
	until(t, "later output", func() bool { return strings.Contains(a.live.get("stdout"), "later\n") })
	pid := s.Processes("s")[0].Pid
	s.Close("s")
	if !gone(pid) {
		t.Errorf("%d survived its session", pid)
	}
	if a = s.try(t, call{command: "sleep 300"}); a.took > patience {
		t.Errorf("a closed session ran a command for %v", a.took)
	}
	// One that ends at once is an ordinary result.
	a = s.try(t, call{command: "echo done; exit 2", session: "t", args: map[string]any{"background": true}})
	if a.exit() != 2 || a.Stdout != "done\n" || len(a.Running) != 0 || a.took > patience {
		t.Errorf("%+v after %v", a.structured, a.took)
	}
}

func TestClose(t *testing.T) {
	s := newShell(t, Config{})
	one := s.try(t, call{command: "trap '' TERM; sleep 300 & echo hi", session: "one"})
	two := s.try(t, call{command: "sleep 300 & echo hi", session: "two"})
	s.Close("one")
	if !gone(one.Running[0]) || gone(two.Running[0]) {
		t.Errorf("after closing one: %v %v", gone(one.Running[0]), gone(two.Running[0]))
	}
	began := time.Now()
	s.Close("")
	if !gone(two.Running[0]) || time.Since(began) > patience {
		t.Errorf("Close took %v", time.Since(began))
	}
	if n := len(s.of("")); n != 0 {
		t.Errorf("%d jobs left", n)
	}
}

func TestFlood(t *testing.T) {
	s := newShell(t, Config{MaxOutput: 64 << 20})
	a := s.try(t, call{command: "yes", args: map[string]any{"timeout_seconds": 60}})
	if a.err != nil || !a.isError || a.Diagnosis.Reason != "output_limit" || a.took > 2*patience {
		t.Errorf("%v %q after %v", a.err, a.Diagnosis.Reason, a.took)
	}
	if !a.Truncated || a.OmittedOut < 62<<20 || len(a.Stdout) > keepBytes+100 || len(a.Stdout) < keepBytes-100 {
		t.Errorf("kept %d, omitted %d", len(a.Stdout), a.OmittedOut)
	}
	if n := len(a.live.get("stdout")); n > liveTotal+liveEvent+200 {
		t.Errorf("%d bytes of live output", n)
	}
	if limit := int(a.took/liveEvery) + 2; a.live.events > limit {
		t.Errorf("%d events in %v", a.live.events, a.took)
	}
}

func TestForkStorm(t *testing.T) {
	s := newShell(t, Config{MaxProcesses: 200})
	stop, worst := make(chan struct{}), make(chan time.Duration)
	go func() { // stands for everything else that the companion does
		var gap time.Duration
		for last := time.Now(); ; last = time.Now() {
			select {
			case <-stop:
				worst <- gap
				return
			case <-time.After(5 * time.Millisecond):
				gap = max(gap, time.Since(last))
			}
		}
	}()
	a := s.try(t, call{command: "sh -c 'while :; do sleep 100 & done'", args: map[string]any{"timeout_seconds": 30}})
	if a.err != nil || !a.isError || a.Diagnosis.Reason != "too_many_processes" || len(a.Running) != 0 {
		t.Errorf("%v %+v", a.err, a.Diagnosis)
	}
	close(stop)
	if gap := <-worst; a.took > patience || gap > 5*time.Second {
		t.Errorf("took %v, and the companion stood still for %v", a.took, gap)
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
