package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"zeroclaw/services"
)

// hostile is one server of the security cases beside a healthy one.
type hostile struct {
	t    *testing.T
	v    *services.Supervisor
	spec services.Spec
}

func (h hostile) start(want services.State) services.Status {
	h.t.Helper()
	if err := h.v.Start("bad"); err != nil {
		h.t.Fatal(err)
	}
	return waitState(h.t, h.v, "bad", want)
}

func (h hostile) call(tool, args string) (time.Duration, error) {
	began := time.Now()
	_, err := h.v.Call(h.t.Context(), services.ToolCall{Server: "bad", Tool: tool, Args: json.RawMessage(args)})
	return time.Since(began), err
}

// stop ends the server within a time, and looks for what is left of it.
func (h hostile) stop(within time.Duration) {
	h.t.Helper()
	began := time.Now()
	if err := h.v.Stop(h.t.Context(), "bad"); err != nil {
		h.t.Error(err)
	}
	if took := time.Since(began); took > within+slowdown*time.Second {
		h.t.Errorf("Stop took %s, want at most %s", took, within)
	}
	if runtime.GOOS != "linux" {
		return
	}
	if pids := marked(h.t, h.t.Name()); len(pids) > 0 {
		h.t.Errorf("processes %v are left", pids)
	}
}

func (h hostile) log() string {
	lines, err := h.v.Logs("bad", 0)
	if err != nil || len(lines) > 2000 {
		h.t.Errorf("%d lines, %v", len(lines), err)
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.Stream + ": " + l.Text + "\n")
	}
	return b.String()
}

// The cases of the area services that are about supervision, each beside a
// healthy server whose calls stay below a second.
func TestHealthyServerBesideEachCase(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id, kind string
		change   func(*services.Spec)
		play     func(h hostile)
	}{
		{"V002 binary stdout", "urandom", func(s *services.Spec) { s.HandshakeTimeout = 3 * time.Second }, func(h hostile) {
			h.start(services.Failed)
			for _, r := range h.log() {
				if r != '\n' && !unicode.IsGraphic(r) && r != '\t' {
					h.t.Fatalf("the log holds %U", r)
				}
			}
		}},
		{"V005 never reads", "noread", func(s *services.Spec) { s.CallTimeout = 2 * time.Second }, func(h hostile) {
			h.start(services.Running)
			if took, err := h.call("echo", `{"x":"`+strings.Repeat("y", 10<<20)+`"}`); err == nil || took > slowdown*4*time.Second {
				h.t.Errorf("the call ended after %s with %v", took, err)
			}
			h.stop(5 * time.Second)
		}},
		{"V006 hangs on initialize", "hang", func(s *services.Spec) { s.HandshakeTimeout = 3 * time.Second }, func(h hostile) {
			if st := h.start(services.Failed); !strings.Contains(st.Reason, "within 3s") {
				h.t.Errorf("reason %q", st.Reason)
			}
			if err := h.v.Start("bad"); err != nil {
				h.t.Error(err)
			}
			h.stop(3 * time.Second)
		}},
		{"V007 exits at once", "exit3", nil, func(h hostile) {
			if err := h.v.Start("bad"); err != nil {
				h.t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			var st services.Status
			for range slowdown * 500 { // until it is between two attempts
				if st, _ = h.v.Status("bad"); st.NextTry != nil {
					break
				}
				time.Sleep(20 * time.Millisecond)
			}
			if st.NextTry == nil || !strings.Contains(st.Reason, "exit code 3") {
				h.t.Errorf("it waits for nothing: %+v", st)
			}
			h.stop(time.Second)
		}},
		{"V009 forks", "fork", nil, func(h hostile) { h.start(services.Running); h.stop(6 * time.Second) }},
		{"V010 escapes its session", "setsid", nil, func(h hostile) {
			if runtime.GOOS != "linux" {
				h.t.Skip("what leaves the session is found on Linux only")
			}
			h.start(services.Running)
			h.stop(6 * time.Second)
		}},
		{"V011 ignores TERM", "term", nil, func(h hostile) { h.start(services.Running); h.stop(6 * time.Second) }},
		{"V012 is killed", "plain", nil, func(h hostile) {
			st := h.start(services.Running)
			p, err := os.FindProcess(st.Pid)
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				h.t.Fatal(err)
			}
			for range slowdown * 500 {
				if now, _ := h.v.Status("bad"); now.State == services.Running && now.Pid != st.Pid {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			h.t.Error("it was not started again")
		}},
		{"V013 is hammered", "plain", nil, func(h hostile) {
			var ops sync.WaitGroup
			for i := range 200 {
				ops.Go(func() {
					if i%2 == 0 {
						_ = h.v.Start("bad")
					} else {
						_ = h.v.Stop(h.t.Context(), "bad")
					}
				})
			}
			ops.Wait()
			h.start(services.Running)
			if runtime.GOOS == "linux" {
				if pids := marked(h.t, h.t.Name()); len(pids) != 1 {
					h.t.Errorf("processes %v, want one", pids)
				}
			}
			h.stop(5 * time.Second)
		}},
		{"V046 trickles", "case:trickle", func(s *services.Spec) { s.CallTimeout = 3 * time.Second }, func(h hostile) {
			h.start(services.Running)
			if took, err := h.call("do", `{}`); !errors.Is(err, services.ErrTimeout) || took > slowdown*4*time.Second {
				h.t.Errorf("the call ended after %s with %v", took, err)
			}
			ctx, cancel := context.WithCancel(h.t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := h.v.Call(ctx, services.ToolCall{Server: "bad", Tool: "do"})
				ended <- err
			}()
			time.Sleep(200 * time.Millisecond)
			began := time.Now()
			cancel()
			if err := <-ended; !errors.Is(err, context.Canceled) || time.Since(began) > slowdown*time.Second {
				h.t.Errorf("cancelled after %s with %v", time.Since(began), err)
			}
			h.stop(6 * time.Second)
		}},
		{"V047 wrong and double ids", "plain", nil, func(h hostile) {
			h.start(services.Running)
			for range 20 {
				if _, err := h.call("strange", `{}`); err != nil {
					h.t.Error(err)
				}
			}
			if log := h.log(); !strings.Contains(log, "nobody waits for (id 99999)") || strings.Count(log, "nobody waits for") > 20 {
				h.t.Errorf("log %s", log)
			}
		}},
		{"V049 floods of notifications", "case:notify", nil, func(h hostile) {
			h.start(services.Running)
			if _, err := h.call("do", `{}`); err != nil {
				h.t.Error(err)
			}
			h.log()
			h.stop(5 * time.Second)
		}},
	} {
		t.Run(tt.id, func(t *testing.T) {
			t.Parallel()
			bad := peerSpec(t, "bad", tt.kind)
			if kind, own := strings.CutPrefix(tt.kind, "case:"); own {
				bad.Env = []string{casePeerEnv + "=" + kind}
			}
			bad.Env = append(bad.Env, mark(t.Name()))
			if tt.change != nil {
				tt.change(&bad)
			}
			v := serve(t, services.Config{}, peerSpec(t, "good", "plain"), bad)
			if err := v.Start("good"); err != nil {
				t.Fatal(err)
			}
			waitState(t, v, "good", services.Running)
			played := make(chan struct{})
			slowest := make(chan time.Duration)
			go func() {
				var slow time.Duration
				defer func() { slowest <- slow }()
				for {
					began := time.Now()
					if _, err := v.Call(t.Context(), services.ToolCall{Server: "good", Tool: "echo"}); err != nil {
						t.Errorf("the healthy one: %v", err)
						return
					}
					slow = max(slow, time.Since(began))
					select {
					case <-played:
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
			}()
			func() {
				defer close(played)
				tt.play(hostile{t, v, bad})
			}()
			if slow := <-slowest; slow > slowdown*time.Second {
				t.Errorf("a call of the healthy server took %s", slow)
			}
		})
	}
}

// V051: which program a start would run is seen before the first one, and a
// program of the same name in a folder of the server's own is not taken.
func TestProgramIsShownBeforeTheFirstStart(t *testing.T) {
	t.Parallel()
	dir, onPath := t.TempDir(), t.TempDir()
	for _, file := range []string{filepath.Join(dir, "npx"), filepath.Join(onPath, "npx")} {
		if err := os.WriteFile(file, []byte("#!/bin/sh\nexit 1\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("scripts without an ending are no programs there")
	}
	config := testConfig()
	config.Path = func(context.Context) string { return ".:" + onPath }
	v, err := services.New(services.Config{Connector: New(config), Vars: func() services.Vars { return services.Vars{Root: dir} }})
	if err != nil {
		t.Fatal(err)
	}
	service := func(name, command string) services.Spec {
		return services.Spec{Name: name, Origin: services.OriginService, Command: command, Args: []string{"-y"}, Dir: dir}
	}
	t.Cleanup(running(t, v, service("relative", "./npx"), service("bare", "npx"), service("missing", "nonesuch"),
		services.Spec{Name: "configured", Origin: services.OriginServer, Command: "./npx"}, services.Spec{Name: "named", Origin: services.OriginServer, Command: "npx"}))
	for name, want := range map[string]string{"relative": filepath.Join(dir, "npx"), "bare": filepath.Join(onPath, "npx"), "missing": "nonesuch",
		"configured": filepath.Join(dir, "npx"), "named": filepath.Join(onPath, "npx")} {
		var got string
		for range slowdown * 200 {
			st, err := v.Status(name)
			if err != nil || st.State != services.Stopped {
				t.Fatalf("%s is %s, %v", name, st.State, err)
			}
			if got = st.Command[0]; got == want {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got != want {
			t.Errorf("%s: %q is shown, want %q", name, got, want)
		}
	}
}
