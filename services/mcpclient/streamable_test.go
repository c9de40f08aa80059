package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"zeroclaw/services"
)

func TestStreamableFromInitializeToDelete(t *testing.T) {
	t.Parallel()
	s := newStub(t, &stub{})
	p, r := reach(t, services.TransportHTTP, s.URL+"/mcp?key=hidden", func(spec *services.Spec, _ *services.Hooks) {
		spec.Headers = map[string]string{"authorization": "Bearer s3cret", "X-Own": "1"}
	})
	tools, err := p.Tools(t.Context())
	if err != nil || len(tools) != 1 {
		t.Fatalf("Tools = %v, %v", tools, err)
	}
	if got, err := call(t, p, "echo", `{"x":1}`); err != nil || got != `{"x":1}` {
		t.Errorf("echo = %q, %v", got, err)
	}
	if err := p.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	if err := p.Close(t.Context()); err != nil {
		t.Error(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if fmt.Sprint(s.ended) != "[session-1]" {
		t.Errorf("deleted sessions: %q", s.ended)
	}
	for _, m := range s.seen {
		if got := m.header.Get("Authorization"); got != "Bearer s3cret" {
			t.Errorf("%s has Authorization %q", m.Method, got)
		}
		if m.Method == "initialize" || m.Method == "server/discover" {
			continue
		}
		if m.header.Get("Mcp-Session-Id") != "session-1" || m.header.Get("Mcp-Protocol-Version") != "2025-11-25" {
			t.Errorf("%s has the headers %v", m.Method, m.header)
		}
	}
	for _, secret := range []string{"s3cret", "hidden"} {
		if r.has(secret) {
			t.Errorf("%q was logged", secret)
		}
	}
}

// peer bug E1
func TestSessionLost(t *testing.T) {
	t.Parallel()
	var ran atomic.Int32
	s := &stub{tools: map[string]func(stubCall){"write": func(c stubCall) { ran.Add(1); c.text("done") }}}
	// The call is written, and the session is gone when it arrives.
	var gone atomic.Bool
	s.before = func(w http.ResponseWriter, _ *http.Request, m stubMessage) bool {
		if m.Method == "tools/call" && gone.CompareAndSwap(true, false) {
			s.forget()
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	}
	newStub(t, s)
	p, r := reach(t, services.TransportHTTP, s.URL, nil)
	gone.Store(true)
	_, err := call(t, p, "write", `{}`)
	holds(t, err, "lost the session", "outcome unknown", "not replayed")
	if got, err := call(t, p, "write", `{}`); err != nil || got != "done" {
		t.Errorf("the next call = %q, %v", got, err)
	}
	if ran.Load() != 1 || s.count("tools/call") != 2 || s.beginnings() != 2 {
		t.Errorf("the tool ran %d times, %d calls came, %d sessions were begun", ran.Load(), s.count("tools/call"), s.beginnings())
	}
	select {
	case <-r.changed:
	case <-time.After(slowdown * time.Second):
		t.Error("the tools are not read again")
	}
	select {
	case err := <-r.closed:
		t.Errorf("Closed(%v)", err)
	default:
	}
}

// A server that loses each session at once is left to the back-off.
func TestSessionLostAgainAndAgain(t *testing.T) {
	t.Parallel()
	s := &stub{}
	s.before = func(w http.ResponseWriter, _ *http.Request, m stubMessage) bool {
		if m.Method == "tools/call" {
			s.forget()
		}
		return false
	}
	newStub(t, s)
	p, r := reach(t, services.TransportHTTP, s.URL, nil)
	for range renewLimit + 1 {
		_, err := call(t, p, "echo", `{}`)
		holds(t, err, "lost the session")
	}
	select {
	case err := <-r.closed:
		var again interface{ Restartable() bool }
		if !errors.As(err, &again) || !again.Restartable() {
			t.Errorf("Closed(%v) is not restartable", err)
		}
	case <-time.After(slowdown * 2 * time.Second):
		t.Error("it is never given up")
	}
	if n := s.beginnings(); n != renewLimit+1 {
		t.Errorf("%d sessions were begun", n)
	}
}

func TestNotFoundWithoutSession(t *testing.T) {
	t.Parallel()
	s := newStub(t, &stub{stateless: true, tools: map[string]func(stubCall){"gone": func(c stubCall) { c.w.WriteHeader(http.StatusNotFound) }}})
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	_, err := call(t, p, "gone", `{}`)
	holds(t, err, "404")
	if strings.Contains(err.Error(), "session") {
		t.Errorf("%v", err)
	}
	if _, err := call(t, p, "echo", `{}`); err != nil || s.beginnings() != 1 {
		t.Errorf("the next call: %v, %d initializes", err, s.beginnings())
	}
}

// R034
func TestLoginWanted(t *testing.T) {
	t.Parallel()
	var tries atomic.Int32
	s := newStub(t, &stub{before: func(w http.ResponseWriter, _ *http.Request, _ stubMessage) bool {
		tries.Add(1)
		w.Header().Set("WWW-Authenticate", "Bearer")
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}})
	_, _, err := tryReach(t, services.TransportHTTP, s.URL, nil)
	holds(t, err, "asks for a login", "401")
	var again interface{ Restartable() bool }
	if errors.As(err, &again) && again.Restartable() {
		t.Error("it would be tried again and again")
	}
	if tries.Load() > 2 {
		t.Errorf("%d tries", tries.Load())
	}
}

// R014, with the timers of the supervisor.
func TestStreamsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s := newStub(t, &stub{tools: map[string]func(stubCall){
		"comments": func(c stubCall) {
			c.events()
			for c.r.Context().Err() == nil {
				fmt.Fprint(c.w, ": still here\n\n")
				flush(c.w)
				time.Sleep(5 * time.Millisecond)
			}
		},
		"trickle": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			for c.r.Context().Err() == nil {
				fmt.Fprint(c.w, " ")
				flush(c.w)
				time.Sleep(5 * time.Millisecond)
			}
		},
		"silence": func(c stubCall) { <-c.r.Context().Done() },
	}})
	v := serve(t, services.Config{}, services.Spec{Name: "far", Origin: services.OriginServer, Transport: services.TransportHTTP, URL: s.URL,
		CallTimeout: slowdown * 400 * time.Millisecond, MaxDuration: slowdown * 600 * time.Millisecond})
	if err := v.Start("far"); err != nil {
		t.Fatal(err)
	}
	waitState(t, v, "far", services.Running)
	for i, tool := range []string{"comments", "trickle", "silence"} {
		began := time.Now()
		_, err := v.Call(t.Context(), services.ToolCall{Server: "far", Tool: tool})
		if !errors.Is(err, services.ErrTimeout) {
			t.Errorf("%s: %v", tool, err)
		}
		if took := time.Since(began); took > slowdown*4*time.Second {
			t.Errorf("%s: it took %s", tool, took)
		}
		if _, err := v.Call(t.Context(), services.ToolCall{Server: "far", Tool: "echo"}); err != nil {
			t.Errorf("after %s: %v", tool, err)
		}
		for range slowdown * 200 {
			if s.count("notifications/cancelled") == i+1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n := s.count("notifications/cancelled"); n != i+1 {
			t.Errorf("after %s: %d cancelled calls were told", tool, n)
		}
	}
}

// What a server asks on the stream of a call carries the context of the call,
// and there is no time limit of the transport.
func TestQuestionsWithinACall(t *testing.T) {
	t.Parallel()
	type key struct{}
	s := &stub{}
	s.tools = map[string]func(stubCall){"ask": func(c stubCall) {
		c.events()
		// Our own request has this id, too: it is no answer.
		c.event(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{"n":{"type":"integer","default":7}}}}}`, c.id))
		select {
		case m := <-s.replies:
			c.event(c.answer(string(m.Result)))
		case <-c.r.Context().Done():
		}
	}}
	newStub(t, s)
	owners := make(chan any, 1)
	p, _ := reach(t, services.TransportHTTP, s.URL, func(_ *services.Spec, h *services.Hooks) {
		h.Ask = func(ctx context.Context, _ string, _ json.RawMessage) (json.RawMessage, error) {
			owners <- ctx.Value(key{})
			return json.RawMessage(`{"action":"accept","content":{}}`), nil
		}
	})
	res, err := p.Call(context.WithValue(t.Context(), key{}, "me"), "ask", nil, nil)
	if err != nil || !strings.Contains(string(res.Raw), `\"n\":7`) {
		t.Errorf("Call = %s, %v", res.Raw, err)
	}
	if got := <-owners; got != "me" {
		t.Errorf("the question belongs to %v", got)
	}
}

// peer bugs E4 and E6
func TestStandingStream(t *testing.T) {
	t.Parallel()
	var opened atomic.Int32
	var last atomic.Value
	s := newStub(t, &stub{get: func(w http.ResponseWriter, r *http.Request) {
		n := opened.Add(1)
		last.Store(r.Header.Get("Last-Event-ID"))
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "id: e%d\nretry: 50\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}\n\n", n)
		if n == 1 {
			return // closed as idle
		}
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		flush(w)
		<-r.Context().Done()
	}})
	_, r := reach(t, services.TransportHTTP, s.URL, nil)
	select {
	case <-r.changed:
	case <-time.After(slowdown * 3 * time.Second):
		t.Fatal("list_changed did not come")
	}
	if opened.Load() != 2 || last.Load() != "e1" {
		t.Errorf("opened %d times, Last-Event-ID %q", opened.Load(), last.Load())
	}
}

// R033
func TestHostileSessionIDs(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"long": strings.Repeat("x", 1<<20), "medium": strings.Repeat("x", maxSessionID+1), "latin": "caf\xe9", "space": "a b", "control": "a\x01b"} {
		s := newStub(t, &stub{before: func(w http.ResponseWriter, _ *http.Request, m stubMessage) bool {
			if m.Method != "initialize" {
				return false
			}
			w.Header().Set("Content-Type", "application/json")
			w.Header()["Mcp-Session-Id"] = []string{id}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`, m.ID)
			return true
		}})
		if _, _, err := tryReach(t, services.TransportHTTP, s.URL, nil); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	// One that breaks out of its line, as only a raw server can send it.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 16<<10)
			_, _ = c.Read(buf)
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: a\r\nb\r\nContent-Length: 2\r\n\r\n{}")
			c.Close()
		}
	}()
	_, _, err = tryReach(t, services.TransportHTTP, "http://"+l.Addr().String(), func(spec *services.Spec, _ *services.Hooks) { spec.Protocol = "2025-11-25" })
	holds(t, err, "headers")
}
