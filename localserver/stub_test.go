package localserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stub is an MCP server that the test binary plays as a process of its own, as
// told in the environment variable STUB, or in the file @NAME that it names.
type stub struct {
	Tools       []stubTool        `json:"tools,omitempty"`
	Resources   map[string]string `json:"resources,omitempty"` // text by URI; nil: none are offered
	Prompts     bool              `json:"prompts,omitempty"`
	Delay       int               `json:"delay,omitempty"`   // ms before the answer to initialize
	Journal     string            `json:"journal,omitempty"` // file that gets one line a call, and one a start
	Instruction string            `json:"instruction,omitempty"`
	Elicit      bool              `json:"elicit,omitempty"` // every call asks a form first
	Sample      bool              `json:"sample,omitempty"` // every call asks the model first
	Result      json.RawMessage   `json:"result,omitempty"` // of every call; else its arguments as text
	Live        string            `json:"live,omitempty"`   // file with the tools that a listing gives, once it exists
	Silent      bool              `json:"silent,omitempty"` // no call is answered
}

type stubTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

func stubTools(names ...string) []stubTool {
	var out []stubTool
	for _, n := range names {
		out = append(out, stubTool{n, "does " + n, json.RawMessage(`{"type":"object"}`)})
	}
	return out
}

// executable is the test binary.
func executable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// server is the stub as an entry of config.toml.
func (s stub) server(t *testing.T, name string, more ...string) string {
	t.Helper()
	told, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "stub.json")
	if err := os.WriteFile(file, told, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("[[mcp.servers]]\nname = %q\ncommand = %q\nargs = [\"stub-mcp\"]\n%s\n[mcp.servers.env]\nSTUB = %q\n", name, executable(t), strings.Join(more, "\n"), "@"+file)
}

func serveStub(in io.Reader, out io.Writer) {
	var s stub
	told := []byte(os.Getenv("STUB"))
	if file, ok := strings.CutPrefix(string(told), "@"); ok {
		told, _ = os.ReadFile(file)
	}
	if err := json.Unmarshal(told, &s); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.note("start")
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 32<<20)
	enc := json.NewEncoder(out)
	next := func() (m map[string]json.RawMessage, ok bool) {
		if !lines.Scan() {
			return nil, false
		}
		return m, json.Unmarshal(lines.Bytes(), &m) == nil
	}
	for {
		m, ok := next()
		if !ok {
			return
		}
		var method string
		_ = json.Unmarshal(m["method"], &method)
		if s.Silent && method == "tools/call" {
			s.note("call")
			continue
		}
		if len(m["id"]) == 0 || method == "" {
			continue
		}
		reply := map[string]any{"jsonrpc": "2.0", "id": m["id"]}
		if result := s.answer(method, m["params"], func(method string, params any) json.RawMessage {
			_ = enc.Encode(map[string]any{"jsonrpc": "2.0", "id": "ask-1", "method": method, "params": params})
			for {
				if got, ok := next(); !ok || string(got["id"]) == `"ask-1"` {
					return got["result"]
				}
			}
		}); result != nil {
			reply["result"] = result
		} else {
			reply["error"] = map[string]any{"code": -32601, "message": "no " + method}
		}
		_ = enc.Encode(reply)
	}
}

func (s stub) answer(method string, params json.RawMessage, ask func(string, any) json.RawMessage) any {
	switch method {
	case "initialize":
		time.Sleep(time.Duration(s.Delay) * time.Millisecond)
		c := map[string]any{"tools": map[string]any{}}
		if s.Resources != nil {
			c["resources"] = map[string]any{}
		}
		if s.Prompts {
			c["prompts"] = map[string]any{}
		}
		return map[string]any{"protocolVersion": "2025-06-18", "capabilities": c, "serverInfo": map[string]any{"name": "stub", "version": "1"}, "instructions": s.Instruction}
	case "ping":
		return map[string]any{}
	case "tools/list":
		if text, err := os.ReadFile(s.Live); err == nil {
			_ = json.Unmarshal(text, &s.Tools)
		}
		return map[string]any{"tools": append([]stubTool{}, s.Tools...)}
	case "tools/call":
		var p struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		}
		_ = json.Unmarshal(params, &p)
		s.note("call " + p.Name)
		text := string(p.Arguments)
		if s.Elicit {
			text = string(ask("elicitation/create", map[string]any{"message": "Who are you?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{"name": map[string]any{"type": "string"}}}}))
		}
		if s.Sample {
			text = string(ask("sampling/createMessage", map[string]any{"maxTokens": 100, "messages": []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "hi"}}}}))
		}
		if s.Result != nil {
			return s.Result
		}
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
	case "resources/list":
		var list []any
		for uri := range s.Resources {
			list = append(list, map[string]any{"uri": uri, "name": uri})
		}
		return map[string]any{"resources": list}
	case "resources/read":
		var p struct {
			URI string `json:"uri"`
		}
		_ = json.Unmarshal(params, &p)
		if text, ok := s.Resources[p.URI]; ok {
			return map[string]any{"contents": []any{map[string]any{"uri": p.URI, "mimeType": "text/plain", "text": text}}}
		}
	case "prompts/list":
		return map[string]any{"prompts": []any{map[string]any{"name": "greet", "description": "says hello"}}}
	case "prompts/get":
		return map[string]any{"messages": []any{map[string]any{"role": "user", "content": map[string]any{"type": "text", "text": "Say hello."}}}}
	}
	return nil
}

func (s stub) note(line string) {
	if s.Journal == "" {
		return
	}
	f, err := os.OpenFile(s.Journal, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintln(f, line)
}
