//go:build unix

package process

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// mayExecute asks the system, and for the superuser, to whom it always says
// yes, wants at least one execute bit.
func mayExecute(path string, fi fs.FileInfo) bool {
	return fi.Mode()&0o111 != 0 && unix.Access(path, unix.X_OK) == nil
}
