package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"zeroclaw/services"
)

// writeBundled is WriteBundled, and all that comes later.
func writeBundled(dir string) error {
	settle, err := WriteBundled(dir)
	return errors.Join(err, settle())
}

func TestWriteBundled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "services")
	if err := writeBundled(dir); err != nil {
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
		e, err := services.Expand(t.Context(), s, nil, services.Vars{Self: "/bin/zc", Root: "/r"})
		if s.Name == "dummy_mcp" && (err != nil || e.Command != "/bin/zc" || !slices.Equal(e.Args, []string{"dummy-mcp"}) || e.Cwd != filepath.Join(dir, "dummy_mcp")) {
			t.Errorf("launch = %+v, %v", e, err)
		}
	}

	// An edit stays, a deleted file stays deleted, a removed service comes back.
	edited := filepath.Join(dir, "dummy_mcp", services.ManifestName)
	if err := os.WriteFile(edited, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeBundled(dir); err != nil {
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
	if err := writeBundled(dir); err != nil {
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
	if err := writeBundled(dir); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 0 {
		t.Errorf("%d files were written through a link, %v", len(entries), err)
	}
}

// definition is a file system with one definition in it.
func definition(files ...string) fs.FS {
	fsys := fstest.MapFS{}
	for n := 0; n < len(files); n += 2 {
		fsys["x/"+files[n]] = &fstest.MapFile{Data: []byte(files[n+1])}
	}
	return fsys
}

func TestANewerCompanionRenewsWhatNobodyEdited(t *testing.T) {
	old := definition("service.json", "1", "launch.mjs", "a", "gone.txt", "g")
	next := definition("service.json", "2", "launch.mjs", "a", "new.txt", "n")
	for _, tt := range []struct {
		name string
		edit func(dir string) error
		want map[string]string // nil: as next has it
	}{
		{"nothing", func(string) error { return nil }, nil},
		{"a file of the user beside", func(dir string) error { return os.WriteFile(filepath.Join(dir, "mine"), []byte("m"), 0o600) }, nil},
		{"a power cut before a file was on the disk", func(dir string) error { return os.Truncate(filepath.Join(dir, "launch.mjs"), 0) }, nil},
		{"a power cut, and an edit", func(dir string) error {
			return errors.Join(os.Truncate(filepath.Join(dir, "launch.mjs"), 0), os.WriteFile(filepath.Join(dir, "service.json"), []byte("3"), 0o600))
		}, map[string]string{"service.json": "3", "launch.mjs": "", "gone.txt": "g"}},
		{"a cut-off renewal", func(dir string) error { return os.WriteFile(filepath.Join(dir, "service.json"), []byte("2"), 0o600) }, nil},
		{"an edit", func(dir string) error { return os.WriteFile(filepath.Join(dir, "launch.mjs"), []byte("b"), 0o600) },
			map[string]string{"service.json": "1", "launch.mjs": "b", "gone.txt": "g"}},
		{"a removal", func(dir string) error { return os.Remove(filepath.Join(dir, "launch.mjs")) },
			map[string]string{"service.json": "1", "gone.txt": "g"}},
		{"an edit of what goes", func(dir string) error { return os.WriteFile(filepath.Join(dir, "gone.txt"), []byte("h"), 0o600) },
			map[string]string{"service.json": "1", "launch.mjs": "a", "gone.txt": "h"}},
		{"an own file of that name", func(dir string) error { return os.WriteFile(filepath.Join(dir, "new.txt"), []byte("o"), 0o600) },
			map[string]string{"service.json": "1", "launch.mjs": "a", "gone.txt": "g", "new.txt": "o"}},
		{"a lost record", func(dir string) error { return os.Remove(filepath.Join(dir, originName)) },
			map[string]string{"service.json": "1", "launch.mjs": "a", "gone.txt": "g"}},
		{"a broken record", func(dir string) error { return os.WriteFile(filepath.Join(dir, originName), []byte("{"), 0o600) },
			map[string]string{"service.json": "1", "launch.mjs": "a", "gone.txt": "g"}},
		{"a folder in place of a file", func(dir string) error {
			return errors.Join(os.Remove(filepath.Join(dir, "launch.mjs")), os.Mkdir(filepath.Join(dir, "launch.mjs"), 0o700))
		}, map[string]string{"service.json": "1", "gone.txt": "g"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			services := t.TempDir()
			dir := filepath.Join(services, "x")
			if _, err := writeAll(services, old); err != nil {
				t.Fatal(err)
			}
			if err := tt.edit(dir); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if _, err := writeAll(services, next); err != nil {
					t.Fatal(err)
				}
			}
			want := tt.want
			if want == nil {
				want = map[string]string{"service.json": "2", "launch.mjs": "a", "new.txt": "n"}
			}
			for _, name := range []string{"service.json", "launch.mjs", "gone.txt", "new.txt"} {
				data, _ := os.ReadFile(filepath.Join(dir, name))
				if string(data) != want[name] {
					t.Errorf("%s holds %q, want %q", name, data, want[name])
				}
			}
		})
	}

	// A folder of before there was a record, unedited: it gets one, and the
	// next version renews it.
	services := t.TempDir()
	dir := filepath.Join(services, "x")
	write := func(files fs.FS) error {
		_, err := writeAll(services, files)
		return err
	}
	err := errors.Join(write(old), os.Remove(filepath.Join(dir, originName)), write(old), write(next))
	if data, _ := os.ReadFile(filepath.Join(dir, "service.json")); err != nil || string(data) != "2" {
		t.Errorf("service.json holds %s, %v", data, err)
	}
}

// What the same companion finds cut off by a power cut is written again, and
// settling changes nothing that can be read.
func TestAPowerCutBeforeSettling(t *testing.T) {
	services := t.TempDir()
	files := definition("service.json", "1", "launch.mjs", "a")
	settle, err := writeAll(services, files)
	if err != nil {
		t.Fatal(err)
	}
	read := func(when string) {
		t.Helper()
		for name, want := range map[string]string{"service.json": "1", "launch.mjs": "a"} {
			if data, err := os.ReadFile(filepath.Join(services, "x", name)); err != nil || string(data) != want {
				t.Errorf("%s, %s holds %q, %v", when, name, data, err)
			}
		}
		if data, err := os.ReadFile(filepath.Join(services, "x", originName)); err != nil || len(data) == 0 {
			t.Errorf("%s, the record holds %q, %v", when, data, err)
		}
	}
	read("at once")
	if err := settle(); err != nil {
		t.Error(err)
	}
	read("settled")
	for _, cut := range [][]string{{"launch.mjs"}, {originName}, {"launch.mjs", originName}, {"service.json", "launch.mjs", originName}} {
		for _, name := range cut {
			if err := os.Truncate(filepath.Join(services, "x", name), 0); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := writeAll(services, files); err != nil {
			t.Error(err)
		}
		read("after " + strings.Join(cut, " and "))
	}
}
