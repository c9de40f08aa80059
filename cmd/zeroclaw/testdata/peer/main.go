// Command peer is a small MCP server over standard input and output, for
// measuring: peer -tools N offers N tools, and "big" that answers with as many
// bytes as it is told.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

func main() {
	count := flag.Int("tools", 1, "how many tools there are besides big")
	delay := flag.Duration("delay", 0, "how long the answer to initialize takes")
	flag.Parse()
	tools := []map[string]any{{"name": "big", "description": "answers with bytes", "inputSchema": map[string]any{"type": "object", "properties": map[string]any{"bytes": map[string]any{"type": "integer"}}}}}
	for i := range *count {
		tools = append(tools, map[string]any{
			"name": fmt.Sprintf("tool_%04d", i), "description": "Does one thing of many, number " + fmt.Sprint(i) + ", with what it is given.",
			"inputSchema": map[string]any{"type": "object", "properties": map[string]any{"message": map[string]any{"type": "string", "description": "what to say"}, "count": map[string]any{"type": "integer", "minimum": 0}}, "required": []string{"message"}},
		})
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Name      string `json:"name"`
				Arguments struct {
					Bytes   int    `json:"bytes"`
					Message string `json:"message"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 {
			continue
		}
		var result any
		switch m.Method {
		case "initialize":
			time.Sleep(*delay)
			result = map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": "peer", "version": "1"}}
		case "tools/list":
			result = map[string]any{"tools": tools}
		case "tools/call":
			text := m.Params.Arguments.Message
			if m.Params.Name == "big" {
				text = strings.Repeat("0123456789abcde\n", m.Params.Arguments.Bytes/16)
			}
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}
		case "ping":
			result = map[string]any{}
		}
		reply := map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": result}
		if result == nil {
			delete(reply, "result")
			reply["error"] = map[string]any{"code": -32601, "message": "no such method"}
		}
		text, err := json.Marshal(reply)
		if err != nil {
			return
		}
		out.Write(append(text, '\n'))
		out.Flush()
	}
}
