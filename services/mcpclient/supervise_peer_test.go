package mcpclient

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"
)

// casePeerEnv makes the test binary play a server of the kinds below, which are
// about calls that do not end as they should.
const casePeerEnv = "TEST_MCP_CASE_PEER"

func init() {
	if kind := os.Getenv(casePeerEnv); kind != "" {
		playCasePeer(kind)
		os.Exit(0)
	}
}

func playCasePeer(kind string) {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var r peerRequest
		if json.Unmarshal(line, &r) != nil || len(r.ID) == 0 {
			continue
		}
		switch r.Method {
		case "initialize":
			reply(r.ID, map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]any{"name": kind, "version": "1"}})
		case "tools/list":
			reply(r.ID, map[string]any{"tools": []any{tool("do")}})
		case "tools/call":
			switch kind {
			case "trickle":
				go trickle(r.ID)
			case "notify":
				go notify(r)
			}
		case "ping":
			reply(r.ID, map[string]any{})
		default:
			refuse(r.ID, -32601, "unknown method")
		}
	}
}

// trickle answers a byte a second, on a line that nothing else can use.
func trickle(id json.RawMessage) {
	outMu.Lock()
	defer outMu.Unlock()
	for _, b := range fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id) {
		os.Stdout.Write([]byte{b})
		time.Sleep(time.Second)
	}
}

// notify sends progress and log notifications, 10,000 of each a second, for two
// seconds, and then answers.
func notify(r peerRequest) {
	token, err := json.Marshal(r.Params.Meta["progressToken"])
	if err != nil {
		panic(err)
	}
	for i := range 20 {
		next := time.Now().Add(100 * time.Millisecond)
		var b strings.Builder
		for j := range 1000 {
			n := i*1000 + j + 1
			fmt.Fprintf(&b, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":"m"}}`+"\n", token, n)
			fmt.Fprintf(&b, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`+"\n", n)
		}
		outMu.Lock()
		os.Stdout.WriteString(b.String())
		outMu.Unlock()
		time.Sleep(time.Until(next))
	}
	reply(r.ID, text("done"))
}
