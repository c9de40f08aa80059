package localserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRevokedStream: who used a launch code first loses the event stream that
// it opened, together with its token, when the code comes again.
func TestRevokedStream(t *testing.T) {
	r := newRig(t)
	_, code, _ := strings.Cut(r.server.LaunchURL(Launch{}), "#code=")
	got := do[map[string]string](r, "POST", "/api/pair", map[string]string{"code": code})
	q, _ := http.NewRequestWithContext(t.Context(), "GET", r.server.Address()+"api/events", nil)
	q.Header.Set("Authorization", "Bearer "+got["token"])
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	events := r.listen()
	if status, body := r.request("POST", "/api/pair", map[string]string{"code": code}); status != http.StatusForbidden {
		t.Fatalf("the second use of the code = %d %s", status, body)
	}
	s := r.session()
	id := r.call(s.ID, "read_file", map[string]any{"path": "README.md"})
	r.question(id)
	ended := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(a.Body)
		ended <- string(text)
	}()
	select {
	case text := <-ended:
		if strings.Contains(text, id) {
			t.Errorf("the stream of the revoked token told of a call that came later: %s", text)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the stream of the revoked token goes on")
	}
	r.next(events, "question.asked") // the stream of another token is untouched
	if !strings.Contains(r.log.String(), "used twice") {
		t.Error("nothing of it is in the log")
	}
}

// TestFindSilentPort: a server.json that was left behind leads to a port that
// somebody else holds, who takes the request and says nothing, or who answers
// and never comes to an end.
func TestFindSilentPort(t *testing.T) {
	for name, answer := range map[string]string{"silent": "", "endless": "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"} {
		t.Run(name, func(t *testing.T) {
			ln, err := net.Listen("tcp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			go func() {
				for {
					c, err := ln.Accept()
					if err != nil {
						return
					}
					defer c.Close()
					io.WriteString(c, answer)
				}
			}()
			state := t.TempDir()
			i := Instance{PID: 1, Port: ln.Addr().(*net.TCPAddr).Port, TokenID: "y", Token: "x"}
			if err := os.MkdirAll(filepath.Join(state, "run"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := i.save(state); err != nil {
				t.Fatal(err)
			}
			found := make(chan error, 1)
			go func() {
				_, err := Find(context.Background(), state)
				found <- err
			}()
			select {
			case err := <-found:
				if !errors.Is(err, ErrNotRunning) {
					t.Errorf("Find = %v, want ErrNotRunning", err)
				}
			case <-time.After(4 * proveTime):
				t.Fatal("Find waits for ever")
			}
		})
	}
}

// TestEndingTakesNothingNew: while the companion ends, which a stubborn command
// delays, no request begins anything; what is under way can be read and ended.
func TestEndingTakesNothingNew(t *testing.T) {
	r := newRig(t)
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Policy = "allow_all"
	do[permissionsView](r, "PUT", "/api/permissions", p)
	s := r.session()
	r.call(s.ID, "execute_command", map[string]any{"command": "trap '' TERM; touch up; sleep 60"})
	eventually(r, func() (error, bool) {
		_, err := os.Stat(filepath.Join(r.root, "up"))
		return err, err == nil
	})
	// A request that is inside already when the end begins: its body comes late.
	late, err := net.Dial("tcp4", strings.TrimSuffix(strings.TrimPrefix(r.server.Address(), "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	fmt.Fprintf(late, "POST /api/sessions HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{",
		late.RemoteAddr(), r.token)
	ended := make(chan error, 1)
	go func() { ended <- r.end() }()
	<-r.server.ctx.Done()
	time.Sleep(20 * time.Millisecond)
	io.WriteString(late, "}")
	late.SetReadDeadline(time.Now().Add(10 * time.Second))
	if text, _ := io.ReadAll(late); strings.Contains(string(text), "201 Created") || strings.Contains(string(text), "200 OK") {
		t.Errorf("a request that came late was served: %s", text)
	}
	for over := false; !over; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		default:
			q, _ := http.NewRequest("POST", r.server.Address()+"api/sessions", strings.NewReader("{}"))
			q.Header.Set("Authorization", "Bearer "+r.token)
			q.Header.Set("Content-Type", "application/json")
			time.Sleep(5 * time.Millisecond)
			a, err := impatient.Do(q)
			if err != nil {
				continue
			}
			if a.StatusCode < 400 {
				t.Errorf("a session was opened during the end: %s", a.Status)
			}
			a.Body.Close()
		}
	}
	if left := r.server.sessions.List(); len(left) != 0 {
		t.Errorf("%d sessions are left", len(left))
	}
}

// TestEndIsBounded: a tool that does not come back, as one on a network folder
// that is gone, does not keep the companion, and leaves the files their moment
// within the time that is promised.
func TestEndIsBounded(t *testing.T) {
	var took time.Duration
	for range 3 { // a machine may be too busy once
		r := newRig(t)
		stuck := make(chan struct{})
		r.server.background.Go(func() { <-stuck })
		start := time.Now()
		err := r.end()
		took = time.Since(start)
		close(stuck)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.log.String(), "background work") {
			t.Error("the log does not say what did not end")
		}
		if took < shutdownTime-flushTime-100*time.Millisecond {
			t.Fatalf("the end took only %v", took)
		}
		if took < shutdownTime {
			return
		}
	}
	t.Errorf("the end took %v, want less than %v", took, shutdownTime)
}

// TestPortProblem: only a port in use belongs to another program.
func TestPortProblem(t *testing.T) {
	wrapped := func(err error) error {
		return &net.OpError{Op: "listen", Net: "tcp4", Err: os.NewSyscallError("bind", err)}
	}
	for _, tt := range []struct {
		err        error
		code, text string
	}{
		{wrapped(errPortInUse), "port_taken", "belongs to another program"},
		{wrapped(errPortDenied), "port_denied", "does not let this user"},
		{wrapped(os.ErrPermission), "port_denied", "does not let this user"},
		{wrapped(errors.New("too many open files")), "", ""},
	} {
		code, why := portProblem(80, tt.err)
		if code != tt.code || !strings.Contains(why, tt.text) || code == "port_denied" && strings.Contains(why, "another program") {
			t.Errorf("portProblem(%v) = %q, %q, want %q", tt.err, code, why, tt.code)
		}
	}
}

// TestUnusedSocketsDoNotHoldTheEnd opens connections without a request, as
// browsers do ahead of time.
func TestUnusedSocketsDoNotHoldTheEnd(t *testing.T) {
	r := newRig(t)
	for range 3 {
		c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", r.server.port))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	r.request("GET", "/api/status", nil)
	start := time.Now()
	if err := r.end(); err != nil || time.Since(start) > 3*time.Second {
		t.Errorf("ended with %v after %v", err, time.Since(start))
	}
}
