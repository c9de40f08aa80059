package process

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownSession() int {
	sid, _ := unix.Getsid(0)
	return sid
}

// snapshot reads the process table of this user.
func snapshot() ([]entry, error) {
	list, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil, err
	}
	table := make([]entry, 0, len(list))
	for i := range list {
		table = append(table, entryFrom(&list[i]))
	}
	return table, nil
}

func entryFrom(k *unix.KinfoProc) entry {
	const zombie = 5 // SZOMB of sys/proc.h
	pid := int(k.Proc.P_pid)
	at := k.Proc.P_starttime
	e := entry{
		kin:    kin{pid, stamp(uint64(at.Sec)*1e6 + uint64(at.Usec))},
		ppid:   int(k.Eproc.Ppid),
		pgrp:   int(k.Eproc.Pgid),
		zombie: k.Proc.P_stat == zombie,
	}
	if sid, err := unix.Getsid(pid); err == nil {
		e.sid = sid
	}
	return e
}

func startOf(pid int) (stamp, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return 0, false
	}
	return entryFrom(k).start, true
}

// signalExactly signals one process, as far as its start time tells it from
// another one that got its number.
func signalExactly(k kin, sig syscall.Signal) error {
	if start, ok := startOf(k.pid); !ok || start != k.start {
		return syscall.ESRCH
	}
	return syscall.Kill(k.pid, sig)
}

// reap has nothing to do: the system does not make us adopt anybody.
func reap([]entry) {}
