package files

import (
	"os"
	"path/filepath"

	"zeroclaw/permissions"
)

// sameAs reports that the file that was searched is the one that was judged.
func sameAs(p permissions.Path, info os.FileInfo) bool {
	now, err := os.Lstat(filepath.FromSlash(p.Real))
	return err == nil && os.SameFile(now, info)
}
