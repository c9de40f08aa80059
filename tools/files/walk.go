package files

import (
	"context"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/atomicfile"
)

const (
	maxSearchFile = 8 << 20
	maxIgnoreFile = 1 << 20
	maxFolder     = 1 << 20   // entries of one folder
	maxAnswer     = 512 << 10 // bytes of text in all matches together
	batchSize     = 64        // files that one worker takes at a time
	maxJudged     = 2000      // links whose target is looked up, for the count only
)

// skipped counts what a search did not look into.
type skipped struct {
	Binary     int64 `json:"binary"`
	Large      int64 `json:"large"`     // over 8 MiB
	Protected  int64 `json:"protected"` // files that may hold secrets
	Outside    int64 `json:"outside"`   // links that lead out, and what no rule covers
	OwnState   int64 `json:"own_state"` // the companion's own files
	Ignored    int64 `json:"ignored"`   // by .gitignore; a folder counts once
	Unreadable int64 `json:"unreadable"`
}

// search is one run of search_files. The exported shape is in search.go; this
// file walks.
type search struct {
	ctx     context.Context
	pass    *tools.Pass
	base    *os.Root
	real    string // the searched folder, resolved, slash-separated, without a slash at the end
	given   string // how results name it: "" or ending in a slash
	covered bool   // R rules cover the folder; else a person let the search through
	glob    glob
	finder  *finder // nil: names only
	limit   int

	mu       sync.Mutex
	wake     *sync.Cond
	tasks    []task
	running  int
	stopped  bool
	more     bool // something was left out for its mere number
	matches  []match
	size     int
	skip     skipped
	searched atomic.Int64
	judged   atomic.Int64
	failure  error
	faults   tools.Faults
}

// task is a folder to list, or some files of one to search.
type task struct {
	dir   string // below the searched folder, "" or ending in a slash
	files []string
	above *ignores
}

// run walks with the given number of workers and returns when all have ended.
func (s *search) run(workers int, top *ignores) error {
	s.wake = sync.NewCond(&s.mu)
	s.tasks = []task{{above: top}}
	stop := context.AfterFunc(s.ctx, func() { s.stop(nil) })
	defer stop()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(s.work)
	}
	wg.Wait()
	s.faults.Raise()
	if err := s.ctx.Err(); err != nil {
		return err
	}
	return s.failure
}

func (s *search) work() {
	buf := make([]byte, 0, 64<<10)
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(s.tasks) == 0 && s.running > 0 && !s.stopped {
			s.wake.Wait()
		}
		if len(s.tasks) == 0 || s.stopped {
			s.wake.Broadcast()
			return
		}
		t := s.tasks[len(s.tasks)-1]
		s.tasks = s.tasks[:len(s.tasks)-1]
		s.running++
		s.mu.Unlock()
		buf = s.do(t, buf)
		s.mu.Lock()
		s.running--
		s.stopped = s.stopped || s.faults.Caught()
		if s.running == 0 && len(s.tasks) == 0 {
			s.wake.Broadcast()
		}
	}
}

// do does one task and returns buf for the next one.
func (s *search) do(t task, buf []byte) []byte {
	defer s.faults.Catch()
	if t.files == nil {
		s.folder(t)
		return buf
	}
	return s.files(t, buf)
}

func (s *search) add(ts []task) {
	if len(ts) == 0 {
		return
	}
	s.mu.Lock()
	s.tasks = append(s.tasks, ts...)
	s.mu.Unlock()
	s.wake.Broadcast()
}

func (s *search) stop(err error) {
	s.mu.Lock()
	s.stopped = true
	if s.failure == nil {
		s.failure = err
	}
	s.mu.Unlock()
	s.wake.Broadcast()
}

func (s *search) count(n *int64, by int64) {
	s.mu.Lock()
	*n += by
	s.mu.Unlock()
}

// enter opens a folder on the way. os.Root keeps it below the searched one,
// whatever happens to the names meanwhile.
func (s *search) enter(dir string) (*os.Root, error) {
	if dir == "" {
		return s.base.OpenRoot(".")
	}
	return s.base.OpenRoot(dir[:len(dir)-1])
}

// folder lists one folder and makes tasks of what is in it.
func (s *search) folder(t task) {
	if t.dir != "" && !s.mayEnter(t.dir) {
		return
	}
	root, err := s.enter(t.dir)
	if err != nil {
		s.count(&s.skip.Unreadable, 1)
		return
	}
	defer root.Close()
	f, err := root.Open(".")
	if err != nil {
		s.count(&s.skip.Unreadable, 1)
		return
	}
	defer f.Close()
	entries, err := readEntries(s.ctx, f, maxFolder)
	if err != nil {
		s.count(&s.skip.Unreadable, 1)
	}
	if len(entries) >= maxFolder {
		s.mu.Lock()
		s.more = true
		s.mu.Unlock()
	}
	rules := t.above
	for _, e := range entries {
		if e.name == ".gitignore" && e.kind == 0 {
			if own := readIgnore(root); len(own) > 0 {
				rules = &ignores{above: t.above, rules: own, strip: len(t.dir)}
			}
		}
	}
	s.sort(t.dir, entries, rules)
}

// sort turns the entries of a folder into tasks, results and counts.
func (s *search) sort(dir string, entries []named, rules *ignores) {
	var folders []task
	var names []string
	var ignored int64
	for i, e := range entries {
		if i%1024 == 0 && s.ctx.Err() != nil {
			return
		}
		name, kind := e.name, e.kind
		switch {
		case kind == 0 && s.glob != nil && !s.glob.match(dir, name):
			continue
		case name == ".git" || atomicfile.IsTemp(name):
			continue
		case kind != 0 && kind != fs.ModeDir && kind != fs.ModeSymlink:
			continue
		case rules != nil && rules.match(dir, name, kind == fs.ModeDir):
			ignored++
		case kind == fs.ModeDir:
			folders = append(folders, task{dir: dir + name + "/", above: rules})
		case kind == fs.ModeSymlink:
			s.link(dir + name)
		default:
			names = append(names, name)
		}
	}
	if ignored > 0 {
		s.count(&s.skip.Ignored, ignored)
	}
	if s.finder == nil {
		for _, n := range names {
			if !s.result(dir, n, nil, []match{{}}) {
				return
			}
		}
		s.searched.Add(int64(len(names)))
		s.add(folders)
		return
	}
	for len(names) > 0 {
		n := min(batchSize, len(names))
		folders = append(folders, task{dir: dir, files: names[:n]})
		names = names[n:]
	}
	s.add(folders)
}

func readIgnore(root *os.Root) []ignoreRule {
	f, err := root.OpenFile(".gitignore", openFlags, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	if fi, err := f.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	b, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	return parseIgnore(string(b))
}

// files searches some files of one folder and returns buf for the next time.
func (s *search) files(t task, buf []byte) []byte {
	root, err := s.enter(t.dir)
	if err != nil {
		s.count(&s.skip.Unreadable, int64(len(t.files)))
		return buf
	}
	defer root.Close()
	for _, name := range t.files {
		if s.ctx.Err() != nil {
			return buf
		}
		// Known from the name alone, so that it is not even opened.
		clean := s.real + "/" + t.dir + name
		if permissions.Protected(permissions.OpRead, clean, clean) != "" {
			s.count(&s.skip.Protected, 1)
			continue
		}
		f, err := root.OpenFile(name, openFlags, 0)
		if err != nil {
			s.count(&s.skip.Unreadable, 1)
			continue
		}
		found, info, used := s.look(f, buf)
		f.Close()
		buf = used
		if n := s.searched.Add(1); n%5000 == 0 {
			report(s.pass, n, 0, "files searched")
		}
		if len(found) > 0 && !s.result(t.dir, name, info, found) {
			return buf
		}
	}
	return buf
}

// look reads one open file and finds the query in it.
func (s *search) look(f *os.File, buf []byte) (found []match, info os.FileInfo, used []byte) {
	info, err := f.Stat()
	switch {
	case err != nil || !info.Mode().IsRegular():
		s.count(&s.skip.Unreadable, 1)
		return nil, nil, buf
	case info.Size() > maxSearchFile:
		s.count(&s.skip.Large, 1)
		return nil, nil, buf
	case info.Size() == 0:
		return nil, nil, buf
	}
	n := int(info.Size())
	if cap(buf) < n {
		buf = make([]byte, 0, max(n, 2*cap(buf)))
	}
	m, err := io.ReadFull(f, buf[:n])
	if m == 0 && err != nil {
		s.count(&s.skip.Unreadable, 1)
		return nil, nil, buf
	}
	data := buf[:m]
	if isBinary(data) {
		s.count(&s.skip.Binary, 1)
		return nil, nil, buf
	}
	return s.finder.find(data, s.limit+1), info, buf
}
