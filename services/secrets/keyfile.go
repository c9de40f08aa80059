package secrets

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// errNoKey says that there is no key file yet.
var errNoKey = errors.New("no key file")

// maxKeyFile bounds what is read: 64 hex digits and some white space.
const maxKeyFile = 1024

// readKey reads the key file without following a link and without waiting on
// a pipe. Loose modes are tightened; a file of another user, a link or
// anything that is no file is refused.
func readKey(path string) ([]byte, error) {
	f, err := openNoFollow(path, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errNoKey
	}
	if err != nil {
		if li, lerr := os.Lstat(path); lerr == nil && li.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("read the key file: %s is a link, which is never followed; replace it with the file itself", path)
		}
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read the key file: %s is not a regular file; move it away", path)
	}
	if err := checkKeyMode(f, info); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err != nil {
		return nil, fmt.Errorf("read the key file: %w", err)
	}
	return parseKey(path, text)
}

// parseKey decodes the text of a key file. Errors never hold any of it.
func parseKey(path string, text []byte) ([]byte, error) {
	if len(text) > maxKeyFile {
		return nil, fmt.Errorf("read the key file: %s is too long; it must hold exactly %d bytes as hex", path, chacha20poly1305.KeySize)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("read the key file: %s is corrupt: not %d bytes as hex; bring back the original", path, chacha20poly1305.KeySize)
	}
	if len(key) != chacha20poly1305.KeySize {
		return nil, fmt.Errorf("read the key file: %s must contain exactly %d bytes as hex (got %d); bring back the original", path, chacha20poly1305.KeySize, len(key))
	}
	return key, nil
}

// createKey publishes a new key without ever replacing one: it is written and
// synced under another name first, so that a crash leaves no half key behind,
// and then linked; whoever comes second reads the first one's.
func createKey(path string, random io.Reader) ([]byte, error) {
	key := make([]byte, chacha20poly1305.KeySize)
	suffix := make([]byte, 8)
	for _, b := range [][]byte{key, suffix} {
		if _, err := io.ReadFull(random, b); err != nil {
			return nil, fmt.Errorf("create the key file: read random bytes: %w", err)
		}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the key file: %w", err)
	}
	text := []byte(hex.EncodeToString(key))
	temp := path + "." + hex.EncodeToString(suffix) + ".tmp"
	if err := writeNew(temp, text); err != nil {
		return nil, fmt.Errorf("create the key file: %w", err)
	}
	defer os.Remove(temp)
	err := os.Link(temp, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		// A file system without hard links: exclusive creation is the next best.
		err = writeNew(path, text)
	}
	if errors.Is(err, fs.ErrExist) {
		return readKey(path)
	}
	if err != nil {
		return nil, fmt.Errorf("create the key file: %w", err)
	}
	syncDir(dir)
	return key, nil
}

// writeNew writes a file that did not exist, with mode 0600 from birth.
func writeNew(path string, data []byte) error {
	f, err := openNoFollow(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		os.Remove(path)
	}
	return err
}
