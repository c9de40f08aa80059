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

// lookAt asks relative to the open folder, so that no other folder can take
// its place meanwhile.
func lookAt(dir folder, e named) (facts, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(dir.fd), e.name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
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
