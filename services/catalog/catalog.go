// Package catalog owns the service definitions that come with the companion,
// and the installation of what definitions need: npm packages in a service's
// own folder, Python packages in one environment that all services share.
package catalog

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

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

// originName is the file in a bundled service's folder that says what was
// written there, so that an edit can be told from an older version.
const originName = ".bundled.json"

// origin holds the SHA-256 of each file by name.
type origin struct {
	Files map[string]string `json:"files"`
}

// WriteBundled puts each bundled definition into the folder of services, an
// absolute path that is created when needed. In a service's folder that exists,
// files of an older companion are replaced when all of them are as they were
// written; once one was edited or removed, the folder is the user's and is left
// as it is. The error joins those of the single services; the others are
// written.
//
// A new folder can be read when WriteBundled returns, and outlives a power cut
// once settle has returned, which waits for the disk: for when there is time.
func WriteBundled(services string) (settle func() error, err error) {
	files, err := fs.Sub(bundled, "bundled")
	if err != nil {
		return func() error { return nil }, err
	}
	return writeAll(services, files)
}

// writeAll is WriteBundled with the definitions of a file system.
func writeAll(services string, definitions fs.FS) (settle func() error, err error) {
	var fresh []string
	settle = func() error {
		return each(services, definitions, fresh, func(root *os.Root, id string, files map[string][]byte) error {
			var failed error
			for _, name := range append(slices.Collect(maps.Keys(files)), originName) {
				failed = errors.Join(failed, flush(root, path.Join(id, name)))
			}
			return failed
		})
	}
	if err := os.MkdirAll(services, 0o700); err != nil {
		return settle, fmt.Errorf("creating the folder of services: %w", err)
	}
	entries, err := fs.ReadDir(definitions, ".")
	if err != nil {
		return settle, err
	}
	var ids []string
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	var mu sync.Mutex
	return settle, each(services, definitions, ids, func(root *os.Root, id string, files map[string][]byte) error {
		made, err := writeOne(root, id, files)
		mu.Lock()
		defer mu.Unlock()
		if made {
			fresh = append(fresh, id)
		}
		return err
	})
}

// each does something with definitions and their folders, at the same time: most
// of it is waiting for the disk.
func each(services string, definitions fs.FS, ids []string, do func(root *os.Root, id string, files map[string][]byte) error) error {
	root, err := os.OpenRoot(services)
	if err != nil {
		return fmt.Errorf("opening the folder of services: %w", err)
	}
	defer root.Close()
	failed := make([]error, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() {
			files, err := readFiles(definitions, id)
			if err == nil {
				err = do(root, id, files)
			}
			if err != nil {
				failed[i] = fmt.Errorf("writing the service %s to %s: %w", id, filepath.Join(services, id), err)
			}
		})
	}
	all.Wait()
	return errors.Join(failed...)
}

// flush puts a file on the disk, whatever it holds by now. One that is gone by
// now is the user's doing.
func flush(root *os.Root, name string) error {
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// readFiles reads a definition, which has no folders inside.
func readFiles(definitions fs.FS, id string) (map[string][]byte, error) {
	entries, err := fs.ReadDir(definitions, id)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, e := range entries {
		if files[e.Name()], err = fs.ReadFile(definitions, path.Join(id, e.Name())); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// writeOne fills a folder under another name first, so that one that was only
// half written never counts as the user's. made says that it was not there.
func writeOne(root *os.Root, id string, files map[string][]byte) (made bool, err error) {
	switch st, err := root.Lstat(id); {
	case err == nil && st.IsDir():
		return false, renew(root, id, files)
	case !errors.Is(err, fs.ErrNotExist):
		return false, err
	}
	temp := ".new-" + id
	if err := root.RemoveAll(temp); err != nil {
		return false, err
	}
	if err := root.Mkdir(temp, 0o700); err != nil {
		return false, err
	}
	defer root.RemoveAll(temp)
	if err := fill(root, temp, files); err != nil {
		return false, err
	}
	return true, root.Rename(temp, id)
}

// fill puts the files into a folder that nobody else sees yet.
func fill(root *os.Root, name string, files map[string][]byte) error {
	record, err := recordOf(files)
	if err != nil {
		return err
	}
	for file, data := range files {
		if err := root.WriteFile(path.Join(name, file), data, 0o600); err != nil {
			return err
		}
	}
	return root.WriteFile(path.Join(name, originName), record, 0o600)
}

// write puts the files into a folder in use and, last, what they are.
func write(dir *os.Root, files map[string][]byte) error {
	record, err := recordOf(files)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := writeFile(dir, name, files[name]); err != nil {
			return err
		}
	}
	return writeFile(dir, originName, record)
}

// recordOf is what the file originName says of files.
func recordOf(files map[string][]byte) ([]byte, error) {
	o := origin{Files: map[string]string{}}
	for name, data := range files {
		o.Files[name] = hash(data)
	}
	data, err := json.MarshalIndent(o, "", "  ")
	return append(data, '\n'), err
}

// renew replaces the files of an older companion in a folder in which nothing
// was edited.
func renew(root *os.Root, id string, files map[string][]byte) error {
	dir, err := root.OpenRoot(id)
	if err != nil {
		return err
	}
	defer dir.Close()
	have, torn := map[string]string{}, false
	var was origin
	data, err := readIn(dir, originName)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && len(data) == 0:
		// Written before there was such a file, or cut off with the power: what is
		// as it is now counts as unedited.
	case err != nil || json.Unmarshal(data, &was) != nil:
		return nil
	}
	for _, names := range []iter.Seq[string]{maps.Keys(files), maps.Keys(was.Files)} {
		for name := range names {
			data, err := readIn(dir, name)
			if err == nil && len(data) == 0 && len(files[name]) > 0 { // cut off with the power: nobody edits so
				have[name] = hash(files[name])
				torn = true
			} else if err == nil {
				have[name] = hash(data)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
	}
	if !renewable(have, was.Files, files, torn) {
		return nil
	}
	for name := range was.Files {
		if _, still := files[name]; !still {
			if err := removed(dir.Remove(name)); err != nil {
				return err
			}
		}
	}
	return write(dir, files)
}

// renewable reports whether files are to be written over what a folder has:
// hashes of what is there, of what an earlier companion wrote, and the new
// files. A replacement that was cut off leaves some of both. torn says that some
// of what is there is to be written again in any case.
func renewable(have, was map[string]string, files map[string][]byte, torn bool) bool {
	same := !torn && len(have) == len(files) && len(was) == len(files)
	for name, data := range files {
		now := hash(data)
		same = same && have[name] == now && was[name] == now
		old, known := was[name]
		if have[name] != now && (!known && have[name] != "" || known && have[name] != old) {
			return false
		}
		if have[name] == "" && len(was) == 0 {
			return false
		}
	}
	for name, old := range was {
		if _, still := files[name]; !still && have[name] != "" && have[name] != old {
			return false
		}
	}
	return !same
}

// readIn reads a file of a folder that no link leads out of.
func readIn(dir *os.Root, name string) ([]byte, error) {
	st, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxSmall {
		return nil, atomicfile.ErrNotRegular
	}
	return dir.ReadFile(name)
}
