package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows is the import table of the architecture: what a package of the left
// side may import directly of this module. "x/*" stands for the packages below
// x, not for x itself. Leaves may be imported by all and are not listed.
var arrows = []struct {
	from string
	to   []string
}{
	{"cmd/zeroclaw", []string{"localserver", "localserver/config", "permissions", "permissions/*", "tools/shell", "services/builtin", "services/secrets"}},
	{"localserver", []string{"localserver/*", "web", "tools", "tools/*", "services", "services/*", "permissions", "permissions/*"}},
	{"localserver/session", []string{"tools", "tools/*", "services", "permissions", "permissions/*"}},
	{"localserver/mcpserver", []string{"localserver/session", "tools", "services", "services/secrets", "permissions/audit"}},
	{"localserver/relay", []string{"localserver/session", "tools", "services", "services/secrets", "permissions/audit"}},
	{"localserver/store", []string{"localserver/session", "tools", "services", "services/secrets", "permissions/audit"}},
	{"localserver/config", []string{"permissions", "services", "services/secrets"}},
	{"localserver/guard", nil},
	{"localserver/events", nil},
	{"tools", []string{"permissions", "permissions/*"}},
	{"tools/meta", []string{"permissions", "permissions/*", "tools", "tools/results"}},
	{"tools/*", []string{"permissions", "permissions/*", "tools"}},
	{"services", []string{"services/secrets"}},
	{"services/secrets", nil},
	{"services/*", []string{"services", "services/secrets"}},
	{"permissions", nil},
	{"permissions/*", []string{"permissions"}},
	{"web", nil},
}

// leaves use nothing but the standard library and x/sys.
var leaves = []string{"tools/process", "tools/atomicfile", "tools/jsonparts"}

// owners are the packages that may import a library of their own.
var owners = map[string][]string{
	"github.com/mark3labs/mcp-go": {"services/mcpclient", "localserver/mcpserver"},
	"github.com/gobwas/glob":      {"permissions"},
	"github.com/r3labs/sse":       {"localserver/events"},
	"github.com/pkg/browser":      {"cmd/zeroclaw"},
}

func TestImports(t *testing.T) {
	const module = "zeroclaw"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages++
		from := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		for _, imported := range p.Imports {
			if to, ours := strings.CutPrefix(imported, module+"/"); ours {
				if !slices.Contains(leaves, to) && !allowed(from, to) {
					t.Errorf("%s imports %s, which the import table does not allow", from, to)
				}
				continue
			}
			if slices.Contains(leaves, from) && strings.Contains(strings.Split(imported, "/")[0], ".") && !strings.HasPrefix(imported, "golang.org/x/sys/") {
				t.Errorf("leaf %s imports %s", from, imported)
			}
			for library, by := range owners {
				if (imported == library || strings.HasPrefix(imported, library+"/")) && !slices.Contains(by, from) {
					t.Errorf("%s imports %s, which only %v may", from, imported, by)
				}
			}
		}
	}
	if packages < 20 {
		t.Errorf("only %d packages were checked", packages)
	}
}

func allowed(from, to string) bool {
	if slices.Contains(leaves, from) {
		return false
	}
	for _, a := range arrows {
		if matches(a.from, from) {
			return slices.ContainsFunc(a.to, func(pattern string) bool { return matches(pattern, to) })
		}
	}
	return false
}

func matches(pattern, name string) bool {
	if parent, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(name, parent+"/")
	}
	return pattern == name
}
