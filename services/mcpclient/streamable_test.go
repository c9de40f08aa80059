package mcpclient

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
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

func TestStrangeAnswers(t *testing.T) {
	t.Parallel()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 10<<20))
	_ = z.Close()
	type answer struct {
		name string
		do   func(c stubCall)
		want []string
	}
	answers := []answer{
		{"page", func(c stubCall) { c.w.Header().Set("Content-Type", "text/html"); fmt.Fprint(c.w, "<html>hi") }, []string{"web page"}},
		{"plain", func(c stubCall) { c.w.Header().Set("Content-Type", "text/plain"); fmt.Fprint(c.w, "hi") }, []string{"text/plain"}},
		{"none", func(c stubCall) { c.w.Header()["Content-Type"] = nil; fmt.Fprint(c.w, "hi") }, []string{"without a content type"}},
		{"accepted", func(c stubCall) { c.w.WriteHeader(http.StatusAccepted) }, []string{"without answering"}},
		{"empty", func(c stubCall) { c.w.Header().Set("Content-Type", "application/json") }, []string{"empty"}},
		{"junk", func(c stubCall) { c.w.Header().Set("Content-Type", "application/json"); fmt.Fprint(c.w, "{") }, []string{"no JSON-RPC message"}},
		{"other", func(c stubCall) { c.id = json.RawMessage("99999"); c.text("x") }, []string{"another request"}},
		{"failed", func(c stubCall) { http.Error(c.w, strings.Repeat("x", 1<<20), http.StatusBadGateway) }, []string{"502"}},
		{"failing page", func(c stubCall) {
			c.w.Header().Set("Content-Type", "text/html")
			c.w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(c.w, "<html><body>busy</body></html>")
		}, []string{"503", "web page"}},
		// R013
		{"zipped", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.Header().Set("Content-Encoding", "gzip")
			_, _ = c.w.Write(zipped.Bytes())
		}, []string{"compressed (gzip)"}},
		{"cut", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.Header().Set("Content-Length", "1000")
			fmt.Fprint(c.w, "{")
			flush(c.w)
			panic(http.ErrAbortHandler)
		}, []string{"broke", "outcome unknown"}},
		// peer bug E3
		{"cut stream", func(c stubCall) { c.events(); panic(http.ErrAbortHandler) }, []string{"broke", "outcome unknown"}},
		{"ended stream", func(c stubCall) { c.events() }, []string{"ended", "outcome unknown"}},
		{"error", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(c.w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"bad \u001b[31m argument"}}`, c.id)
		}, []string{"-32602", `bad \x1b[31m argument`}},
		{"error without id", func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(c.w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not read"}}`)
		}, []string{"-32700"}},
	}
	s := &stub{tools: map[string]func(stubCall){}}
	for _, a := range answers {
		s.tools[a.name] = a.do
	}
	newStub(t, s)
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	for _, a := range answers {
		_, err := call(t, p, a.name, `{}`)
		if err == nil {
			t.Errorf("%s: no error", a.name)
			continue
		}
		for _, part := range a.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %v, want it to hold %q", a.name, err, part)
			}
		}
		if len(err.Error()) > 2000 {
			t.Errorf("%s: the error has %d bytes", a.name, len(err.Error()))
		}
		if _, err := call(t, p, "echo", `{}`); err != nil {
			t.Errorf("after %s: %v", a.name, err)
		}
	}
	if s.beginnings() != 1 {
		t.Errorf("%d sessions", s.beginnings())
	}
}

// The answer may come as a batch, with other messages, with an id that is
// written differently, or in an event of several lines.
func TestShapesOfAnswers(t *testing.T) {
	t.Parallel()
	s := newStub(t, &stub{tools: map[string]func(stubCall){
		"batch": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprintf(c.w, `[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"in a batch"}},%s]`, c.answer("batched"))
		},
		"float": func(c stubCall) { c.id = json.RawMessage(string(c.id) + ".0"); c.text("floating") },
		"lines": func(c stubCall) {
			c.events()
			before, after, _ := strings.Cut(c.answer("several"), ",")
			fmt.Fprintf(c.w, ": hello\r\nevent: message\r\ndata: %s,\r\ndata:%s\r\n\r\n", before, after)
		},
		"other events": func(c stubCall) {
			c.events()
			fmt.Fprint(c.w, "event: ping\ndata: {}\n\ndata: no json\n\ndata:\n\n")
			c.event(c.answer("found"))
		},
	}})
	p, r := reach(t, services.TransportHTTP, s.URL, nil)
	for tool, want := range map[string]string{"batch": "batched", "float": "floating", "lines": "several", "other events": "found"} {
		if got, err := call(t, p, tool, `{}`); err != nil || got != want {
			t.Errorf("%s = %q, %v", tool, got, err)
		}
	}
	r.wait(t, "in a batch")
}

// R015, and answers that are too long in every form.
func TestTooLong(t *testing.T) {
	t.Parallel()
	const limit = 100 << 10
	long := strings.Repeat("a", limit)
	stopped := make(chan struct{})
	var once sync.Once
	s := newStub(t, &stub{tools: map[string]func(stubCall){
		"told": func(c stubCall) { c.text(long) },
		"chunk": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			flush(c.w)
			fmt.Fprint(c.w, c.answer(long))
		},
		"event": func(c stubCall) { c.events(); c.event(c.answer(long)) },
		"endless body": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			for c.r.Context().Err() == nil {
				fmt.Fprint(c.w, long)
			}
		},
		"endless line": func(c stubCall) {
			c.events()
			fmt.Fprint(c.w, "data: ")
			for c.r.Context().Err() == nil {
				if _, err := fmt.Fprint(c.w, long); err != nil {
					break
				}
			}
			once.Do(func() { close(stopped) })
		},
		// The rest of an event that is too long is no event.
		"suffix": func(c stubCall) {
			c.events()
			fmt.Fprintf(c.w, "data: %s\ndata: %s\n\n", long+"a", c.answer("the suffix"))
			c.event(c.answer("the real one"))
		},
		"notification": func(c stubCall) {
			c.events()
			c.event(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + long + `"}}`)
			time.Sleep(lateGrace + 500*time.Millisecond)
			c.event(c.answer("after it"))
		},
		"fits": func(c stubCall) { c.events(); c.event(c.answer(long[:limit-200])) },
	}})
	p, _ := reach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.MaxResponseBytes = limit })
	for _, name := range []string{"told", "chunk", "event", "endless body", "endless line"} {
		began := time.Now()
		_, err := call(t, p, name, `{}`)
		if err == nil || !strings.Contains(err.Error(), "max_response_bytes") {
			t.Errorf("%s: %v", name, err)
		}
		if took := time.Since(began); took > slowdown*3*time.Second {
			t.Errorf("%s: the error took %s", name, took)
		}
		if got, err := call(t, p, "echo", `{}`); err != nil || got != "{}" {
			t.Errorf("after %s: %q, %v", name, got, err)
		}
	}
	select {
	case <-stopped:
	case <-time.After(slowdown * time.Second):
		t.Error("the endless line goes on")
	}
	for name, want := range map[string]string{"suffix": "the real one", "notification": "after it", "fits": long[:limit-200]} {
		if got, err := call(t, p, name, `{}`); err != nil || got != want {
			t.Errorf("%s = %.100q, %v", name, got, err)
		}
	}
}

// The default limit, as in the public cases: 17 MB fail, with a higher limit
// they come through.
func TestSeventeenMegabytes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("b", 17<<20)
	s := newStub(t, &stub{tools: map[string]func(stubCall){"long": func(c stubCall) {
		c.w.Header().Set("Content-Type", "application/json")
		flush(c.w)
		fmt.Fprint(c.w, c.answer(long))
	}}})
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	_, err := call(t, p, "long", `{}`)
	holds(t, err, "16078168", "max_response_bytes")
	if _, err := call(t, p, "echo", `{}`); err != nil {
		t.Error(err)
	}
	p, _ = reach(t, services.TransportHTTP, s.URL, func(spec *services.Spec, _ *services.Hooks) { spec.MaxResponseBytes = 20 << 20 })
	if got, err := call(t, p, "long", `{}`); err != nil || got != long {
		t.Errorf("%d bytes, %v", len(got), err)
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
		for range 200 {
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

// Eight answers of 15 MB at a time: what this layer holds beside the results.
func TestMemoryOfLongAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	const size, at = 15_000_000, 8
	long := []byte(`{"content":[{"type":"text","text":"` + strings.Repeat("c", size) + `"}]}`)
	put := func(c stubCall, prefix string) {
		fmt.Fprintf(c.w, `%s{"jsonrpc":"2.0","id":%s,"result":`, prefix, c.id)
		_, _ = c.w.Write(long)
		fmt.Fprint(c.w, "}\n\n")
	}
	s := newStub(t, &stub{tools: map[string]func(stubCall){
		"json": func(c stubCall) {
			c.w.Header().Set("Content-Type", "application/json")
			c.w.Header().Set("Content-Length", fmt.Sprint(len(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":`, c.id))+len(long)+3))
			put(c, "")
		},
		"chunked": func(c stubCall) { c.w.Header().Set("Content-Type", "application/json"); flush(c.w); put(c, "") },
		"event":   func(c stubCall) { c.events(); put(c, "data: ") },
	}})
	p, _ := reach(t, services.TransportHTTP, s.URL, nil)
	for _, tool := range []string{"json", "chunked", "event"} {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var peak atomic.Uint64
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(5 * time.Millisecond):
				}
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), m.HeapAlloc))
			}
		}()
		var wg sync.WaitGroup
		for range at {
			wg.Go(func() {
				res, err := p.Call(t.Context(), tool, nil, nil)
				if err != nil || !bytes.Equal(res.Raw, long) {
					t.Errorf("%s: %d bytes, %v", tool, len(res.Raw), err)
				}
			})
		}
		wg.Wait()
		close(done)
		runtime.ReadMemStats(&after)
		allocated := float64(after.TotalAlloc-before.TotalAlloc) / (size * at)
		t.Logf("%s: allocated %.2f times what came, at most %d MB in use", tool, allocated, peak.Load()>>20)
		if limit := map[string]float64{"json": 1.2}[tool]; allocated > max(limit, 2.3) || limit > 0 && allocated > limit {
			t.Errorf("%s: allocated %.2f times the answers", tool, allocated)
		}
	}
}
