//go:build unix

package resolve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"zeroclaw/permissions"
)

func TestOpen(t *testing.T) {
	w := newWorld(t)
	at := func(p string) string { return filepath.Join(w.root, p) }
	r := w.resolver(t)

	p := r.Path("p/a.txt", permissions.OpRead, false)
	f, err := Open(p, os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(f); string(text) != "work/p/a.txt" {
		t.Errorf("read %q", text)
	}
	f.Close()

	for _, given := range []string{"p", ".", "/"} {
		f, err := Open(r.Path(given, permissions.OpList, false), os.O_RDONLY, 0)
		if err != nil {
			t.Errorf("open folder %q: %v", given, err)
			continue
		}
		if n, err := f.Readdirnames(1); err != nil || len(n) != 1 {
			t.Errorf("list %q: %v", given, err)
		}
		f.Close()
	}

	p = r.Path("p/new", permissions.OpWrite, false)
	if f, err = Open(p, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Open(p, os.O_WRONLY|os.O_CREATE, 0o600); !errors.Is(err, ErrChanged) {
		t.Errorf("creating what exists by now: %v, want ErrChanged", err)
	}
	if _, err := Open(r.Path("p/none", permissions.OpRead, false), os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading what does not exist: %v", err)
	}
	if _, err := Open(permissions.Path{}, os.O_RDONLY, 0); err == nil {
		t.Error("opening a path that was never judged")
	}
	if _, err := Open(r.Path("p/a.txt", permissions.OpDelete, false), os.O_RDONLY, 0); err == nil {
		t.Error("opening what was judged for removal")
	}

	p = r.Path("made/by/us/f", permissions.OpWrite, false)
	if _, err := Open(p, os.O_WRONLY|os.O_CREATE, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("creating in a missing folder: %v", err)
	}
	if err := MakeParents(p, 0o755); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(p, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := os.Stat(at("made/by/us/f")); err != nil {
		t.Error(err)
	}
}

// TestOpenChanged changes what stands at a path between judging and opening.
func TestOpenChanged(t *testing.T) {
	tests := []struct {
		name   string
		given  string
		op     permissions.Op
		flag   int
		change func(t *testing.T, w world, path string)
	}{
		{"link to outside", "p/a.txt", permissions.OpRead, os.O_RDONLY, func(t *testing.T, w world, path string) {
			os.Remove(path)
			w.link(t, filepath.Join(w.out, "secret.txt"), path)
		}},
		{"relative link to outside", "p/a.txt", permissions.OpRead, os.O_RDONLY, func(t *testing.T, w world, path string) {
			os.Remove(path)
			w.link(t, "../../out/secret.txt", path)
		}},
		{"link inside the folder", "p/a.txt", permissions.OpRead, os.O_RDONLY, func(t *testing.T, w world, path string) {
			os.Remove(path)
			w.link(t, ".env", path)
		}},
		{"another file", "p/a.txt", permissions.OpWrite, os.O_WRONLY | os.O_TRUNC, func(t *testing.T, w world, path string) {
			w.write(t, path+".new", "precious")
			os.Rename(path+".new", path)
		}},
		{"a pipe", "p/a.txt", permissions.OpRead, os.O_RDONLY, func(t *testing.T, w world, path string) {
			os.Remove(path)
			makeFIFO(t, path)
		}},
		{"a folder", "p/a.txt", permissions.OpRead, os.O_RDONLY, func(t *testing.T, w world, path string) {
			os.Remove(path)
			w.mkdir(t, path)
		}},
		{"gone", "p/a.txt", permissions.OpWrite, os.O_WRONLY | os.O_CREATE, func(t *testing.T, w world, path string) {
			os.Remove(path)
		}},
		{"a link where nothing was", "p/new", permissions.OpWrite, os.O_WRONLY | os.O_CREATE, func(t *testing.T, w world, path string) {
			w.link(t, "a.txt", path)
		}},
		{"a dangling link where nothing was", "p/new", permissions.OpWrite, os.O_WRONLY | os.O_CREATE, func(t *testing.T, w world, path string) {
			w.link(t, "../pp/created", path)
		}},
		{"the folder is a link", "p/src/b.go", permissions.OpRead, os.O_RDONLY, func(t *testing.T, w world, path string) {
			os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")
			w.write(t, filepath.Join(w.out, "b.go"), "secret")
			w.link(t, w.out, filepath.Dir(path))
		}},
		{"a folder above is a link", "p/src/b.go", permissions.OpRead, os.O_RDONLY, func(t *testing.T, w world, path string) {
			up := filepath.Dir(filepath.Dir(path))
			w.mkdir(t, filepath.Join(w.out, "src"))
			w.write(t, filepath.Join(w.out, "src/b.go"), "secret")
			os.Rename(up, up+".old")
			w.link(t, w.out, up)
		}},
		{"another folder", "p/src/new", permissions.OpWrite, os.O_WRONLY | os.O_CREATE, func(t *testing.T, w world, path string) {
			os.Rename(filepath.Dir(path), filepath.Dir(path)+".old")
			w.mkdir(t, filepath.Dir(path))
		}},
		{"a missing folder is a link", "p/none/new", permissions.OpWrite, os.O_WRONLY | os.O_CREATE, func(t *testing.T, w world, path string) {
			w.link(t, "../../out", filepath.Dir(path))
		}},
	}
	for _, tt := range tests {
		w := newWorld(t)
		r := w.resolver(t)
		p := r.Path(tt.given, tt.op, false)
		before, _ := os.ReadDir(w.out)
		tt.change(t, w, p.Real)
		if tt.op == permissions.OpWrite {
			MakeParents(p, 0o755)
		}
		f, err := Open(p, tt.flag, 0o600)
		if !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v, want ErrChanged", tt.name, err)
		}
		if err == nil {
			f.Close()
		}
		if tt.name == "another file" {
			if text, _ := os.ReadFile(p.Real); string(text) != "precious" {
				t.Errorf("%s: it was cut to %q", tt.name, text)
			}
		}
		if after, _ := os.ReadDir(w.out); tt.op == permissions.OpWrite && len(after) != len(before) {
			t.Errorf("%s: something was created outside", tt.name)
		}
	}
}

// rounds counts up to 1,000,000 with ZEROCLAW_LONG=1. The short version also
// ends in time on a machine that is busy, when it has shown something.
func rounds(short int, shown func() bool) iter.Seq[int] {
	n, end := short, time.Now().Add(5*time.Second)
	if os.Getenv("ZEROCLAW_LONG") != "" {
		n, shown = 1_000_000, func() bool { return false }
	}
	return func(yield func(int) bool) {
		for i := 0; i < n && !(shown() && time.Now().After(end)); i++ {
			if !yield(i) {
				return
			}
		}
	}
}

// TestOpenRace reads a name that an attacker keeps switching between a file and
// links to a secret, for 1,000,000 rounds with ZEROCLAW_LONG=1.
func TestOpenRace(t *testing.T) {
	w := newWorld(t)
	flip := filepath.Join(w.root, "p/flip")
	w.write(t, flip, "public")
	w.write(t, filepath.Join(w.root, "p/keep"), "public")
	r := w.resolver(t)
	stop := race(t, func(i int) {
		tmp := flip + ".tmp"
		switch i % 4 {
		case 0:
			os.Symlink(filepath.Join(w.out, "secret.txt"), tmp)
		case 1, 3:
			os.Link(filepath.Join(w.root, "p/keep"), tmp)
		case 2:
			os.Symlink(".env", tmp)
		}
		os.Rename(tmp, flip)
		os.Remove(tmp)
	})
	defer stop()
	var opened, changed, asked int
	for range rounds(20_000, func() bool { return opened > 0 && asked > 0 }) {
		p, v := w.decide(t, r, []string{"R:./p/**"}, "p/flip", permissions.OpRead)
		if v.Decision != permissions.Allow {
			asked++
			continue
		}
		f, err := Open(p, os.O_RDONLY, 0)
		if err != nil {
			changed++
			continue
		}
		text, err := io.ReadAll(f)
		f.Close()
		if err != nil || string(text) != "public" {
			t.Fatalf("an allowed read gave %q, %v", text, err)
		}
		opened++
	}
	if opened == 0 || asked == 0 {
		t.Errorf("the race shows nothing: %d opened, %d changed, %d asked", opened, changed, asked)
	}
	t.Logf("%d opened, %d changed in between, %d asked", opened, changed, asked)
}

// TestOpenParentRace writes into a folder that an attacker keeps switching with
// links to the outside: nothing may ever appear there.
func TestOpenParentRace(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.root, "p/d")
	w.mkdir(t, dir)
	r := w.resolver(t)
	before, err := os.ReadDir(w.out)
	if err != nil {
		t.Fatal(err)
	}
	stop := race(t, func(i int) {
		if i%2 == 0 {
			os.Rename(dir, dir+".away")
			os.Symlink(w.out, dir)
		} else {
			os.Remove(dir)
			os.Rename(dir+".away", dir)
			time.Sleep(time.Duration(i%5) * 20 * time.Microsecond) // or next to nothing is written
		}
	})
	defer stop()
	var wrote, changed, asked int
	for i := range rounds(20_000, func() bool { return wrote > 0 && asked+changed > 0 }) {
		p, v := w.decide(t, r, []string{"RW:./p/**"}, fmt.Sprintf("p/d/f%d", i%7), permissions.OpWrite)
		if v.Decision != permissions.Allow {
			asked++
			continue
		}
		root, name, err := OpenParent(p)
		if err != nil {
			changed++
			continue
		}
		tmp := fmt.Sprintf(".tmp%d", i)
		f, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if err := root.Rename(tmp, name); err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			root.Remove(name)
		}
		root.Close()
		wrote++
		if i%500 == 0 {
			if after, _ := os.ReadDir(w.out); len(after) != len(before) {
				t.Fatalf("round %d: the outside holds %d entries, want %d", i, len(after), len(before))
			}
		}
	}
	stop()
	if after, _ := os.ReadDir(w.out); len(after) != len(before) {
		t.Fatalf("the outside holds %d entries, want %d", len(after), len(before))
	}
	if wrote == 0 || asked+changed == 0 {
		t.Errorf("the race shows nothing: %d written, %d changed, %d asked", wrote, changed, asked)
	}
	t.Logf("%d written, %d changed in between, %d asked", wrote, changed, asked)
}

// race runs step again and again until the returned function is called.
func race(t *testing.T, step func(i int)) (stop func()) {
	t.Helper()
	var done atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; !done.Load(); i++ {
			step(i)
		}
	})
	return func() { done.Store(true); wg.Wait() }
}

func makeFIFO(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}
