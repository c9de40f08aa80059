package files

import (
	"io/fs"
	"os"
	"path/filepath"
)

const openFlags = os.O_RDONLY

// lookAt uses what Windows reports together with the names.
func lookAt(_ *os.File, d fs.DirEntry) (facts, error) {
	info, err := d.Info()
	if err != nil {
		return facts{}, err
	}
	return facts{mode: info.Mode().Type(), size: info.Size(), modified: info.ModTime()}, nil
}

func readLink(dir *os.File, name string) string {
	to, err := os.Readlink(filepath.Join(dir.Name(), name))
	if err != nil {
		return ""
	}
	return filepath.ToSlash(to)
}
