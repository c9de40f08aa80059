package localserver

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestMCPQuestions: a call's question goes to the page, and to a client that can
// show it; the first answer wins.
func TestMCPQuestions(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), askAgent)
	r.listen()
	call := rpc(3, "tools/call", `{"name":"s__add","arguments":{"a":1},"_meta":{"progressToken":"p"}}`)
	t.Run("page", func(t *testing.T) {
		c := r.mcpClient("/mcp?agent=w", `{}`)
		done := make(chan *mcpReply, 1)
		go func() { done <- c.send(call) }()
		id := r.onlyQuestion()
		if q := r.server.question(id); q.Client != "mcp" || q.ClientName != "t" || q.App != "" || q.Agent != "w" {
			t.Errorf("asked by %q, which calls itself %q, with the token of %q, as %q", q.Client, q.ClientName, q.App, q.Agent)
		}
		do[map[string]any](r, "POST", "/api/approvals/"+id, map[string]any{"decision": "once"})
		p := <-done
		if m := p.next(t); at(m, "method") != "notifications/progress" || at(m, "params", "progressToken") != "p" {
			t.Errorf("the client is first told %v", m)
		}
		if m := p.last(t); at(m, "result", "content", "0", "text") != `{"a":1}` {
			t.Errorf("the call ended %v", m)
		}
	})
	elicited := func(c *mcpClient) (*mcpReply, map[string]any) {
		p := c.send(call)
		for {
			if m := p.next(t); m == nil || m["method"] == "elicitation/create" {
				return p, m
			}
		}
	}
	for _, tt := range []struct{ name, result, want string }{
		{"once", `{"action":"accept","content":{"decision":"once"}}`, `{"a":1}`},
		{"no", `{"action":"accept","content":{"decision":"deny"}}`, "denied by the user"},
		{"more than once", `{"action":"accept","content":{"decision":"always"}}`, "denied by the user"},
		{"nothing chosen", `{"action":"accept"}`, "denied by the user"},
		{"declined", `{"action":"decline"}`, "denied by the user"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := r.mcpClient("/mcp?agent=w", `{"elicitation":{"form":{}}}`)
			p, m := elicited(c)
			if text := fmt.Sprint(at(m, "params", "message")); !strings.Contains(text, "s__add") || !strings.Contains(text, `"a": 1`) {
				t.Errorf("the client is asked %v", m)
			}
			if a := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, m["id"], tt.result)); a.status != http.StatusAccepted {
				t.Errorf("the answer = %d", a.status)
			}
			if m := p.last(t); at(m, "result", "content", "0", "text") != tt.want {
				t.Errorf("the call ended %v", m)
			}
		})
	}
	t.Run("page first", func(t *testing.T) {
		c := r.mcpClient("/mcp?agent=w", `{"elicitation":{}}`)
		p, m := elicited(c)
		do[map[string]any](r, "POST", "/api/approvals/"+r.onlyQuestion(), map[string]any{"decision": "deny"})
		withdrawn := false
		for n := p.next(t); n != nil; n = p.next(t) {
			withdrawn = withdrawn || n["method"] == "notifications/cancelled" && at(n, "params", "requestId") == m["id"]
			if n["id"] == 3.0 && at(n, "result", "isError") != true {
				t.Errorf("the call ended %v", n)
			}
		}
		if !withdrawn {
			t.Error("the question stays open at the client")
		}
	})
	t.Run("dismissed", func(t *testing.T) {
		c := r.mcpClient("/mcp?agent=w", `{"elicitation":{}}`)
		p, m := elicited(c)
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"cancel"}}`, m["id"]))
		do[map[string]any](r, "POST", "/api/approvals/"+r.onlyQuestion(), map[string]any{"decision": "once"})
		if m := p.last(t); at(m, "result", "content", "0", "text") != `{"a":1}` {
			t.Errorf("the call ended %v", m)
		}
	})
	for name, end := range map[string]func(*mcpClient, *mcpReply){
		"gone": func(_ *mcpClient, p *mcpReply) { p.cancel() },
		"cancelled": func(c *mcpClient, _ *mcpReply) {
			c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := r.mcpClient("/mcp?agent=w", `{"elicitation":{}}`)
			p, _ := elicited(c)
			end(c, p)
			eventually(r, func() (int, bool) {
				open := do[struct{ Approvals []any }](r, "GET", "/api/approvals", nil)
				return len(open.Approvals), len(open.Approvals) == 0 && r.server.mcp.Busy() == 0
			})
		})
	}
}

// TestMCPServerAsks: what a server asks for goes to the client of the call.
func TestMCPServerAsks(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add"), Elicit: true}.server(t, "s"), openAgent)
	c := r.mcpClient("/mcp?agent=w", `{"elicitation":{}}`)
	p := c.send(rpc(3, "tools/call", `{"name":"s__add","arguments":{}}`))
	m := p.next(t)
	if m["method"] != "elicitation/create" {
		t.Fatalf("the client is told %v", m)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"name":"Ada"}}}`, m["id"]))
	if m := p.last(t); !strings.Contains(fmt.Sprint(at(m, "result", "content", "0", "text")), "Ada") {
		t.Errorf("the call ended %v", m)
	}
}
