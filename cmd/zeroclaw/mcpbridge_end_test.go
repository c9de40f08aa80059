package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestBridgeCancels(t *testing.T) {
	s := newStubCompanion(t)
	release := make(chan struct{}, 10)
	var running atomic.Bool
	s.on("tools/call", func(w http.ResponseWriter, _ *http.Request, m message) {
		running.Store(true)
		<-release
		w.Header().Set("Content-Type", "text/event-stream") // ends without a response
	})
	s.on("notifications/cancelled", func(w http.ResponseWriter, _ *http.Request, _ message) {
		w.WriteHeader(http.StatusAccepted)
		if running.Load() { // else nothing is known of the call
			release <- struct{}{}
		}
	})
	b := newBridgeRig(t, s)
	b.open()
	b.send(call(1), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}`)
	wait(t, "the end of the call", func() bool {
		b.bridge.mu.Lock()
		defer b.bridge.mu.Unlock()
		return running.Load() && len(b.bridge.running) == 0
	})
	b.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	b.want(`"id":2`)
	b.leave()
	b.nothing()
}

// TestBridgeEnds in time, also where a call never does.
func TestBridgeEnds(t *testing.T) {
	for name, end := range map[string]func(b *bridgeRig){
		"the client leaves": func(b *bridgeRig) { b.in.Close() },
		"a signal":          func(b *bridgeRig) { b.cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newStubCompanion(t)
			begun, quick := make(chan struct{}), make(chan struct{})
			s.on("tools/call", func(_ http.ResponseWriter, r *http.Request, _ message) {
				close(begun)
				<-r.Context().Done()
			})
			s.on("ping", func(w http.ResponseWriter, _ *http.Request, m message) {
				close(quick)
				time.Sleep(200 * time.Millisecond)
				reply(w, m, `{}`)
			})
			b := newBridgeRig(t, s)
			b.open()
			b.send(call(1), `{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			<-begun
			<-quick
			start := time.Now()
			end(b)
			b.want(`"id":2`) // what runs may end
			b.ended()
			if took := time.Since(start); took < endTime || took > endTime+2*time.Second {
				t.Errorf("it ended after %v", took)
			}
			if s.count("DELETE") != 1 {
				t.Errorf("the session was not ended: %v", s.methods())
			}
		})
	}
}

func TestBridgeBadLines(t *testing.T) {
	s := newStubCompanion(t)
	s.on("batch", func(w http.ResponseWriter, _ *http.Request, _ message) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no batches"}}`)
	})
	s.on("tools/call", func(w http.ResponseWriter, _ *http.Request, _ message) {
		w.WriteHeader(http.StatusBadRequest)
		io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"unknown tool","data":{"x":1}}}`)
	})
	s.on("prompts/get", func(w http.ResponseWriter, _ *http.Request, _ message) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"error":{"code":"unknown_server","message":"there is no server x"}}`)
	})
	s.on("prompts/list", func(w http.ResponseWriter, _ *http.Request, _ message) { io.WriteString(w, "<html>") })
	s.on("tools/list", func(w http.ResponseWriter, r *http.Request, _ message) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	})
	b := newBridgeRig(t, s)
	for _, tt := range []struct{ line, want string }{
		{"nonsense", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{`{"jsonrpc":"2.0"`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"} {}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,`},
		{`"` + strings.Repeat("x", maxLine) + `"`, `"id":null,"error":{"code":-32600,"message":"zeroclaw: read a message: it is too long`},
		{"\r\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\r", `"id":1,"result"`},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `"id":null,"error":{"code":-32600,"message":"no batches"}`},
		{call(2), `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"unknown tool","data":{"x":1}}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"prompts/get"}`, `"id":3,"error":{"code":-32000,"message":"zeroclaw: there is no server x","data":{"code":"unknown_server"}}`},
		{`{"jsonrpc":"2.0","id":4,"method":"prompts/list"}`, `"id":4,"error":{"code":-32000,"message":"zeroclaw: read the companion's answer`},
		{`{"jsonrpc":"2.0","id":5,"method":"tools/list"}`, `"id":5,"error":{"code":-32000,"message":"zeroclaw: the companion answered 302`},
	} {
		b.send(tt.line)
		b.want(tt.want)
	}
	b.leave()
}

func TestBridgeManyAtOnce(t *testing.T) {
	s := newStubCompanion(t)
	const n = 64
	all := make(chan struct{}, n)
	s.on("tools/call", func(w http.ResponseWriter, _ *http.Request, m message) {
		all <- struct{}{}
		for len(all) < n { // each waits for all the others
			time.Sleep(time.Millisecond)
		}
		reply(w, m, `{"content":[{"type":"text","text":"`+strings.Repeat("x", 100<<10)+`"}]}`)
	})
	b := newBridgeRig(t, s)
	b.open()
	for i := range n {
		b.send(call(i + 1))
	}
	seen := map[string]bool{}
	for range n {
		m, err := newMessage([]byte(b.get()))
		if err != nil {
			t.Fatal(err)
		}
		seen[string(m.id)] = true
	}
	if len(seen) != n {
		t.Errorf("%d of %d calls were answered", len(seen), n)
	}
	b.leave()
}

// TestBridgeResumes an answer whose stream the companion ends before.
func TestBridgeResumes(t *testing.T) {
	s := newStubCompanion(t)
	var id string
	s.on("tools/call", func(w http.ResponseWriter, _ *http.Request, m message) {
		id = string(m.id)
		event(w, "e1", `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`)
	})
	b := newBridgeRig(t, s)
	b.open()
	wait(t, "the stream", func() bool { return s.count("GET") == 1 })
	s.mu.Lock()
	before := s.answer
	s.answer = func(w http.ResponseWriter, r *http.Request, m message) bool {
		if r.Method == http.MethodGet && r.Header.Get("Last-Event-ID") == "e1" {
			event(w, "e2", `{"jsonrpc":"2.0","id":`+id+`,"result":{"late":true}}`)
			return true
		}
		return before(w, r, m)
	}
	s.mu.Unlock()
	b.send(call(1))
	b.want("progress")
	b.want(`"id":1`, "late")
	b.leave()
}

// TestBridgeBegin: a session that cannot begin is told, and does not end the
// bridge.
func TestBridgeBegin(t *testing.T) {
	s := newStubCompanion(t)
	first := true
	s.on("initialize", func(w http.ResponseWriter, _ *http.Request, m message) {
		if first {
			first = false
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unsupported protocol version"}}`, m.id)
			return
		}
		w.Header().Set("Mcp-Session-Id", "s")
		s.mu.Lock()
		s.sessions["s"] = true
		s.mu.Unlock()
		event(w, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}`, m.id))
	})
	b := newBridgeRig(t, s)
	b.send(initialize)
	b.want(`"id":0,"error":{"code":-32602`)
	// A client that waits for nothing.
	b.send(initialize, initialized, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	b.want(`"id":0`, "2025-06-18")
	b.want(`"id":1`)
	if h := s.headerOf("tools/list"); h.Get("Mcp-Session-Id") != "s" || h.Get("MCP-Protocol-Version") != "2025-06-18" {
		t.Errorf("the list came with %v", h)
	}
	b.leave()
}
