//go:build unix

package mcpclient

import (
	"os"
	"syscall"
)

// openNonblocking opens a file for reading without waiting for whoever is at
// the other end, should it be a pipe.
func openNonblocking(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
}
