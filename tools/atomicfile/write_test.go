package atomicfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onlyFiles fails when the folder holds anything but names.
func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, "|") != strings.Join(names, "|") {
		t.Errorf("folder holds %q, want %q", got, names)
	}
}

func TestWriteMode(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits")
	}
	for _, c := range []struct {
		name string
		old  os.FileMode // 0: no file yet
		o    Options
		want os.FileMode
	}{
		{"new, default", 0, Options{}, 0o644},
		{"new, given, umask plays no part", 0, Options{Mode: 0o666}, 0o666},
		{"new, private", 0, Options{Mode: 0o600}, 0o600},
		{"program stays a program", 0o755, Options{}, 0o755},
		{"mode is for new files only", 0o755, Options{Mode: 0o600}, 0o755},
		{"forced", 0o644, Options{Mode: 0o600, ForceMode: true}, 0o600},
		{"set-user-ID is dropped", 0o755 | os.ModeSetuid, Options{}, 0o755},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			if c.old != 0 {
				write(t, path, "old", c.old)
			}
			if err := Write(path, []byte("new"), c.o); err != nil {
				t.Fatal(err)
			}
			fi, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := fi.Mode(); got != c.want {
				t.Errorf("mode = %v, want %v", got, c.want)
			}
			if got := read(t, path); got != "new" {
				t.Errorf("content = %q", got)
			}
			onlyFiles(t, dir, "f")
		})
	}
}

func TestWriteFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, at string) {
		if err := os.Symlink(to, filepath.Join(dir, at)); err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
	}
	write(t, filepath.Join(dir, "b/real"), "old", 0o640)
	link("../b/real", "a/link")
	link("link", "a/second")
	link("../b/new", "a/dangling")
	link("loop2", "a/loop1")
	link("loop1", "a/loop2")
	link("b", "folder")

	for at, real := range map[string]string{"a/link": "b/real", "a/second": "b/real", "a/dangling": "b/new", "folder/real": "b/real"} {
		if err := Write(filepath.Join(dir, at), []byte(at), Options{}); err != nil {
			t.Errorf("%s: %v", at, err)
			continue
		}
		if got := read(t, filepath.Join(dir, real)); got != at {
			t.Errorf("%s: target holds %q", at, got)
		}
		if fi, _ := os.Lstat(filepath.Join(dir, strings.Split(at, "/")[0], filepath.Base(at))); fi != nil && at != "folder/real" && fi.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", at)
		}
	}
	if err := Write(filepath.Join(dir, "a/loop1"), nil, Options{}); err == nil {
		t.Error("a link loop was written")
	}
	onlyFiles(t, filepath.Join(dir, "b"), "new", "real")
}

func TestWriteInStaysInside(t *testing.T) {
	dir := t.TempDir()
	inside, outside := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{inside, outside} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(outside, "f"), "keep", 0o644)
	if err := os.Symlink(outside, filepath.Join(inside, "d")); err != nil {
		t.Skipf("links cannot be made here: %v", err)
	}
	if err := os.Symlink(filepath.Join(outside, "f"), filepath.Join(inside, "l")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"../out/f", "d/f", "l", "d"} {
		if _, err := WriteIn(root, name, strings.NewReader("bad"), Options{}); err == nil {
			t.Errorf("WriteIn(%q) was allowed", name)
		}
	}
	if got := read(t, filepath.Join(outside, "f")); got != "keep" {
		t.Errorf("outside file holds %q", got)
	}
	onlyFiles(t, outside, "f")
	onlyFiles(t, inside, "d", "l")
}

func TestFailureLeavesOldFileAndNoTemp(t *testing.T) {
	boom := errors.New("boom")
	for name, try := range map[string]func(path string) error{
		"reader fails": func(path string) error {
			_, err := WriteFrom(path, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(boom)), Options{})
			return err
		},
		"check fails": func(path string) error {
			return Write(path, []byte("new"), Options{Check: func(old os.FileInfo) error {
				if old == nil || old.Size() != 3 {
					t.Errorf("check saw %v", old)
				}
				return boom
			}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "f")
			write(t, path, "old", 0o644)
			if err := try(path); !errors.Is(err, boom) {
				t.Errorf("error = %v, want boom", err)
			}
			if got := read(t, path); got != "old" {
				t.Errorf("content = %q", got)
			}
			onlyFiles(t, dir, "f")
		})
	}
	t.Run("name is a folder", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := Write(filepath.Join(dir, "d"), nil, Options{}); !errors.Is(err, ErrNotRegular) {
			t.Errorf("error = %v, want ErrNotRegular", err)
		}
		onlyFiles(t, dir, "d")
	})
	t.Run("folder is missing", func(t *testing.T) {
		if err := Write(filepath.Join(t.TempDir(), "no/f"), nil, Options{}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("error = %v, want os.ErrNotExist", err)
		}
	})
}

func TestReplacedByFolderMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o644)
	r := io.MultiReader(strings.NewReader("x"), readerFunc(func([]byte) (int, error) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(path, 0o755); err != nil {
			t.Fatal(err)
		}
		return 0, io.EOF
	}))
	if _, err := WriteFrom(path, r, Options{}); !errors.Is(err, ErrNotRegular) {
		t.Errorf("error = %v, want ErrNotRegular", err)
	}
	onlyFiles(t, dir, "f")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// peer bug L7: what becomes of other names is not stated.
func TestHardLinkKeepsOldContent(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "old", 0o644)
	if err := os.Link(a, b); err != nil {
		t.Skipf("hard links cannot be made here: %v", err)
	}
	if err := Write(a, []byte("new"), Options{}); err != nil {
		t.Fatal(err)
	}
	if got := read(t, a) + " " + read(t, b); got != "new old" {
		t.Errorf("a, b = %q, want new, old", got)
	}
}

func TestStaleTemps(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	name, f, err := createTemp(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if !IsTemp(name) {
		t.Errorf("IsTemp(%q) = false", name)
	}
	for _, not := range []string{"", "a", ".zeroclaw-write-.tmp", ".zeroclaw-write-" + strings.Repeat("g", 32) + ".tmp", "x" + name, name + "x"} {
		if IsTemp(not) {
			t.Errorf("IsTemp(%q) = true", not)
		}
		if not != "" {
			write(t, filepath.Join(dir, not), "", 0o600)
		}
	}
	if n, err := RemoveStale(dir, time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("a fresh temporary file: removed %d, %v", n, err)
	}
	if n, err := RemoveStale(dir, time.Now().Add(time.Hour)); n != 1 || err != nil {
		t.Errorf("an old temporary file: removed %d, %v", n, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a")); err != nil {
		t.Errorf("another file went too: %v", err)
	}
}

func FuzzWrite(f *testing.F) {
	f.Add([]byte("a\r\nb\x00\xff"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, "f")
		if err := Write(path, data, Options{}); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Errorf("read back %q, %v", got, err)
		}
	})
}
