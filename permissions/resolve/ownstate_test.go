//go:build unix

package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/permissions"
)

func TestOwnState(t *testing.T) {
	w := newWorld(t)
	vault := filepath.Join(w.home, "vault")
	w.mkdir(t, filepath.Join(vault, "deep"))
	w.mkdir(t, filepath.Join(w.state, "services/dep/node_modules/.bin"))
	w.mkdir(t, filepath.Join(w.state, ".venv/bin"))
	w.write(t, filepath.Join(vault, "key"), "k")
	w.link(t, vault, filepath.Join(w.state, "secrets"))
	w.link(t, filepath.Join(w.out, "secret.txt"), filepath.Join(vault, "deep/again"))
	w.link(t, filepath.Join(w.root, "p/a.txt"), filepath.Join(w.state, ".venv/bin/python"))
	w.link(t, filepath.Join(w.root, "pp/x.txt"), filepath.Join(w.state, "services/dep/node_modules/.bin/x"))
	w.link(t, w.state, filepath.Join(w.root, "p/state"))
	if err := os.Link(filepath.Join(w.state, "config.toml"), filepath.Join(w.root, "p/hard")); err != nil {
		t.Fatal(err)
	}
	r := w.resolver(t)
	read, list, write, del := permissions.OpRead, permissions.OpList, permissions.OpWrite, permissions.OpDelete
	tests := []struct {
		given string
		op    permissions.Op
		walk  bool
		want  bool
	}{
		{"~/.zeroclaw", list, false, true},
		{"~/.zeroclaw/config.toml", read, false, true},
		{"~/.zeroclaw/new/file", write, false, true},
		{"~/.zeroclaw/../.zeroclaw/x", read, false, true},
		{"~/.zeroclawx/y", read, false, false},
		{"p/state", list, false, true},
		{"p/state/config.toml", read, false, true},
		{"p/state", del, false, true}, // its target is judged too
		{"p/hard", read, false, true},
		{"~/vault", list, false, true},
		{"~/vault/key", read, false, true},
		{"~/out/secret.txt", read, false, true}, // by a link in a folder that a link leads to
		{"~/out", list, false, false},
		{"~/out", list, true, true},
		{"p/a.txt", read, false, false},
		{"pp/x.txt", read, false, false},
		{"~", list, false, false},
		{"~", list, true, true},
		{"~", del, false, true},
		{"/", list, true, true},
		{"..", del, false, true},
		{"p", list, true, true}, // holds another name of the configuration
		{"app", list, true, false},
		{"/proc/self/environ", read, false, true},
		{"/proc/thread-self/environ", read, false, true},
		{fmt.Sprintf("/proc/%d/mem", os.Getpid()), read, false, true},
		{fmt.Sprintf("/proc/%d", os.Getpid()), list, false, true},
		{"/proc", list, true, true},
		{"/dev/fd", list, false, true},
		{"/proc/1/status", read, false, false},
	}
	for _, tt := range tests {
		if strings.HasPrefix(tt.given, "/proc") || strings.HasPrefix(tt.given, "/dev") {
			if _, err := os.Stat("/proc/self"); err != nil {
				t.Logf("skipping %s: no /proc here", tt.given)
				continue
			}
		}
		if p := r.Path(tt.given, tt.op, tt.walk); p.OwnState != tt.want {
			t.Errorf("Path(%q, %s, walk %v): own state %v, want %v (real %q, err %q)", tt.given, tt.op, tt.walk, p.OwnState, tt.want, p.Real, p.Err)
		}
	}
}

// TestOwnStateThreads reads the entry of a thread, which no listing shows.
func TestOwnStateThreads(t *testing.T) {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Skip("no /proc here")
	}
	w := newWorld(t)
	r := w.resolver(t)
	for _, e := range tasks {
		if p := r.Path("/proc/"+e.Name()+"/environ", permissions.OpRead, false); !p.OwnState {
			t.Errorf("/proc/%s/environ belongs to a thread of ours", e.Name())
		}
	}
	children, err := New(Config{Root: w.root, Pids: func() []int { return []int{1} }})
	if err != nil {
		t.Fatal(err)
	}
	if p := children.Path("/proc/1/environ", permissions.OpRead, false); !p.OwnState {
		t.Error("the entry of a child is not own state")
	}
}

// TestOwnStateChanges makes links and hard links after the first look.
func TestOwnStateChanges(t *testing.T) {
	w := newWorld(t)
	r := w.resolver(t)
	now := r.own.now()
	r.own.now = func() time.Time { return now }
	if p := r.Path("~/docs/n.md", permissions.OpRead, false); p.OwnState {
		t.Fatal("own state too early")
	}
	w.link(t, filepath.Join(w.home, "docs"), filepath.Join(w.state, "notes"))
	now = now.Add(snapshotAge + 1)
	if p := r.Path("~/docs/n.md", permissions.OpRead, false); !p.OwnState {
		t.Error("a new link in the state folder is not seen")
	}
	w.write(t, filepath.Join(w.state, "later"), "x")
	if err := os.Link(filepath.Join(w.state, "later"), filepath.Join(w.root, "later")); err != nil {
		t.Fatal(err)
	}
	now = now.Add(snapshotAge + 1)
	if p := r.Path("later", permissions.OpRead, false); !p.OwnState {
		t.Error("a new hard link into the state folder is not seen")
	}
}

// TestOwnStateReplaced makes the state folder only after the Resolver.
func TestOwnStateReplaced(t *testing.T) {
	w := newWorld(t)
	state := filepath.Join(w.home, "later")
	r, err := New(Config{Root: w.root, Home: w.home, State: state})
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Path("~/later/x", permissions.OpWrite, false); !p.OwnState {
		t.Error("a state folder that does not exist yet is not own state")
	}
	w.link(t, w.out, state)
	r.own.checked = time.Time{}
	if p := r.Path("~/out/secret.txt", permissions.OpRead, false); !p.OwnState {
		t.Error("a state folder that became a link is not followed")
	}
}
