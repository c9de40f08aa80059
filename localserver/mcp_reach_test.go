package localserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"zeroclaw/permissions/approval"
)

// TestMCPStatelessReach: without a session each request reaches what the agent
// reaches then, and a name that is no plain ASCII is found.
func TestMCPStatelessReach(t *testing.T) {
	tool := stubTool{"añadir", "adds", json.RawMessage(`{"type":"object"}`)}
	server := stub{Tools: append(stubTools("add"), tool)}.server(t, "s")
	r := configured(t, server, openAgent)
	list := func() string { return fmt.Sprint(r.modern("tools/list", "", "", `{}`).last(t)) }
	if now := list(); !strings.Contains(now, "s__add") {
		t.Fatalf("the list = %v", now)
	}
	for _, header := range []string{"=?base64?c19fYcOxYWRpcg==?=", "=?base64?c19fYWRk?="} {
		m := r.modern("tools/call", header, `"name":"s__añadir","arguments":{}`, `{}`).last(t)
		if differs := at(m, "error", "code") == -32020.0; differs != strings.Contains(header, "YWRk?=") {
			t.Errorf("with Mcp-Name %s: %v", header, m)
		}
	}
	for _, tt := range []struct {
		config string
		want   bool
	}{{strings.Replace(server+openAgent, `mcp_bundles = ["s"]`, "mcp_bundles = []", 1), false}, {server + openAgent, true}} {
		r.edited(tt.config)
		eventually(r, func() (string, bool) {
			now := list()
			return now, strings.Contains(now, "s__add") == tt.want && strings.Contains(now, "read_file")
		})
	}
}

// TestMCPItems: what an agent does not reach of a server's resources and prompts
// is not there for a client either; as tools of the companion they answer as
// tools do.
// TestMCPQuery: what was meant to narrow and cannot be read never opens
// everything instead.
func TestMCPQuery(t *testing.T) {
	r := configured(t, stub{Tools: stubTools("add")}.server(t, "s"), openAgent)
	for _, query := range []string{"allowed_tools=s__add;", "allowed_tools=s__add%ZZ", "agent=w;x", "allowed-tools=s__add", "allowedTools=", "agent=w&agent=assistant"} {
		c := &mcpClient{rig: r, path: "/mcp?" + query}
		p := c.send(rpc(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`))
		if m := p.last(t); p.status != http.StatusBadRequest || p.header.Get("Mcp-Session-Id") != "" {
			t.Errorf("?%s = %d %v", query, p.status, m)
		}
	}
	c := r.mcpClient("/mcp?agent=w&allowed_tools=s__add%2Cother", `{}`)
	if list, _ := at(c.ask(2, "tools/list", `{}`), "result", "tools").([]any); len(list) != 1 {
		t.Errorf("the tools are %v", list)
	}
}

func TestMCPItems(t *testing.T) {
	servers := stub{Tools: stubTools("a"), Resources: map[string]string{"demo://one": "first", "demo://secret": "hidden"}, Prompts: true}.server(t, "rich")
	bundle := "[mcp_bundles.s]\nservers = [\"rich\"]\n[agents.w]\nmcp_bundles = [\"s\"]\nrisk_profile = \"p\"\n[risk_profiles.p]\nauto_approve = [\"*\"]\n"
	t.Run("off", func(t *testing.T) {
		r := configured(t, servers, bundle+`excluded_tools = ["mcp_resources", "rich__greet"]`)
		c := r.mcpClient("/mcp/rich?agent=w", `{}`)
		if caps := fmt.Sprint(at(c.ask(1, "initialize", `{"protocolVersion":"2025-11-25"}`), "result", "capabilities")); strings.Contains(caps, "resources") || !strings.Contains(caps, "prompts") {
			t.Errorf("the client is told of %s", caps)
		}
		for method, params := range map[string]string{
			"resources/list": `{}`, "resources/templates/list": `{}`, "resources/subscribe": `{"uri":"demo://one"}`,
			"completion/complete": `{"ref":{"type":"ref/resource","uri":"demo://one"},"argument":{"name":"a","value":""}}`,
		} {
			if m := c.ask(2, method, params); at(m, "error", "code") != -32601.0 {
				t.Errorf("%s = %v", method, m)
			}
		}
		if m := c.ask(3, "resources/read", `{"uri":"demo://one"}`); at(m, "error") == nil {
			t.Errorf("a resource is read: %v", m)
		}
		if m := c.ask(4, "prompts/list", `{}`); fmt.Sprint(at(m, "result", "prompts")) != "[]" {
			t.Errorf("the list of prompts = %v", m)
		}
		if m := c.ask(5, "completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"a","value":""}}`); at(m, "error", "code") != -32602.0 {
			t.Errorf("a completion of a prompt that is not there = %v", m)
		}
	})
	t.Run("as tools", func(t *testing.T) {
		r := configured(t, servers, bundle+`excluded_tools = ["rich__demo://secret"]`)
		c := r.mcpClient("/mcp?agent=w", `{}`)
		for name, args := range map[string]string{
			"mcp_resources": `{"action":"read","uri":"rich__demo://one"}`,
			"mcp_prompts":   `{"action":"get","name":"rich__greet"}`,
		} {
			m := c.ask(2, "tools/call", `{"name":"`+name+`","arguments":`+args+`}`)
			if text, _ := at(m, "result", "content", "0", "text").(string); !strings.Contains(text, "first") && !strings.Contains(text, "Say hello.") {
				t.Errorf("%s = %v", name, m)
			}
		}
		c = r.mcpClient("/mcp/rich?agent=w", `{}`)
		if m := c.ask(3, "resources/read", `{"uri":"demo://one"}`); at(m, "result", "contents", "0", "text") != "first" {
			t.Errorf("read = %v", m)
		}
		if m := c.ask(4, "resources/read", `{"uri":"demo://secret"}`); at(m, "error") == nil {
			t.Errorf("what is excluded = %v", m)
		}
		if m := c.ask(5, "resources/list", `{}`); strings.Contains(fmt.Sprint(m), "secret") {
			t.Errorf("the list = %v", m)
		}
	})
}

// TestInWords: a question that a text cannot show as it is stays with the page,
// and no text tells what a file holds.
func TestInWords(t *testing.T) {
	r := configured(t)
	r.server.secrets.Add("p/a\"ss-word")
	q := approval.Question{Kind: approval.KindCall, Tool: "edit_file", Reason: "It changes a file.", Arguments: json.RawMessage(`{"path":"a","token":"p\/a\u0022ss-word"}`), Diff: "-what was there\n"}
	text := r.server.inWords(q)
	if !strings.Contains(text, `"path": "a"`) || strings.Contains(text, "what was there") || strings.Contains(text, "ss-word") {
		t.Errorf("the text is %q", text)
	}
	for name, change := range map[string]func(*approval.Question){
		"a long one":         func(q *approval.Question) { q.Arguments = json.RawMessage(`"` + strings.Repeat("x", maxWords) + `"`) },
		"a hidden character": func(q *approval.Question) { q.Command = &approval.Command{Text: "rm \u202ea", Cwd: "/"} },
		"padding": func(q *approval.Question) {
			q.Command = &approval.Command{Text: "true" + strings.Repeat(" ", 300) + "; rm a"}
		},
		"many lines of space": func(q *approval.Question) {
			q.Command = &approval.Command{Text: "true" + strings.Repeat("\n", 300) + "rm a"}
		},
		"a long definition": func(q *approval.Question) { q.Definition = strings.Repeat("+ x\n", maxWords) },
	} {
		one := q
		change(&one)
		if text := r.server.inWords(one); text != "" {
			t.Errorf("%s is put as %q", name, text)
		}
	}
}

// TestMCPBadToken: whatever is wrong with the token, the answer is 401.
func TestMCPBadToken(t *testing.T) {
	r := configured(t)
	for _, header := range []string{"", "Bearer ", "Bearer x", "Basic " + r.token, "bearer\t" + r.token + "x", r.token} {
		q, err := http.NewRequestWithContext(t.Context(), "POST", r.server.Address()+"mcp", strings.NewReader(rpc(1, "ping", `{}`)))
		if err != nil {
			t.Fatal(err)
		}
		if header != "" {
			q.Header.Set("Authorization", header)
		}
		q.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		a.Body.Close()
		if a.StatusCode != http.StatusUnauthorized {
			t.Errorf("Authorization %q = %d", header, a.StatusCode)
		}
	}
}
