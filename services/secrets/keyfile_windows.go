//go:build windows

package secrets

import (
	"fmt"
	"io/fs"
	"os"
)

// openNoFollow opens path unless its last element is a link. Windows has no
// flag for it; the user's profile folder, which only the user can write, is
// what stands between the look and the open.
func openNoFollow(path string, flag int, perm fs.FileMode) (*os.File, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is a link or no regular file", path)
	}
	return os.OpenFile(path, flag, perm)
}

// checkKeyMode has nothing to check: access follows the profile folder's ACL.
func checkKeyMode(*os.File, fs.FileInfo) error { return nil }

// syncDir does nothing: Windows has no handle to sync a folder by.
func syncDir(string) {}
