//go:build unix

package process

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"testing"
	"time"
)

// text collects output for a test to look at while it is written.
type text struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *text) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(b)
}

func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.String()
}

// sh starts a shell text and ends its family with the test.
func sh(t *testing.T, script string, o Options) *Process {
	t.Helper()
	if o.Env == nil {
		o.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	}
	p, err := Start("/bin/sh", []string{"sh", "-c", script}, o)
	if err != nil {
		t.Fatalf("Start: %v", err)
	}
	t.Cleanup(func() {
		p.Kill()
		<-p.Gone()
	})
	return p
}

// patience is what anything may take on a machine that is busy with other
// things. What a test makes wait for ever waits far longer.
const patience = 20 * time.Second

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
}

func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

func TestStartAndWait(t *testing.T) {
	for _, tt := range []struct {
		script, stdin string
		code          int
		signal        string
		out, err      string
	}{
		{script: "echo a; echo b >&2", out: "a\n", err: "b\n"},
		{script: "exit 7", code: 7},
		{script: "kill -TERM $$", code: -1, signal: "SIGTERM"},
		{script: "kill -KILL $$", code: -1, signal: "SIGKILL"},
		{script: "read x; echo got:$x:$?", out: "got::1\n"},
		{script: "read x; echo got:$x", stdin: "hello\n", out: "got:hello\n"},
		{script: "echo ${HOME-unset}", out: "unset\n"},
		{script: "cat < /dev/tty", code: -2},
	} {
		var out, errs text
		o := Options{Stdout: &out, Stderr: &errs}
		if tt.stdin != "" {
			o.Stdin = strings.NewReader(tt.stdin)
		}
		p := sh(t, tt.script, o)
		s, err := p.Wait()
		if err != nil {
			t.Errorf("%q: %v", tt.script, err)
		}
		within(t, tt.script+": gone", p.Gone())
		if tt.code == -2 {
			if s.ExitCode <= 0 {
				t.Errorf("%q: exit code %d: a child has a terminal", tt.script, s.ExitCode)
			}
			continue
		}
		if s.ExitCode != tt.code || s.Signal != tt.signal {
			t.Errorf("%q: got %d %q, want %d %q", tt.script, s.ExitCode, s.Signal, tt.code, tt.signal)
		}
		if out.String() != tt.out || errs.String() != tt.err {
			t.Errorf("%q: got %q and %q, want %q and %q", tt.script, out.String(), errs.String(), tt.out, tt.err)
		}
		if alive := p.Alive(); len(alive) != 0 {
			t.Errorf("%q: still alive: %v", tt.script, alive)
		}
	}
}

func TestStartFails(t *testing.T) {
	for _, tt := range []struct {
		path string
		o    Options
		want string
	}{
		{path: "", want: "no program"},
		{path: "/no/such/program", want: "/no/such/program"},
		{path: "/etc/passwd", want: "permission denied"},
		{path: "/bin/sh", o: Options{Dir: "/no/such/folder"}, want: "working folder"},
		{path: "/bin/sh", o: Options{Dir: "/etc/passwd"}, want: "not a folder"},
	} {
		_, err := Start(tt.path, nil, tt.o)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Start(%q, %+v) = %v, want an error with %q", tt.path, tt.o, err, tt.want)
		}
	}
}

// A descendant that keeps the pipes open must not hold Wait up.
func TestPipeHolder(t *testing.T) {
	var out text
	p := sh(t, "sleep 300 & echo hi", Options{Stdout: &out, WaitDelay: 100 * time.Millisecond})
	within(t, "done", p.Done())
	if out.String() != "hi\n" {
		t.Errorf("output = %q", out.String())
	}
	if n := len(p.Alive()); n != 1 {
		t.Errorf("%d alive, want the sleep", n)
	}
	p.Kill()
	within(t, "gone", p.Gone())
}

func TestStdinPipe(t *testing.T) {
	var out text
	p := sh(t, "cat", Options{StdinPipe: true, Stdout: &out})
	if _, err := p.Stdin().Write([]byte("line\n")); err != nil {
		t.Fatal(err)
	}
	s := p.Terminate(context.Background(), Steps{StdinGrace: 5 * time.Second})
	if s.ExitCode != 0 || p.Killed() {
		t.Errorf("state = %+v, killed %v: closing the input was enough", s, p.Killed())
	}
	if out.String() != "line\n" {
		t.Errorf("output = %q", out.String())
	}
	if err := p.Stdin().Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestTerminate(t *testing.T) {
	steps := Steps{StdinGrace: 100 * time.Millisecond, TermGrace: 300 * time.Millisecond}
	for _, tt := range []struct {
		name, script string
		signal       string
		code         int
		force        bool
	}{
		{"obeys", "echo up; sleep 300", "SIGTERM", -1, false},
		{"exits on TERM", "trap 'exit 5' TERM; echo up; sleep 300 & wait", "", 5, false},
		{"traps TERM", "trap '' TERM; echo up; while :; do sleep 300; done", "SIGKILL", -1, true},
		{"child traps TERM", "sh -c \"trap '' TERM; echo up; while :; do sleep 1; done\" & wait", "SIGTERM", -1, true},
		{"stopped", "echo up; kill -STOP $$", "SIGTERM", -1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out text
			p := sh(t, tt.script, Options{Stdout: &out, StdinPipe: true})
			until(t, "up", func() bool { return strings.Contains(out.String(), "up") })
			began := time.Now()
			s := p.Terminate(context.Background(), steps)
			if took := time.Since(began); took > patience {
				t.Errorf("took %v", took)
			}
			if tt.name == "stopped" {
				if len(p.Alive()) != 0 {
					t.Errorf("alive: %v", p.Alive())
				}
				return
			}
			if s.Signal != tt.signal || s.ExitCode != tt.code || p.Killed() != tt.force {
				t.Errorf("got %+v, force %v; want %q %d, force %v", s, p.Killed(), tt.signal, tt.code, tt.force)
			}
			if alive := p.Alive(); len(alive) != 0 {
				t.Errorf("alive: %v", alive)
			}
		})
	}
}

func TestTerminateCancelled(t *testing.T) {
	p := sh(t, "trap '' TERM; while :; do sleep 300; done", Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	p.Terminate(ctx, Steps{StdinGrace: time.Minute, TermGrace: time.Minute})
	if took := time.Since(began); took > patience {
		t.Errorf("took %v", took)
	}
}
