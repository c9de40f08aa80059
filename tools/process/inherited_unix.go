//go:build unix

package process

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CloseInherited sees to it that no child gets the files that whoever started
// this program left open in it, such as a terminal's lock or a socket. Its own
// standard streams stay as they are. It is called before any child is started.
func CloseInherited() error {
	// Linux has this folder too, as a link.
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return fmt.Errorf("keep inherited files from children: %w", err)
	}
	for _, e := range open {
		// The folder's own number is among them and closed by now.
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}
