//go:build !linux

package shell

import (
	"path/filepath"

	"zeroclaw/permissions"
)

// enter checks the folder that was judged.
func enter(p permissions.Path) (dir string, release func(), err error) {
	if err := folder(p); err != nil {
		return "", nil, err
	}
	return filepath.FromSlash(p.Real), func() {}, nil
}
