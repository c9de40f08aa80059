package config

import (
	"errors"
	"testing"
)

func TestRename(t *testing.T) {
	tests := []struct {
		name, file, path, to, want string
	}{
		{"a server and what names it",
			"# mine\n[[mcp.servers]]\nname = 'fs' # the files\ncommand = \"x\"\n[mcp_bundles.a]\nservers = [\"git\", \"fs\"]\nexclude = [ \"fs\" ]\n[agents.w]\nmedia = [\"fs\"]\ntools = { fs = [\"read\"], git = [] }\n",
			"mcp.servers.fs", "files",
			"# mine\n[[mcp.servers]]\nname = 'files' # the files\ncommand = \"x\"\n[mcp_bundles.a]\nservers = [\"git\", \"files\"]\nexclude = [ \"files\" ]\n[agents.w]\nmedia = [\"files\"]\ntools = { git = [], files = [\"read\"] }\n"},
		{"a server with access by header",
			"[[mcp.servers]]\nname = \"fs\"\n[agents.w.tools] # ticks\nfs = [\"read\"]\n", "mcp.servers.fs", "a.b",
			"[[mcp.servers]]\nname = \"a.b\"\n[agents.w.tools] # ticks\n\"a.b\" = [\"read\"]\n"},
		{"an agent with a table below",
			"[agents.w] # x\nmedia = []\n[ agents . \"w\" . tools ]\nfs = [\"read\"]\n[agents.v]\n", "agents.w", "writer",
			"[agents.writer] # x\nmedia = []\n[ agents . writer . tools ]\nfs = [\"read\"]\n[agents.v]\n"},
		{"a bundle by dotted keys",
			"mcp_bundles.a.servers = []\n[agents]\nw.mcp_bundles = [\"a\"]\n", "mcp_bundles.a", "b",
			"mcp_bundles.b.servers = []\n[agents]\nw.mcp_bundles = [\"b\"]\n"},
		{"an agent by a dotted key below its section",
			"[agents]\nw.mcp_bundles = [\"a\"]\n", "agents.w", "x", "[agents]\nx.mcp_bundles = [\"a\"]\n"},
		{"a profile",
			"[risk_profiles.careful]\nlevel = \"readonly\"\n[agents.w]\nrisk_profile = \"careful\"\n", "risk_profiles.careful", "strict",
			"[risk_profiles.strict]\nlevel = \"readonly\"\n[agents.w]\nrisk_profile = \"strict\"\n"},
		{"between braces", "agents = { w = { media = [] } }\n", "agents.w", "x", "agents = { x = { media = [] } }\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := open(t, folder(t, tt.file))
			if _, err := f.Set(t.Context(), "", []Edit{{Op: Rename, Path: tt.path, Value: tt.to}}); err != nil {
				t.Fatal(err)
			}
			if got := string(readContent(f.Path()).data); got != tt.want {
				t.Errorf("the file is\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestRenameRefuses(t *testing.T) {
	f := open(t, folder(t, "[[mcp.servers]]\nname = \"fs\"\n[[mcp.servers]]\nname = \"git\"\n[agents.w]\n[agents.v]\n"))
	for _, tt := range []struct{ path, to string }{
		{"mcp.servers.fs", "GIT"}, {"mcp.servers.fs", "a__b"}, {"mcp.servers.fs", "_a"}, {"mcp.servers.fs", ""}, {"mcp.servers.none", "x"},
		{"mcp.servers.fs.command", "x"}, {"mcp", "x"}, {"agents.w", "v"}, {"agents.assistant", "x"},
	} {
		var field *FieldError
		if _, err := f.Set(t.Context(), "", []Edit{{Op: Rename, Path: tt.path, Value: tt.to}}); !errors.As(err, &field) {
			t.Errorf("rename %s to %q: %v, want a field error", tt.path, tt.to, err)
		}
	}
}

// TestRenameLiftsNothing: what names a server's tools would mean nothing after a
// rename, so that it is refused until that is changed.
func TestRenameLiftsNothing(t *testing.T) {
	for _, held := range []string{
		"[permissions.tools.fs__move]\nmode = \"deny\"\n",
		"[risk_profiles.p]\nexcluded_tools = [\"fs__delete\"]\n",
		"[risk_profiles.p]\nalways_ask = [\"x\", \"fs__write\"]\n",
		"[runtime_profiles.r]\ntool_filter_groups = [{tools = [\"fs__*\"], keywords = [\"a\"]}]\n",
	} {
		f := open(t, folder(t, "[[mcp.servers]]\nname = \"fs\"\n"+held))
		var field *FieldError
		if _, err := f.Set(t.Context(), "", []Edit{{Op: Rename, Path: "mcp.servers.fs", Value: "files"}}); !errors.As(err, &field) {
			t.Errorf("with %q the rename gives %v", held, err)
		}
	}
}
