package atomicfile

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// keepOwner does nothing: a new file inherits the folder's access list, which
// is what Windows programs expect of a save.
func keepOwner(*os.File, os.FileInfo) {}

func modeless(err error) bool { return err != nil }

// rename tries again for a moment: virus scanners and indexers hold files
// open without sharing them.
func rename(dir *os.Root, from, to string) error {
	var err error
	for wait := 5 * time.Millisecond; wait < 400*time.Millisecond; wait *= 2 {
		err = dir.Rename(from, to)
		if !errors.Is(err, windows.ERROR_SHARING_VIOLATION) && !errors.Is(err, windows.ERROR_ACCESS_DENIED) {
			return err
		}
		time.Sleep(wait)
	}
	return err
}

// syncFolder does nothing: NTFS journals the rename itself.
func syncFolder(*os.Root) {}

// nonblock is nothing here: opening a pipe does not wait.
const nonblock = 0
