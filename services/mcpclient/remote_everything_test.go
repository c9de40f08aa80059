package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

// freePort is a port that nothing listens on.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// startEverything runs the reference server over HTTP and returns a function
// that ends it.
func startEverything(t *testing.T, mode string, port int) func() {
	t.Helper()
	modules := os.Getenv(modulesEnv)
	if modules == "" {
		t.Skip(modulesEnv + " names no node_modules folder with the reference server in it")
	}
	script := filepath.Join(modules, "@modelcontextprotocol", "server-everything", "dist", "index.js")
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, "node", script, mode)
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	if err := cmd.Start(); err != nil {
		t.Skipf("the reference server does not start: %v", err)
	}
	end := func() { stop(); _ = cmd.Wait() }
	t.Cleanup(end)
	client := &http.Client{Timeout: time.Second}
	defer client.CloseIdleConnections()
	for range 300 {
		if resp, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/", port)); err == nil {
			resp.Body.Close()
			return end
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the reference server does not listen")
	return nil
}

func TestServerEverythingOverHTTP(t *testing.T) {
	for _, tt := range []struct{ mode, transport, path string }{
		{"streamableHttp", services.TransportHTTP, "/mcp"},
		{"sse", services.TransportSSE, "/sse"},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			port := freePort(t)
			startEverything(t, tt.mode, port)
			asked := make(chan string, 10)
			v := serve(t, services.Config{
				Roots: func() []services.Root { return []services.Root{{URI: "file:///tmp", Name: "tmp"}} },
				Ask: func(_ context.Context, q services.Question) (json.RawMessage, error) {
					asked <- q.Method + " of " + q.Owner
					if q.Method == "elicitation/create" {
						return json.RawMessage(`{"action":"accept","content":{"name":"Ada"}}`), nil
					}
					return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"sampled"}}`), nil
				},
			}, services.Spec{Name: "everything", Origin: services.OriginServer, Transport: tt.transport,
				URL: fmt.Sprintf("http://127.0.0.1:%d%s", port, tt.path)})
			if err := v.Start("everything"); err != nil {
				t.Fatal(err)
			}
			st := waitState(t, v, "everything", services.Running)
			if st.Tools < 10 || st.Protocol != "2025-11-25" || st.ServerName == "" {
				t.Errorf("status = %+v", st)
			}
			for _, c := range []struct{ tool, args, want, question string }{
				{"echo", `{"message":"hello"}`, "Echo: hello", ""},
				{"get-tiny-image", `{}`, `"type":"image"`, ""},
				{"trigger-long-running-operation", `{"duration":1,"steps":4}`, "completed", ""},
				{"get-roots-list", `{}`, "file:///tmp", ""},
				{"trigger-sampling-request", `{"prompt":"x","maxTokens":10}`, "sampled", "sampling/createMessage of me"},
				{"trigger-elicitation-request", `{}`, "Ada", "elicitation/create of me"},
			} {
				reports := 0
				res, err := v.Call(t.Context(), services.ToolCall{Server: "everything", Tool: c.tool, Args: json.RawMessage(c.args), Owner: "me",
					Progress: func(float64, float64, string) { reports++ }})
				if err != nil || !strings.Contains(string(res.Raw), c.want) {
					t.Errorf("%s = %.300s, %v, want it to hold %q", c.tool, res.Raw, err, c.want)
				}
				if c.tool == "trigger-long-running-operation" && reports < 2 {
					t.Errorf("%d reports of progress", reports)
				}
				if c.question != "" {
					select {
					case got := <-asked:
						if got != c.question {
							t.Errorf("%s asked %q, want %q", c.tool, got, c.question)
						}
					default:
						t.Errorf("%s asked nothing", c.tool)
					}
				}
			}
			raw, err := v.Request(t.Context(), "everything", "resources/list", nil)
			if err != nil || !strings.Contains(string(raw), `"resources"`) {
				t.Errorf("resources/list = %.200s, %v", raw, err)
			}
			raw, err = v.Request(t.Context(), "everything", "prompts/list", nil)
			if err != nil || !strings.Contains(string(raw), `"prompts"`) {
				t.Errorf("prompts/list = %.200s, %v", raw, err)
			}
		})
	}
}

// peer bug E1
func TestServerEverythingStartedAnew(t *testing.T) {
	t.Parallel()
	port := freePort(t)
	end := startEverything(t, "streamableHttp", port)
	v := serve(t, services.Config{}, services.Spec{Name: "everything", Origin: services.OriginServer, Transport: services.TransportHTTP,
		URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port)})
	if err := v.Start("everything"); err != nil {
		t.Fatal(err)
	}
	waitState(t, v, "everything", services.Running)
	echo := services.ToolCall{Server: "everything", Tool: "echo", Args: json.RawMessage(`{"message":"hello"}`)}
	if _, err := v.Call(t.Context(), echo); err != nil {
		t.Fatal(err)
	}
	end()
	if _, err := v.Call(t.Context(), echo); err == nil {
		t.Errorf("a call while it is away: %v", err)
	}
	startEverything(t, "streamableHttp", port)
	if _, err := v.Call(t.Context(), echo); err != nil {
		t.Errorf("the first call after it is back: %v", err)
	}
}
