package localserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// mcpClient is a client of /mcp that knows only HTTP and JSON.
type mcpClient struct {
	*rig
	path    string
	session string
	headers []string
}

// mcpReply is the answer to one message: every message that came, the last one
// being the answer.
type mcpReply struct {
	status   int
	kind     string // content type
	messages chan map[string]any
	cancel   context.CancelFunc
	header   http.Header
}

func (c *mcpClient) send(body string) *mcpReply {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 30*time.Second)
	q, err := http.NewRequestWithContext(ctx, "POST", strings.TrimSuffix(c.server.Address(), "/")+c.path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+c.token)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		q.Header.Set("Mcp-Session-Id", c.session)
	}
	for _, h := range c.headers {
		name, value, _ := strings.Cut(h, ": ")
		q.Header.Set(name, value)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		c.t.Fatal(err)
	}
	out := &mcpReply{status: a.StatusCode, kind: a.Header.Get("Content-Type"), messages: make(chan map[string]any, 100), cancel: cancel, header: a.Header}
	go func() {
		defer cancel()
		defer a.Body.Close()
		defer close(out.messages)
		give := func(text []byte) {
			var m map[string]any
			if json.Unmarshal(text, &m) == nil {
				out.messages <- m
			}
		}
		if !strings.HasPrefix(out.kind, "text/event-stream") {
			text, _ := io.ReadAll(a.Body)
			give(text)
			return
		}
		lines := bufio.NewScanner(a.Body)
		lines.Buffer(nil, 32<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				give([]byte(data))
			}
		}
	}()
	return out
}

// next is the next message of a reply, nil at its end.
func (p *mcpReply) next(t *testing.T) map[string]any {
	t.Helper()
	select {
	case m := <-p.messages:
		return m
	case <-time.After(20 * time.Second):
		t.Fatal("no message came")
		return nil
	}
}

// last is the answer.
func (p *mcpReply) last(t *testing.T) map[string]any {
	t.Helper()
	var last map[string]any
	for m := p.next(t); m != nil; m = p.next(t) {
		last = m
	}
	return last
}

// ask sends a request and returns its answer.
func (c *mcpClient) ask(id int, method, params string) map[string]any {
	c.t.Helper()
	return c.send(rpc(id, method, params)).last(c.t)
}

func rpc(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

// begin opens a session.
func (r *rig) mcpClient(path, capabilities string) *mcpClient {
	r.t.Helper()
	c := &mcpClient{rig: r, path: path}
	p := c.send(rpc(1, "initialize", `{"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"clientInfo":{"name":"t","version":"1"}}`))
	m := p.last(r.t)
	if c.session = p.header.Get("Mcp-Session-Id"); c.session == "" {
		r.t.Fatalf("initialize = %d %v", p.status, m)
	}
	if p := c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); p.status != http.StatusAccepted {
		r.t.Fatalf("initialized = %d", p.status)
	}
	return c
}

// at walks into decoded JSON.
func at(v any, path ...string) any {
	for _, p := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			if len(x) == 0 {
				return nil
			}
			v = x[0]
		default:
			return nil
		}
	}
	return v
}

const openAgent = "[mcp_bundles.s]\nservers = [\"s\"]\n[agents.w]\nmcp_bundles = [\"s\"]\nrisk_profile = \"open\"\n[risk_profiles.open]\nauto_approve = [\"*\"]\n"

const askAgent = "[mcp_bundles.s]\nservers = [\"s\"]\n[agents.w]\nmcp_bundles = [\"s\"]\n"
