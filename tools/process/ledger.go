package process

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Ledger is a small file that names the children of a running companion, so
// that the next run can end what a killed one left behind. Only one running
// companion may use a ledger.
//
// The file is replaced by rename but not synced: it matters only while the
// system that runs those children runs.
type Ledger struct {
	path string

	mu   sync.Mutex
	old  []run // of earlier companions, until Sweep has ended them
	now  run
	err  error // of the last write
	read error // why what was there could not be used
}

// run is one companion's life.
type run struct {
	Pid      int      `json:"pid"`
	Start    stamp    `json:"start"`
	Session  int      `json:"session,omitempty"`
	Boot     string   `json:"boot,omitempty"`
	Run      uint64   `json:"run,omitempty"` // Linux: the number in the marks of its children
	Children []record `json:"children"`
}

// record is one direct child, which leads a group and session of its number.
type record struct {
	Pid   int    `json:"pid"`
	Start stamp  `json:"start"`
	Mark  uint64 `json:"mark,omitempty"`
}

type ledgerFile struct {
	Runs []run `json:"runs"`
}

// OpenLedger reads the ledger at path and enters this program as the running
// companion. What earlier ones left behind stays in the file until Sweep. The
// folder must exist. A damaged file is no error here: Sweep reports it.
func OpenLedger(path string) (*Ledger, error) {
	l := &Ledger{path: path}
	pid := os.Getpid()
	start, _ := startOf(pid)
	l.now = run{Pid: pid, Start: start, Session: ownSession(), Boot: bootID(), Run: thisRun(), Children: []record{}}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fmt.Errorf("read the record of child processes: %w", err)
	default:
		var f ledgerFile
		if err := json.Unmarshal(b, &f); err != nil {
			l.read = fmt.Errorf("the record of child processes %s is damaged, so children of an earlier run cannot be found: %w", path, err)
		}
		for _, r := range f.Runs {
			if r.Pid != pid || r.Start != start {
				l.old = append(l.old, r)
			}
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.write(); l.err != nil {
		return nil, l.err
	}
	return l, nil
}

// Err is why the last change could not be written, or nil.
func (l *Ledger) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Sweep ends everything that earlier companions started and left running, and
// reports how many processes it killed. It refuses, as a whole, while a
// companion in the ledger is alive: its children are none of our business.
func (l *Ledger) Sweep() (killed int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.old {
		if running(r) {
			return 0, fmt.Errorf("end left-over processes: the companion that started them still runs as process %d", r.Pid)
		}
	}
	for _, r := range l.old {
		if r.Boot == l.now.Boot {
			killed += sweep(r)
		}
	}
	l.old = nil
	l.write()
	return killed, errors.Join(l.read, l.err)
}

func (l *Ledger) add(p *Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now.Children = append(l.now.Children, record{Pid: p.pid, Start: p.start, Mark: p.mark})
	l.write()
}

func (l *Ledger) remove(p *Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.now.Children[:0]
	for _, c := range l.now.Children {
		if c.Pid != p.pid || c.Start != p.start {
			kept = append(kept, c)
		}
	}
	l.now.Children = kept
	l.write()
}

func (l *Ledger) write() { l.err = l.replace() }

func (l *Ledger) replace() error {
	b, err := json.Marshal(ledgerFile{Runs: append(append([]run{}, l.old...), l.now)})
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(l.path), filepath.Base(l.path)+".*")
	if err != nil {
		return fmt.Errorf("record a child process: %w", err)
	}
	_, err = tmp.Write(b)
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), l.path)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("record a child process: %w", err)
	}
	return nil
}
