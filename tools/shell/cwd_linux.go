package shell

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"zeroclaw/permissions"
)

// enter opens the folder that was judged, so that the command starts in that
// one even when somebody puts another in its place meanwhile. dir is valid
// until release is called.
func enter(p permissions.Path) (dir string, release func(), err error) {
	if err := folder(p); err != nil {
		return "", nil, err
	}
	fd, err := unix.Open(p.Real, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", nil, &os.PathError{Op: "enter", Path: p.Real, Err: err}
	}
	f := os.NewFile(uintptr(fd), p.Real)
	fi, err := f.Stat()
	if err == nil && !sameFolder(p, fi) {
		err = fmt.Errorf("the folder %s was replaced after it had been judged; nothing was run, call again", p.Real)
	}
	if err != nil {
		f.Close()
		return "", nil, err
	}
	dir = fmt.Sprintf("/proc/self/fd/%d", fd)
	if _, err := os.Stat(dir); err != nil {
		dir = p.Real // no /proc here
	}
	return dir, func() { f.Close() }, nil
}

func sameFolder(p permissions.Path, fi os.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return p.Dev == 0 && p.Ino == 0 || ok && st.Dev == p.Dev && st.Ino == p.Ino
}
