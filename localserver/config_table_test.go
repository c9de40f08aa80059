package localserver

import (
	"net/http"
	"strings"
	"testing"
)

// TestTableOfSettings: one PUT sets several settings of an entry, all or none
// of them, and makes the entry when it is new.
func TestTableOfSettings(t *testing.T) {
	r := newRig(t)
	const path = "/api/config/prop?path=mcp.servers.files"
	list := func() (version, text string) {
		_, text = r.request("GET", "/api/config/list?prefix=mcp.servers", nil)
		now := do[struct {
			Version string `json:"version"`
		}](r, "GET", "/api/config/list?prefix=mcp.servers", nil)
		return now.Version, text
	}
	if status, body := r.request("PUT", path, map[string]any{"value": map[string]any{"command": "node", "env": map[string]any{"KEY": "planted"}}}); status != http.StatusNoContent {
		t.Fatalf("a new server = %d %s", status, body)
	}
	old, text := list()
	if !strings.Contains(text, `"value":"node"`) || !strings.Contains(text, `env.KEY`) || strings.Contains(text, "planted") {
		t.Errorf("listed is %s", text)
	}
	if status, body := r.request("PUT", path, map[string]any{"value": map[string]any{"command": "npx", "tool_timeout_secs": 9999}, "version": old}); status != http.StatusBadRequest || !strings.Contains(body, `"field":"mcp.servers.files.tool_timeout_secs"`) {
		t.Errorf("a table with a bad value = %d %s", status, body)
	}
	if now, _ := list(); now != old {
		t.Error("a refused table changed the file")
	}
	if status, body := r.request("PUT", path, map[string]any{"value": map[string]any{"command": nil, "args": []string{"x"}}, "version": old}); status != http.StatusNoContent {
		t.Errorf("a table with null = %d %s", status, body)
	}
	if status, body := r.request("PUT", path, map[string]any{"value": map[string]any{"args": []string{"y"}}, "version": old}); status != http.StatusConflict || !strings.Contains(body, "config_changed_externally") {
		t.Errorf("an old version = %d %s", status, body)
	}
	if _, text := list(); strings.Contains(text, `"value":"node"`) || !strings.Contains(text, `"value":["x"]`) {
		t.Errorf("listed is %s", text)
	}
}
