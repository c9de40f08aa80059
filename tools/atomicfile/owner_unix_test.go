//go:build unix

package atomicfile

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOwnerIsKept(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to somebody else")
	}
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old", 0o640)
	if err := os.Chown(path, 1234, 2345); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, []byte("new"), Options{}); err != nil {
		t.Fatal(err)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := fi.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 2345 || fi.Mode().Perm() != 0o640 {
		t.Errorf("owner %d:%d mode %v, want 1234:2345 0640", st.Uid, st.Gid, fi.Mode())
	}
}

func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o644)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 16, Max: old.Max}); err != nil {
		t.Skipf("file sizes cannot be limited here: %v", err)
	}
	err := Write(path, make([]byte, 1<<20), Options{})
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); e != nil {
		t.Fatal(e)
	}
	if err == nil {
		t.Error("a write that did not fit reported success")
	}
	if got := read(t, path); got != "old" {
		t.Errorf("content = %d bytes", len(got))
	}
	onlyFiles(t, dir, "f")
}
