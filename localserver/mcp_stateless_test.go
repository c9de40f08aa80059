package localserver

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// modern sends what revision 2026-07-28 wants.
func (r *rig) modern(method, name, params, capabilities string) *mcpReply {
	r.t.Helper()
	c := &mcpClient{rig: r, path: "/mcp?agent=w", headers: []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}}
	if name != "" {
		c.headers = append(c.headers, "Mcp-Name: "+name)
	}
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
	if params != "" {
		meta += ","
	}
	return c.send(rpc(7, method, "{"+meta+params+"}"))
}

func TestMCPStateless(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), openAgent)
	if m := r.modern("server/discover", "", "", `{}`).last(t); at(m, "result", "resultType") != "complete" || at(m, "result", "supportedVersions", "0") != "2026-07-28" {
		t.Errorf("discover = %v", m)
	}
	if m := r.modern("tools/list", "", "", `{}`).last(t); at(m, "result", "cacheScope") != "private" || !strings.Contains(fmt.Sprint(m), "s__add") {
		t.Errorf("list = %v", m)
	}
	if m := r.modern("tools/call", "s__add", `"name":"s__add","arguments":{"a":2}`, `{}`).last(t); at(m, "result", "resultType") != "complete" || at(m, "result", "content", "0", "text") != `{"a":2}` {
		t.Errorf("call = %v", m)
	}
	for _, tt := range []struct {
		name, method, header, params string
		status                       int
		code                         float64
	}{
		{"no such method", "ping", "", "", 404, -32601},
		{"another name", "tools/call", "other", `"name":"s__add"`, 400, -32020},
	} {
		p := r.modern(tt.method, tt.header, tt.params, `{}`)
		if m := p.last(t); p.status != tt.status || at(m, "error", "code") != tt.code {
			t.Errorf("%s = %d %v", tt.name, p.status, m)
		}
	}
	c := &mcpClient{rig: r, path: "/mcp", headers: []string{"MCP-Protocol-Version: 2027-01-01", "Mcp-Method: tools/list"}}
	m := c.ask(1, "tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`)
	if at(m, "error", "code") != -32022.0 || at(m, "error", "data", "supported", "0") != "2026-07-28" {
		t.Errorf("a later revision = %v", m)
	}
}

// TestMCPStatelessQuestion: without a session the client comes back with the
// answer, and the call goes on where it waited.
func TestMCPStatelessQuestion(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), askAgent)
	call := `"name":"s__add","arguments":{"a":3}`
	m := r.modern("tools/call", "s__add", call, `{"elicitation":{}}`).last(t)
	if at(m, "result", "resultType") != "input_required" {
		t.Fatalf("the call ended %v", m)
	}
	state, _ := at(m, "result", "requestState").(string)
	var key string
	requests, _ := at(m, "result", "inputRequests").(map[string]any)
	for k, v := range requests {
		if key = k; at(v, "method") != "elicitation/create" {
			t.Errorf("the client is asked %v", v)
		}
	}
	back := fmt.Sprintf(`%s,"requestState":%q,"inputResponses":{%q:{"action":"accept","content":{"decision":"once"}}}`, call, state, key)
	if m := r.modern("tools/call", "s__add", strings.Replace(back, "s__add", "read_file", 1), `{"elicitation":{}}`).last(t); at(m, "error", "code") == nil {
		t.Errorf("the state of another tool = %v", m)
	}
	if m := r.modern("tools/call", "s__add", back, `{"elicitation":{}}`).last(t); at(m, "result", "content", "0", "text") != `{"a":3}` {
		t.Errorf("the call ended %v", m)
	}
	if m := r.modern("tools/call", "s__add", back, `{"elicitation":{}}`).last(t); at(m, "error", "code") != -32602.0 {
		t.Errorf("the state again = %v", m)
	}
	if n := r.server.mcp.Busy(); n != 0 {
		t.Errorf("%d calls are left", n)
	}
}

// TestMCPStatelessAtOnce: requests that are asked alike share one session, also
// the first ones.
func TestMCPStatelessAtOnce(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), openAgent)
	before := len(r.server.sessions.List())
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() { r.modern("tools/list", "", "", `{}`).last(t) })
	}
	all.Wait()
	if n := len(r.server.sessions.List()) - before; n != 1 {
		t.Errorf("%d sessions are open", n)
	}
}

// TestMCPRevoked: nothing that a token began outlives it, not even a question
// that waits for its client to come back.
func TestMCPRevoked(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), askAgent)
	made := do[struct{ ID, Token string }](r, "POST", "/api/tokens", map[string]any{"name": "editor", "agent": "w"})
	own := r.token
	r.token = made.Token
	if m := r.modern("tools/call", "s__add", `"name":"s__add","arguments":{}`, `{"elicitation":{}}`).last(t); at(m, "result", "resultType") != "input_required" {
		t.Fatalf("the call ended %v", m)
	}
	c := r.mcpClient("/mcp", `{"elicitation":{}}`)
	p := c.send(rpc(3, "tools/call", `{"name":"s__add","arguments":{}}`))
	p.next(t)
	sessions := len(r.server.sessions.List())
	r.token = own
	do[any](r, "DELETE", "/api/tokens/"+made.ID, nil)
	for p.next(t) != nil { // its stream ends
	}
	eventually(r, func() (int, bool) {
		open := do[struct{ Approvals []any }](r, "GET", "/api/approvals", nil)
		return len(open.Approvals), len(open.Approvals) == 0 && r.server.mcp.Busy() == 0 && len(r.server.sessions.List()) == sessions-2
	})
	if got := do[struct {
		Entries []struct{ App, Client string }
	}](r, "GET", "/api/audit", nil); len(got.Entries) != 2 || got.Entries[0].App != "editor" || got.Entries[0].Client != "mcp" {
		t.Errorf("the audit says %+v", got.Entries)
	}
}

// TestMCPRevokedMidCall: a client whose token ends learns of it, whichever
// revision it speaks: an answer without a body tells it nothing.
func TestMCPRevokedMidCall(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	r := configured(t, stub{Tools: stubTools("add"), Silent: true, Journal: journal}.server(t, "s"), openAgent)
	own := r.token
	for i, call := range []func() *mcpReply{
		func() *mcpReply {
			return r.mcpClient("/mcp", `{}`).send(rpc(3, "tools/call", `{"name":"s__add","arguments":{}}`))
		},
		func() *mcpReply {
			return r.modern("tools/call", "s__add", `"name":"s__add","arguments":{}`, `{}`)
		},
	} {
		made := do[struct{ ID, Token string }](r, "POST", "/api/tokens", map[string]any{"name": "editor", "agent": "w"})
		revoked := make(chan struct{})
		go func() {
			defer close(revoked)
			for text, _ := os.ReadFile(journal); strings.Count(string(text), "call") <= i; text, _ = os.ReadFile(journal) {
				time.Sleep(5 * time.Millisecond)
			}
			q, _ := http.NewRequest("DELETE", strings.TrimSuffix(r.server.Address(), "/")+"/api/tokens/"+made.ID, nil)
			q.Header.Set("Authorization", "Bearer "+own)
			if a, err := http.DefaultClient.Do(q); err == nil {
				a.Body.Close()
			}
		}()
		r.token = made.Token
		p := call()
		if m := p.last(t); p.status != http.StatusForbidden || !strings.Contains(fmt.Sprint(at(m, "error", "message")), "revoked") {
			t.Errorf("the call ended with %d %v", p.status, m)
		}
		<-revoked
		r.token = own
	}
}

// TestMCPEndMidCall: when the companion ends, a call that is under way has no
// answer, rather than one without a body, which a client would take for one.
func TestMCPEndMidCall(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	r := configured(t, stub{Tools: stubTools("add"), Silent: true, Journal: journal}.server(t, "s"), openAgent)
	c := r.mcpClient("/mcp?agent=w", `{}`)
	ended := make(chan error, 1)
	go func() {
		for text, _ := os.ReadFile(journal); !strings.Contains(string(text), "call"); text, _ = os.ReadFile(journal) {
			time.Sleep(5 * time.Millisecond)
		}
		ended <- r.end()
	}()
	q, _ := http.NewRequest("POST", strings.TrimSuffix(r.server.Address(), "/")+c.path, strings.NewReader(rpc(3, "tools/call", `{"name":"s__add","arguments":{}}`)))
	for name, value := range map[string]string{"Authorization": "Bearer " + r.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Session-Id": c.session} {
		q.Header.Set(name, value)
	}
	if a, err := http.DefaultClient.Do(q); err == nil {
		text, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err == nil && len(text) == 0 {
			t.Errorf("the call was answered with %s and nothing else", a.Status)
		}
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
