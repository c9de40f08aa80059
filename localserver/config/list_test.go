package config

import (
	"strings"
	"testing"
)

func TestGet(t *testing.T) {
	f := open(t, folder(t, "[providers.work]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\napi_key = \"planted\"\n[[mcp.servers]]\nname = \"a\"\nenv = {K = \"planted\"}\n"))
	s := f.Current()
	tests := []struct {
		path string
		want Prop
		err  string
	}{
		{"providers.work.kind", Prop{Value: "openai", Kind: String, Populated: true}, ""},
		{"providers.work.api_key", Prop{Kind: Secret, Populated: true}, ""},
		{"providers.work.model", Prop{Kind: String}, ""},
		{"server.port", Prop{Value: int64(6388), Kind: Integer, Default: true}, ""},
		{"agents.assistant.risk_profile", Prop{Kind: String}, ""},
		{"mcp.servers.a.env.K", Prop{Kind: Secret, Populated: true}, ""},
		{"mcp.servers.a.env", Prop{Kind: Secret, Populated: true}, ""},
		{"mcp.servers.a.headers", Prop{Kind: Secret}, ""},
		{"mcp.servers.b.command", Prop{}, "does not exist"},
		{"providers.none.kind", Prop{}, "does not exist"},
		{"providers.work", Prop{}, "is a section"},
		{"nope", Prop{}, "is no setting"},
	}
	for _, tt := range tests {
		got, err := s.Get(tt.path)
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("Get(%s) = %v, want %q", tt.path, err, tt.err)
			}
			continue
		}
		tt.want.Path = tt.path
		if err != nil || got != tt.want {
			t.Errorf("Get(%s) = %+v, %v, want %+v", tt.path, got, err, tt.want)
		}
	}
}

func TestListCoversFields(t *testing.T) {
	var text strings.Builder
	text.WriteString("[[mcp.servers]]\nname = \"n\"\nenv = {n = \"v\"}\nheaders = {n = \"v\"}\n[secrets.vault]\nn = \"v\"\n[agents.n.tools]\nn = []\n")
	for _, s := range []string{"permissions.tools.n", "mcp_bundles.n", "risk_profiles.n", "runtime_profiles.n", "providers.n"} {
		text.WriteString("[" + s + "]\n")
	}
	props := open(t, folder(t, text.String())).Current().List("")
	listed := map[string]bool{}
	for _, p := range props {
		listed[p.Path] = true
	}
	for _, f := range Fields() {
		if path := strings.ReplaceAll(f.Path, "*", "n"); !listed[path] {
			t.Errorf("%s is not listed", path)
		}
		if f.En == "" || f.Es == "" || f.Applies == "" || f.Kind == Integer && f.Max == 0 {
			t.Errorf("%s lacks help, range or when it applies", f.Path)
		}
		if f.Default != nil {
			if _, wrong := f.convert(f.Default); wrong != "" {
				t.Errorf("the default of %s %s", f.Path, wrong)
			}
		}
	}
	if got := open(t, folder(t, "-")).Current().List("server"); len(got) != 4 {
		t.Errorf("List(server) = %v", got)
	}
}
