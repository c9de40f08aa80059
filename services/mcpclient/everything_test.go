package mcpclient

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

// modulesEnv names a node_modules folder that holds
// @modelcontextprotocol/server-everything.
const modulesEnv = "ZEROCLAW_NODE_MODULES"

func TestServerEverything(t *testing.T) {
	modules := os.Getenv(modulesEnv)
	if modules == "" {
		t.Skip(modulesEnv + " names no node_modules folder with the reference server in it")
	}
	script := filepath.Join(modules, "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(script); err != nil {
		t.Skipf("the reference server is not installed: %v", err)
	}
	v := serve(t, services.Config{Roots: func() []services.Root { return []services.Root{{URI: "file:///tmp", Name: "tmp"}} }},
		services.Spec{Name: "everything", Origin: services.OriginServer, Command: "node", Args: []string{script}, Dir: t.TempDir()})
	if err := v.Start("everything"); err != nil {
		t.Fatal(err)
	}
	st := waitState(t, v, "everything", services.Running)
	if st.Tools < 10 || st.Protocol != "2025-11-25" {
		t.Errorf("status = %+v", st)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"echo", `{"message":"hello"}`, "Echo: hello"},
		{"get-sum", `{"a":2,"b":3}`, "5"},
		{"get-tiny-image", `{}`, `"type":"image"`},
		{"trigger-long-running-operation", `{"duration":1,"steps":4}`, "completed"},
		{"get-roots-list", `{}`, "file:///tmp"},
	} {
		reports := 0
		res, err := v.Call(t.Context(), services.ToolCall{Server: "everything", Tool: tt.tool, Args: json.RawMessage(tt.args), Progress: func(float64, float64, string) { reports++ }})
		if err != nil || !strings.Contains(string(res.Raw), tt.want) {
			t.Errorf("%s = %.300s, %v, want it to hold %q", tt.tool, res.Raw, err, tt.want)
		}
		if tt.tool == "trigger-long-running-operation" && reports < 2 {
			t.Errorf("%d reports of progress", reports)
		}
	}
	began := time.Now()
	if err := v.Stop(t.Context(), "everything"); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > slowdown*3*time.Second {
		t.Errorf("Stop took %s", took)
	}
	gone(t, st.Pid)
}
