package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// serve runs the watcher for the length of a test and hands over snapshots.
func serve(t *testing.T, f *File) <-chan *Settings {
	t.Helper()
	seen := make(chan *Settings, 100)
	f.Subscribe(func(s *Settings) { seen <- s })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Serve = %v", err)
		}
	})
	return seen
}

// waitPort waits until a snapshot has the port.
func waitPort(t *testing.T, seen <-chan *Settings, port int) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case s := <-seen:
			if s.Server.Port == port {
				return
			}
		case <-limit:
			t.Fatalf("no snapshot with port %d came", port)
		}
	}
}

func TestWatch(t *testing.T) {
	dir := folder(t, "[server]\nport = 1\n")
	f := open(t, dir)
	seen := serve(t, f)
	write(t, dir, "[server]\nport = 2\n")
	waitPort(t, seen, 2)
	// An editor that saves by renaming.
	temp := filepath.Join(dir, "config.toml~")
	if err := os.WriteFile(temp, []byte("[server]\nport = 3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temp, filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	waitPort(t, seen, 3)
	// Another process.
	mustSet(t, open(t, dir), put("server.port", 4)...)
	waitPort(t, seen, 4)
	if err := os.Remove(filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	waitPort(t, seen, 6388)
	// Other files in the folder are no news.
	before := len(seen)
	for range 20 {
		if err := os.WriteFile(filepath.Join(dir, "zeroclaw.db"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(300 * time.Millisecond)
	if len(seen) != before {
		t.Error("a change of another file was published")
	}
}

func TestWatchFolderComesLater(t *testing.T) {
	dir := folder(t, "-")
	f, err := Open(Config{Dir: dir, Environ: []string{}, Debounce: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	seen := serve(t, f)
	time.Sleep(50 * time.Millisecond)
	mustSet(t, open(t, dir), put("server.port", 5)...)
	waitPort(t, seen, 5)
	// The folder is deleted and made again.
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	waitPort(t, seen, 6388)
	mustSet(t, open(t, dir), put("server.port", 6)...)
	waitPort(t, seen, 6)
}

func TestWatchLink(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making links needs a privilege on windows")
	}
	dir, dotfiles := folder(t, "-"), t.TempDir()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dotfiles, "zeroclaw.toml")
	if err := os.Symlink(target, filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	f := open(t, dir)
	seen := serve(t, f)
	time.Sleep(100 * time.Millisecond)
	if err := os.WriteFile(target, []byte("[server]\nport = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	waitPort(t, seen, 7)
}
