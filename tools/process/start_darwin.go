package process

import (
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// system is what macOS keeps for a Process.
type system struct {
	wake   chan struct{} // makes run look for survivors now
	reaped bool          // the child's number may belong to somebody else by now; guarded by Process.mu
}

// run starts the child and stays with it to the end of its family.
func (p *Process) run(path string, argv []string, attr *os.ProcAttr, _ Options, started chan<- error) {
	p.system.wake = make(chan struct{}, 1)
	attr.Sys = &syscall.SysProcAttr{Setsid: true}
	proc, err := os.StartProcess(path, argv, attr)
	if err != nil {
		started <- err
		return
	}
	p.proc, p.pid = proc, proc.Pid
	p.start, _ = startOf(p.pid)
	p.begun()
	started <- nil

	ps, err := proc.Wait()
	// The system has given the number back, so from here on members of the
	// session are told from strangers by their start time alone.
	p.mu.Lock()
	p.system.reaped = true
	p.mu.Unlock()
	p.ended(stateOf(ps), err)
	for pause := 20 * time.Millisecond; len(alive(p.relatives())) > 0; pause = min(2*pause, 2*time.Second) {
		t := time.NewTimer(pause)
		select {
		case <-p.system.wake:
		case <-t.C:
		}
		t.Stop()
	}
	p.settled()
}

func stateOf(ps *os.ProcessState) State {
	if ps == nil {
		return State{ExitCode: -1}
	}
	s := State{ExitCode: ps.ExitCode(), UserTime: ps.UserTime(), SysTime: ps.SystemTime()}
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		s.Signal = signalName(ws.Signal())
	}
	return s
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(s))
}

func (p *Process) poke() {
	select {
	case p.system.wake <- struct{}{}:
	default:
	}
}
