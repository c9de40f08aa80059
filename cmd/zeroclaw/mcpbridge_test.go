package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func call(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"write","arguments":{}}}`, id)
}

func TestBridgeCarries(t *testing.T) {
	s := newStubCompanion(t)
	s.on("tools/call", func(w http.ResponseWriter, _ *http.Request, m message) {
		event(w, "", `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`)
		event(w, "", `{"jsonrpc":"2.0","id":"q1","method":"elicitation/create","params":{}}`)
		event(w, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, m.id))
	})
	s.on("prompts/list", func(w http.ResponseWriter, _ *http.Request, m message) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": %s,\n  \"result\": {}\n}\n", m.id)
	})
	b := newBridgeRig(t, s)
	b.open()
	b.send(`{"jsonrpc":"2.0","id":"l","method":"tools/list"}`)
	b.want(`"id":"l"`, `"done":"tools/list "`)
	b.send(`{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`)
	if got := b.get(); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("an answer of several lines became %q", got)
	}
	b.send(call(2))
	b.want("notifications/progress")
	b.want(`"id":"q1"`)
	b.want(`"id":2`, "content")
	b.send(`{"jsonrpc":"2.0","id":"q1","result":{"action":"accept"}}`)
	wait(t, "the answer", func() bool { return s.count("response") == 1 })
	wait(t, "the stream", func() bool { return s.count("GET") == 1 })
	s.notice <- `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`
	b.want("notifications/message")
	for _, method := range []string{"tools/list", "GET"} {
		h := s.headerOf(method)
		if h.Get("Mcp-Session-Id") == "" || h.Get("MCP-Protocol-Version") != "2025-11-25" || h.Get("Mcp-Method") != "" {
			t.Errorf("%s came with %v", method, h)
		}
	}
	if h := s.headerOf("initialize"); h.Get("Mcp-Session-Id") != "" || h.Get("MCP-Protocol-Version") != "" || h.Get("Accept") != "application/json, text/event-stream" {
		t.Errorf("initialize came with %v", h)
	}
	b.leave()
	b.nothing()
	if got := s.methods(); got[len(got)-1] != "DELETE" || len(s.sessions) != 0 {
		t.Errorf("the session was not ended: %v", got)
	}
}

func TestBridgeWithoutSessions(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`
	s := newStubCompanion(t)
	gone := make(chan struct{})
	s.on("subscriptions/listen", func(w http.ResponseWriter, r *http.Request, _ message) {
		event(w, "", `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}`)
		<-r.Context().Done()
		close(gone)
	})
	b := newBridgeRig(t, s)
	b.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"añadir",` + meta + `}}`)
	b.want(`"id":1`)
	h := s.headerOf("tools/call")
	if h.Get("MCP-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Method") != "tools/call" || h.Get("Mcp-Name") != "=?base64?YcOxYWRpcg==?=" || h.Get("Mcp-Session-Id") != "" {
		t.Errorf("the call came with %v", h)
	}
	b.send(`{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{` + meta + `}}`)
	b.want("acknowledged")
	b.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	<-gone
	begun := time.Now()
	b.leave()
	b.nothing()
	if s.count("DELETE")+s.count("GET") != 0 || time.Since(begun) > time.Second {
		t.Errorf("it ended after %v with %v", time.Since(begun), s.methods())
	}
}

// TestBridgeSurvives a restart of the companion: the client sees its session go
// on, a call whose outcome nobody knows fails, and nothing is done twice.
func TestBridgeSurvives(t *testing.T) {
	first, second := newStubCompanion(t), newStubCompanion(t)
	begun := make(chan string, 10)
	hang := func(w http.ResponseWriter, r *http.Request, m message) {
		begun <- m.method
		<-r.Context().Done()
	}
	first.on("tools/call", hang)
	first.on("resources/read", hang)
	b := newBridgeRig(t, first)
	b.open()
	b.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`)
	b.want(`"id":1`)
	wait(t, "the stream", func() bool { return first.count("GET") == 1 })
	first.notice <- `{"jsonrpc":"2.0","id":"q7","method":"roots/list"}`
	b.want(`"q7"`)
	b.send(call(2), `{"jsonrpc":"2.0","id":3,"method":"resources/read","params":{"uri":"x:y"}}`)
	<-begun
	<-begun
	b.set(nil, second)
	first.kill()
	got := []string{b.get(), b.get(), b.get(), b.get()}
	slices.Sort(got)
	for i, want := range []string{
		`"id":2,"error":{"code":-32000,"message":"zeroclaw: the connection to the companion was lost`, `"id":3,"result":{"done":"resources/read x:y"}`,
		`"method":"notifications/cancelled","params":{"reason":"the companion was started anew","requestId":"q7"}`, `"method":"notifications/tools/list_changed"}`,
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("got %s, want %s", got[i], want)
		}
	}
	if !strings.Contains(got[0], `"code":"outcome_unknown"`) {
		t.Errorf("the lost call was answered with %s", got[0])
	}
	// What answers a question of the first companion is not for the second.
	b.send(`{"jsonrpc":"2.0","id":"q7","result":{"roots":[]}}`)
	b.send(call(4))
	b.want(`"id":4`, "tools/call write")
	wait(t, "the stream of the second", func() bool { return second.count("GET") == 1 })
	second.notice <- `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`
	b.want("notifications/message")
	if got := second.methods(); !slices.Equal(got[:3], []string{"initialize", "notifications/initialized", "logging/setLevel"}) || second.count("tools/call") != 1 || second.count("response") != 0 {
		t.Errorf("the second companion got %v", got)
	}
	b.leave()
	b.nothing()
	if b.starts != 1 || first.count("tools/call") != 1 {
		t.Errorf("started %d companions, the first got %v", b.starts, first.methods())
	}
}

// TestBridgeSendsAgain what the companion cannot have acted on.
func TestBridgeSendsAgain(t *testing.T) {
	tests := []struct {
		name string
		lose func(b *bridgeRig, first, second *stubCompanion)
	}{
		{"nobody listens", func(b *bridgeRig, first, second *stubCompanion) {
			b.set(nil, second)
			first.kill()
			b.hangUp()
		}},
		{"another token", func(b *bridgeRig, first, second *stubCompanion) {
			first.on("tools/call", func(w http.ResponseWriter, _ *http.Request, _ message) { w.WriteHeader(http.StatusUnauthorized) })
			b.set(second, nil)
		}},
		{"another session", func(b *bridgeRig, first, second *stubCompanion) {
			first.mu.Lock()
			clear(first.sessions)
			first.mu.Unlock()
		}},
		{"it ends", func(b *bridgeRig, first, second *stubCompanion) {
			first.on("tools/call", func(w http.ResponseWriter, _ *http.Request, _ message) {
				w.WriteHeader(http.StatusServiceUnavailable)
				io.WriteString(w, `{"error":{"code":"ending","message":"the companion ends"}}`)
			})
			b.set(second, nil)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first, second := newStubCompanion(t), newStubCompanion(t)
			b := newBridgeRig(t, first)
			b.open()
			wait(t, "the stream", func() bool { return first.count("GET") == 1 })
			tt.lose(b, first, second)
			b.send(call(1))
			for {
				if line := b.get(); !strings.Contains(line, "list_changed") {
					if !strings.Contains(line, `"id":1,"result"`) {
						t.Errorf("got %s", line)
					}
					break
				}
			}
			b.leave()
		})
	}
}

// TestBridgeStaysAway: a companion that a person ended is not started again
// until the client wants something.
func TestBridgeStaysAway(t *testing.T) {
	first, second := newStubCompanion(t), newStubCompanion(t)
	b := newBridgeRig(t, first)
	b.open()
	wait(t, "the stream", func() bool { return first.count("GET") == 1 })
	b.set(nil, second)
	first.kill()
	time.Sleep(streamEvery + 200*time.Millisecond)
	b.mu.Lock()
	starts := b.starts
	b.mu.Unlock()
	if starts != 0 {
		t.Errorf("started %d companions for nobody", starts)
	}
	b.set(second, nil) // a person starts it
	b.want("list_changed")
	wait(t, "the stream of the second", func() bool { return second.count("GET") == 1 })
	b.leave()
}

// TestBridgeTellsNoStranger: another program on the port gets neither token nor
// message.
func TestBridgeTellsNoStranger(t *testing.T) {
	first := newStubCompanion(t)
	b := newBridgeRig(t, first)
	b.open()
	wait(t, "the stream", func() bool { return first.count("GET") == 1 })
	before := len(first.methods())
	b.set(nil, nil)
	first.mu.Lock()
	first.token = "of another program"
	first.mu.Unlock()
	first.http.CloseClientConnections()
	b.hangUp()
	b.send(call(1))
	b.want(`"id":1,"error":{"code":-32000,"message":"zeroclaw: no companion is running"}`) // not: outcome unknown
	if got := first.methods(); len(got) != before {
		t.Errorf("the stranger got %v", got[before:])
	}
	b.leave()
}
