package localserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/localserver/session"
	"zeroclaw/permissions/approval"
	"zeroclaw/services/builtin"
	"zeroclaw/tools"
)

// TestMain lets the test binary stand in for the program itself, which the
// bundled service runs as "${self} dummy-mcp", and for a server of the tests.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "stub-mcp" {
		serveStub(os.Stdin, os.Stdout)
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "dummy-mcp" {
		if err := builtin.ServeDummy(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// rig is a real companion on a free port with its own home.
type rig struct {
	t      *testing.T
	server *Server
	home   string
	root   string
	token  string
	log    *syncBuffer
	end    func() error
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// newRig starts a companion; change may alter its configuration first.
func newRig(t *testing.T, change ...func(*Config)) *rig {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, home: home, root: filepath.Join(home, "work"), log: &syncBuffer{}}
	r.write("work/README.md", "# Hello\nsecond line\n")
	c := Config{State: filepath.Join(home, ".zeroclaw"), Home: home, Root: r.root, Port: AnyPort, Terminal: true,
		Log: slog.New(slog.NewTextHandler(r.log, nil)), Environ: func() []string { return []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")} },
		Getenv: func(string) string { return "" }}
	for _, f := range change {
		f(&c)
	}
	if r.server, err = New(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.server.Serve(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("Serve: %v", err)
	case <-time.After(30 * time.Second):
		cancel()
		t.Fatalf("Serve was not ready within 30 s:\n%s", r.log)
	}
	r.end = sync.OnceValue(func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-time.After(10 * time.Second):
			return fmt.Errorf("the companion did not end within 10 s")
		}
	})
	t.Cleanup(func() {
		if err := r.end(); err != nil {
			t.Errorf("end: %v", err)
		}
	})
	r.token = r.server.instance.Token
	return r
}

func (r *rig) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// impatient turns a request that nobody answers into a failure with a name.
var impatient = &http.Client{Timeout: time.Minute}

// request sends one request and returns status and body. A body that is no
// string is sent as JSON. Extra headers are "Name: value".
func (r *rig) request(method, path string, body any, headers ...string) (int, string) {
	r.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		data, err := json.Marshal(b)
		if err != nil {
			r.t.Fatal(err)
		}
		in = bytes.NewReader(data)
	}
	q, err := http.NewRequestWithContext(r.t.Context(), method, strings.TrimSuffix(r.server.Address(), "/")+path, in)
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+r.token)
	if body != nil {
		q.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		q.Header.Set(name, value)
	}
	a, err := impatient.Do(q)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer a.Body.Close()
	out, err := io.ReadAll(a.Body)
	if err != nil {
		r.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a.StatusCode, string(out)
}

// do sends a request that must succeed and decodes the answer.
func do[T any](r *rig, method, path string, body any, headers ...string) T {
	r.t.Helper()
	status, text := r.request(method, path, body, headers...)
	if status >= 400 {
		r.t.Fatalf("%s %s = %d %s", method, path, status, text)
	}
	var out T
	if text != "" {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			r.t.Fatalf("%s %s: %v in %s", method, path, err, text)
		}
	}
	return out
}

func (r *rig) session() session.View {
	r.t.Helper()
	return do[session.View](r, "POST", "/api/sessions", map[string]any{})
}

// call starts a call and returns its id.
func (r *rig) call(sessionID, tool string, args any) string {
	r.t.Helper()
	got := do[struct {
		CallID string `json:"call_id"`
	}](r, "POST", "/api/sessions/"+sessionID+"/calls", map[string]any{"tool": tool, "arguments": args}, "Prefer: respond-async")
	return got.CallID
}

// outcome waits for the end of a call.
func (r *rig) outcome(sessionID, id string) tools.Outcome {
	r.t.Helper()
	return eventually(r, func() (tools.Outcome, bool) {
		o := do[tools.Outcome](r, "GET", "/api/sessions/"+sessionID+"/calls/"+id, nil)
		return o, o.Status.Ended()
	})
}

// question waits for the question of a call.
func (r *rig) question(callID string) approval.Question {
	r.t.Helper()
	return eventually(r, func() (approval.Question, bool) {
		open := do[struct{ Approvals []approval.Question }](r, "GET", "/api/approvals", nil)
		for _, q := range open.Approvals {
			if q.CallID == callID {
				return q, true
			}
		}
		return approval.Question{}, false
	})
}

func (r *rig) answer(q approval.Question, body map[string]any) {
	r.t.Helper()
	do[map[string]any](r, "POST", "/api/approvals/"+q.ID, body)
}

func eventually[T any](r *rig, f func() (T, bool)) T {
	r.t.Helper()
	for end := time.Now().Add(15 * time.Second); ; {
		v, ok := f()
		if ok {
			return v
		}
		if time.Now().After(end) {
			r.t.Fatalf("it did not happen within 15 s; last seen: %+v", v)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// listen connects to the event stream and returns its events once hello came.
func (r *rig) listen() <-chan [2]string {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r.t.Cleanup(cancel)
	q, _ := http.NewRequestWithContext(ctx, "GET", r.server.Address()+"api/events", nil)
	q.Header.Set("Authorization", "Bearer "+r.token)
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	out, hello := make(chan [2]string, 1000), make(chan struct{})
	go func() {
		defer close(out)
		defer a.Body.Close()
		var kind, data string
		for lines := bufio.NewReader(a.Body); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
			switch name {
			case "event":
				kind = value
			case "data":
				data += value
			case "":
				if kind == "hello" {
					close(hello)
				}
				if kind != "" {
					out <- [2]string{kind, data}
				}
				kind, data = "", ""
			}
		}
	}()
	select {
	case <-hello:
	case <-time.After(30 * time.Second):
		r.t.Fatal("the event stream does not begin with hello")
	}
	return out
}

// next waits for the next event of a kind and returns its data.
func (r *rig) next(events <-chan [2]string, kind string) string {
	r.t.Helper()
	for late := time.After(30 * time.Second); ; {
		select {
		case e, ok := <-events:
			if !ok {
				r.t.Fatalf("the event stream ended before %s", kind)
			}
			if e[0] == kind {
				return e[1]
			}
		case <-late:
			r.t.Fatalf("no %s came", kind)
		}
	}
}
