//go:build unix

package files

import (
	"os"
	"syscall"

	"zeroclaw/permissions"
)

// sameAs reports that the file that was searched is the one that was judged.
func sameAs(p permissions.Path, info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && uint64(st.Dev) == p.Dev && st.Ino == p.Ino
}
