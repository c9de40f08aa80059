//go:build unix

package shell

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

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
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // as that of a session that has ended
	if a = s.try(t, call{command: "sleep 300", ctx: ctx, args: map[string]any{"background": true}}); a.err == nil || len(s.Processes("s")) != 0 {
		t.Errorf("a call of a session that has ended left %+v", s.Processes("s"))
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
	if late := s.try(t, call{command: "sleep 300", session: "three"}); late.took > patience {
		t.Errorf("a Shell that is closed ran a command for %v", late.took)
	}
}
