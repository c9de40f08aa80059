//go:build unix

package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// A Resolver is kept for as long as its folders are what they were, and no
// longer: one whose root is a link that leads elsewhere now is another.
func TestKeeper(t *testing.T) {
	w := newWorld(t)
	var k Keeper
	under := func(root string) *Resolver {
		t.Helper()
		r, err := k.New(Config{Root: root, Home: w.home, State: w.state})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := under(w.root)
	if under(filepath.Join(w.root, "..", "work")) != first {
		t.Error("the same root gives another Resolver")
	}
	link := filepath.Join(w.home, "current")
	if err := os.Symlink(w.root, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if under(link) != first {
		t.Error("a link to the same root gives another Resolver")
	}
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.out, link); err != nil {
		t.Fatal(err)
	}
	if r := under(link); r == first || r.Root() != slashed(w.out) {
		t.Errorf("the link leads to %s now, its Resolver to %s", w.out, r.Root())
	}
	if other, err := k.New(Config{Root: w.root, Home: w.home, State: w.state, Workspace: filepath.Join(w.state, "sessions/a")}); err != nil || other == first {
		t.Errorf("a workspace makes no difference: %v", err)
	}
	if _, err := k.New(Config{Root: filepath.Join(w.home, "gone")}); err == nil {
		t.Error("a root that does not exist is kept")
	}
	for i := range 3 * maxKept {
		dir := filepath.Join(w.home, fmt.Sprint("root", i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		under(dir)
	}
	if len(k.kept) != maxKept {
		t.Errorf("%d are kept, want %d", len(k.kept), maxKept)
	}
}
