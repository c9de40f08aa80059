//go:build unix

package resolve

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// identity names a file or folder of this machine whatever its path is.
type identity struct{ dev, ino, links uint64 }

func identify(p string, info fs.FileInfo) (identity, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, fmt.Errorf("identify %q: the system gave no inode", p)
	}
	return identity{uint64(st.Dev), uint64(st.Ino), uint64(st.Nlink)}, nil
}

func identifyOpen(f *os.File, info fs.FileInfo) (identity, error) { return identify(f.Name(), info) }

// mayHaveLinks saves the look-up where the answer is in info already.
func mayHaveLinks(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return !ok || st.Nlink > 1
}
