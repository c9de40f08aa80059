package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/tools/atomicfile"
)

// TestFinder starts a companion where none runs, once more where the first one
// found the state folder taken, and says why one did not start.
func TestFinder(t *testing.T) {
	s := newStubCompanion(t)
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	appear := func() {
		if err := atomicfile.WriteJSON(filepath.Join(state, "run", "server.json"), s.instance()); err != nil {
			t.Error(err)
		}
	}
	launches := 0
	f := finder{state: state, launch: func() (<-chan error, error) {
		launches++
		ended := make(chan error, 1)
		if launches == 1 {
			ended <- nil
		} else {
			appear()
		}
		return ended, nil
	}}
	if _, err := f.find(t.Context(), false); err == nil || launches != 0 {
		t.Errorf("without a start: %v, %d launches", err, launches)
	}
	i, err := f.find(t.Context(), true)
	if err != nil || i.Token != s.token || launches != 2 {
		t.Errorf("find = %v, %v after %d launches", i, err, launches)
	}
	if _, err := f.find(t.Context(), true); err != nil || launches != 2 {
		t.Errorf("once more = %v after %d launches", err, launches)
	}
	s.kill()
	f.launch = func() (<-chan error, error) {
		ended := make(chan error, 1)
		ended <- errors.New("the disk is full")
		return ended, nil
	}
	if _, err := f.find(t.Context(), true); err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("find = %v, want why it did not start", err)
	}
	f.launch = func() (<-chan error, error) { return make(chan error), nil }
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := f.find(ctx, true); err == nil {
		t.Error("find found what never came")
	}
}

func TestSaidSince(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	before := "zeroclaw: an older reason\n"
	for text, want := range map[string]string{
		"level=INFO msg=x\nzeroclaw: open the log: no space\n  free some space\n": "open the log: no space (free some space)",
		"zeroclaw: why\n": "why",
		"panic: x\n":      "",
		"":                "",
	} {
		if err := os.WriteFile(path, []byte(before+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := saidSince(path, int64(len(before))); got != want {
			t.Errorf("saidSince(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestEndpoint(t *testing.T) {
	some, none := []string{"a", "b c"}, []string{}
	for _, tt := range []struct {
		server, agent string
		allowed       *[]string
		want          string
	}{
		{"", "", nil, "/mcp"},
		{"my server/x", "coder", nil, "/mcp/my%20server%2Fx?agent=coder"},
		{"", "a&b", &some, "/mcp?agent=a%26b&allowed_tools=a%2Cb+c"},
		{"", "", &none, "/mcp?allowed_tools="},
	} {
		if got := endpoint(tt.server, tt.agent, tt.allowed); got != tt.want {
			t.Errorf("endpoint(%q, %q, %v) = %s, want %s", tt.server, tt.agent, tt.allowed, got, tt.want)
		}
	}
}
