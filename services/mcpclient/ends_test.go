package mcpclient

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

func TestCrashFailsCallsAtOnce(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	waiting := make(chan error, 1)
	go func() {
		_, err := p.Call(context.Background(), "wait", nil, nil)
		waiting <- err
	}()
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	_, err := call(t, p, "crash", `{}`)
	for _, err := range []error{err, <-waiting, <-r.closed} {
		var exit *services.ExitError
		if !errors.As(err, &exit) || exit.Code != 7 || exit.Stderr != "panic: out of luck" {
			t.Errorf("err = %v, want exit code 7 with the last of stderr", err)
		}
	}
	if took := time.Since(began); took > slowdown*3*time.Second {
		t.Errorf("it took %s", took)
	}
	if _, err := call(t, p, "echo", `{}`); err == nil {
		t.Error("a call after the crash went through")
	}
}

func TestExitAtStart(t *testing.T) {
	t.Parallel()
	r := newRig()
	_, err := New(testConfig()).Connect(t.Context(), peerSpec(t, "x", "exit3"), r.hooks)
	var exit *services.ExitError
	if !errors.As(err, &exit) || exit.Code != 3 || exit.Stderr != `fatal: no \x1b[31mdatabase\x1b[0m found` {
		t.Errorf("err = %v, want exit code 3 with an escaped stderr", err)
	}
}

func TestHangingHandshake(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"hang", "urandom"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			r := newRig()
			began := time.Now()
			_, err := New(testConfig()).Connect(ctx, peerSpec(t, "x", kind), r.hooks)
			if err == nil || !strings.Contains(err.Error(), "did not answer the first question") {
				t.Errorf("err = %v", err)
			}
			if kind == "urandom" && !strings.Contains(err.Error(), "no MCP messages") {
				t.Errorf("err = %v, want it to say what was printed", err)
			}
			if took := time.Since(began); took > slowdown*6*time.Second {
				t.Errorf("it took %s", took)
			}
			r.mu.Lock()
			pid := r.info.Pid
			r.mu.Unlock()
			gone(t, pid)
		})
	}
}

func TestEndIsVerified(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("looks at processes by signal 0")
	}
	for _, kind := range []string{"plain", "term", "fork", "setsid", "eof"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p, r := dial(t, kind, nil)
			sp := p.(*stdioPeer)
			pids := sp.proc.Alive()
			if kind == "setsid" && runtime.GOOS != "linux" {
				t.Skip("what leaves the session is found on Linux only")
			}
			if (kind == "fork" || kind == "setsid") && len(pids) != 2 {
				t.Fatalf("pids = %v, want a child and a grandchild", pids)
			}
			ctx, cancel := context.WithTimeout(context.Background(), 1500*time.Millisecond)
			defer cancel()
			began := time.Now()
			if err := p.Close(ctx); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > slowdown*4*time.Second || kind == "plain" && took > slowdown*2*time.Second {
				t.Errorf("the end took %s", took)
			}
			for _, pid := range append(pids, r.info.Pid) {
				gone(t, pid)
			}
			if _, err := p.Call(context.Background(), "echo", nil, nil); err == nil {
				t.Error("a call after Close went through")
			}
			select {
			case err := <-r.closed:
				t.Errorf("Closed was reported after Close: %v", err)
			default:
			}
		})
	}
}
