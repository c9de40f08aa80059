//go:build !linux

package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
)

// named is an entry as it comes from the folder.
type named struct {
	name  string
	kind  fs.FileMode // type bits only
	entry fs.DirEntry // Windows reports the facts together with the names
}

// readEntries reads the names in an open folder, up to limit, and what it got
// before an error.
func readEntries(ctx context.Context, dir *os.File, limit int) ([]named, error) {
	plain, done, err := plainFolder(dir)
	if err != nil {
		return nil, err
	}
	defer done()
	var all []named
	for len(all) < limit {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		some, err := plain.ReadDir(4096)
		for _, e := range some {
			all = append(all, named{e.Name(), e.Type(), e})
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}
