package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

func TestCallPassesArgumentsAndResultThrough(t *testing.T) {
	t.Parallel()
	p, _ := dial(t, "plain", nil)
	got, err := call(t, p, "echo", `{"n":12345678901234567890,"s":"<&> é \u0000"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12345678901234567890"} {
		if !strings.Contains(got, want) {
			t.Errorf("echo = %q, want it to hold %q", got, want)
		}
	}
}

func TestArgumentsReachNoShell(t *testing.T) {
	t.Parallel()
	args := []string{"$(id)", ";id", "`id`", "a b", "${root}", ""}
	p, _ := dial(t, "plain", func(s *services.Spec, _ *services.Hooks) { s.Args = args })
	got, err := call(t, p, "args", `{}`)
	if want := strings.Join(args, "|"); err != nil || got != want {
		t.Errorf("args = %q, %v, want %q", got, err, want)
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("ZEROCLAW_TOKEN", "leak1")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "leak2")
	t.Setenv("LC_TEST", "kept")
	p, _ := dial(t, "plain", func(s *services.Spec, _ *services.Hooks) { s.Env = append(s.Env, "OWN=1", "HOME=/elsewhere") })
	got, err := call(t, p, "env", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Split(got, "\n")
	for _, want := range []string{"OWN=1", "HOME=/elsewhere", "LC_TEST=kept", "PATH=" + os.Getenv("PATH")} {
		if !slices.Contains(env, want) {
			t.Errorf("the server has no %q", want)
		}
	}
	if strings.Contains(got, "leak") {
		t.Errorf("a secret reached the server: %s", got)
	}
}

func TestWorkingFolder(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p, _ := dial(t, "plain", func(s *services.Spec, _ *services.Hooks) { s.Cwd = dir })
	if got, err := call(t, p, "cwd", `{}`); err != nil || got != dir {
		t.Errorf("cwd = %q, %v, want %q", got, err, dir)
	}
}

func TestNoiseOnStdout(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "banner", nil)
	for _, want := range []string{"stdout: Server started on stdio!", "stdout: [1, 2", `stdout: {"level":"info"`} {
		r.wait(t, want)
	}
	if _, err := call(t, p, "echo", `{}`); err != nil {
		t.Error(err)
	}
}

func TestErasAndRememberedProtocol(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		kind, hint, want string
		atMost           time.Duration
	}{
		{"plain", "", "2025-11-25", time.Second},
		{"plain", "2025-11-25", "2025-11-25", time.Second},
		{"plain", "2026-07-28", "2025-11-25", time.Second},
		{"old", "", "2024-11-05", time.Second},
		{"modern", "", "2026-07-28", time.Second},
		{"modern", "2026-07-28", "2026-07-28", time.Second},
		{"modern", "2025-11-25", "2026-07-28", time.Second},
		{"modern-picky", "", "2026-07-28", time.Second},
		{"ignoring", "", "2025-11-25", probeTime + time.Second},
		{"ignoring", "2025-11-25", "2025-11-25", time.Second},
		{"slowstart", "", "2025-11-25", 4 * time.Second},
	} {
		t.Run(tt.kind+tt.hint, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			p, r := dial(t, tt.kind, func(s *services.Spec, _ *services.Hooks) { s.Protocol = tt.hint })
			if r.info.Protocol != tt.want {
				t.Errorf("protocol = %q, want %q", r.info.Protocol, tt.want)
			}
			// Generous for a loaded machine; the point is not to wait for a probe.
			if took := time.Since(began); took > slowdown*(tt.atMost+2*time.Second) {
				t.Errorf("the handshake took %s, want at most %s", took, tt.atMost)
			}
			if err := p.Ping(t.Context()); err != nil {
				t.Errorf("Ping: %v", err)
			}
			if list, err := p.Tools(t.Context()); err != nil || len(list) == 0 {
				t.Errorf("Tools = %d tools, %v", len(list), err)
			}
			if got, err := call(t, p, "echo", `{"a":1}`); err != nil || got != `{"a":1}` {
				t.Errorf("echo = %q, %v", got, err)
			}
		})
	}
}

func TestUnknownRevisionIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig()
	_, err := New(testConfig()).Connect(t.Context(), peerSpec(t, "future", "future"), r.hooks)
	if err == nil || !strings.Contains(err.Error(), "2031-01-01") {
		t.Errorf("Connect = %v, want an error that names the revision", err)
	}
}

func TestInputRounds(t *testing.T) {
	t.Parallel()
	p, _ := dial(t, "modern", nil)
	got, err := call(t, p, "mrtr", `{}`)
	if err != nil || !strings.Contains(got, "file:///home/me/x") {
		t.Errorf("mrtr = %q, %v, want the roots", got, err)
	}
}

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

func TestLineWithoutEndStaysBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("pushes 500 MB through a pipe")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := newRig()
	if _, err := New(testConfig()).Connect(ctx, peerSpec(t, "x", "nonewline"), r.hooks); err == nil {
		t.Fatal("connected")
	}
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 100<<20 {
		t.Errorf("the heap grew by %d bytes", grown)
	}
}

func TestBigAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "idfirst"} {
		t.Run(kind, func(t *testing.T) {
			p, r := dial(t, kind, nil)
			if got, err := call(t, p, "big", `{"Bytes":5000000}`); err != nil || len(got) != 5000000 {
				t.Fatalf("5 MB: %d bytes, %v", len(got), err)
			}
			began := time.Now()
			_, err := call(t, p, "big", `{"Bytes":16777216}`)
			if err == nil || !strings.Contains(err.Error(), "at most 16777216") {
				t.Errorf("16 MiB: err = %v, want one that names the limit", err)
			}
			if took := time.Since(began); took > slowdown*8*time.Second {
				t.Errorf("the error took %s", took)
			}
			r.wait(t, "companion: the answer of the server has")
			if got, err := call(t, p, "echo", `{}`); err != nil || got != "{}" {
				t.Errorf("afterwards echo = %q, %v", got, err)
			}
		})
	}
}

func TestStrangeAnswersAreDropped(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	got, err := call(t, p, "strange", `{}`)
	if err != nil || got != `{"content":[], "n":1.0e2}` {
		t.Errorf("strange = %q, %v, want the bytes of the first right answer", got, err)
	}
	r.wait(t, "nobody waits for (id 99999)")
	r.wait(t, "nobody waits for (id 77777)")
	if got, err := call(t, p, "echo", `{}`); err != nil || got != "{}" {
		t.Errorf("afterwards echo = %q, %v", got, err)
	}
}

func TestBrokenAnswerEndsWithTheCallersTime(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := p.Call(ctx, "badjson", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	r.wait(t, `stdout: {"jsonrpc":"2.0"`)
}

func TestCancelIsTold(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := p.Call(ctx, "wait", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("err = %v", err)
	}
	r.wait(t, "stderr: CANCELLED")
}

func TestProgress(t *testing.T) {
	t.Parallel()
	p, _ := dial(t, "plain", nil)
	var got []float64
	if _, err := p.Call(t.Context(), "spin", nil, func(done, total float64, message string) {
		if total != 12 || message != "m" {
			t.Errorf("progress of %v: %q", total, message)
		}
		got = append(got, done)
	}); err != nil {
		t.Fatal(err)
	}
	if len(got) < 3 || got[len(got)-1] != 12 || !slices.IsSorted(got) {
		t.Errorf("progress = %v", got)
	}
}

func TestServerRequests(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "plain", nil)
	if got, err := call(t, p, "roots", `{}`); err != nil || !strings.Contains(got, "file:///home/me/x") {
		t.Errorf("roots = %q, %v", got, err)
	}
	if got, err := call(t, p, "sample", `{}`); err != nil || !strings.Contains(got, "-32601") {
		t.Errorf("sample = %q, %v, want method not found", got, err)
	}
	r.wait(t, "refused its request sampling/createMessage")

	p, _ = dial(t, "plain", func(_ *services.Spec, h *services.Hooks) {
		h.Ask = func(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
			return json.Marshal(map[string]any{"asked": method, "with": params})
		}
	})
	if got, err := call(t, p, "sample", `{}`); err != nil || got != `{"asked":"sampling/createMessage","with":{"question":1}}` {
		t.Errorf("sample = %q, %v", got, err)
	}
}

func TestFloodOfNotifications(t *testing.T) {
	t.Parallel()
	p, _ := dial(t, "plain", nil)
	if got, err := call(t, p, "chatty", `{}`); err != nil || got != "quiet" {
		t.Errorf("chatty = %q, %v", got, err)
	}
}

func TestFloodOnStderr(t *testing.T) {
	t.Parallel()
	p, _ := dial(t, "stderr", nil)
	for range 5 {
		began := time.Now()
		if _, err := call(t, p, "echo", `{}`); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > slowdown*time.Second {
			t.Errorf("a call took %s", took)
		}
	}
}

func TestServerThatDoesNotRead(t *testing.T) {
	t.Parallel()
	p, r := dial(t, "noread", nil)
	if _, err := p.Tools(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.(*stdioPeer).out.stall = 300 * time.Millisecond
	began := time.Now()
	_, err := call(t, p, "echo", `{"x":"`+strings.Repeat("y", 10<<20)+`"}`)
	if err == nil || !strings.Contains(err.Error(), "has not read its input") {
		t.Errorf("err = %v", err)
	}
	if took := time.Since(began); took > slowdown*10*time.Second {
		t.Errorf("it took %s", took)
	}
	if err := <-r.closed; err == nil {
		t.Error("no reason was reported")
	}
}

func TestToolLists(t *testing.T) {
	for _, tt := range []struct {
		kind   string
		n      int
		notice string
	}{
		{"tools10000", services.MaxTools + 1, ""},
		{"twice", 3, ""},
		{"pages", 5, ""},
		{"cursorloop", 2, "repeats a cursor"},
		{"endless", maxPages, "does not end"},
		{"oddtools", 5, "is left out"},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			t.Parallel()
			p, r := dial(t, tt.kind, nil)
			began := time.Now()
			list, err := p.Tools(t.Context())
			if err != nil || len(list) != tt.n {
				t.Fatalf("%d tools, %v, want %d", len(list), err, tt.n)
			}
			if took := time.Since(began); took > slowdown*2*time.Second {
				t.Errorf("it took %s", took)
			}
			if tt.notice != "" && !strings.Contains(strings.Join(r.notices, "\n"), tt.notice) {
				t.Errorf("notices = %q", r.notices)
			}
			if tt.kind == "oddtools" {
				if got := string(list[0].InputSchema); got != `{"$schema":"x", "type":"object","allOf":[{"if":{}}],"n":1e400}` {
					t.Errorf("schema = %s, want the bytes as sent", got)
				}
			}
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

func TestMissingCommandNamesThePath(t *testing.T) {
	spec := peerSpec(t, "x", "plain")
	spec.Command = "no-such-program-here"
	r := newRig()
	_, err := New(Config{Path: func(context.Context) string { return "/opt/one:/opt/two" }}).Connect(t.Context(), spec, r.hooks)
	if err == nil || !strings.Contains(err.Error(), "/opt/one") || !strings.Contains(err.Error(), "/opt/two") {
		t.Errorf("err = %v, want the PATH", err)
	}
}

func TestUnknownTransport(t *testing.T) {
	_, err := New(testConfig()).Connect(t.Context(), services.Spec{Name: "x", Transport: "carrier-pigeon"}, newRig().hooks)
	if err == nil || !strings.Contains(err.Error(), "carrier-pigeon") {
		t.Errorf("err = %v", err)
	}
}
