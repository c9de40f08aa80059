package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"zeroclaw/services"
)

func TestWriteBundled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "services")
	if err := WriteBundled(dir); err != nil {
		t.Fatal(err)
	}
	f := services.Folder{Path: dir}
	list := f.Scan()
	if len(list) != len(Bundled()) || !slices.Contains(Bundled(), "dummy_mcp") {
		t.Fatalf("%d services, want %d", len(list), len(Bundled()))
	}
	for _, s := range list {
		if s.Invalid != nil {
			t.Error(s.Invalid)
		}
		for _, language := range []string{"en", "es"} {
			if s.DisplayName[language] == "" || s.Description[language] == "" {
				t.Errorf("%s has no text in %q", s.Name, language)
			}
		}
		e, err := services.Expand(s, nil, services.Vars{Self: "/bin/zc", Root: "/r"})
		if s.Name == "dummy_mcp" && (err != nil || e.Command != "/bin/zc" || !slices.Equal(e.Args, []string{"dummy-mcp"}) || e.Cwd != filepath.Join(dir, "dummy_mcp")) {
			t.Errorf("launch = %+v, %v", e, err)
		}
	}

	// An edit stays, a deleted file stays deleted, a removed service comes back.
	edited := filepath.Join(dir, "dummy_mcp", services.ManifestName)
	if err := os.WriteFile(edited, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteBundled(dir); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(edited); err != nil || string(b) != "mine" {
		t.Errorf("the edited file holds %q, %v", b, err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "dummy_mcp")); err != nil {
		t.Fatal(err)
	}
	// What a killed run left half written is no obstacle.
	if err := os.MkdirAll(filepath.Join(dir, ".new-dummy_mcp", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteBundled(dir); err != nil {
		t.Fatal(err)
	}
	if s := f.Scan(); len(s) != len(Bundled()) || s[0].Invalid != nil {
		t.Errorf("after the removal: %+v", s)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(Bundled()) {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

func TestWriteBundledFollowsNoLink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, "dummy_mcp")); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if err := WriteBundled(dir); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 0 {
		t.Errorf("%d files were written through a link, %v", len(entries), err)
	}
}
