package config

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// patience is how many times the debounce it takes until a folder that cannot
// be watched, because it does not exist yet or was deleted, is looked for
// again: 2 s by default.
const patience = 20

// Serve watches the configuration until ctx ends and returns ctx's error.
// Folders are watched, not the file, because a save puts another file under
// the name; where config.toml is a link, the folder of its target is watched
// as well.
func (f *File) Serve(ctx context.Context) error {
	for {
		err := f.watch(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		wait := patience * f.config.Debounce
		if err == nil {
			wait = f.config.Debounce
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		f.Reload()
	}
}

// watch reloads after changes until a watched folder goes, another one has to
// be watched, or ctx ends.
func (f *File) watch(ctx context.Context) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	defer w.Close()
	folders, names := f.folders()
	for _, dir := range folders {
		if err := w.Add(dir); err != nil {
			return err
		}
	}
	// A change made before the watch began would be missed otherwise.
	f.Reload()
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Events:
			if !ok {
				return nil
			}
			if e.Has(fsnotify.Remove|fsnotify.Rename) && slices.Contains(folders, filepath.Clean(e.Name)) {
				return os.ErrNotExist
			}
			// The database lives in the same folder and is written all the time.
			if slices.Contains(names, filepath.Base(e.Name)) {
				timer.Reset(f.config.Debounce)
			}
		case _, ok := <-w.Errors:
			if !ok {
				return nil
			}
			// Too many events at once: some were lost, so look.
			timer.Reset(f.config.Debounce)
		case <-timer.C:
			f.Reload()
			if now, _ := f.folders(); !slices.Equal(folders, now) {
				return nil
			}
		}
	}
}

// folders are those of config.toml and of what its links end at; names are
// the two files.
func (f *File) folders() (folders, names []string) {
	folders, names = []string{f.config.Dir}, []string{FileName}
	if target, err := followLinks(f.path); err == nil && target != f.path {
		dir := filepath.Dir(target)
		if _, err := os.Stat(dir); err == nil && dir != f.config.Dir {
			folders = append(folders, dir)
		}
		names = append(names, filepath.Base(target))
	}
	return folders, names
}
