package resolve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"zeroclaw/permissions"
)

// ErrChanged says that something else stands at a path than what was judged.
var ErrChanged = errors.New("it has changed since the call was judged; try again")

// Open opens exactly p.Real, the place that was judged. It starts in the folder
// that p.Dir named then, known by its identity, goes down from there without
// following a link, and opens without waiting for a writer. What it has opened
// is a regular file or a folder and, when something stood there, that very one;
// otherwise ErrChanged. A file that did not exist is created only if still
// nothing is there.
func Open(p permissions.Path, flag int, perm os.FileMode) (*os.File, error) {
	if p.Kind == permissions.KindLink || p.Op == permissions.OpDelete {
		return nil, fmt.Errorf("open %q: it was judged for removal only", permissions.Visible(p.Real))
	}
	if p.Real == p.Dir && p.Kind == permissions.KindDir { // the top of the file system
		return openChecked(p, flag, perm, nil, ".")
	}
	root, name, err := OpenParent(p)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return openChecked(p, flag, perm, root, name)
}

func openChecked(p permissions.Path, flag int, perm os.FileMode, root *os.Root, name string) (*os.File, error) {
	fail := func(err error) (*os.File, error) {
		return nil, fmt.Errorf("open %q: %w", permissions.Visible(p.Real), err)
	}
	if root == nil {
		top, err := os.OpenRoot(filepath.FromSlash(p.Real))
		if err != nil {
			return fail(bare(err))
		}
		defer top.Close()
		root = top
	}
	existed := p.Kind != permissions.KindNone
	// Cutting a file short must wait until it is known to be the right one, and
	// creating must not go through a link that was put there.
	cut := flag&os.O_TRUNC != 0
	flag &^= os.O_TRUNC
	if existed {
		flag &^= os.O_CREATE | os.O_EXCL
	} else if flag&os.O_CREATE != 0 {
		flag |= os.O_EXCL
	}
	f, err := root.OpenFile(name, flag|nonblock, perm)
	switch {
	case !existed && flag&os.O_CREATE != 0 && errors.Is(err, fs.ErrExist),
		existed && errors.Is(err, fs.ErrNotExist):
		return fail(ErrChanged)
	case err != nil:
		// A name that now is a link which leads out is refused by os.Root.
		if info, lerr := root.Lstat(name); lerr == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fail(ErrChanged)
		}
		return fail(bare(err))
	}
	if err := check(p, f, existed || flag&os.O_CREATE == 0); err != nil {
		f.Close()
		return fail(err)
	}
	if cut {
		if err := f.Truncate(0); err != nil {
			f.Close()
			return fail(bare(err))
		}
	}
	return f, nil
}

// check compares what is open with what was judged.
func check(p permissions.Path, f *os.File, same bool) error {
	info, err := f.Stat()
	if err != nil {
		return bare(err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return ErrChanged
	}
	if !same {
		return nil
	}
	id, err := identifyOpen(f, info)
	if err != nil {
		return err
	}
	if p.Kind == permissions.KindNone || id.dev != p.Dev || id.ino != p.Ino || info.IsDir() != (p.Kind == permissions.KindDir) {
		return ErrChanged
	}
	return nil
}

// OpenParent opens the folder that p.Real is an entry of, and returns the name
// of the entry in it, for creating, renaming and removing without a race: the
// folder is the one that was judged, wherever its path leads by now. Folders
// that were missing when p was judged must have been made since, see
// MakeParents. The caller closes root.
func OpenParent(p permissions.Path) (root *os.Root, name string, err error) {
	root, missing, err := openDir(p)
	if err != nil {
		return nil, "", err
	}
	for len(missing) > 1 {
		below, err := descend(root, missing[0])
		root.Close()
		if err != nil {
			return nil, "", fmt.Errorf("open the folder of %q: %w", permissions.Visible(p.Real), err)
		}
		root, missing = below, missing[1:]
	}
	return root, missing[0], nil
}

// MakeParents creates the folders above p.Real that were missing when p was
// judged, one by one and without following a link.
func MakeParents(p permissions.Path, perm os.FileMode) error {
	root, missing, err := openDir(p)
	if err != nil {
		return err
	}
	defer func() { root.Close() }()
	for len(missing) > 1 {
		if err := root.Mkdir(missing[0], perm); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("create the folder of %q: %w", permissions.Visible(p.Real), bare(err))
		}
		below, err := descend(root, missing[0])
		if err != nil {
			return fmt.Errorf("create the folder of %q: %w", permissions.Visible(p.Real), err)
		}
		root.Close()
		root, missing = below, missing[1:]
	}
	return nil
}

// openDir opens p.Dir, checks that it is the folder that was judged, and
// returns the names from there to p.Real, at least one.
func openDir(p permissions.Path) (*os.Root, []string, error) {
	fail := func(err error) (*os.Root, []string, error) {
		return nil, nil, fmt.Errorf("open the folder of %q: %w", permissions.Visible(p.Real), err)
	}
	if p.Err != "" || p.Real == "" || p.Dir == "" || p.Real == p.Dir || !within(p.Dir, p.Real) {
		return fail(errors.New("it is no path that was judged"))
	}
	root, err := os.OpenRoot(filepath.FromSlash(p.Dir))
	if errors.Is(err, fs.ErrNotExist) {
		return fail(ErrChanged)
	}
	if err != nil {
		return fail(bare(err))
	}
	if err := sameFolder(root, identity{p.DirDev, p.DirIno, 0}); err != nil {
		root.Close()
		return fail(err)
	}
	return root, names(strings.TrimPrefix(p.Real, p.Dir)), nil
}

func sameFolder(root *os.Root, want identity) error {
	f, err := root.Open(".")
	if err != nil {
		return bare(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return bare(err)
	}
	id, err := identifyOpen(f, info)
	if err != nil {
		return err
	}
	if id.dev != want.dev || id.ino != want.ino {
		return ErrChanged
	}
	return nil
}

// descend opens a folder in root that is no link.
func descend(root *os.Root, name string) (*os.Root, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, bare(err)
	}
	if !info.IsDir() {
		return nil, ErrChanged
	}
	below, err := root.OpenRoot(name)
	if err != nil {
		return nil, bare(err)
	}
	now, err := below.Stat(".")
	if err != nil {
		below.Close()
		return nil, bare(err)
	}
	if !os.SameFile(info, now) {
		below.Close()
		return nil, ErrChanged
	}
	return below, nil
}

// bare takes the operation and the path off an error: the caller names them.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
