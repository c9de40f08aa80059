package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/localserver"
)

// buffer is written by the program and read by the test.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// inProcess is an environment with its own home whose browser is a channel.
func inProcess(t *testing.T, args ...string) (environment, *buffer, chan string) {
	t.Helper()
	home := t.TempDir()
	out, opened := &buffer{}, make(chan string, 10)
	return environment{
		args: args, stdin: strings.NewReader(""), stdout: out, stderr: out, home: home, cwd: home, self: os.Args[0],
		getenv:   func(name string) string { return map[string]string{"DISPLAY": ":0"}[name] },
		terminal: true, goos: "linux", open: func(url string) error { opened <- url; return nil },
	}, out, opened
}

// begin runs the program until the test ends.
func begin(t *testing.T, e environment) (code <-chan int, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int, 1)
	go func() { done <- execute(ctx, e) }()
	t.Cleanup(cancel)
	return done, cancel
}

// take waits for what the program sends, and says so when it ends instead.
func take[T any](t *testing.T, ch <-chan T, code <-chan int, out *buffer) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case c := <-code:
		t.Fatalf("the program ended with %d\n%s", c, out)
	case <-time.After(time.Minute):
		t.Fatalf("nothing came within a minute\n%s", out)
	}
	panic("not reached")
}

func TestSecondStartHandsOver(t *testing.T) {
	e, out, opened := inProcess(t, "--port", "0")
	code, stop := begin(t, e)
	first := take(t, opened, code, out)
	if !strings.Contains(first, "/#code=") || !strings.HasPrefix(first, "http://127.0.0.1:") {
		t.Errorf("the browser was opened at %q", first)
	}
	other := filepath.Join(e.home, "other")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	second := e
	second.args = []string{"--port", "0", "--root", other}
	if c := execute(t.Context(), second); c != 0 {
		t.Fatalf("the second start ended with %d\n%s", c, out)
	}
	if url := take(t, opened, code, out); url == first || strings.SplitAfter(url, "/#")[0] != strings.SplitAfter(first, "/#")[0] {
		t.Errorf("the second start opened %q after %q", url, first)
	}
	i, err := localserver.Find(t.Context(), filepath.Join(e.home, ".zeroclaw"))
	if err != nil {
		t.Fatal(err)
	}
	var status struct{ Root string }
	if err := i.Do(t.Context(), "GET", "/api/status", nil, &status); err != nil || status.Root != other {
		t.Errorf("the next chat works in %q, %v; want %q", status.Root, err, other)
	}
	third := e
	third.args = []string{"open", "--no-browser"}
	if c := execute(t.Context(), third); c != 0 || !strings.Contains(out.String(), "works once") {
		t.Errorf("open ended with %d\n%s", c, out)
	}
	stop()
	if c := take(t, code, nil, out); c != 0 {
		t.Errorf("ended with %d\n%s", c, out)
	}
}

func TestPrintsWhereNoBrowserIs(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"over SSH":   {"SSH_CONNECTION": "1.2.3.4 5 6.7.8.9 22", "DISPLAY": ":0"},
		"no display": {},
	} {
		t.Run(name, func(t *testing.T) {
			e, out, opened := inProcess(t, "--port", "0")
			e.getenv = func(n string) string { return env[n] }
			code, stop := begin(t, e)
			for end := time.Now().Add(10 * time.Second); !strings.Contains(out.String(), "#code="); time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("no address was printed:\n%s", out)
				}
			}
			stop()
			if c := take(t, code, nil, out); c != 0 || len(opened) != 0 {
				t.Errorf("ended with %d after opening %d pages", c, len(opened))
			}
		})
	}
}

// TestNoAddress: a companion that gives no address is asked once, and nothing
// is opened or printed in its place.
func TestNoAddress(t *testing.T) {
	asked := 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"error":{"code":"bad_root","message":"there is no such folder"}}`)
	}))
	defer ts.Close()
	e, out, opened := inProcess(t)
	i := localserver.Instance{Port: ts.Listener.Addr().(*net.TCPAddr).Port, Token: "x"}
	err := openPage(t.Context(), e, i, pageRequest{Root: "/gone"}, false)
	if err == nil || !strings.Contains(err.Error(), "no such folder") {
		t.Errorf("openPage = %v, want what the companion said", err)
	}
	if asked != 1 || len(opened) != 0 || out.String() != "" {
		t.Errorf("asked %d times, opened %d pages, wrote %q", asked, len(opened), out)
	}
}

// TestOwnPageStaysReachable: with the page of another origin let in, every
// address leads there, but for the one that is asked for with --own.
func TestOwnPageStaysReachable(t *testing.T) {
	const other = "https://ui.example"
	e, out, opened := inProcess(t, "--port", "0", "--ui", other)
	state := filepath.Join(e.home, ".zeroclaw", "state")
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(state), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "ui.json"), []byte(`{"origin":"`+other+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stop := begin(t, e)
	if url := take(t, opened, code, out); !strings.HasPrefix(url, other+"/#code=") {
		t.Errorf("the start opened %q, want the page that was let in", url)
	}
	if !strings.Contains(out.String(), "zeroclaw open --own") {
		t.Errorf("the start does not say how to get to the own page:\n%s", out)
	}
	for args, want := range map[string]string{"open": other + "/#code=", "open --own": "http://127.0.0.1:"} {
		again := e
		again.args = strings.Fields(args)
		if c := execute(t.Context(), again); c != 0 {
			t.Fatalf("%s ended with %d\n%s", args, c, out)
		}
		if url := take(t, opened, code, out); !strings.HasPrefix(url, want) {
			t.Errorf("%s opened %q, want %s…", args, url, want)
		}
	}
	stop()
	take(t, code, nil, out)
}

// TestFailedStartIsShown is a double-click that cannot work.
func TestFailedStartIsShown(t *testing.T) {
	e, out, opened := inProcess(t)
	e.terminal = false
	if err := os.WriteFile(filepath.Join(e.home, ".zeroclaw"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, stop := begin(t, e)
	a, err := http.Get(take(t, opened, code, out))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, _ := io.ReadAll(a.Body)
	if !strings.Contains(string(text), "could not start") || !strings.Contains(string(text), ".zeroclaw") {
		t.Errorf("the page says %s", text)
	}
	stop()
	if c := take(t, code, nil, out); c != exitFailure {
		t.Errorf("ended with %d, want %d", c, exitFailure)
	}
}

func TestRootOfADoubleClick(t *testing.T) {
	e, out, opened := inProcess(t, "--port", "0")
	e.terminal = false
	code, stop := begin(t, e)
	take(t, opened, code, out)
	if info, err := os.Stat(filepath.Join(e.home, "ZeroClaw")); err != nil || !info.IsDir() {
		t.Errorf("the folder to work in: %v", err)
	}
	if _, err := os.Stat(filepath.Join(e.home, ".zeroclaw", "logs", "zeroclaw.log")); err != nil {
		t.Errorf("the log: %v", err)
	}
	stop()
	take(t, code, nil, out)
}
