package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
