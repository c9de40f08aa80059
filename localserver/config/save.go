package config

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"zeroclaw/tools/atomicfile"
)

// Set saves edits, all or none of them, and returns the new version. version
// is the Version that the edits were made for: when the file is another one by
// now, nothing is saved and the error is ErrChanged. An empty version saves
// over whatever the file says elsewhere. Other errors: *FieldError,
// ErrUnrepaired, ErrBusy, ctx's, and those of the disk; after any of them the
// file is as it was.
func (f *File) Set(ctx context.Context, version string, edits []Edit) (string, error) {
	return f.save(ctx, version, func(*Settings) ([]Edit, error) { return edits, nil })
}

// Update saves the edits that change returns for the newest snapshot, which no
// other process can change meanwhile. An error of change is returned as it is.
func (f *File) Update(ctx context.Context, change func(*Settings) ([]Edit, error)) (string, error) {
	return f.save(ctx, "", change)
}

func (f *File) save(ctx context.Context, version string, change func(*Settings) ([]Edit, error)) (string, error) {
	if err := f.refused(version); err != nil {
		return "", err
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	before := readContent(f.path)
	current := f.adopt(before)
	if err := f.savable(before, version); err != nil {
		return "", err
	}
	edits, err := change(current)
	if err != nil {
		return "", err
	}
	data, err := f.edit(before.data, edits)
	if err != nil {
		return "", err
	}
	if before.info != nil && bytes.Equal(data, before.data) && looseFile(before.info) == "" {
		return current.Version, nil
	}
	if before.info == nil && len(data) == 0 {
		return current.Version, nil
	}
	if err := f.backUp(before); err != nil {
		return "", fmt.Errorf("save the configuration: %w; nothing was saved", err)
	}
	err = atomicfile.Write(before.target, data, atomicfile.Options{Mode: 0o600, ForceMode: true, Check: before.stillThere})
	if errors.Is(err, ErrChanged) {
		f.adopt(readContent(f.path))
		return "", ErrChanged
	}
	if err != nil {
		return "", fmt.Errorf("save the configuration: %w; nothing was saved", err)
	}
	f.sweep(before.target)
	return f.adopt(readContent(f.path)).Version, nil
}

// sweep deletes what saves that were killed left behind. Only files that no
// write can still be using go, so that a failure is no reason to complain.
func (f *File) sweep(target string) {
	old := f.config.Now().Add(-time.Hour)
	_, _ = atomicfile.RemoveStale(f.config.Dir, old)
	if dir := filepath.Dir(target); dir != f.config.Dir {
		_, _ = atomicfile.RemoveStale(dir, old)
	}
}

// refused tells early that nothing can be saved, so that a refusal leaves no
// folder behind.
func (f *File) refused(version string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := readContent(f.path)
	err := f.savable(c, version)
	if err != nil {
		f.adopt(c)
	}
	return err
}

// savable refuses to save over a file that cannot be read, is another
// version, or is another user's.
func (f *File) savable(c content, version string) error {
	s, _ := f.load(c)
	switch {
	case s.Unreadable:
		return fmt.Errorf("%w: %s", ErrUnrepaired, s.Problems[0])
	case version != "" && version != s.Version:
		return ErrChanged
	case c.info != nil && foreign(c.info):
		return fmt.Errorf("save the configuration: %s belongs to another user; it is not replaced", c.target)
	}
	return nil
}

// stillThere refuses to replace a file that was edited since it was read.
func (c content) stillThere(old os.FileInfo) error {
	switch {
	case old == nil && c.info == nil:
		return nil
	case old == nil || c.info == nil, !os.SameFile(old, c.info), old.Size() != c.info.Size(), !old.ModTime().Equal(c.info.ModTime()):
		return ErrChanged
	}
	return nil
}

// lockLimit bounds how long a save waits for another one to finish.
const lockLimit = 5 * time.Second

// lock makes the state folder and waits until nobody else saves. The caller
// does not hold mu: what a person writes into the file by hand counts meanwhile.
func (f *File) lock(ctx context.Context) (unlock func(), err error) {
	run := filepath.Join(f.config.Dir, "run")
	if err := os.MkdirAll(run, 0o700); err != nil {
		return nil, fmt.Errorf("save the configuration: make the state folder: %w", err)
	}
	if info, err := os.Stat(f.config.Dir); err == nil {
		if err := checkFolder(f.config.Dir, info); err != nil {
			return nil, fmt.Errorf("save the configuration: %w", err)
		}
		tighten(f.config.Dir, info)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, ErrBusy)
	defer cancel()
	// The saves of this process queue up first, so that each gets its turn.
	select {
	case f.saving <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("save the configuration: %w", context.Cause(ctx))
	}
	release, err := pollLock(ctx, filepath.Join(run, "config.lock"))
	if err != nil {
		<-f.saving
		return nil, fmt.Errorf("save the configuration: %w", err)
	}
	return func() {
		release()
		<-f.saving
	}, nil
}

func pollLock(ctx context.Context, path string) (unlock func(), err error) {
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		unlock, err := atomicfile.TryLock(path)
		if err == nil || !errors.Is(err, atomicfile.ErrLocked) {
			return unlock, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(wait):
		}
	}
}

// backUp keeps the file as it was in config.toml.bak. Secrets in plain text
// are sealed there too: sealing them in the file would be for nothing
// otherwise. It stays in the state folder when config.toml is a link.
func (f *File) backUp(c content) error {
	if c.info == nil {
		return nil
	}
	data := c.data
	if doc, err := parse(data); err == nil {
		if data, err = f.seal(doc); err != nil {
			// The key is unusable: what was plain stays plain in both.
			data = c.data
		}
	}
	return atomicfile.Write(f.path+".bak", data, atomicfile.Options{Mode: 0o600, ForceMode: true})
}
