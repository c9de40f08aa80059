package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"zeroclaw/localserver"
)

// desk is a companion with somebody at a terminal.
type desk struct {
	home string
	localserver.Instance
}

func newDesk(t *testing.T, config string) *desk {
	t.Helper()
	e, out, opened := inProcess(t, "--port", "0")
	t.Setenv("HOME", e.home) // services wait for the user's login shell, whose start files are not ours
	state := filepath.Join(e.home, ".zeroclaw")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(e.home, "notes.txt"), []byte("hello\x1b[2J\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stop := begin(t, e)
	take(t, opened, code, out)
	i, err := localserver.Find(t.Context(), state)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{home: e.home, Instance: i}
	t.Cleanup(func() {
		stop()
		take(t, code, nil, out)
	})
	return d
}

// sitting is one command at the desk.
type sitting struct {
	*desk
	t              *testing.T
	stdout, stderr *buffer
	keys           io.WriteCloser
	code           chan int
	cancel         context.CancelFunc
}

func (d *desk) sit(t *testing.T, args ...string) *sitting {
	t.Helper()
	in, keys := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	s := &sitting{desk: d, t: t, stdout: &buffer{}, stderr: &buffer{}, keys: keys, code: make(chan int, 1), cancel: cancel}
	e := environment{
		args: args, stdin: in, stdout: s.stdout, stderr: s.stderr, home: d.home, cwd: d.home, self: os.Args[0],
		getenv: func(string) string { return "" }, terminal: true, goos: "linux",
		person: person{answers: true, reads: true, columns: func() int { return 80 }},
	}
	go func() { s.code <- execute(ctx, e) }()
	t.Cleanup(func() {
		cancel()
		keys.Close()
	})
	return s
}

// until waits for something on standard error.
func (s *sitting) until(pattern string) string {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	for end := time.Now().Add(30 * time.Second); !want.MatchString(s.stderr.String()); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("standard error never says %s, but\n%s\nand standard output\n%s", pattern, s.stderr, s.stdout)
		}
	}
	return want.FindString(s.stderr.String())
}

func (s *sitting) type_(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.keys, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

// ends wants the exit code.
func (s *sitting) ends(want int) {
	s.t.Helper()
	select {
	case code := <-s.code:
		if code != want {
			s.t.Errorf("exits with %d, want %d\n%s%s", code, want, s.stdout, s.stderr)
		}
	case <-time.After(time.Minute):
		s.t.Fatalf("does not end\n%s%s", s.stdout, s.stderr)
	}
	var got struct{ Sessions []json.RawMessage }
	if err := s.Do(s.t.Context(), "GET", "/api/sessions", nil, &got); err != nil || len(got.Sessions) != 0 {
		s.t.Errorf("%d sessions are left open, %v", len(got.Sessions), err)
	}
}

func TestQuestionAtATerminal(t *testing.T) {
	d := newDesk(t, "")
	read := func(t *testing.T) *sitting { return d.sit(t, "call", "read_file", "--args", `{"path":"notes.txt"}`) }
	t.Run("once", func(t *testing.T) {
		s := read(t)
		s.until(`(?s)May read_file \(Read file\) run\?.*why .*arguments, exactly.*"path": "notes.txt".*It waits until .*once .*always .*rule 1 .*deny .*> $`)
		if !strings.Contains(s.stderr.String(), "reads      "+filepath.Join(d.home, "notes.txt")) {
			t.Errorf("the resolved path is not shown:\n%s", s.stderr)
		}
		s.type_("")  // no answer
		s.type_("y") // nor is this
		s.until(`(?s)Type one of these.*Type one of these.*> $`)
		s.type_("once")
		s.ends(0)
		if got := s.stdout.String(); got != "hello\\x1b[2J\n" {
			t.Errorf("prints %q, want the escape visible", got)
		}
	})
	t.Run("deny", func(t *testing.T) {
		s := read(t)
		s.until("> $")
		s.type_("deny it is private")
		s.ends(exitDenied)
		if !strings.Contains(s.stderr.String(), "zeroclaw: call read_file: denied by the user: it is private\n") {
			t.Errorf("says %s", s.stderr)
		}
	})
	t.Run("answered elsewhere", func(t *testing.T) {
		s := read(t)
		s.until("> $")
		var open struct{ Approvals []question }
		if err := d.Do(t.Context(), "GET", "/api/approvals", nil, &open); err != nil || len(open.Approvals) != 1 {
			t.Fatal(open, err)
		}
		if err := d.Do(t.Context(), "POST", "/api/approvals/"+open.Approvals[0].ID, answer{Decision: "once"}, nil); err != nil {
			t.Fatal(err)
		}
		s.ends(0)
	})
	t.Run("Ctrl-C", func(t *testing.T) {
		s := read(t)
		s.until("> $")
		s.cancel()
		s.ends(exitInterrupted)
		var open struct{ Approvals []question }
		if err := d.Do(t.Context(), "GET", "/api/approvals", nil, &open); err != nil || len(open.Approvals) != 0 {
			t.Errorf("left %v, %v", open, err)
		}
	})
	t.Run("typing ends", func(t *testing.T) {
		s := read(t)
		s.until("> $")
		s.keys.Close()
		s.until("Nobody types any more")
		s.cancel()
		s.ends(exitInterrupted)
	})
	t.Run("rule", func(t *testing.T) {
		s := read(t)
		rule := s.until(`add the rule \S+`)
		s.type_("rule 1")
		s.ends(0)
		again := read(t)
		again.ends(0)
		if strings.Contains(again.stderr.String(), "run?") {
			t.Errorf("%s and yet asked again:\n%s", rule, again.stderr)
		}
	})
}

// TestCommandAtATerminal: what made a command ask is underlined, its output is
// shown while it runs and not again, and what it hides is visible.
func TestCommandAtATerminal(t *testing.T) {
	d := newDesk(t, "")
	s := d.sit(t, "call", "execute_command", "--args", `{"command":"printf 'one\u202e\\ntwo' | cat; echo three >&2; sleep 1; echo; echo four"}`)
	s.until(`(?s)May execute_command \(Run a command\) run\?.*command +printf 'one\\u202e.*with  .*\|.*> $`)
	s.type_("always")
	s.until("(?s)Type one of these")
	s.type_("once")
	wait(t, "live output", func() bool { return strings.Contains(s.stdout.String(), "one") })
	if strings.Contains(s.stdout.String(), "four") {
		t.Log("too slow to see the output come")
	}
	s.ends(0)
	if out := s.stdout.String(); strings.Count(out, "one\\u202e") != 1 || strings.Count(out, "four") != 1 || !strings.Contains(out, "[exit code 0") {
		t.Errorf("prints %q", out)
	}
	if strings.Count(s.stderr.String(), "three") < 1 {
		t.Errorf("standard error has %q", s.stderr)
	}
}

// TestProgressAndCancel: a call says how far it is, and Ctrl-C ends it.
func TestProgressAndCancel(t *testing.T) {
	d := newDesk(t, "[permissions.tools.mcp_dummy_mcp_slow]\nmode = \"allow\"\n")
	start := d.sit(t, "services", "start", "dummy_mcp")
	start.ends(0)
	s := d.sit(t, "call", "mcp_dummy_mcp_slow", "--args", `{"seconds":60,"steps":120}`)
	s.until(`  \d/120 step \d of 120`)
	s.cancel()
	s.ends(exitInterrupted)
	if !strings.Contains(s.stderr.String(), "zeroclaw: call mcp_dummy_mcp_slow: interrupted") {
		t.Errorf("says %s", s.stderr)
	}
}

// TestKilledCommand: a call whose command is killed ends, and its question goes.
func TestKilledCommand(t *testing.T) {
	d := newDesk(t, "")
	cmd := exec.Command(os.Args[0], "call", "read_file", "--args", `{"path":"notes.txt"}`)
	cmd.Env = append(os.Environ(), "HOME="+d.home, asProgram+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	questions := func() int {
		var open struct{ Approvals []question }
		if err := d.Do(t.Context(), "GET", "/api/approvals", nil, &open); err != nil {
			t.Fatal(err)
		}
		return len(open.Approvals)
	}
	wait(t, "the question", func() bool { return questions() == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	wait(t, "the end of the question", func() bool { return questions() == 0 })
}

// TestFormAtATerminal: what a server asks meanwhile is put here, as a form or as
// an address, and the server gets what was typed.
func TestFormAtATerminal(t *testing.T) {
	list := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(list, []byte(`[{"name":"form","inputSchema":{"type":"object"}},{"name":"link","inputSchema":{"type":"object"}}]`), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal([]string{"stub-mcp", list})
	d := newDesk(t, "[[mcp.servers]]\nname = \"stub\"\ncommand = \""+filepath.ToSlash(self)+"\"\nargs = "+string(raw)+`
[mcp_bundles.all]
servers = ["stub"]
[agents.helper]
mcp_bundles = ["all"]
[permissions.tools.stub__form]
mode = "allow"
[permissions.tools.stub__link]
mode = "allow"
`)
	s := d.sit(t, "call", "stub__form", "--agent", "helper")
	s.until(`(?s)The server stub asks you for something.*Who are you\?\\u202e.*fill .*> $`)
	s.type_("fill")
	s.until(`(?s)age\n.*> $`)
	s.type_("30")
	s.until(`(?s)name\n  \(text.*> $`)
	s.type_("Ann")
	s.until(`(?s)sure\n.*nothing takes true.*> $`)
	s.type_("")
	s.until(`(?s)would be sent to stub.*send .*> $`)
	s.type_("send")
	s.ends(0)
	if got := s.stdout.String(); !strings.Contains(got, `"action":"accept"`) || !strings.Contains(got, `"name":"Ann"`) || !strings.Contains(got, `"sure":true`) {
		t.Errorf("the server got %s", got)
	}
	s = d.sit(t, "call", "stub__link", "--agent", "helper")
	s.until(`(?s)    https://example.com/in\n.*> $`)
	s.type_("decline")
	s.ends(0)
	if got := s.stdout.String(); !strings.Contains(got, `"action":"decline"`) {
		t.Errorf("the server got %s", got)
	}
}
