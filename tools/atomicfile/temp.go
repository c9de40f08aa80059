package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	tempPrefix = ".zeroclaw-write-"
	tempSuffix = ".tmp"
)

// IsTemp reports whether name, without its folder, is one of the temporary
// files of this package. A crash in the middle of a write leaves one behind.
func IsTemp(name string) bool {
	id, ok := strings.CutPrefix(name, tempPrefix)
	if !ok {
		return false
	}
	id, ok = strings.CutSuffix(id, tempSuffix)
	if !ok || len(id) != 32 {
		return false
	}
	_, err := hex.DecodeString(id)
	return err == nil
}

// RemoveStale deletes the temporary files in the folder dir that were last
// written before the given time, and returns how many. A write of another
// process that is under way is younger than any sensible limit (an hour).
func RemoveStale(dir string, before time.Time) (int, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, fmt.Errorf("looking for left-over temporary files: %w", err)
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return 0, fmt.Errorf("looking for left-over temporary files in %s: %w", dir, err)
	}
	var errs []error
	removed := 0
	for _, e := range entries {
		if !IsTemp(e.Name()) || !e.Type().IsRegular() {
			continue
		}
		fi, err := e.Info()
		if err != nil || !fi.ModTime().Before(before) {
			continue
		}
		if err := remove(root, e.Name()); err != nil {
			errs = append(errs, err)
			continue
		}
		removed++
	}
	return removed, errors.Join(errs...)
}

// tempFile closes once, so that every way out may close it.
type tempFile struct {
	*os.File
	closed bool
}

func (t *tempFile) close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	return t.Close()
}

// createTemp makes a new file that only this user can open, whatever the
// mode of the final file: until it is complete it is nobody else's business.
func createTemp(dir *os.Root) (string, *tempFile, error) {
	for try := 0; ; try++ {
		var id [16]byte
		rand.Read(id[:])
		name := tempPrefix + hex.EncodeToString(id[:]) + tempSuffix
		f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			return name, &tempFile{File: f}, nil
		}
		if !errors.Is(err, fs.ErrExist) || try == 10 {
			return "", nil, fmt.Errorf("creating a temporary file in %s: %w", filepath.Clean(dir.Name()), err)
		}
	}
}
