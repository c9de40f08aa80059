package shell

import (
	"context"
	"os"
	"sync"
	"time"

	"zeroclaw/tools/process"
)

// job is one started command with its output, from its start until nothing of
// it is left.
type job struct {
	session string
	command string
	cwd     string
	started time.Time
	p       *process.Process
	out     [2]*keep // stdout, stderr
	live    *live
	flood   chan struct{} // closed when a stream went over the limit
	flooded sync.Once
	limit   int64
	over    chan struct{} // closed when nothing of the job is left
	readers sync.WaitGroup
	pipes   [2]*os.File

	mu   sync.Mutex
	back bool // the call has returned and the job goes on
}

// launch describes what start is to start.
type launch struct {
	path    string
	argv    []string
	dir     string // to enter
	cwd     string // to show
	env     []string
	command string
	session string
	output  func(stream, text string)
}

// start begins a job and the goroutines that belong to it.
func (s *Shell) start(l launch) (*job, error) {
	j := &job{
		session: l.session, command: l.command, cwd: l.cwd, started: s.c.Now().UTC(),
		live: newLive(l.output), flood: make(chan struct{}), limit: s.c.MaxOutput, over: make(chan struct{}),
	}
	var theirs [2]*os.File
	closeAll := func(files ...*os.File) {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	for i := range theirs {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(theirs[:], j.pipes[:]...)...)
			return nil, err
		}
		j.pipes[i], theirs[i], j.out[i] = r, w, newKeep(keepBytes)
	}
	p, err := process.Start(l.path, l.argv, process.Options{
		Dir: l.dir, Env: l.env, Stdout: theirs[0], Stderr: theirs[1],
		NoWindow: true, Ledger: s.c.Ledger, MaxProcesses: s.c.MaxProcesses,
	})
	closeAll(theirs[:]...)
	if err != nil {
		closeAll(j.pipes[:]...)
		return nil, err
	}
	j.p = p
	for i := range j.pipes {
		j.readers.Add(1)
		go j.read(i)
	}
	if !s.enlist(j) {
		p.Kill()
	}
	return j, nil
}

// read follows one stream to its end.
func (j *job) read(i int) {
	defer j.readers.Done()
	defer j.out[i].close()
	buf := make([]byte, 32<<10)
	for {
		n, err := j.pipes[i].Read(buf)
		if n > 0 {
			total := j.out[i].add(buf[:n])
			j.live.add(i, buf[:n])
			if total > j.limit && !j.inBackground() {
				j.flooded.Do(func() { close(j.flood) })
			}
		}
		if err != nil {
			return // its end, or conclude has closed it
		}
	}
}

// conclude waits until nothing of the job is left and ends its readers: one
// that got the pipe by other ways than birth must not keep them.
func (j *job) conclude() {
	stop := make(chan struct{})
	var sender sync.WaitGroup
	sender.Go(func() { j.live.run(stop) })
	<-j.p.Gone()
	j.settle(2 * time.Second)
	for _, f := range j.pipes {
		f.Close()
	}
	j.readers.Wait()
	close(stop)
	sender.Wait()
	close(j.over)
}

// settle waits until both streams have ended or were silent for a moment, at
// most for limit.
func (j *job) settle(limit time.Duration) {
	from := time.Now()
	for time.Since(from) < limit {
		if j.out[0].quiet(from, 100*time.Millisecond) && j.out[1].quiet(from, 100*time.Millisecond) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (j *job) inBackground() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.back
}

// leave turns a job over to the background: its call returns.
func (j *job) leave() {
	j.mu.Lock()
	j.back = true
	j.mu.Unlock()
	for _, k := range j.out {
		k.release()
	}
}

// stop ends the job: TERM, a moment, KILL.
func (j *job) stop(grace time.Duration) {
	j.p.Terminate(context.Background(), process.Steps{TermGrace: grace})
}
