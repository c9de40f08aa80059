package mcpclient

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// peerEnv makes the test binary play a server of the given kind.
const peerEnv = "TEST_MCP_PEER"

func TestMain(m *testing.M) {
	if kind := os.Getenv(peerEnv); kind != "" {
		playPeer(kind)
		os.Exit(0)
	}
	// These tests wait for processes much more than they compute.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

var outMu sync.Mutex

func send(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	outMu.Lock()
	defer outMu.Unlock()
	os.Stdout.Write(append(b, '\n'))
}

func reply(id json.RawMessage, result any) {
	send(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
}

func refuse(id json.RawMessage, code int, message string) {
	send(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message, "data": map[string]any{"supported": []string{"2026-07-28"}}}})
}

type peerRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		ProtocolVersion string          `json:"protocolVersion"`
		Cursor          string          `json:"cursor"`
		Name            string          `json:"name"`
		Arguments       json.RawMessage `json:"arguments"`
		RequestID       json.RawMessage `json:"requestId"`
		Meta            map[string]any  `json:"_meta"`
		RequestState    string          `json:"requestState"`
		InputResponses  map[string]any  `json:"inputResponses"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func tool(name string) map[string]any {
	return map[string]any{"name": name, "description": "does " + name, "inputSchema": map[string]any{"type": "object"}}
}

func text(s string) map[string]any {
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": s}}}
}

// playPeer is a server that follows the protocol apart from what its kind says.
func playPeer(kind string) {
	switch kind {
	case "exit3":
		fmt.Fprintln(os.Stderr, "fatal: no \x1b[31mdatabase\x1b[0m found")
		os.Exit(3)
	case "urandom":
		io.CopyN(os.Stdout, rand.Reader, 64<<10)
		time.Sleep(time.Hour)
	case "hang", "silent":
		time.Sleep(time.Hour)
	case "banner":
		fmt.Println("Server started on stdio!")
		fmt.Println("[1, 2")
		fmt.Println(`{"level":"info","msg":"structured log"}`)
	case "nonewline":
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range 500 {
			os.Stdout.Write(chunk)
		}
		time.Sleep(time.Hour)
	case "term":
		signal.Ignore(syscall.SIGTERM)
	case "fork":
		cmd := exec.Command("sleep", "9999")
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	case "setsid":
		if err := exec.Command("setsid", "sleep", "9999").Start(); err != nil {
			panic(err)
		}
	case "noread":
	case "stderr":
		go func() {
			line := bytes.Repeat([]byte("noise "), 200)
			for {
				os.Stderr.Write(append(line, '\n'))
			}
		}()
	case "sensitive":
		fmt.Fprintln(os.Stderr, "key is s3cret-value \u202e\x07")
	case "slowstart":
		time.Sleep(2500 * time.Millisecond)
	}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	asked := map[string]chan peerRequest{}
	var askedMu sync.Mutex
	cancelled := map[string]chan struct{}{}
	tools := []any{tool("echo"), tool("args"), tool("env"), tool("crash"), tool("big"), tool("wait"), tool("roots"), tool("sample"), tool("strange"), tool("chatty"), tool("more"), tool("mrtr"), tool("badjson"), tool("pid"), tool("spin"), tool("cwd")}
	modern := strings.HasPrefix(kind, "modern")
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if kind == "term" || kind == "eof" {
				time.Sleep(time.Hour)
			}
			return
		}
		var r peerRequest
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		if r.Method == "" {
			askedMu.Lock()
			if c := asked[string(r.ID)]; c != nil {
				c <- r
			}
			askedMu.Unlock()
			continue
		}
		switch r.Method {
		case "server/discover":
			switch {
			case kind == "ignoring":
			case modern:
				if kind == "modern-picky" && asked["picky"] == nil {
					asked["picky"] = make(chan peerRequest)
					refuse(r.ID, -32022, "unsupported protocol version")
					continue
				}
				reply(r.ID, map[string]any{"supportedVersions": []string{"2026-07-28"}, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
					"resultType": "complete", "_meta": map[string]any{"io.modelcontextprotocol/serverInfo": map[string]any{"name": "modern", "version": "9"}}})
			default:
				refuse(r.ID, -32601, "unknown method")
			}
		case "initialize":
			if modern {
				refuse(r.ID, -32601, "unknown method")
				continue
			}
			version := "2025-11-25"
			if kind == "old" {
				version = "2024-11-05"
			}
			if kind == "future" {
				version = "2031-01-01"
			}
			reply(r.ID, map[string]any{"protocolVersion": version, "capabilities": map[string]any{"tools": map[string]any{"listChanged": true}},
				"serverInfo": map[string]any{"name": "peer\u202e", "version": "1"}})
		case "subscriptions/listen":
			askedMu.Lock()
			asked["listening"] = make(chan peerRequest, 1)
			askedMu.Unlock()
		case "ping":
			reply(r.ID, map[string]any{})
		case "notifications/cancelled":
			if c := cancelled[string(r.Params.RequestID)]; c != nil {
				close(c)
				delete(cancelled, string(r.Params.RequestID))
			}
		case "tools/list":
			if modern && r.Params.Meta["io.modelcontextprotocol/protocolVersion"] != "2026-07-28" {
				refuse(r.ID, -32602, "no protocol version in _meta")
				continue
			}
			switch kind {
			case "tools10000":
				list := []any{}
				for i := range 10000 {
					list = append(list, tool("tool_"+strconv.Itoa(i)))
				}
				reply(r.ID, map[string]any{"tools": list})
			case "twice":
				reply(r.ID, map[string]any{"tools": []any{tool("a"), tool("b"), tool("a")}})
			case "pages":
				n, _ := strconv.Atoi(r.Params.Cursor)
				m := map[string]any{"tools": []any{tool("p" + strconv.Itoa(n))}}
				if n < 4 {
					m["nextCursor"] = strconv.Itoa(n + 1)
				}
				reply(r.ID, m)
			case "cursorloop":
				reply(r.ID, map[string]any{"tools": []any{tool("l" + r.Params.Cursor)}, "nextCursor": "same"})
			case "endless":
				n, _ := strconv.Atoi(r.Params.Cursor)
				reply(r.ID, map[string]any{"tools": []any{tool("e" + strconv.Itoa(n))}, "nextCursor": strconv.Itoa(n + 1)})
			case "deepschema":
				outMu.Lock()
				fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"a","inputSchema":{"x":%s}}]}}`+"\n", r.ID, nest(10_001))
				outMu.Unlock()
			case "oddtools":
				outMu.Lock()
				fmt.Fprintf(os.Stdout, `{"result":{"tools":[{"name":"ok","inputSchema":{"$schema":"x", "type":"object","allOf":[{"if":{}}],"n":1e400}},{"name":7},42,{"description":"no name"},{"name":"forty","inputSchema":42},{"name":"__proto__","inputSchema":null},{"name":"a/b"},{"name":"a b"}]},"jsonrpc":"2.0","id":%s}`+"\n", r.ID)
				outMu.Unlock()
			default:
				reply(r.ID, map[string]any{"tools": tools})
			}
			if kind == "noread" {
				time.Sleep(time.Hour)
			}
		case "tools/call":
			stop := make(chan struct{})
			cancelled[string(r.ID)] = stop
			ask := func(id, method string, then func(peerRequest)) {
				c := make(chan peerRequest, 1)
				askedMu.Lock()
				asked[`"`+id+`"`] = c
				askedMu.Unlock()
				send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": map[string]any{"question": 1}})
				go func() { then(<-c) }()
			}
			switch r.Params.Name {
			case "echo":
				reply(r.ID, text(string(r.Params.Arguments)))
			case "args":
				reply(r.ID, text(strings.Join(os.Args[1:], "|")))
			case "env":
				reply(r.ID, text(strings.Join(os.Environ(), "\n")))
			case "cwd":
				d, _ := os.Getwd()
				reply(r.ID, text(d))
			case "pid":
				reply(r.ID, text(strconv.Itoa(os.Getpid())))
			case "crash":
				fmt.Fprint(os.Stderr, "panic: out of luck")
				os.Exit(7)
			case "big":
				var a struct{ Bytes int }
				json.Unmarshal(r.Params.Arguments, &a)
				outMu.Lock()
				w := bufio.NewWriter(os.Stdout)
				if kind == "idfirst" {
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", r.ID, strings.Repeat("z", a.Bytes))
				} else {
					fmt.Fprintf(w, `{"result":{"content":[{"type":"text","text":"%s"}]},"jsonrpc":"2.0","id":%s}`+"\n", strings.Repeat("z", a.Bytes), r.ID)
				}
				w.Flush()
				outMu.Unlock()
			case "wait":
				go func() {
					select {
					case <-stop:
						fmt.Fprintln(os.Stderr, "CANCELLED "+string(r.ID))
					case <-time.After(time.Hour):
					}
				}()
			case "spin":
				a := struct{ MS int }{50}
				json.Unmarshal(r.Params.Arguments, &a)
				go func() {
					token := r.Params.Meta["progressToken"]
					for i := range 12 {
						time.Sleep(time.Duration(a.MS) * time.Millisecond)
						send(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"progressToken": token, "progress": i + 1, "total": 12, "message": "m"}})
					}
					reply(r.ID, text("spun"))
				}()
			case "roots":
				ask("q1", "roots/list", func(a peerRequest) { reply(r.ID, text(string(a.Result))) })
			case "sample":
				ask("q2", "sampling/createMessage", func(a peerRequest) { reply(r.ID, text(string(a.Result)+string(a.Error))) })
			case "strange":
				send(map[string]any{"jsonrpc": "2.0", "id": 99999, "result": text("wrong id")})
				send(map[string]any{"jsonrpc": "2.0", "id": "x", "result": text("wrong id")})
				outMu.Lock()
				fmt.Fprintf(os.Stdout, `[{"jsonrpc":"2.0","id":77777,"result":{}},{"jsonrpc":"2.0","id":%s,"result":{"content":[], "n":1.0e2}}]`+"\n", r.ID)
				outMu.Unlock()
				reply(r.ID, text("second answer"))
			case "chatty":
				for i := range 20000 {
					send(map[string]any{"jsonrpc": "2.0", "method": "notifications/message", "params": map[string]any{"level": "info", "data": i}})
				}
				reply(r.ID, text("quiet"))
			case "more":
				tools = append(tools, tool("new"))
				reply(r.ID, text("ok"))
				send(map[string]any{"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
			case "mrtr":
				if r.Params.RequestState == "" {
					reply(r.ID, map[string]any{"resultType": "input_required", "requestState": "st", "inputRequests": map[string]any{"i1": map[string]any{"method": "roots/list"}}})
					continue
				}
				b, _ := json.Marshal(r.Params.InputResponses)
				reply(r.ID, text(string(b)))
			case "deep":
				outMu.Lock()
				fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", r.ID, nest(10_001))
				outMu.Unlock()
			case "unended":
				outMu.Lock()
				for _, err := os.Stdout.WriteString("no"); err == nil; {
					_, err = os.Stdout.Write(bytes.Repeat([]byte("x"), 1<<20))
				}
			case "badjson":
				outMu.Lock()
				fmt.Fprintf(os.Stdout, `{"jsonrpc":"2.0","id":%s,"result":{"content":[}`+"\n", r.ID)
				outMu.Unlock()
			}
		}
	}
}
