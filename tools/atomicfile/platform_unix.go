//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// keepOwner is best effort: only root may give files away, and a member of
// the group may keep the group.
func keepOwner(f *os.File, old os.FileInfo) {
	st, ok := old.Sys().(*syscall.Stat_t)
	if !ok {
		return
	}
	if f.Chown(int(st.Uid), int(st.Gid)) != nil {
		_ = f.Chown(-1, int(st.Gid))
	}
}

// modeless reports that the volume has no permission bits (FAT, some network
// mounts).
func modeless(err error) bool {
	return errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EPERM)
}

func rename(dir *os.Root, from, to string) error { return dir.Rename(from, to) }

// syncFolder makes the new name last through a power cut. Some volumes cannot
// flush a folder; the content itself is on the disk already.
func syncFolder(dir *os.Root) {
	f, err := dir.Open(".")
	if err != nil {
		return
	}
	_ = f.Sync()
	_ = f.Close()
}

// nonblock keeps the opening of a FIFO from waiting for a writer.
const nonblock = syscall.O_NONBLOCK
