//go:build unix

package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// peer bug A15: only the shell is ended, and its children hold the call up.
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
	if gap := <-worst; a.took > patience || gap > patience {
		t.Errorf("took %v, and the companion stood still for %v", a.took, gap)
	}
}
