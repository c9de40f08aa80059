package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// serveStub is an MCP server whose tools are read from the file that its
// last argument names, anew each time. A call of the tool "form" asks a form first,
// one of "link" an address; it returns what was answered, any other its
// arguments.
func serveStub() {
	enc := json.NewEncoder(os.Stdout)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	fmt.Fprintln(os.Stderr, "the stub is up")
	asked := map[string]json.RawMessage{} // ids of calls by id of what they asked
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || len(m.ID) == 0 {
			continue
		}
		reply := func(id json.RawMessage, result any) {
			_ = enc.Encode(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
		}
		text := func(s string) any {
			return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}}
		}
		switch m.Method {
		case "":
			reply(asked[string(m.ID)], text(string(m.Result)))
		case "initialize":
			reply(m.ID, map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "stub", "version": "7"}})
		case "tools/list":
			tools, err := os.ReadFile(os.Args[len(os.Args)-1])
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			reply(m.ID, map[string]json.RawMessage{"tools": tools})
		case "tools/call":
			var p struct {
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			}
			_ = json.Unmarshal(m.Params, &p)
			ask := map[string]any{"message": "Who are you?\u202e", "requestedSchema": json.RawMessage(`{"type":"object","properties":{
				"age":{"type":"integer"},"name":{"type":"string","minLength":2},"sure":{"type":"boolean","default":true}},"required":["name"]}`)}
			if p.Name == "link" {
				ask = map[string]any{"mode": "url", "message": "Sign in", "url": "https://example.com/in", "elicitationId": "e1"}
			}
			if p.Name != "form" && p.Name != "link" {
				reply(m.ID, text(string(p.Arguments)))
				continue
			}
			id := fmt.Sprintf(`"ask-%d"`, len(asked))
			asked[id] = m.ID
			_ = enc.Encode(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), "method": "elicitation/create", "params": ask})
		default:
			reply(m.ID, map[string]any{})
		}
	}
}
