package localserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/permissions/approval"
	"zeroclaw/services"
	"zeroclaw/tools"
)

// npmServer is the program of a reference server from npm, or the test is
// skipped.
func npmServer(t *testing.T, name string) string {
	t.Helper()
	modules := os.Getenv("ZEROCLAW_NODE_MODULES")
	if modules == "" {
		t.Skip("ZEROCLAW_NODE_MODULES names no node_modules folder with the reference servers in it")
	}
	script := filepath.Join(modules, "@modelcontextprotocol", name, "dist", "index.js")
	if _, err := os.Stat(script); err != nil {
		t.Skipf("the reference server is not installed: %v", err)
	}
	return script
}

// agentOf is a configuration in which one agent, that is asked nothing, reaches
// one server.
func agentOf(server, definition string) string {
	return fmt.Sprintf("[[mcp.servers]]\nname = %q\n%s\n[mcp_bundles.only]\nservers = [%q]\n[risk_profiles.p]\nauto_approve = [\"*\"]\n[agents.w]\nmcp_bundles = [\"only\"]\nrisk_profile = \"p\"\nmedia = [%q]\n", server, definition, server, server)
}

// listening starts server-everything in one of its modes over HTTP.
func listening(t *testing.T, script, mode string) (port int) {
	t.Helper()
	ln, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port = ln.Addr().(*net.TCPAddr).Port
	ln.Close()
	cmd := exec.Command("node", script, mode)
	cmd.Env = append(os.Environ(), "PORT="+strconv.Itoa(port))
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			c.Close()
			return port
		}
		if time.Now().After(end) {
			t.Fatalf("server-everything %s does not listen: %s", mode, said.String())
		}
	}
}

// TestServerEverything calls every tool of the reference server, over each of
// its transports, through an agent of its own.
func TestServerEverything(t *testing.T) {
	script := npmServer(t, "server-everything")
	for _, tt := range []struct {
		name, protocol string
		define         func(t *testing.T) string
	}{
		{"stdio", "2025-11-25", func(*testing.T) string { return fmt.Sprintf("command = \"node\"\nargs = [%q]", script) }},
		{"http", "2025-11-25", func(t *testing.T) string {
			return fmt.Sprintf("transport = \"http\"\nurl = \"http://127.0.0.1:%d/mcp\"", listening(t, script, "streamableHttp"))
		}},
		{"sse", "", func(t *testing.T) string {
			return fmt.Sprintf("transport = \"sse\"\nurl = \"http://127.0.0.1:%d/sse\"", listening(t, script, "sse"))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := configured(t, agentOf("everything", tt.define(t)))
			r.listen()
			s := r.as("w")
			names, _ := r.turn(s.ID, "hi")
			if n := len(remote(names)); n < 13 {
				t.Fatalf("a model sees %d tools: %v", n, names)
			}
			if st := r.configured("everything", services.Running); tt.protocol != "" && st.Protocol != tt.protocol || st.ServerName == "" {
				t.Errorf("the server is %+v", st)
			}
			everyTool(t, r, s.ID)
			everyItem(t, r, s.ID)
		})
	}
}

// everyTool calls the tools and answers what they ask.
func everyTool(t *testing.T, r *rig, id string) {
	answers := func(call string, content any) {
		q := r.question(call)
		body := map[string]any{"decision": "accept"}
		if content != nil {
			body["content"] = content
		}
		r.answer(q, body)
	}
	for _, tt := range []struct {
		tool, args, want string
		asks             bool
		content          any
	}{
		{"echo", `{"message":"hello"}`, "Echo: hello", false, nil},
		{"get-sum", `{"a":2,"b":40}`, "42", false, nil},
		{"get-annotated-message", `{"messageType":"error","includeImage":true}`, "Error", false, nil},
		{"get-env", `{}`, "PATH", false, nil},
		{"get-resource-links", `{"count":2}`, "link to resource", false, nil},
		{"get-resource-reference", `{"resourceType":"Blob","resourceId":2}`, "[Document: ", false, nil},
		{"get-roots-list", `{}`, filepath.Base(r.root), false, nil},
		{"get-structured-content", `{"location":"Chicago"}`, "temperature", false, nil},
		{"get-tiny-image", `{}`, "image/png", false, nil},
		{"gzip-file-as-resource", `{"name":"x.gz","outputType":"resource","data":"data:text/plain;base64,aGVsbG8="}`, "[Document: x.gz] ", false, nil},
		{"toggle-simulated-logging", `{}`, "", false, nil},
		{"toggle-simulated-logging", `{}`, "", false, nil},
		{"toggle-subscriber-updates", `{}`, "", false, nil},
		{"toggle-subscriber-updates", `{}`, "", false, nil},
		{"trigger-long-running-operation", `{"duration":1,"steps":4}`, "completed", false, nil},
		{"trigger-elicitation-request", `{}`, "Ana", true, map[string]any{"name": "Ana", "check": true}},
		{"trigger-sampling-request", `{"prompt":"greet","maxTokens":50}`, "hola", true, map[string]any{"role": "assistant", "model": "m", "content": map[string]any{"type": "text", "text": "hola"}}},
		{"trigger-url-elicitation", `{"url":"https://example.com/go"}`, "accept", true, nil},
	} {
		call := r.call(id, "everything__"+tt.tool, json.RawMessage(tt.args))
		if tt.asks {
			answers(call, tt.content)
		}
		if o := r.outcome(id, call); o.Status != tools.OK || o.IsError || !strings.Contains(o.ModelText, tt.want) {
			t.Errorf("%s %s ended %s %s: %.600s, want it to hold %q", tt.tool, tt.args, o.Status, o.Reason, o.ModelText, tt.want)
		}
	}
	// One that needs more of the protocol than there is says so.
	if o := r.run(id, "everything__simulate-research-query", json.RawMessage(`{"topic":"x"}`)); !o.IsError {
		t.Logf("simulate-research-query ended %.300s", o.ModelText)
	}
	files, err := filepath.Glob(filepath.Join(r.home, ".zeroclaw", "sessions", "*", "uploads", "*"))
	if err != nil || !slices.ContainsFunc(files, func(f string) bool { return strings.HasSuffix(f, ".gz") }) {
		t.Errorf("the attachment is not in uploads: %v %v", files, err)
	}
}

// everyItem reads resources and prompts, pages and templates as there are.
func everyItem(t *testing.T, r *rig, id string) {
	for _, tt := range []struct{ tool, args, want string }{
		{"mcp_resources", `{"action":"list","server":"everything"}`, "everything__demo://resource/static/document/features.md"},
		{"mcp_resources", `{"action":"read","uri":"everything__demo://resource/static/document/features.md"}`, "trust=\"untrusted-external\""},
		{"mcp_prompts", `{"action":"list"}`, "everything__"},
		{"mcp_prompts", `{"action":"get","name":"everything__simple-prompt"}`, "prompt"},
	} {
		if o := r.run(id, tt.tool, json.RawMessage(tt.args)); o.Status != tools.OK || o.IsError || !strings.Contains(o.ModelText, tt.want) {
			t.Errorf("%s %s ended %s %s: %.600s, want it to hold %q", tt.tool, tt.args, o.Status, o.Reason, o.ModelText, tt.want)
		}
	}
}

// TestReferenceServers has each of the other reference servers do its job, each
// through an agent of its own.
func TestReferenceServers(t *testing.T) {
	t.Run("filesystem", func(t *testing.T) {
		script := npmServer(t, "server-filesystem")
		r := configured(t, agentOf("filesystem", fmt.Sprintf("command = \"node\"\nargs = [%q, \".\"]", script)))
		s := r.as("w")
		for _, tt := range []struct{ tool, args, want string }{
			{"list_allowed_directories", `{}`, r.root},
			{"read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(r.root, "README.md")), "second line"},
			{"write_file", fmt.Sprintf(`{"path":%q,"content":"new"}`, filepath.Join(r.root, "new.txt")), "new.txt"},
			{"read_text_file", `{"path":"/etc/passwd"}`, "denied"},
		} {
			if o := r.run(s.ID, "filesystem__"+tt.tool, json.RawMessage(tt.args)); !strings.Contains(o.ModelText, tt.want) {
				t.Errorf("%s ended %s %s: %.400s, want it to hold %q", tt.tool, o.Status, o.Reason, o.ModelText, tt.want)
			}
		}
		if text, err := os.ReadFile(filepath.Join(r.root, "new.txt")); err != nil || string(text) != "new" {
			t.Errorf("the file holds %q, %v", text, err)
		}
	})
	t.Run("memory", func(t *testing.T) {
		script := npmServer(t, "server-memory")
		file := filepath.Join(t.TempDir(), "memory.jsonl")
		r := configured(t, agentOf("memory", fmt.Sprintf("command = \"node\"\nargs = [%q]\nenv = { MEMORY_FILE_PATH = %q }", script, file)))
		s := r.as("w")
		r.run(s.ID, "memory__create_entities", json.RawMessage(`{"entities":[{"name":"Ana","entityType":"person","observations":["likes tea"]}]}`))
		if o := r.run(s.ID, "memory__read_graph", json.RawMessage(`{}`)); o.Status != tools.OK || !strings.Contains(o.ModelText, "likes tea") {
			t.Errorf("read_graph ended %s: %.400s", o.Status, o.ModelText)
		}
	})
	t.Run("sequential-thinking", func(t *testing.T) {
		script := npmServer(t, "server-sequential-thinking")
		r := configured(t, agentOf("thinking", fmt.Sprintf("command = \"node\"\nargs = [%q]", script)))
		s := r.as("w")
		if o := r.run(s.ID, "thinking__sequentialthinking", json.RawMessage(`{"thought":"one","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`)); o.Status != tools.OK || o.IsError {
			t.Errorf("the thought ended %s %s: %.400s", o.Status, o.Reason, o.ModelText)
		}
	})
}

// TestURLElicitationByError: a server may refuse a call until a page was
// opened; it is asked once more when the person has done so.
func TestURLElicitationByError(t *testing.T) {
	script := npmServer(t, "server-everything")
	r := configured(t, agentOf("everything", fmt.Sprintf("command = \"node\"\nargs = [%q]", script)))
	r.listen()
	s := r.as("w")
	call := r.call(s.ID, "everything__trigger-url-elicitation", json.RawMessage(`{"url":"https://example.com/go","errorPath":true}`))
	q := r.question(call)
	if q.Kind != approval.KindElicitation || !strings.Contains(string(q.Arguments), `"mode":"url"`) {
		t.Errorf("the question is %+v", q)
	}
	r.answer(q, map[string]any{"decision": "decline"})
	if o := r.outcome(s.ID, call); !o.IsError || !strings.Contains(o.Reason, "browser-based authorization") {
		t.Errorf("without the page the call ended %+v", o)
	}
	call = r.call(s.ID, "everything__trigger-url-elicitation", json.RawMessage(`{"url":"https://example.com/go","errorPath":true}`))
	r.answer(r.question(call), map[string]any{"decision": "accept"})
	if o := r.outcome(s.ID, call); o.Status != tools.OK || o.IsError {
		t.Errorf("with the page the call ended %+v", o)
	}
}

// TestBareJSONRPC: a peer that takes JSON-RPC by POST and knows no handshake.
func TestBareJSONRPC(t *testing.T) {
	var methods []string
	var mu sync.Mutex
	peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.NewDecoder(r.Body).Decode(&m) != nil || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		mu.Lock()
		methods = append(methods, m.Method)
		mu.Unlock()
		var result any
		switch m.Method {
		case "tools/list":
			result = map[string]any{"tools": stubTools("say")}
		case "tools/call":
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "said " + string(m.Params.Arguments)}}}
		default:
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result})
	}))
	defer peer.Close()
	r := configured(t, agentOf("bare", fmt.Sprintf("transport = \"jsonrpc\"\nurl = %q", peer.URL)))
	s := r.as("w")
	if o := r.run(s.ID, "bare__say", map[string]any{"x": 1}); o.Status != tools.OK || !strings.Contains(o.ModelText, `said {"x":1}`) {
		t.Errorf("the call ended %+v", o)
	}
	mu.Lock()
	defer mu.Unlock()
	if slices.Contains(methods, "initialize") {
		t.Errorf("a peer without a handshake was asked %v", methods)
	}
}
