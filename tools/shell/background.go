package shell

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// Background is one command that goes on after its call has returned.
type Background struct {
	Pid     int       `json:"pid"`  // of the command itself, or of the first process it left behind
	Pids    []int     `json:"pids"` // everything of it that is alive
	Command string    `json:"command"`
	Started time.Time `json:"started"`
	Cwd     string    `json:"cwd"`
}

// NoProcessError says that no command of the session has that process.
type NoProcessError struct{ Pid int }

func (e *NoProcessError) Error() string {
	return fmt.Sprintf("no command of this session runs as process %d; it may have ended meanwhile", e.Pid)
}

// graces: how long a command may take to end after TERM.
const (
	stopGrace  = time.Second            // stopped by a person
	callGrace  = 500 * time.Millisecond // its time is up, or its call was cancelled
	closeGrace = 300 * time.Millisecond // its session has ended
	closeLimit = 3 * time.Second        // for the goroutines of all jobs, when the Shell ends
)

// enlist makes the job known and starts the goroutine that waits for its end. It
// reports whether there may be more jobs.
func (s *Shell) enlist(j *job) bool {
	s.mu.Lock()
	s.jobs[j] = true
	open := !s.ended
	s.mu.Unlock()
	s.wg.Go(func() {
		j.conclude()
		s.mu.Lock()
		delete(s.jobs, j)
		s.mu.Unlock()
	})
	return open
}

// of lists the jobs of a session, or all for "", oldest first.
func (s *Shell) of(session string) []*job {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []*job
	for j := range s.jobs {
		if session == "" || j.session == session {
			out = append(out, j)
		}
	}
	slices.SortFunc(out, func(a, b *job) int { return a.started.Compare(b.started) })
	return out
}

// Processes lists the commands of a session ("" for all sessions) that go on
// after their calls have returned, oldest first; never nil.
func (s *Shell) Processes(session string) []Background {
	out := []Background{}
	for _, j := range s.of(session) {
		if !j.inBackground() {
			continue
		}
		alive := j.p.Alive()
		if len(alive) == 0 {
			continue
		}
		pid := alive[0]
		if slices.Contains(alive, j.p.Pid()) {
			pid = j.p.Pid()
		}
		out = append(out, Background{Pid: pid, Pids: alive, Command: j.command, Started: j.started, Cwd: j.cwd})
	}
	return out
}

// StopProcess ends the background command of a session that has the process
// pid, with everything it started, and returns when it is gone. A pid of nobody is a
// *NoProcessError.
func (s *Shell) StopProcess(session string, pid int) error {
	for _, j := range s.of(session) {
		if !j.inBackground() || pid != j.p.Pid() && !slices.Contains(j.p.Alive(), pid) {
			continue
		}
		j.stop(stopGrace)
		if left := j.p.Alive(); len(left) > 0 {
			return fmt.Errorf("stop process %d: the system does not let go of %v; they may belong to another user", pid, left)
		}
		return nil
	}
	return &NoProcessError{Pid: pid}
}

// Close ends every command of a session, whose calls have been cancelled or
// have ended: a command that such a call starts all the same ends with its call.
// Close("") ends those of all sessions, lets none start any more and waits until
// every goroutine of the Shell has ended, unless the system does not let go of a process.
func (s *Shell) Close(session string) {
	if session == "" {
		s.mu.Lock()
		s.ended = true
		s.mu.Unlock()
	}
	var wg sync.WaitGroup
	for _, j := range s.of(session) {
		wg.Go(func() { j.stop(closeGrace) })
	}
	wg.Wait()
	if session != "" {
		return
	}
	ended := make(chan struct{})
	go func() { s.wg.Wait(); close(ended) }()
	// What another user's rights protect from us must not keep the companion from ending.
	soon(ended, closeLimit)
}
