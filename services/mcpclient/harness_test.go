package mcpclient

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/services"
)

func peerSpec(t *testing.T, name, kind string) services.Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return services.Spec{Name: name, Origin: services.OriginServer, Transport: services.TransportStdio, Command: self,
		Env: []string{peerEnv + "=" + kind}, Dir: t.TempDir(), HandshakeTimeout: slowdown * 10 * time.Second}
}

func testConfig() Config {
	return Config{Path: func(context.Context) string { return os.Getenv("PATH") }}
}

// rig collects what a connection reports.
type rig struct {
	mu      sync.Mutex
	lines   []string
	notices []string
	info    services.Info
	changed chan struct{}
	closed  chan error
	hooks   services.Hooks
}

func newRig() *rig {
	r := &rig{changed: make(chan struct{}, 10), closed: make(chan error, 1)}
	r.hooks = services.Hooks{
		Log: func(stream, text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.lines) < 5000 {
				r.lines = append(r.lines, stream+": "+text)
			}
		},
		Notice: func(text string) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.notices = append(r.notices, text)
		},
		Info:         func(i services.Info) { r.mu.Lock(); defer r.mu.Unlock(); r.info = i },
		ToolsChanged: func() { r.changed <- struct{}{} },
		Closed:       func(err error) { r.closed <- err },
		Roots:        func() []services.Root { return []services.Root{{URI: "file:///home/me/x", Name: "x"}} },
	}
	return r
}

func (r *rig) has(part string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lines {
		if strings.Contains(l, part) {
			return true
		}
	}
	return false
}

func (r *rig) wait(t *testing.T, part string) {
	t.Helper()
	for range slowdown * 300 {
		if r.has(part) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.Fatalf("no log line holds %q; there are %q", part, r.lines)
}

func dial(t *testing.T, kind string, change func(*services.Spec, *services.Hooks)) (services.Peer, *rig) {
	t.Helper()
	r := newRig()
	spec := peerSpec(t, kind, kind)
	if change != nil {
		change(&spec, &r.hooks)
	}
	ctx, cancel := context.WithTimeout(t.Context(), slowdown*15*time.Second)
	defer cancel()
	p, err := New(testConfig()).Connect(ctx, spec, r.hooks)
	if err != nil {
		t.Fatalf("Connect(%s): %v", kind, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := p.Close(ctx); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return p, r
}

func call(t *testing.T, p services.Peer, name, args string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slowdown*20*time.Second)
	defer cancel()
	res, err := p.Call(ctx, name, json.RawMessage(args), nil)
	if err != nil {
		return "", err
	}
	var r struct {
		Content []struct{ Text string }
	}
	if err := json.Unmarshal(res.Raw, &r); err != nil {
		t.Fatalf("result %.200s: %v", res.Raw, err)
	}
	if len(r.Content) == 0 {
		return string(res.Raw), nil
	}
	return r.Content[0].Text, nil
}
