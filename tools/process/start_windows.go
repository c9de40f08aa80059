package process

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"
)

// system is what Windows keeps for a Process.
type system struct {
	job  *job
	wake chan struct{}
}

// run starts the child suspended, puts it into a job of its own, lets it go,
// and stays with it to the end of the job.
func (p *Process) run(path string, argv []string, attr *os.ProcAttr, o Options, started chan<- error) {
	p.system.wake = make(chan struct{}, 1)
	if err := batchSafe(path, argv); err != nil {
		started <- err
		return
	}
	j, err := newJob()
	if err != nil {
		started <- err
		return
	}
	attr.Sys = &syscall.SysProcAttr{CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP}
	if o.NoWindow {
		attr.Sys.CreationFlags |= windows.CREATE_NO_WINDOW
		attr.Sys.HideWindow = true
	}
	proc, err := os.StartProcess(path, argv, attr)
	if err != nil {
		j.close()
		started <- err
		return
	}
	if err := j.adopt(proc.Pid); err != nil {
		_ = proc.Kill()
		_, _ = proc.Wait()
		j.close()
		started <- err
		return
	}
	p.proc, p.pid, p.system.job = proc, proc.Pid, j
	p.start, _ = startOf(p.pid)
	p.begun()
	started <- nil

	ps, err := proc.Wait()
	s := State{ExitCode: -1}
	if ps != nil {
		s = State{ExitCode: ps.ExitCode(), UserTime: ps.UserTime(), SysTime: ps.SystemTime()}
	}
	p.ended(s, err)
	for pause := 20 * time.Millisecond; len(j.members()) > 0; pause = min(2*pause, time.Second) {
		t := time.NewTimer(pause)
		select {
		case <-p.system.wake:
		case <-t.C:
		}
		t.Stop()
	}
	j.close()
	p.settled()
}

// batchSafe refuses arguments that the command interpreter would take apart:
// Windows runs a batch file through cmd.exe, whose quoting is another one than
// that of programs.
func batchSafe(path string, argv []string) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bat", ".cmd":
	default:
		return nil
	}
	for _, a := range argv[min(1, len(argv)):] {
		if strings.ContainsAny(a, "\"%!&|<>^\r\n") {
			return fmt.Errorf("argument %q cannot be passed safely to a batch file: leave out the characters \" %% ! & | < > ^", a)
		}
	}
	return nil
}

func (p *Process) poke() {
	select {
	case p.system.wake <- struct{}{}:
	default:
	}
}

// Alive lists the numbers of the processes in the child's job.
func (p *Process) Alive() []int { return p.system.job.members() }

// Signal ends the job for os.Kill, and sends CTRL_BREAK to the child's group
// for any other signal. It returns os.ErrProcessDone when nothing is left.
func (p *Process) Signal(sig os.Signal) error {
	if len(p.Alive()) == 0 {
		return os.ErrProcessDone
	}
	if sig == os.Kill {
		return p.system.job.terminate()
	}
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
}

func (p *Process) term() {
	// A child without our console does not hear it; then the grace passes.
	_ = windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(p.pid))
}

// Kill ends the whole job at once and returns when it is verified empty.
func (p *Process) Kill() {
	if len(p.Alive()) == 0 {
		p.poke()
		return
	}
	p.mu.Lock()
	p.killing = true
	p.mu.Unlock()
	end := time.Now().Add(killLimit)
	_ = p.system.job.terminate()
	for len(p.Alive()) > 0 && time.Now().Before(end) {
		time.Sleep(5 * time.Millisecond)
	}
	p.poke()
}

// startOf is the creation time of a process.
func startOf(pid int) (stamp, bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0, false
	}
	defer windows.CloseHandle(h)
	return startOfHandle(h)
}

func startOfHandle(h windows.Handle) (stamp, bool) {
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) != nil {
		return 0, false
	}
	if exited.HighDateTime != 0 {
		return 0, false // it has ended, and only its handles keep it
	}
	return stamp(uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)), true
}

// killExactly ends one process and never another one that got its number.
func killExactly(k kin) error {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION|windows.PROCESS_TERMINATE|windows.SYNCHRONIZE, false, uint32(k.pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	if start, ok := startOfHandle(h); !ok || start != k.start {
		return errors.New("the number belongs to another process now")
	}
	if err := windows.TerminateProcess(h, 1); err != nil {
		return err
	}
	_, err = windows.WaitForSingleObject(h, uint32(killLimit/time.Millisecond))
	return err
}
