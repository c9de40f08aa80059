package services

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Folder finds the definitions in a folder of service folders, normally
// ~/.zeroclaw/services. It remembers what it read as long as the files are
// unchanged, so Scan is cheap.
type Folder struct {
	Path string

	mu   sync.Mutex
	held map[string]heldSpec // by folder name
}

type heldSpec struct {
	stamp string
	spec  Spec
}

// Scan reads every service's folder. A folder that cannot be used is in the
// list with its reason; a missing Path is an empty list. Names with a leading
// dot are passed over.
func (f *Folder) Scan() []Spec {
	f.mu.Lock()
	defer f.mu.Unlock()
	entries, err := os.ReadDir(f.Path)
	if err != nil {
		return nil
	}
	next := map[string]heldSpec{}
	owner := map[string]string{}
	var list []Spec
	for _, e := range entries {
		name := e.Name()
		dir := filepath.Join(f.Path, name)
		if strings.HasPrefix(name, ".") {
			continue
		}
		if st, err := os.Stat(dir); err != nil || !st.IsDir() {
			continue
		}
		stamp := fileStamp(filepath.Join(dir, ManifestName)) + fileStamp(filepath.Join(dir, InstallerName))
		h, ok := f.held[name]
		if !ok || h.stamp != stamp {
			h = heldSpec{stamp, LoadService(dir)}
		}
		next[name] = h
		spec := h.spec
		if first, twice := owner[strings.ToLower(spec.Name)]; twice {
			file := filepath.Join(dir, ManifestName)
			spec.Invalid = &ManifestError{File: file, Message: fmt.Sprintf("its id %q is that of the folder %s too: change one", spec.Name, first)}
			spec.Name = fmt.Sprintf("%s (%s)", spec.Name, name)
		}
		owner[strings.ToLower(spec.Name)] = name
		list = append(list, spec)
	}
	f.held = next
	return list
}

func fileStamp(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d %s;", st.Size(), st.ModTime().Format(time.RFC3339Nano))
}
