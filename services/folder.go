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
	var folders []string
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
		folders, list = append(folders, name), append(list, h.spec)
	}
	f.held = next
	settleNames(list, folders)
	return list
}

// settleNames makes the names of definitions, which are in these folders,
// unique without regard to case. Of two that want one name it goes to one that
// can be used, then to the one in the folder of that name, then to the first.
func settleNames(list []Spec, folders []string) {
	rank := func(i int) int {
		switch {
		case list[i].Invalid != nil:
			return 2
		case folders[i] != list[i].Name:
			return 1
		}
		return 0
	}
	owner := map[string]int{}
	for i, s := range list {
		key := strings.ToLower(s.Name)
		if first, twice := owner[key]; !twice || rank(i) < rank(first) {
			owner[key] = i
		}
	}
	for i := range list {
		s := &list[i]
		first := owner[strings.ToLower(s.Name)]
		if first == i {
			continue
		}
		if s.Invalid == nil {
			s.Invalid = &ManifestError{File: filepath.Join(s.Dir, ManifestName), Message: fmt.Sprintf("its id %q is that of the folder %s too: change one", s.Name, folders[first])}
		}
		s.Name = fmt.Sprintf("%s (%s)", s.Name, folders[i])
	}
}

func fileStamp(path string) string {
	st, err := os.Stat(path)
	if err != nil {
		return "-"
	}
	return fmt.Sprintf("%d %s;", st.Size(), st.ModTime().Format(time.RFC3339Nano))
}
