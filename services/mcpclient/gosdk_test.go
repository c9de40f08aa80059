package mcpclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

// buildGoServer builds the server of the Go SDK that the conformance suite is
// tried on. It is a module of its own below testdata.
func buildGoServer(t *testing.T) string {
	t.Helper()
	if os.Getenv(modulesEnv) == "" {
		t.Skip(modulesEnv + " is not set: no servers by others are fetched")
	}
	program := filepath.Join(t.TempDir(), "everything-server")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "build", "-o", program, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	cmd.Dir = filepath.Join("testdata", "gosdk")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the Go SDK's server cannot be built: %v: %s", err, out)
	}
	return program
}

func TestGoSDK(t *testing.T) {
	t.Parallel()
	program := buildGoServer(t)
	for _, tt := range []struct {
		protocol string
		args     []string
		cases    [][3]string // tool, arguments, what the result holds
	}{
		{"2025-11-25", []string{"-stateless=false"}, [][3]string{
			{"test_sampling", `{"prompt":"x"}`, "sampled"},
			{"test_elicitation", `{"message":"x"}`, "accept"},
			{"test_elicitation_sep1034_defaults", `{}`, "John Doe"},
		}},
		{"2026-07-28", nil, [][3]string{
			{"test_input_required_result_elicitation", `{}`, "Ada"},
			{"test_input_required_result_sampling", `{}`, "sampled"},
			{"test_input_required_result_list_roots", `{}`, "file:///tmp"},
			{"test_input_required_result_request_state", `{}`, "text"},
			{"test_input_required_result_multiple_inputs", `{}`, "text"},
			{"test_input_required_result_multi_round", `{}`, "text"},
			{"test_x_mcp_header", `{"region":"eu-1"}`, "text"},
		}},
	} {
		t.Run(tt.protocol, func(t *testing.T) {
			t.Parallel()
			address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
			cmd := exec.Command(program, append(tt.args, "-http", address)...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
			for range 200 {
				if c, err := net.Dial("tcp", address); err == nil {
					c.Close()
					break
				}
				time.Sleep(25 * time.Millisecond)
			}
			v := serve(t, services.Config{
				Roots: func() []services.Root { return []services.Root{{URI: "file:///tmp", Name: "tmp"}} },
				Ask:   acceptAll,
			}, services.Spec{Name: "go", Origin: services.OriginServer, Transport: services.TransportHTTP, URL: "http://" + address})
			if err := v.Start("go"); err != nil {
				t.Fatal(err)
			}
			st := waitState(t, v, "go", services.Running)
			if st.Protocol != tt.protocol || st.Tools < 20 {
				t.Errorf("status = %+v", st)
			}
			before := st.Tools
			for _, c := range append([][3]string{
				{"test_simple_text", `{}`, "text"},
				{"test_image_content", `{}`, `"image"`},
				{"test_audio_content", `{}`, `"audio"`},
				{"test_embedded_resource", `{}`, `"resource"`},
				{"test_error_handling", `{}`, `"isError":true`},
				{"test_tool_with_logging", `{}`, "text"},
				{"test_tool_with_progress", `{}`, "content"},
			}, tt.cases...) {
				reports := 0
				res, err := v.Call(t.Context(), services.ToolCall{Server: "go", Tool: c[0], Args: json.RawMessage(c[1]),
					Progress: func(float64, float64, string) { reports++ }})
				if err != nil || !strings.Contains(string(res.Raw), c[2]) {
					t.Errorf("%s = %.300s, %v, want it to hold %q", c[0], res.Raw, err, c[2])
				}
				if c[0] == "test_tool_with_progress" && reports == 0 {
					t.Errorf("%s reports nothing", c[0])
				}
			}
			// peer bug E6
			if _, err := v.Call(t.Context(), services.ToolCall{Server: "go", Tool: "test_trigger_tool_change"}); err != nil {
				t.Error(err)
			}
			for range 500 {
				if st, _ = v.Status("go"); st.Tools > before {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			if st.Tools != before+1 {
				t.Errorf("%d tools after a change of the list, %d before", st.Tools, before)
			}
			for _, r := range [][3]string{
				{"resources/list", `{}`, `"resources"`}, {"resources/read", `{"uri":"test://static-text"}`, `"contents"`},
				{"prompts/list", `{}`, `"prompts"`}, {"prompts/get", `{"name":"test_simple_prompt"}`, `"messages"`},
			} {
				raw, err := v.Request(t.Context(), "go", r[0], json.RawMessage(r[1]))
				if err != nil || !strings.Contains(string(raw), r[2]) {
					t.Errorf("%s = %.300s, %v", r[0], raw, err)
				}
			}
		})
	}
}

// acceptAll answers every question.
func acceptAll(_ context.Context, q services.Question) (json.RawMessage, error) {
	if q.Method == "sampling/createMessage" {
		return json.RawMessage(`{"role":"assistant","model":"m","content":{"type":"text","text":"sampled"},"stopReason":"endTurn"}`), nil
	}
	var p struct {
		Schema struct {
			Properties map[string]struct{ Type string } `json:"properties"`
			Required   []string                         `json:"required"`
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(q.Params, &p); err != nil {
		return nil, err
	}
	content := map[string]any{}
	for _, name := range p.Schema.Required {
		content[name] = map[string]any{"string": "Ada", "boolean": true, "integer": 1, "number": 1.5}[p.Schema.Properties[name].Type]
	}
	return json.Marshal(map[string]any{"action": "accept", "content": content})
}
