//go:build unix

package process

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryWrite writes to a pipe that os.Pipe made, which does not block, as much as
// it takes at once.
func tryWrite(f *os.File, b []byte) (n int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = conn.Write(func(fd uintptr) bool {
		for {
			n, failed = unix.Write(int(fd), b)
			if !errors.Is(failed, unix.EINTR) {
				return true // also when the pipe is full: nobody waits here
			}
		}
	})
	if errors.Is(failed, unix.EAGAIN) {
		failed = nil
	}
	return max(n, 0), errors.Join(err, failed)
}
