package resolve

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"zeroclaw/permissions"
)

// maxWalk is how many entries a walk looks at before it gives up.
const maxWalk = 20_000

// walk looks at everything below the folder p.Real without following a link,
// as ls -R, find and du do, and notes what it meets: own state, the first
// protected name, too many entries. Folders that cannot be read are passed
// over: the command runs as the same user and cannot read them either.
func (r *Resolver) walk(p *permissions.Path) {
	left := r.maxWalk
	todo := []string{p.Real}
	for len(todo) > 0 {
		dir := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f, err := os.Open(filepath.FromSlash(dir))
		if err != nil {
			continue
		}
		for {
			entries, err := f.ReadDir(256)
			for _, e := range entries {
				if left--; left < 0 {
					f.Close()
					p.TooMany = true
					return
				}
				name := join(dir, e.Name())
				if p.Protected == "" {
					p.Protected = permissions.Protected(p.Op, name, name)
				}
				if e.IsDir() {
					todo = append(todo, name)
				}
				if (e.IsDir() || e.Type().IsRegular()) && r.ownEntry(name, e) {
					f.Close()
					p.OwnState = true
					return
				}
			}
			if err != nil || len(entries) == 0 {
				break
			}
		}
		f.Close()
	}
}

// ownEntry reports whether an entry is a folder or a file of own state under
// another name. Its names proper are known before the walk starts.
func (r *Resolver) ownEntry(name string, e os.DirEntry) bool {
	info, err := e.Info()
	if err != nil || !e.IsDir() && !mayHaveLinks(info) {
		return false
	}
	id, err := identify(name, info)
	if err != nil {
		return false
	}
	if e.IsDir() {
		return r.own.holdsFolder(id)
	}
	return id.links > 1 && r.own.holdsFile(id)
}

// holdsAnything reports whether a folder has an entry. One that cannot be read
// counts as full.
func holdsAnything(dir string) bool {
	f, err := os.Open(filepath.FromSlash(dir))
	if err != nil {
		return true
	}
	defer f.Close()
	_, err = f.ReadDir(1)
	return !errors.Is(err, io.EOF)
}
