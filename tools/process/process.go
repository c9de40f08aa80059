// Package process owns every process that the companion starts: its group or
// job, its pipes, its end, and what is left of it after the companion itself
// was killed.
//
// A child leads a session of its own (a job object on Windows), so it has no
// terminal and can be ended together with everything that it started. What
// leaves that session is found as well where the system allows it:
//
//   - Linux: descendants are found by session, by parent, and by a mark that
//     survives fork, exec, setsid and the death of every parent (see
//     mark_linux.go). The direct child gets a parent-death signal, and is kept
//     as a zombie until its whole family is gone, so that its number cannot be
//     given to somebody else while it is used as a group.
//   - macOS: descendants are found by session, group and parent. One that
//     leaves all three is not found.
//   - Windows: the job object holds everything and is closed by the system when
//     the companion dies, however it dies.
package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Options says how a child is started. The zero value gives it an empty
// environment, the companion's working folder, an empty standard input, and
// throws its output away.
type Options struct {
	Dir string   // working folder; "" is the companion's own
	Env []string // "NAME=value"; nil is an empty environment, never the companion's own

	Stdin     io.Reader // nil is the null device; ignored with StdinPipe
	StdinPipe bool      // Process.Stdin is the writing end of a pipe to the child

	// An *os.File is handed to the child itself and stays the caller's to
	// close. Any other writer is fed through a pipe by a goroutine that ends
	// with the pipe, or WaitDelay after the child. nil is the null device.
	Stdout, Stderr io.Writer

	// WaitDelay is how long Wait goes on reading pipes that descendants hold
	// open after the direct child has ended. 0 is DefaultWaitDelay.
	WaitDelay time.Duration

	// MaxProcesses bounds the family: one that is seen with more members is
	// killed, and Process.TooMany says so. It is looked at several times a
	// second, so a fast one may get further. 0 is no bound.
	MaxProcesses int

	NoWindow bool    // Windows: no console window
	Ledger   *Ledger // where the child is recorded for Sweep; nil records nothing
}

// DefaultWaitDelay is the WaitDelay of a zero Options.
const DefaultWaitDelay = 500 * time.Millisecond

// State is how a direct child ended. The zero State belongs to a child that
// has not ended.
type State struct {
	ExitCode int           // -1 when a signal ended it, or it has not ended
	Signal   string        // "SIGKILL"; "" when it ended by itself
	UserTime time.Duration // of the child and the descendants it waited for
	SysTime  time.Duration
	Wall     time.Duration
	// OOM reports that the kernel killed something for lack of memory while the
	// child ran, and that the child ended as if it had been that.
	OOM bool
}

// Process is one started child with everything that descends from it. Its
// methods may be called at any time by any goroutine.
type Process struct {
	pid    int
	start  stamp // when the direct child started, in the system's own unit
	mark   uint64
	began  time.Time
	oomWas uint64
	stdin  *os.File
	pipes  []*pump
	delay  time.Duration
	ledger *Ledger
	proc   *os.Process
	system system

	done chan struct{} // closed when the direct child has ended and its pipes are read
	gone chan struct{} // closed when the entire family has ended

	mu      sync.Mutex
	state   State
	err     error
	killing bool         // we have sent KILL
	left    bool         // the direct child has ended
	tooMany bool         // the family grew over its bound
	seen    map[kin]bool // descendants that were found outside the session
}

// stamp is the start time of a process in the unit of the system: clock ticks
// since boot (Linux), microseconds since 1970 (macOS), 100 ns since 1601
// (Windows). It is only ever compared with another of the same boot.
type stamp uint64

// kin names one process for good: a number alone is used again.
type kin struct {
	pid   int
	start stamp
}

// Start runs the program at path, which must be absolute or found by LookPath
// before. argv is the entire argument vector: argv[0] is the program's name
// (an empty argv is []string{path}). No shell is involved.
//
// The caller need not call Wait: the child is waited for in any case.
func Start(path string, argv []string, o Options) (*Process, error) {
	if path == "" {
		return nil, errors.New("start: no program given")
	}
	if len(argv) == 0 {
		argv = []string{path}
	}
	if o.Dir != "" {
		if fi, err := os.Stat(o.Dir); err != nil {
			return nil, fmt.Errorf("start %s: working folder: %w", path, err)
		} else if !fi.IsDir() {
			return nil, fmt.Errorf("start %s: working folder %s is not a folder", path, o.Dir)
		}
	}
	delay := o.WaitDelay
	if delay <= 0 {
		delay = DefaultWaitDelay
	}
	p := &Process{
		delay: delay, ledger: o.Ledger,
		done: make(chan struct{}), gone: make(chan struct{}),
		seen: map[kin]bool{}, state: State{ExitCode: -1},
	}
	files, err := p.connect(o)
	if err != nil {
		p.closePipes()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	attr := &os.ProcAttr{Dir: o.Dir, Env: environment(o.Env), Files: files.child}
	started := make(chan error, 1)
	go p.run(path, argv, attr, o, started)
	err = <-started
	files.closeOurs()
	if err != nil {
		p.closePipes()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	for _, pipe := range p.pipes {
		pipe.begin()
	}
	if o.MaxProcesses > 0 {
		go p.watch(o.MaxProcesses)
	}
	return p, nil
}

// Pid is the number of the direct child, which is also that of its group.
func (p *Process) Pid() int { return p.pid }

// Stdin is the writing end of the child's standard input: nil without
// Options.StdinPipe. Closing it twice is harmless.
func (p *Process) Stdin() io.WriteCloser {
	if p.stdin == nil {
		return nil
	}
	return stdinPipe{p.stdin}
}

// Done is closed when the direct child has ended and its pipes are read.
func (p *Process) Done() <-chan struct{} { return p.done }

// Gone is closed when the direct child and everything that descends from it
// have ended.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Wait returns when the direct child has ended: at most WaitDelay later,
// whoever still holds its pipes. It may be called many times. The error is not
// nil only when the system could not tell how the child ended.
func (p *Process) Wait() (State, error) {
	<-p.done
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.err
}

// State is how the child ended, or the zero state with exit code -1.
func (p *Process) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// Killed reports whether Kill or Terminate had to use force.
func (p *Process) Killed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killing
}

// begun is called by run once the child exists.
func (p *Process) begun() {
	p.began = time.Now()
	if p.ledger != nil {
		p.ledger.add(p)
	}
}

// ended publishes how the direct child ended, after its pipes were read or
// their time was up.
func (p *Process) ended(s State, err error) {
	s.Wall = time.Since(p.began)
	if p.stdin != nil {
		p.stdin.Close()
	}
	p.mu.Lock()
	s.OOM = !p.killing && (s.Signal == "SIGKILL" || s.ExitCode == 128+9) && oomKills() > p.oomWas
	p.state, p.err, p.left = s, err, true
	p.mu.Unlock()
	p.drain()
	close(p.done)
}

// settled is called by run when nothing of the family is left.
func (p *Process) settled() {
	if p.ledger != nil {
		p.ledger.remove(p)
	}
	close(p.gone)
}
