package results

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"zeroclaw/tools/atomicfile"
)

// uploads is the folder uploads/ of a session. It is opened when something is
// first put into it; from then on everything is done relative to the open
// folder, whatever happens to the paths meanwhile.
type uploads struct {
	workspace string
	root      *os.Root
	failed    error
}

// errNoFolder is for a session that has nowhere to put files.
var errNoFolder = errors.New("this session has no folder for attachments")

func (u *uploads) open() error {
	if u.root == nil && u.failed == nil {
		u.root, u.failed = openUploads(u.workspace)
	}
	return u.failed
}

func openUploads(workspace string) (*os.Root, error) {
	if workspace == "" {
		return nil, errNoFolder
	}
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		return nil, fmt.Errorf("the session's folder could not be made: %w", err)
	}
	if info, err := os.Lstat(workspace); err != nil || !info.IsDir() {
		return nil, errors.New("the session's folder is a link or no folder")
	}
	base, err := os.OpenRoot(workspace)
	if err != nil {
		return nil, fmt.Errorf("the session's folder cannot be opened: %w", err)
	}
	defer base.Close()
	if err := base.Mkdir("uploads", 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("uploads could not be made: %w", err)
	}
	root, err := base.OpenRoot("uploads")
	if err != nil {
		return nil, fmt.Errorf("uploads cannot be opened: %w", err)
	}
	// A link is followed by opening: what is open has to be what stands there.
	named, err := base.Lstat("uploads")
	opened, err2 := root.Stat(".")
	if err != nil || err2 != nil || !named.IsDir() || !os.SameFile(named, opened) {
		root.Close()
		return nil, errors.New("uploads is a link or no folder")
	}
	return root, nil
}

func (u *uploads) close() {
	if u.root != nil {
		u.root.Close()
	}
}

// put stores what read gives under a name, which stands for the content. A file
// that is there with the same bytes is left alone, a link is removed.
func (u *uploads) put(name string, size int64, read func() io.Reader) error {
	if err := u.open(); err != nil {
		return err
	}
	info, err := u.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("the file cannot be looked at: %w", err)
	case info.Mode().IsRegular():
		if info.Size() == size && u.same(name, read()) {
			return nil
		}
	case info.IsDir():
		return errors.New("a folder stands in the file's place")
	default:
		if err := u.root.Remove(name); err != nil {
			return fmt.Errorf("what stands in the file's place cannot be removed: %w", err)
		}
	}
	if _, err := atomicfile.WriteIn(u.root, name, read(), atomicfile.Options{Mode: 0o600, ForceMode: true}); err != nil {
		return fmt.Errorf("the file could not be written: %w", err)
	}
	return nil
}

// same reports whether a file holds what r gives.
func (u *uploads) same(name string, r io.Reader) bool {
	f, err := u.root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	a, b := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, errA := io.ReadFull(f, a)
		m, errB := io.ReadFull(r, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return ended(errA) && ended(errB)
		}
	}
}

func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
