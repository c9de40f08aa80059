package files

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/atomicfile"
)

// The undo folder holds two files for an edit: ID.json says what was done, and
// ID.old is the content from before. IDs sort by age.
const (
	metaSuffix = ".json"
	oldSuffix  = ".old"
	partSuffix = ".part"
)

// kept is what ID.json holds.
type kept struct {
	ID      string    `json:"id"`
	Time    time.Time `json:"time"`
	Session string    `json:"session,omitempty"`
	Owner   string    `json:"owner,omitempty"` // see tools.Call.Owner
	CallID  string    `json:"call_id,omitempty"`
	Path    string    `json:"path"`    // resolved, as permissions.EncodePath writes it
	Created bool      `json:"created"` // there was no file before
	Before  string    `json:"before,omitempty"`
	After   string    `json:"after"`
	Size    int64     `json:"size"`
}

// keeping collects the content of a file while an edit reads it. It never
// fails the edit: without undo the edit is still what was asked for, and the
// answer says why there is no undo.
type keeping struct {
	f    *Files
	id   string // "" = nothing is kept
	part *os.File
	size int64
	pass *tools.Pass
	err  error
	done bool
}

// keep starts keeping for the edit of one call.
func (f *Files) keep(pass *tools.Pass) *keeping {
	k := &keeping{f: f, pass: pass}
	if f.cfg.Undo == "" {
		return k
	}
	if k.err = os.MkdirAll(f.cfg.Undo, 0o700); k.err != nil {
		return k
	}
	id, err := f.newID()
	if err != nil {
		k.err = err
		return k
	}
	k.part, k.err = os.OpenFile(k.file(id, partSuffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if k.err == nil {
		k.id = id
	}
	return k
}

func (k *keeping) file(id, suffix string) string { return filepath.Join(k.f.cfg.Undo, id+suffix) }

// Write always succeeds, see keeping.
func (k *keeping) Write(b []byte) (int, error) {
	if k.id == "" || k.err != nil {
		return len(b), nil
	}
	if k.size += int64(len(b)); k.size > k.f.cfg.MaxUndoBytes {
		k.err = fmt.Errorf("the old content is larger than the %s that are kept", plural(k.f.cfg.MaxUndoBytes, "byte", "bytes"))
		return len(b), nil
	}
	_, k.err = k.part.Write(b)
	return len(b), nil
}

// record stores the entry, right before the file changes: a change without its
// entry could not be undone, an entry without its change does no harm because
// the hashes do not fit.
func (k *keeping) record(c *change, after string) {
	if k.id == "" || k.err != nil {
		return
	}
	k.f.store.Lock()
	defer k.f.store.Unlock()
	if k.err = k.f.makeRoom(k.size); k.err != nil {
		return
	}
	part := k.part
	k.part = nil
	if k.err = part.Close(); k.err != nil {
		return
	}
	if k.err = os.Rename(k.file(k.id, partSuffix), k.file(k.id, oldSuffix)); k.err != nil {
		return
	}
	meta := marshal(kept{
		ID: k.id, Time: k.f.cfg.Now().UTC(), Session: k.pass.Session, Owner: k.pass.Owner, CallID: k.pass.CallID, Path: permissions.EncodePath(c.path.Real),
		Created: c.file == nil, Before: c.was.hash, After: after, Size: k.size,
	})
	k.err = atomicfile.Write(k.file(k.id, metaSuffix), meta, atomicfile.Options{Mode: 0o600})
}

// commit says that the edit was made. It returns the id for undo, or why there
// is none; "" and nil when undo is off.
func (k *keeping) commit() (string, error) {
	if k.f.cfg.Undo == "" {
		return "", nil
	}
	if k.err != nil {
		return "", fmt.Errorf("this edit cannot be undone: %w", k.err)
	}
	k.done = true
	return k.id, nil
}

// discard removes what belongs to an edit that was not made.
func (k *keeping) discard() {
	if k.part != nil {
		k.part.Close()
	}
	if k.done || k.id == "" {
		return
	}
	_ = k.f.drop(k.id)
}

// drop removes what is kept under an id, the description last: what is left
// after a failure can still be found by it.
func (f *Files) drop(id string) error {
	for _, s := range []string{partSuffix, oldSuffix, metaSuffix} {
		if err := os.Remove(filepath.Join(f.cfg.Undo, id+s)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Forget removes the old contents that are kept of the edits of one owner (see
// tools.Call.Owner), which must make no more of them. Those edits can no longer
// be undone.
func (f *Files) Forget(owner string) error {
	if f.cfg.Undo == "" || owner == "" {
		return nil
	}
	f.store.Lock()
	defer f.store.Unlock()
	entries, err := os.ReadDir(f.cfg.Undo)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing what is kept for undo: %w", cause(err))
	}
	var failed error
	for _, e := range entries {
		id, suffix := splitKept(e.Name())
		if suffix != metaSuffix {
			continue
		}
		// One whose description cannot be read belongs to nobody and goes by age.
		if k, err := f.kept(id); err == nil && k.Owner == owner {
			failed = errors.Join(failed, f.drop(id))
		}
	}
	if failed != nil {
		return fmt.Errorf("removing what is kept for undo: %w", cause(failed))
	}
	return nil
}

// makeRoom deletes the oldest entries until size more bytes fit. Content that
// is still being written (ID.part) of a run that ended long ago goes too.
func (f *Files) makeRoom(size int64) error {
	entries, err := os.ReadDir(f.cfg.Undo)
	if err != nil {
		return err
	}
	sizes := map[string]int64{}
	var ids []string
	total := size
	for _, e := range entries {
		id, suffix := splitKept(e.Name())
		info, err := e.Info()
		if id == "" || err != nil {
			continue
		}
		if suffix == partSuffix && f.cfg.Now().Sub(info.ModTime()) < 24*time.Hour {
			continue
		}
		if len(ids) == 0 || ids[len(ids)-1] != id {
			ids = append(ids, id)
		}
		// The description counts as well: a million edits of nothing must not
		// fill the disk.
		sizes[id] += info.Size()
		total += info.Size()
	}
	for _, id := range ids {
		if total <= f.cfg.MaxUndoBytes {
			return nil
		}
		if err := f.drop(id); err != nil {
			return err
		}
		total -= sizes[id]
	}
	return nil
}

// splitKept takes a file name of the undo folder apart; id is "" for a foreign
// one.
func splitKept(name string) (id, suffix string) {
	for _, s := range []string{metaSuffix, oldSuffix, partSuffix} {
		if id, ok := strings.CutSuffix(name, s); ok && validID(id) {
			return id, s
		}
	}
	return "", ""
}

// validID recognises what newID makes: eleven hex digits, "-", sixteen more.
func validID(id string) bool {
	if len(id) != 28 || id[11] != '-' {
		return false
	}
	for i, c := range []byte(id) {
		if i != 11 && (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func (f *Files) kept(id string) (kept, error) {
	if f.cfg.Undo == "" || !validID(id) {
		return kept{}, fmt.Errorf("undo %q: %w", id, ErrUndoUnknown)
	}
	b, err := os.ReadFile(filepath.Join(f.cfg.Undo, id+metaSuffix))
	if errors.Is(err, os.ErrNotExist) {
		return kept{}, fmt.Errorf("undo %q: %w", id, ErrUndoUnknown)
	}
	var k kept
	if err == nil {
		err = json.Unmarshal(b, &k)
	}
	if err != nil {
		return kept{}, fmt.Errorf("undo %q: reading what was kept: %w", id, err)
	}
	return k, nil
}
