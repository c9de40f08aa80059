// Package catalog owns the service definitions that come with the companion.
package catalog

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"zeroclaw/tools/atomicfile"
)

//go:embed bundled
var bundled embed.FS

// Bundled returns the ids of the definitions that come with the companion.
func Bundled() []string {
	entries, err := bundled.ReadDir("bundled")
	if err != nil {
		return nil
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids
}

// WriteBundled puts each bundled definition into the folder of services, an
// absolute path that is created when needed. A service whose folder exists is
// left as it is, whatever is in it: it may have been edited, and a copy is what
// a user changes. The error joins those of the single services; the others are
// written.
func WriteBundled(services string) error {
	if err := os.MkdirAll(services, 0o700); err != nil {
		return fmt.Errorf("creating the folder of services: %w", err)
	}
	root, err := os.OpenRoot(services)
	if err != nil {
		return fmt.Errorf("opening the folder of services: %w", err)
	}
	defer root.Close()
	var failed error
	for _, id := range Bundled() {
		if err := writeOne(root, id); err != nil {
			failed = errors.Join(failed, fmt.Errorf("writing the service %s to %s: %w", id, filepath.Join(services, id), err))
		}
	}
	return failed
}

// writeOne fills a folder under another name first, so that one that was only
// half written never counts as the user's.
func writeOne(root *os.Root, id string) error {
	if _, err := root.Lstat(id); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp := ".new-" + id
	if err := root.RemoveAll(temp); err != nil {
		return err
	}
	if err := root.Mkdir(temp, 0o700); err != nil {
		return err
	}
	defer root.RemoveAll(temp)
	if err := fill(root, temp, path.Join("bundled", id)); err != nil {
		return err
	}
	return root.Rename(temp, id)
}

func fill(root *os.Root, name, from string) error {
	dir, err := root.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	entries, err := bundled.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := bundled.ReadFile(path.Join(from, e.Name()))
		if err != nil {
			return err
		}
		if _, err := atomicfile.WriteIn(dir, e.Name(), bytes.NewReader(data), atomicfile.Options{Mode: 0o600}); err != nil {
			return err
		}
	}
	return nil
}
