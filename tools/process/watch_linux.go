package process

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spareTasks is how many processes and threads more than the system has now a
// bounded family may make the user's total reach (see boundTasks).
const spareTasks = 4096

// watchPause is the time between two looks. The limit of boundTasks does not
// hold the superuser, so there a look has to come more often.
func watchPause(age time.Duration) time.Duration {
	switch {
	case os.Geteuid() == 0 && age < 10*time.Minute:
		return 10 * time.Millisecond
	case age < time.Minute:
		return 100 * time.Millisecond
	}
	return 500 * time.Millisecond
}

// hold stops the child's group in one step.
func (p *Process) hold() (release func()) {
	_ = p.signalGroup(syscall.SIGSTOP)
	return func() { _ = p.signalGroup(syscall.SIGCONT) }
}

// boundTasks lowers our own limit on the user's processes and threads, for a
// child to inherit, to what the system has now and enough beyond it that
// neither the child nor the user's other programs meet it. It ends a family that
// doubles itself before the process table is full, and holds everybody but the superuser.
func boundTasks(max int) (restore func()) {
	var was unix.Rlimit
	now, ok := systemTasks()
	if !ok || unix.Prlimit(0, unix.RLIMIT_NPROC, nil, &was) != nil {
		return func() {}
	}
	limit := unix.Rlimit{Cur: uint64(now + 4*max + spareTasks), Max: was.Max}
	if limit.Cur >= was.Cur || unix.Prlimit(0, unix.RLIMIT_NPROC, &limit, nil) != nil {
		return func() {}
	}
	return func() { _ = unix.Prlimit(0, unix.RLIMIT_NPROC, &was, nil) }
}
