//go:build unix && !linux

package files

import (
	"os"

	"golang.org/x/sys/unix"
)

// plainFolder opens the folder once more in a way in which reading names does
// not look at every entry: package os does that for a folder opened through
// os.Root, and a single entry that cannot be looked at would hide all others.
func plainFolder(dir *os.File) (plain *os.File, done func(), err error) {
	fd, err := unix.FcntlInt(dir.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("fcntl", err)
	}
	plain = os.NewFile(uintptr(fd), dir.Name())
	return plain, func() { plain.Close() }, nil
}
