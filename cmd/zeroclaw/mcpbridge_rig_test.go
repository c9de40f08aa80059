package main

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"zeroclaw/localserver"
)

// arrival is one request that reached a stub of the companion.
type arrival struct {
	verb    string
	header  http.Header
	message message
}

// stubCompanion is the MCP endpoint of a companion.
type stubCompanion struct {
	t      *testing.T
	http   *httptest.Server
	token  string
	notice chan string // what its standing stream says

	mu       sync.Mutex
	sessions map[string]bool
	arrived  []arrival
	// answer takes a request over when it returns true.
	answer func(w http.ResponseWriter, r *http.Request, m message) bool
}

func newStubCompanion(t *testing.T) *stubCompanion {
	s := &stubCompanion{t: t, token: rand.Text(), notice: make(chan string, 10), sessions: map[string]bool{}}
	s.http = httptest.NewServer(s)
	t.Cleanup(s.kill)
	return s
}

// kill ends it as a killed process ends: with every connection.
func (s *stubCompanion) kill() {
	s.http.CloseClientConnections()
	s.http.Listener.Close()
	s.http.Config.Close()
}

func (s *stubCompanion) instance() localserver.Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	return localserver.Instance{Port: s.http.Listener.Addr().(*net.TCPAddr).Port, TokenID: "t", Token: s.token}
}

func (s *stubCompanion) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/prove" {
		var in struct{ Nonce string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		s.mu.Lock()
		mac := hmac.New(sha256.New, []byte(s.token))
		s.mu.Unlock()
		mac.Write([]byte(in.Nonce))
		fmt.Fprintf(w, `{"proof":%q}`, hex.EncodeToString(mac.Sum(nil)))
		return
	}
	s.mu.Lock()
	token := s.token
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+token {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"code":"unauthorized","message":"the token is wrong"}}`)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	m, _ := newMessage(raw)
	session := r.Header.Get("Mcp-Session-Id")
	s.mu.Lock()
	s.arrived = append(s.arrived, arrival{r.Method, r.Header, m})
	known, answer := s.sessions[session], s.answer
	if r.Method == http.MethodDelete {
		delete(s.sessions, session)
	}
	s.mu.Unlock()
	switch {
	case session != "" && !known:
		http.Error(w, "no such session", http.StatusNotFound)
	case answer != nil && answer(w, r, m):
	case r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodGet:
		s.stream(w, r)
	case m.method == "initialize":
		id := rand.Text()
		s.mu.Lock()
		s.sessions[id] = true
		s.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
		reply(w, m, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{}},"serverInfo":{"name":"stub","version":"1"}}`)
	case !m.request():
		w.WriteHeader(http.StatusAccepted)
	default:
		reply(w, m, `{"done":`+encoded(m.method+" "+m.name)+`}`)
	}
}

// stream is the standing stream of a session.
func (s *stubCompanion) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	for {
		select {
		case text := <-s.notice:
			event(w, "", text)
		case <-r.Context().Done():
			return
		}
	}
}

func reply(w http.ResponseWriter, m message, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.id, result)
}

// event is one event of a stream, with an id if there is one.
func event(w http.ResponseWriter, id, data string) {
	w.Header().Set("Content-Type", "text/event-stream")
	if id != "" {
		fmt.Fprintf(w, "id: %s\n", id)
	}
	fmt.Fprintf(w, "event: message\ndata: %s\n\n", data)
	_ = http.NewResponseController(w).Flush()
}

// on makes a stub answer the requests of one method.
func (s *stubCompanion) on(method string, do func(w http.ResponseWriter, r *http.Request, m message)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.answer
	s.answer = func(w http.ResponseWriter, r *http.Request, m message) bool {
		if m.method == method {
			do(w, r, m)
			return true
		}
		return before != nil && before(w, r, m)
	}
}

// methods are those that arrived, in their order; DELETE and GET by their verb.
func (s *stubCompanion) methods() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, a := range s.arrived {
		switch {
		case a.verb != http.MethodPost:
			out = append(out, a.verb)
		case a.message.method == "":
			out = append(out, "response")
		default:
			out = append(out, a.message.method)
		}
	}
	return out
}

func (s *stubCompanion) count(method string) int {
	n := 0
	for _, m := range s.methods() {
		if m == method {
			n++
		}
	}
	return n
}

// headerOf is the header of the last request of a method.
func (s *stubCompanion) headerOf(method string) http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range slices.Backward(s.arrived) {
		if a.message.method == method || a.verb == method {
			return a.header
		}
	}
	s.t.Fatalf("no %s arrived", method)
	return nil
}

// bridgeRig is a client before a bridge.
type bridgeRig struct {
	t      *testing.T
	in     *io.PipeWriter
	lines  chan string
	done   chan error
	log    *buffer
	cancel context.CancelFunc
	bridge *stdioBridge

	mu     sync.Mutex
	now    *stubCompanion // the companion that is found; nil while none runs
	next   *stubCompanion // the one that a start brings
	starts int
}

func newBridgeRig(t *testing.T, now *stubCompanion) *bridgeRig {
	t.Helper()
	already := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, already) })
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	b := &bridgeRig{t: t, in: inW, lines: make(chan string, 1000), done: make(chan error, 1), log: &buffer{}, cancel: cancel, now: now}
	go func() {
		defer close(b.lines)
		r := bufio.NewReaderSize(outR, 1<<20)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			b.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	b.bridge = newBridge(inR, outW, b.log, "/mcp?agent=a", b.find)
	go func() {
		b.done <- b.bridge.serve(ctx)
		outW.Close()
		inR.Close()
	}()
	t.Cleanup(func() {
		inW.Close()
		cancel()
	})
	return b
}

func (b *bridgeRig) find(_ context.Context, start bool) (localserver.Instance, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now == nil && start && b.next != nil {
		b.now, b.next = b.next, nil
		b.starts++
	}
	if b.now == nil {
		return localserver.Instance{}, localserver.ErrNotRunning
	}
	return b.now.instance(), nil
}

// set says which companion is found, and which one a start would bring.
func (b *bridgeRig) set(now, next *stubCompanion) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now, b.next = now, next
}

// hangUp ends the connections that the bridge keeps for later: what a peer has
// closed is noticed a while after, and until then nobody knows what it got.
func (b *bridgeRig) hangUp() { b.bridge.link.current().client.CloseIdleConnections() }

func (b *bridgeRig) send(lines ...string) {
	b.t.Helper()
	for _, l := range lines {
		if _, err := io.WriteString(b.in, l+"\n"); err != nil {
			b.t.Fatal(err)
		}
	}
}

// get is the next line for the client.
func (b *bridgeRig) get() string {
	b.t.Helper()
	select {
	case l, ok := <-b.lines:
		if !ok {
			b.t.Fatalf("the bridge ended\n%s", b.log)
		}
		return l
	case <-time.After(15 * time.Second):
		b.t.Fatalf("nothing came within 15 s\n%s", b.log)
	}
	return ""
}

func (b *bridgeRig) want(texts ...string) {
	b.t.Helper()
	line := b.get()
	for _, text := range texts {
		if !strings.Contains(line, text) {
			b.t.Fatalf("got %s, want %s", line, text)
		}
	}
}

// nothing checks that no line has come that was not read.
func (b *bridgeRig) nothing() {
	b.t.Helper()
	select {
	case l, ok := <-b.lines:
		if ok {
			b.t.Fatalf("got %s, want nothing", l)
		}
	case <-time.After(50 * time.Millisecond):
	}
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

// open begins a session of the old kind.
func (b *bridgeRig) open() {
	b.t.Helper()
	b.send(initialize)
	b.want(`"id":0`, `"protocolVersion":"2025-11-25"`)
	b.send(initialized)
}

// leave ends the client and waits for the bridge.
func (b *bridgeRig) leave() {
	b.t.Helper()
	b.in.Close()
	b.ended()
}

func (b *bridgeRig) ended() {
	b.t.Helper()
	select {
	case err := <-b.done:
		if err != nil && !errors.Is(err, context.Canceled) {
			b.t.Errorf("the bridge ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		b.t.Fatalf("the bridge did not end within 10 s\n%s", b.log)
	}
}
