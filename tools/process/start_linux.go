package process

import (
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// system is what Linux keeps for a Process.
type system struct {
	wake   chan struct{} // makes run look for survivors now
	reaped bool          // the child's number may belong to somebody else by now; guarded by Process.mu
}

// direct holds the numbers of children that are not reaped yet. Nobody but
// their own goroutine may wait for them.
var direct sync.Map

// run starts the child and stays with it to its end. The parent-death signal
// is sent when the *thread* that forked ends, so the goroutine keeps that
// thread for as long as the direct child lives.
func (p *Process) run(path string, argv []string, attr *os.ProcAttr, o Options, started chan<- error) {
	runtime.LockOSThread()
	p.system.wake = make(chan struct{}, 1)
	p.oomWas = oomKills()
	attr.Sys = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	proc, mark, err := startMarked(path, argv, attr, o.MaxProcesses)
	if err != nil {
		runtime.UnlockOSThread()
		started <- err
		return
	}
	p.proc, p.pid, p.mark = proc, proc.Pid, mark
	p.start, _ = startOf(p.pid)
	p.begun()
	started <- nil

	state, err := awaitExit(p.pid)
	runtime.UnlockOSThread()
	p.ended(state, err)
	p.awaitFamily()
	p.mu.Lock()
	p.system.reaped = true
	p.mu.Unlock()
	_, _ = proc.Wait()
	direct.Delete(p.pid)
	p.settled()
}

// awaitExit blocks until the child has ended, and leaves it a zombie.
func awaitExit(pid int) (State, error) {
	var (
		info  unix.Siginfo
		usage unix.Rusage
	)
	for {
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, &usage)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return State{ExitCode: -1}, os.NewSyscallError("waitid", err)
		}
		break
	}
	s := State{
		ExitCode: -1,
		UserTime: time.Duration(usage.Utime.Nano()),
		SysTime:  time.Duration(usage.Stime.Nano()),
	}
	// struct siginfo: three ints, aligned to a pointer, then pid, uid, status.
	raw := (*[unsafe.Sizeof(info)]byte)(unsafe.Pointer(&info))
	at := (12+unsafe.Sizeof(uintptr(0))-1)&^(unsafe.Sizeof(uintptr(0))-1) + 8
	status := int(int32(binary.NativeEndian.Uint32(raw[at:])))
	const exited = 1 // CLD_EXITED; the other codes carry a signal
	if info.Code == exited {
		s.ExitCode = status
	} else {
		s.Signal = signalName(syscall.Signal(status))
	}
	return s, nil
}

// awaitFamily returns when nothing of the family is left, looking less often
// the longer it takes.
func (p *Process) awaitFamily() {
	var known []entry
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 2*time.Second) {
		if !anyAlive(known) {
			fam := p.relatives()
			reap(fam)
			if known = alive(fam); len(known) == 0 && nobody(p.relatives) {
				return
			}
		}
		t := time.NewTimer(pause)
		select {
		case <-p.system.wake:
		case <-t.C:
		}
		t.Stop()
	}
}

// anyAlive saves a look at the entire table while somebody known is there.
func anyAlive(known []entry) bool {
	for _, e := range known {
		if now, ok := entryOf(e.pid); ok && now.kin == e.kin && !now.zombie {
			return true
		}
	}
	return false
}

func (p *Process) poke() {
	select {
	case p.system.wake <- struct{}{}:
	default:
	}
}
