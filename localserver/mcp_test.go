package localserver

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestMCPSession(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), openAgent)
	c := r.mcpClient("/mcp?agent=w", `{}`)
	list := c.ask(2, "tools/list", `{}`)
	var names []string
	all, _ := at(list, "result", "tools").([]any)
	for _, tool := range all {
		names = append(names, fmt.Sprint(at(tool, "name")))
		if at(tool, "inputSchema", "type") != "object" {
			t.Errorf("the schema of %v is %v", at(tool, "name"), at(tool, "inputSchema"))
		}
	}
	if !slices.Contains(names, "s__add") || !slices.Contains(names, "read_file") {
		t.Errorf("the tools are %v", names)
	}
	got := c.ask(3, "tools/call", `{"name":"s__add","arguments":{"a":1}}`)
	if at(got, "result", "content", "0", "text") != `{"a":1}` || got["id"] != 3.0 {
		t.Errorf("the call ended %v", got)
	}
	for _, tt := range []struct{ name, method, params, want string }{
		{"unknown tool", "tools/call", `{"name":"nobody__knows"}`, "-32602"},
		{"no tool", "tools/call", `{}`, "-32602"},
		{"unknown method", "tools/dance", `{}`, "-32601"},
		{"cursor", "tools/list", `{"cursor":"x"}`, "-32602"},
		{"ping", "ping", `{}`, ""},
	} {
		m := c.ask(4, tt.method, tt.params)
		code := ""
		if e := at(m, "error", "code"); e != nil {
			code = fmt.Sprint(e)
		}
		if code != tt.want {
			t.Errorf("%s = %v", tt.name, m)
		}
	}
	narrow := r.mcpClient("/mcp?agent=w&allowed_tools=read_file", `{}`)
	if list := narrow.ask(2, "tools/list", `{}`); at(list, "result", "tools", "0", "name") != "read_file" || len(at(list, "result", "tools").([]any)) != 1 {
		t.Errorf("narrowed: %v", list)
	}
	if got := narrow.ask(3, "tools/call", `{"name":"s__add"}`); at(got, "error", "code") != -32602.0 {
		t.Errorf("a tool that was not allowed ended %v", got)
	}
	// The end of the session.
	q, _ := http.NewRequest("DELETE", strings.TrimSuffix(r.server.Address(), "/")+"/mcp", nil)
	q.Header.Set("Authorization", "Bearer "+r.token)
	q.Header.Set("Mcp-Session-Id", c.session)
	if a, err := http.DefaultClient.Do(q); err != nil || a.StatusCode != http.StatusNoContent {
		t.Errorf("DELETE = %v, %v", a, err)
	}
	if p := c.send(rpc(5, "ping", `{}`)); p.status != http.StatusNotFound {
		t.Errorf("afterwards = %d", p.status)
	}
}

// TestMCPMessages: what is no proper message gets a precise error.
func TestMCPMessages(t *testing.T) {
	r := newRig(t)
	c := r.mcpClient("/mcp", `{}`)
	big := strings.Repeat("x", 1000)
	for _, tt := range []struct {
		name, body string
		headers    []string
		session    string
		status     int
		code       float64
	}{
		{"no JSON", `{`, nil, c.session, 400, -32700},
		{"empty", ``, nil, c.session, 400, -32700},
		{"batch", `[` + rpc(1, "ping", `{}`) + `]`, nil, c.session, 400, -32600},
		{"text", `"x"`, nil, c.session, 400, -32600},
		{"version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, c.session, 400, -32600},
		{"id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, c.session, 400, -32600},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, c.session, 400, -32600},
		{"method", `{"jsonrpc":"2.0","id":1,"method":7}`, nil, c.session, 400, -32600},
		{"params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}`, nil, c.session, 400, -32602},
		{"twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, nil, c.session, 400, -32600},
		{"twice inside", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"a","path":"b"}}}`, nil, c.session, 400, -32600},
		{"deep", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}}`, nil, c.session, 400, -32600},
		{"no session", rpc(1, "ping", `{}`), nil, "", 400, -32600},
		{"unknown session", rpc(1, "ping", `{}`), nil, "x" + big, 404, -32600},
		{"protocol", rpc(1, "ping", `{}`), []string{"MCP-Protocol-Version: 1999-01-01"}, c.session, 400, -32600},
		{"agent", rpc(1, "initialize", `{"protocolVersion":"2025-11-25"}`), nil, "agent", 400, -32602},
		{"modern without meta", rpc(1, "tools/list", `{}`), []string{"MCP-Protocol-Version: 2026-07-28"}, "", 400, -32602},
	} {
		one := &mcpClient{rig: r, path: "/mcp", session: tt.session, headers: tt.headers}
		if tt.session == "agent" {
			one.session, one.path = "", "/mcp?agent=nobody"
		}
		p := one.send(tt.body)
		if m := p.last(t); p.status != tt.status || at(m, "error", "code") != tt.code {
			t.Errorf("%s = %d %v", tt.name, p.status, m)
		}
	}
	if p := c.send(`{"jsonrpc":"2.0","id":"nobody asked","result":{}}`); p.status != http.StatusAccepted {
		t.Errorf("a response to nothing = %d", p.status)
	}
}

// TestMCPOtherTokens: a session belongs to the token that opened it, and a named
// token to its agent.
func TestMCPOtherTokens(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), openAgent)
	c := r.mcpClient("/mcp?agent=w", `{}`)
	other := do[struct{ Token string }](r, "POST", "/api/tokens", map[string]any{"name": "n", "agent": "w"}).Token
	own := r.token
	r.token = other
	if p := c.send(rpc(1, "ping", `{}`)); p.status != http.StatusNotFound {
		t.Errorf("the session of another token = %d", p.status)
	}
	named := r.mcpClient("/mcp", `{}`)
	if got := named.ask(3, "tools/call", `{"name":"s__add","arguments":{}}`); at(got, "result", "content", "0", "text") != `{}` {
		t.Errorf("a named token's call ended %v", got)
	}
	one := &mcpClient{rig: r, path: "/mcp?agent=assistant"}
	if p := one.send(rpc(1, "initialize", `{"protocolVersion":"2025-11-25"}`)); p.status != http.StatusForbidden {
		t.Errorf("another agent = %d", p.status)
	}
	r.token = "wrong"
	if p := one.send(rpc(1, "ping", `{}`)); p.status != http.StatusUnauthorized || !strings.HasPrefix(p.header.Get("WWW-Authenticate"), "Bearer") {
		t.Errorf("a wrong token = %d", p.status)
	}
	r.token = own
}

func TestMCPAtOnce(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), openAgent)
	c := r.mcpClient("/mcp?agent=w", `{}`)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			p := c.send(rpc(100+i, "tools/call", fmt.Sprintf(`{"name":"s__add","arguments":{"i":%d}}`, i)))
			if m := p.last(t); at(m, "result", "content", "0", "text") != fmt.Sprintf(`{"i":%d}`, i) || m["id"] != float64(100+i) {
				t.Errorf("call %d ended %v", i, m)
			}
		})
	}
	all.Wait()
	if n := r.server.mcp.Busy(); n != 0 {
		t.Errorf("%d calls are left", n)
	}
}

// TestMCPTwice: a request whose id is that of one under way does nothing.
func TestMCPTwice(t *testing.T) {
	journal := filepath.Join(t.TempDir(), "journal")
	r := configured(t, stub{Tools: stubTools("add"), Elicit: true, Journal: journal}.server(t, "s"), openAgent)
	c := r.mcpClient("/mcp?agent=w", `{"elicitation":{}}`)
	call := rpc(3, "tools/call", `{"name":"s__add","arguments":{}}`)
	first := c.send(call)
	asked := first.next(t)
	if p := c.send(call); p.status != http.StatusBadRequest || at(p.last(t), "error", "code") != -32600.0 {
		t.Errorf("the second = %d", p.status)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"action":"decline"}}`, asked["id"]))
	first.last(t)
	text, err := os.ReadFile(journal)
	if err != nil || strings.Count(string(text), "add") != 1 {
		t.Errorf("the server was told %q, %v", text, err)
	}
}

// TestMCPListChanged: a client that listens hears of a change.
func TestMCPListChanged(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), openAgent)
	c := r.mcpClient("/mcp?agent=w", `{}`)
	q, _ := http.NewRequestWithContext(t.Context(), "GET", strings.TrimSuffix(r.server.Address(), "/")+"/mcp", nil)
	q.Header.Set("Authorization", "Bearer "+r.token)
	q.Header.Set("Mcp-Session-Id", c.session)
	q.Header.Set("Accept", "text/event-stream")
	a, err := http.DefaultClient.Do(q)
	if err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("GET = %v, %v", a, err)
	}
	defer a.Body.Close()
	r.server.mcp.ToolsChanged()
	lines := bufio.NewScanner(a.Body)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "notifications/tools/list_changed") {
			return
		}
	}
	t.Errorf("the stream ended: %v", lines.Err())
}

// TestMCPOneServer: a server is passed through under its own names, with what it
// offers besides tools.
func TestMCPOneServer(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add"), Resources: map[string]string{"x://a": "text of a"}, Prompts: true, Instruction: "be brief"}.server(t, "s"),
		stub{Tools: stubTools("other")}.server(t, "o"), openAgent)
	c := r.mcpClient("/mcp/s?agent=w", `{}`)
	if list := c.ask(2, "tools/list", `{}`); at(list, "result", "tools", "0", "name") != "add" || len(at(list, "result", "tools").([]any)) != 1 {
		t.Errorf("the tools are %v", list)
	}
	if got := c.ask(3, "tools/call", `{"name":"add","arguments":{"a":1}}`); at(got, "result", "content", "0", "text") != `{"a":1}` {
		t.Errorf("the call ended %v", got)
	}
	for _, tt := range []struct{ method, params, want string }{
		{"tools/call", `{"name":"s__add"}`, "-32602"},
		{"tools/call", `{"name":"read_file","arguments":{"path":"README.md"}}`, "-32602"},
		{"resources/list", `{}`, "x://a"},
		{"resources/read", `{"uri":"x://a"}`, "text of a"},
		{"resources/read", `{"uri":"x://nowhere"}`, "error"},
		{"resources/read", `{}`, "-32602"},
		{"prompts/list", `{}`, "name"},
		{"completion/complete", `{"ref":{"type":"ref/prompt","name":"x"},"argument":{"name":"a","value":"b"}}`, "error"},
		{"roots/list", `{}`, "-32601"},
	} {
		if got := fmt.Sprint(c.ask(4, tt.method, tt.params)); !strings.Contains(got, tt.want) {
			t.Errorf("%s %s = %s", tt.method, tt.params, got)
		}
	}
	for path, status := range map[string]int{"/mcp/o?agent=w": 404, "/mcp/nobody?agent=w": 404} {
		one := &mcpClient{rig: r, path: path}
		if p := one.send(rpc(1, "initialize", `{"protocolVersion":"2025-11-25"}`)); p.status != status {
			t.Errorf("%s = %d %v", path, p.status, p.last(t))
		}
	}
	// A session of one endpoint is none of the other.
	other := &mcpClient{rig: r, path: "/mcp?agent=w", session: c.session}
	if p := other.send(rpc(1, "ping", `{}`)); p.status != http.StatusNotFound {
		t.Errorf("the session elsewhere = %d", p.status)
	}
}
