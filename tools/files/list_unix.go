//go:build unix

package files

import (
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// openFlags keep an open from waiting for the other end of a named pipe that
// took the place of a file.
const openFlags = os.O_RDONLY | unix.O_NONBLOCK

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

// lookAt asks relative to the open folder, so that no other folder can take
// its place meanwhile.
func lookAt(dir folder, d fs.DirEntry) (facts, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.fd), d.Name(), &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return facts{}, err
	}
	f := facts{size: st.Size, modified: time.Unix(st.Mtim.Unix())}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		f.mode = fs.ModeDir
	case unix.S_IFLNK:
		f.mode = fs.ModeSymlink
	default:
		f.mode = fs.ModeIrregular
	}
	return f, nil
}

func readLink(dir folder, name string) string {
	b := make([]byte, 4096)
	n, err := unix.Readlinkat(int(dir.fd), name, b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}
