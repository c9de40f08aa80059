// Package atomicfile owns writing a file so that a reader, or a crash at any
// moment, finds the old bytes or the new ones and nothing in between, and the
// advisory lock that keeps two processes from saving at the same time.
//
// New content goes to a temporary file in the same folder, is flushed to the
// disk, takes over mode and owner of the file that it replaces and is renamed
// over it; then the folder is flushed. Consequences that callers should know:
// a hard link to the old file keeps the old content, and a set-user-ID,
// set-group-ID or sticky bit is not carried over.
package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Options say how a file is written. The zero value suits a file that anybody
// may read.
type Options struct {
	// Mode holds the permission bits of a file that did not exist; 0 is 0o644.
	// It is set as given: the process's umask plays no part.
	Mode os.FileMode
	// ForceMode sets Mode on a file that is replaced too. Unset, the replaced
	// file's permission bits are kept.
	ForceMode bool
	// Check, when set, runs when the new content is complete on the disk, right
	// before it takes the name. old is what stands under the name, nil when
	// nothing does. An error leaves the old file alone.
	Check func(old os.FileInfo) error
}

func (o Options) mode(old os.FileInfo) os.FileMode {
	if old != nil && !o.ForceMode {
		return old.Mode().Perm()
	}
	if o.Mode == 0 {
		return 0o644
	}
	return o.Mode.Perm()
}

// ErrNotRegular is returned, wrapped, when what stands under the name is a
// folder, link, device, FIFO or socket.
var ErrNotRegular = errors.New("not a regular file")

// Write replaces the content of the file at path, or creates it in an existing
// folder. A symbolic link at path is followed: its target is replaced, or
// created, and the link stays.
func Write(path string, data []byte, o Options) error {
	_, err := WriteFrom(path, bytes.NewReader(data), o)
	return err
}

// WriteFrom is Write with the content of r, read until io.EOF. It returns the
// number of bytes written. An error of r leaves the old file alone and is
// wrapped.
func WriteFrom(path string, r io.Reader, o Options) (int64, error) {
	dir, name, err := target(path)
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", path, err)
	}
	defer root.Close()
	return WriteIn(root, name, r, o)
}

// WriteIn is WriteFrom for a name below root, which the write cannot leave
// whatever happens to the folders meanwhile. A link under name itself is
// refused with ErrNotRegular.
func WriteIn(root *os.Root, name string, r io.Reader, o Options) (int64, error) {
	n, err := writeIn(root, name, r, o)
	if err != nil {
		return 0, fmt.Errorf("writing %s: %w", filepath.Join(root.Name(), name), err)
	}
	return n, nil
}

func writeIn(root *os.Root, name string, r io.Reader, o Options) (n int64, err error) {
	dir, err := root.OpenRoot(filepath.Dir(name))
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	name = filepath.Base(name)
	old, err := current(dir, name)
	if err != nil {
		return 0, err
	}
	tmp, f, err := createTemp(dir)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.close(), remove(dir, tmp))
		}
	}()
	if n, err = io.Copy(f.File, r); err != nil {
		return 0, err
	}
	if old != nil {
		keepOwner(f.File, old)
	}
	if err = f.Chmod(o.mode(old)); err != nil && !modeless(err) {
		return 0, err
	}
	if old != nil {
		keepAttributes(f.File, dir, name)
	}
	if err = f.Sync(); err != nil {
		return 0, err
	}
	if err = f.close(); err != nil {
		return 0, err
	}
	if old, err = current(dir, name); err != nil {
		return 0, err
	}
	if o.Check != nil {
		if err = o.Check(old); err != nil {
			return 0, err
		}
	}
	if err = rename(dir, tmp, name); err != nil {
		return 0, err
	}
	syncFolder(dir)
	return n, nil
}

// current is what stands under name: nil for nothing, an error for anything
// but a regular file.
func current(dir *os.Root, name string) (os.FileInfo, error) {
	fi, err := dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, fmt.Errorf("%w (%s)", ErrNotRegular, fi.Mode().Type())
	}
	return fi, nil
}

func remove(dir *os.Root, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// maxLinks is how many links in a row are followed, as Linux does.
const maxLinks = 40

// target follows the link at path, also a dangling one, and returns the
// resolved folder and the name in it.
func target(path string) (dir, name string, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	for range maxLinks {
		// Not filepath.Dir: cleaning "link/.." as text would change its meaning.
		dir, name = filepath.Split(path)
		if name == "" || name == "." || name == ".." {
			return "", "", ErrNotRegular
		}
		if dir, err = filepath.EvalSymlinks(dir); err != nil {
			return "", "", err
		}
		path = dir + string(filepath.Separator) + name
		fi, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return dir, name, nil
		}
		if err != nil {
			return "", "", err
		}
		if fi.Mode()&fs.ModeSymlink == 0 {
			return dir, name, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", "", err
		}
		if !filepath.IsAbs(to) {
			to = dir + string(filepath.Separator) + to
		}
		path = to
	}
	return "", "", errors.New("too many links in a row")
}
