package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// ErrLocked is returned, wrapped, by TryLock while somebody else holds the
// lock.
var ErrLocked = errors.New("locked by another process")

// TryLock takes the advisory lock on the file at path, without waiting:
// ErrLocked says that somebody holds it. The file is created empty (mode 0600)
// when it is missing and never deleted: deleting a lock file would let two
// holders in. The lock excludes other processes and other calls in this one, and
// ends with unlock, which may be called again, or with the process. Its content
// is the holder's to use.
func TryLock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return sync.OnceFunc(func() {
		unlockFile(f)
		_ = f.Close()
	}), nil
}
