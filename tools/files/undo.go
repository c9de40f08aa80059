package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/tools/atomicfile"
)

// ErrUndoUnknown is returned, wrapped, for an id that is not kept (any more).
var ErrUndoUnknown = errors.New("nothing is kept under this id; only the latest edits can be undone")

// ErrUndoChanged is returned, wrapped, when the file is not as the edit left
// it: undoing would lose somebody's work.
var ErrUndoChanged = errors.New("the file has changed since the edit, so the edit cannot be undone")

// UndoResult is what an undo did. Hash is the SHA-256 of the content that is
// there now, "" when the file was deleted because the edit had created it.
type UndoResult struct {
	Path     string `json:"path"` // resolved, as permissions.EncodePath writes it
	Hash     string `json:"hash,omitempty"`
	Restored bool   `json:"restored"`
	Deleted  bool   `json:"deleted,omitempty"`
}

// Undo takes back the edit with this id: it puts the old content back or
// deletes the file that the edit created, provided the file still is what the
// edit made of it. judge resolves and judges the path, once for writing and
// for a created file also for deleting; only permissions.Allow lets the undo
// happen, so a caller that acts for a person who pressed Undo answers Allow
// where the policy would ask. An edit can be undone once.
func (f *Files) Undo(ctx context.Context, id string, judge func(path string, op permissions.Op) (permissions.Path, permissions.Verdict)) (UndoResult, error) {
	k, err := f.kept(id)
	if err != nil {
		return UndoResult{}, err
	}
	name := permissions.Visible(permissions.DecodePath(k.Path))
	fail := func(err error) (UndoResult, error) {
		return UndoResult{}, fmt.Errorf("undoing the edit of %s: %w", name, err)
	}
	done, err := f.alone(ctx, permissions.DecodePath(k.Path))
	if err != nil {
		return fail(err)
	}
	defer done()
	p, err := allowed(k, permissions.OpWrite, judge)
	if err != nil {
		return fail(err)
	}
	file, info, err := openFile(p)
	if err != nil {
		return fail(ErrUndoChanged)
	}
	defer file.Close()
	now, err := takeSurvey(ctx, file, info.Size(), nil)
	if err != nil {
		return fail(cause(err))
	}
	if now.hash != k.After {
		return fail(ErrUndoChanged)
	}
	r := UndoResult{Path: k.Path, Restored: true}
	if k.Created {
		r.Deleted = true
		err = f.undoCreated(k, file, judge)
	} else {
		r.Hash = k.Before
		err = f.putBack(ctx, k, p, file)
	}
	if err != nil {
		return fail(err)
	}
	f.store.Lock()
	defer f.store.Unlock()
	_ = f.drop(id) // the hashes no longer fit, so what may be left does no harm
	return r, nil
}

func allowed(k kept, op permissions.Op, judge func(string, permissions.Op) (permissions.Path, permissions.Verdict)) (permissions.Path, error) {
	p, v := judge(k.Path, op)
	switch {
	case p.Err != "":
		return p, errors.New(p.Err)
	case p.OwnState:
		return p, errors.New("it belongs to the companion itself")
	case v.Decision != permissions.Allow:
		return p, errors.New(v.Reason)
	case permissions.EncodePath(p.Real) != k.Path:
		return p, fmt.Errorf("it is a link by now: %w", ErrUndoChanged)
	}
	return p, nil
}

func (f *Files) undoCreated(k kept, file *os.File, judge func(string, permissions.Op) (permissions.Path, permissions.Verdict)) error {
	p, err := allowed(k, permissions.OpDelete, judge)
	if err != nil {
		return err
	}
	root, name, err := resolve.OpenParent(p)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := same(root, name, file); err != nil {
		return err
	}
	return cause(root.Remove(name))
}

// same makes sure that the entry still is the file that is open.
func same(root *os.Root, name string, file *os.File) error {
	entry, err := root.Lstat(name)
	if err != nil {
		return ErrUndoChanged
	}
	open, err := file.Stat()
	if err != nil || !os.SameFile(entry, open) {
		return ErrUndoChanged
	}
	return nil
}

func (f *Files) putBack(ctx context.Context, k kept, p permissions.Path, file *os.File) error {
	old, err := os.Open(filepath.Join(f.cfg.Undo, k.ID+oldSuffix))
	if errors.Is(err, os.ErrNotExist) {
		return ErrUndoUnknown
	}
	if err != nil {
		return err
	}
	defer old.Close()
	root, name, err := resolve.OpenParent(p)
	if err != nil {
		return err
	}
	defer root.Close()
	sum := sha256.New()
	_, err = atomicfile.WriteIn(root, name, io.TeeReader(&untilDone{ctx, old}, sum), atomicfile.Options{Check: func(os.FileInfo) error {
		if hex.EncodeToString(sum.Sum(nil)) != k.Before {
			return errors.New("what was kept of the old content is damaged")
		}
		return same(root, name, file)
	}})
	return err
}
