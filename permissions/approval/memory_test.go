package approval

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func openMemory(t *testing.T, path string) *Memory {
	t.Helper()
	n := 0
	m, err := OpenMemory(path, func() string { n++; return fmt.Sprintf("d%d", n) }, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMemoryKeepsOnlyWhatIsPermanent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.json")
	m := openMemory(t, path)
	for _, d := range []Remembered{
		{Scope: ScopeAlways, Tool: "read_file"},
		{Scope: ScopeAlways, Tool: "read_file"}, // the same again is one
		{Scope: ScopeSession, Session: "s1", Tool: "edit_file"},
		{Scope: ScopeAlways, Tool: "execute_command", Command: "go test ./...", Cwd: "/w"},
	} {
		if err := m.Add(d); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(m.For("s1")); n != 3 {
		t.Errorf("%d decisions count in the session, want 3", n)
	}
	if n := len(m.For("s2")); n != 2 {
		t.Errorf("%d decisions count in another session, want 2", n)
	}
	again := openMemory(t, path)
	if n := len(again.List()); n != 2 {
		t.Errorf("%d decisions survive a restart, want 2", n)
	}
	if ok, err := again.Revoke(again.List()[0].ID); !ok || err != nil {
		t.Errorf("Revoke = %v, %v", ok, err)
	}
	if ok, _ := again.Revoke("nonesuch"); ok {
		t.Error("Revoke found a decision that is not there")
	}
	if err := again.DropTool("execute_command"); err != nil || len(openMemory(t, path).List()) != 0 {
		t.Errorf("DropTool: %v; %d decisions are left on disk", err, len(openMemory(t, path).List()))
	}
}

func TestMemoryThatCannotSaveGrantsNothing(t *testing.T) {
	dir := t.TempDir()
	blocked := filepath.Join(dir, "file", "decisions.json")
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m, _ := OpenMemory(blocked, func() string { return "d" }, time.Now)
	if err := m.Add(Remembered{Scope: ScopeAlways, Tool: "read_file"}); err == nil || len(m.For("s")) != 0 {
		t.Errorf("Add = %v with %d decisions in force, want an error and none", err, len(m.For("s")))
	}
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"decisions":[{"id":"x","tool":"execute_command","scope":"always"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if m, err := OpenMemory(bad, nil, nil); err == nil || len(m.For("s")) != 0 {
		t.Errorf("a torn file: %v with %d decisions in force", err, len(m.For("s")))
	}
}

func TestDefinitions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "definitions.json")
	d, err := OpenDefinitions(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := d.Check("s", "s__t", "1"); s != DefinitionNew {
		t.Errorf("first sight is %q", s)
	}
	if err := observe(d, map[string]Accepted{"s__t": {Hash: "1"}}); err != nil {
		t.Fatal(err)
	}
	// Seeing a changed definition does not accept it.
	if err := observe(d, map[string]Accepted{"s__t": {Hash: "2"}}); err != nil {
		t.Fatal(err)
	}
	if d, err = OpenDefinitions(path); err != nil {
		t.Fatal(err)
	}
	if s, old := d.Check("s", "s__t", "2"); s != DefinitionChanged || old.Hash != "1" {
		t.Errorf("a changed definition is %q against %q", s, old.Hash)
	}
	if err := d.Accept("s__t", Accepted{Hash: "2"}); err != nil {
		t.Fatal(err)
	}
	if s, _ := d.Check("s", "s__t", "2"); s != DefinitionAccepted {
		t.Errorf("an accepted definition is %q", s)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err = OpenDefinitions(path)
	if s, _ := d.Check("s", "s__t", "2"); err == nil || s != DefinitionChanged {
		t.Errorf("after a torn file: %v, %q; want an error and changed", err, s)
	}
}

// What was seen once is pinned even while the disk takes nothing, so that a
// change is one, and is saved as soon as it can be.
func TestDefinitionsThatCannotBeSavedAreStillPinned(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "definitions.json")
	d := &Definitions{path: path, accepted: map[string]Accepted{}}
	seen := map[string]Accepted{"s__t": {Hash: "1"}}
	for range 2 {
		if err := observe(d, seen); err == nil {
			t.Error("SaveSoon hides that nothing was saved")
		}
	}
	if s, old := d.Check("s", "s__t", "2"); s != DefinitionChanged || old.Hash != "1" {
		t.Errorf("a changed definition is %q against %q", s, old.Hash)
	}
	if err := d.Accept("s__t", Accepted{Hash: "2"}); err == nil {
		t.Error("Accept hides that nothing was saved")
	}
	if s, _ := d.Check("s", "s__t", "2"); s != DefinitionChanged {
		t.Errorf("a definition whose acceptance was not saved is %q", s)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := observe(d, seen); err != nil {
		t.Fatal(err)
	}
	again, err := OpenDefinitions(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := again.Check("s", "s__t", "1"); s != DefinitionAccepted {
		t.Errorf("after a restart it is %q", s)
	}
}
