//go:build unix

package secrets

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// openNoFollow opens path unless its last element is a link.
func openNoFollow(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_CLOEXEC, perm)
}

// checkKeyMode refuses a key file of another user and tightens one that others
// may read.
func checkKeyMode(f *os.File, info fs.FileInfo) error {
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("read the key file: %s belongs to another user (uid %d); make it your own", f.Name(), st.Uid)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := f.Chmod(0o600); err != nil {
		return fmt.Errorf("read the key file: %s can be read by others (mode %04o) and that cannot be changed: %w; run chmod 600 on it", f.Name(), info.Mode().Perm(), err)
	}
	return nil
}

// syncDir makes the new name durable; a file system that cannot is no reason
// to fail.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
