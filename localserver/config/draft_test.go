package config

import (
	"slices"
	"testing"
)

// TestDraftKeepsSecretsHome: a definition that is only tried gets the stored
// secrets for the program or origin that they belong to, and for no other.
func TestDraftKeepsSecretsHome(t *testing.T) {
	f := open(t, folder(t, `[[mcp.servers]]
name = "prog"
command = "npx"
args = ["x"]
env = { KEY = "stored" }
[[mcp.servers]]
name = "far"
transport = "http"
url = "https://a.example/mcp"
auth = "secret:v"
headers = { X-Key = "stored" }
[secrets.vault]
v = "stored-too"
`))
	for _, tt := range []struct {
		name    string
		fields  map[string]any
		env     []string
		headers int
	}{
		{"prog", map[string]any{"tool_timeout_secs": int64(5)}, []string{"KEY=stored"}, 0},
		{"prog", map[string]any{"command": "sh"}, nil, 0},
		{"prog", map[string]any{"args": []any{"-c", "echo $KEY"}}, nil, 0},
		{"prog", map[string]any{"command": "sh", "env": map[string]any{"NEW": "given"}}, []string{"NEW=given"}, 0},
		{"far", map[string]any{"url": "https://a.example/other"}, nil, 2},
		{"far", map[string]any{"url": "https://b.example/mcp"}, nil, 0},
		{"far", map[string]any{"url": "http://a.example/mcp"}, nil, 0},
		{"far", map[string]any{"url": "https://b.example/mcp", "headers": map[string]any{"X-Key": "given"}}, nil, 1},
		{"far", map[string]any{"transport": "sse"}, nil, 0},
		{"new", map[string]any{"command": "x", "env": map[string]any{"A": "b"}}, []string{"A=b"}, 0},
	} {
		d, err := f.Draft(tt.name, tt.fields)
		if err != nil || !slices.Equal(d.Env, tt.env) || len(d.Headers) != tt.headers {
			t.Errorf("Draft(%s, %v) has env %q and headers %v, %v", tt.name, tt.fields, d.Env, d.Headers, err)
		}
	}
}
