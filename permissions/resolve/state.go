package resolve

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of the look at the state folder. Whether one of its folders has changed
// is checked at most once per snapshotAge.
const (
	maxStateEntries = 100_000
	snapshotAge     = 100 * time.Millisecond
	// mtimeGrain is how long after a change a folder may change again without
	// showing a new time.
	mtimeGrain = 2 * time.Second
)

// installed are folders of packages from elsewhere. Their links lead to system
// programs and their files are often hard links into a shared cache, neither
// of which is own state.
var installed = map[string]bool{"node_modules": true, ".venv": true}

// ownState knows the state folder: where it is under every name, what its
// links lead to, and which files are in it.
type ownState struct {
	given     string // as configured, clean; "" = there is none
	workspace []string
	now       func() time.Time

	mu      sync.Mutex
	current *snapshot
	checked time.Time
	wait    time.Duration
	looking chan struct{} // closed when the look that is under way is over; nil without one
}

// snapshot is what one look at the state folder found. It does not change.
type snapshot struct {
	taken   time.Time
	roots   []string               // the folder as configured and as resolved, and where links in it lead
	ids     map[identity]string    // of the roots that exist, without the number of links
	files   map[identity]bool      // the regular files below them
	folders map[string]fs.FileInfo // every folder that was read
	cut     bool                   // there were more entries than are looked at
}

func newOwnState(given, workspace, workspaceReal string, now func() time.Time) *ownState {
	o := &ownState{given: given, now: now}
	for _, w := range []string{workspace, workspaceReal} {
		if w != "" && !slices.Contains(o.workspace, w) {
			o.workspace = append(o.workspace, w)
		}
	}
	return o
}

// look returns a snapshot that was right a moment ago. One caller looks at the
// disk, without holding the lock; the others take the last snapshot meanwhile
// unless it is too old, and wait for the new one then.
func (o *ownState) look() *snapshot {
	o.mu.Lock()
	for {
		age := o.now().Sub(o.checked)
		if o.current != nil && age >= 0 && (age < o.wait || o.looking != nil && age < 2*o.wait) {
			defer o.mu.Unlock()
			return o.current
		}
		if o.looking == nil {
			break
		}
		over := o.looking
		o.mu.Unlock()
		<-over
		o.mu.Lock()
	}
	over := make(chan struct{})
	o.looking = over
	last := o.current
	o.mu.Unlock()
	// Deferred, so that a fault leaves nobody waiting.
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.looking = nil
		close(over)
	}()
	from := o.now()
	next := last
	if last == nil || !last.holds() {
		next = o.take(from)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.current, o.checked = next, o.now()
	// A folder that takes long to look at is looked at less often.
	o.wait = max(snapshotAge, 10*o.checked.Sub(from))
	return next
}

// holds reports whether every folder still is as it was when it was read.
func (s *snapshot) holds() bool {
	for dir, old := range s.folders {
		info, err := os.Lstat(filepath.FromSlash(dir))
		if err != nil || !os.SameFile(info, old) || !info.ModTime().Equal(old.ModTime()) {
			return false
		}
		if s.taken.Sub(info.ModTime()) < mtimeGrain {
			return false
		}
	}
	return len(s.folders) > 0
}

// take looks at the state folder and at everything that links in it lead to.
func (o *ownState) take(now time.Time) *snapshot {
	s := &snapshot{taken: now, ids: map[identity]string{}, files: map[identity]bool{}, folders: map[string]fs.FileInfo{}}
	if o.given == "" {
		return s
	}
	s.add(o.given)
	left := maxStateEntries
	for i := 0; i < len(s.roots); i++ { // grows while links are met
		s.read(o, s.roots[i], &left)
	}
	return s
}

// add makes a place one of the roots, by the name given and by where it leads.
func (s *snapshot) add(p string) {
	at, why := follow(p, true)
	for _, name := range []string{p, at.real} {
		if why == "" && !slices.ContainsFunc(s.roots, func(r string) bool { return within(r, name) }) {
			s.roots = append(s.roots, name)
		}
	}
	if why != "" || at.info == nil {
		if !slices.Contains(s.roots, p) {
			s.roots = append(s.roots, p)
		}
		return
	}
	if id, err := identify(at.real, at.info); err == nil {
		s.ids[identity{id.dev, id.ino, 0}] = at.real
		if at.info.Mode().IsRegular() {
			s.files[identity{id.dev, id.ino, 0}] = true
		}
	}
}

// read notes the files and links below a root. Links in workspaces and in
// installed packages lead where a session or a package wants, so they make
// nothing the companion's own.
func (s *snapshot) read(o *ownState, root string, left *int) {
	type folder struct {
		path  string
		links bool
	}
	todo := []folder{{root, true}}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		info, err := os.Lstat(filepath.FromSlash(at.path))
		if err != nil || !info.IsDir() || s.folders[at.path] != nil || o.inWorkspace(at.path) {
			continue
		}
		s.folders[at.path] = info
		entries, err := os.ReadDir(filepath.FromSlash(at.path))
		if err != nil && len(entries) == 0 {
			continue
		}
		for _, e := range entries {
			if *left--; *left < 0 {
				s.cut = true
				return
			}
			name := join(at.path, e.Name())
			switch {
			case e.Type()&(fs.ModeSymlink|fs.ModeIrregular) != 0:
				if at.links {
					s.addLink(name)
				}
			case e.IsDir():
				if !installed[e.Name()] {
					todo = append(todo, folder{name, at.links && name != join(o.given, "sessions")})
				}
			case e.Type().IsRegular():
				if info, err := e.Info(); err == nil {
					if id, err := identify(name, info); err == nil {
						s.files[identity{id.dev, id.ino, 0}] = true
					}
				}
			}
		}
	}
}

func (s *snapshot) addLink(name string) {
	at, why := follow(name, true)
	if why == "" && at.real != "/" {
		s.add(at.real)
	}
}

func (o *ownState) inWorkspace(p string) bool {
	return slices.ContainsFunc(o.workspace, func(w string) bool { return within(w, p) })
}

// holds reports whether a path, taken as text, is own state or inside it.
func (o *ownState) holds(p string) bool {
	if o.given == "" || o.inWorkspace(p) {
		return false
	}
	return slices.ContainsFunc(o.look().roots, func(r string) bool { return within(r, p) })
}

// isBelow reports whether own state lies below a folder.
func (o *ownState) isBelow(p string) bool {
	if o.given == "" {
		return false
	}
	return slices.ContainsFunc(o.look().roots, func(r string) bool { return within(p, r) && !o.inWorkspace(p) })
}

// holdsIdentity reports whether a resolved path is or lies in a folder of own
// state under another name: a folder mounted twice, or another spelling on a
// volume that folds case.
func (o *ownState) holdsIdentity(real string) bool {
	if o.given == "" {
		return false
	}
	ids := o.look().ids
	held := false
	drive, rest := splitDrive(real)
	dir, below := drive+"/", names(rest)
	for {
		// From the top on: nothing stands below what does not exist.
		info, err := lstatSlash(dir)
		if err != nil {
			return held
		}
		if id, err := identify(dir, info); err == nil {
			if root, ok := ids[identity{id.dev, id.ino, 0}]; ok {
				held = !o.inWorkspace(strings.Join(append([]string{root}, below...), "/"))
			}
		}
		if len(below) == 0 {
			return held
		}
		dir, below = join(dir, below[0]), below[1:]
	}
}

// holdsFile reports whether a file with several names is one of own state. When
// the state folder is too large to know, it is.
func (o *ownState) holdsFile(id identity) bool {
	if o.given == "" {
		return false
	}
	s := o.look()
	return s.cut || s.files[identity{id.dev, id.ino, 0}]
}

// holdsFolder reports whether a folder is the state folder, or one that a link
// in it leads to.
func (o *ownState) holdsFolder(id identity) bool {
	if o.given == "" {
		return false
	}
	_, ok := o.look().ids[identity{id.dev, id.ino, 0}]
	return ok
}

// places are the names that own state is known by, for the look at a command's
// text.
func (o *ownState) places() []string {
	if o.given == "" {
		return nil
	}
	return slices.Clone(o.look().roots)
}
