package process

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

func ownSession() int {
	sid, _ := unix.Getsid(0)
	return sid
}

// snapshot reads the process table.
func snapshot() ([]entry, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	names, err := d.Readdirnames(-1)
	d.Close()
	if err != nil {
		return nil, err
	}
	table := make([]entry, 0, len(names))
	buf := make([]byte, statBytes)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue // an error of Atoi would cost more than the rest
		}
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if e, ok := readEntry(pid, buf); ok {
			e.mark = markOf(pid)
			table = append(table, e)
		}
	}
	return table, nil
}

// statBytes is more than a line of /proc/PID/stat has up to the field that is
// read last.
const statBytes = 1024

// entryOf reads one process, without its mark.
func entryOf(pid int) (entry, bool) { return readEntry(pid, make([]byte, statBytes)) }

// readEntry is entryOf with a buffer to read into: a look at the whole table is
// taken often and may cost no memory for each process.
func readEntry(pid int, buf []byte) (entry, bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return entry{}, false
	}
	n, err := unix.Read(fd, buf)
	unix.Close(fd)
	if err != nil || n <= 0 {
		return entry{}, false
	}
	return parseStat(pid, buf[:n])
}

// parseStat reads a line of /proc/PID/stat (proc_pid_stat(5)). The second
// field is the program's name in parentheses and may hold anything, so fields
// are counted from the last closing one.
func parseStat(pid int, line []byte) (entry, bool) {
	i := bytes.LastIndexByte(line, ')')
	if i < 0 {
		return entry{}, false
	}
	var f [20][]byte // those up to the start time
	n := 0
	for field := range bytes.FieldsSeq(line[i+1:]) {
		f[n] = field
		if n++; n == len(f) {
			break
		}
	}
	if n < len(f) {
		return entry{}, false
	}
	num := func(i int) int {
		n, _ := strconv.Atoi(string(f[i]))
		return n
	}
	start, err := strconv.ParseUint(string(f[19]), 10, 64)
	if err != nil {
		return entry{}, false
	}
	e := entry{kin: kin{pid, stamp(start)}, ppid: num(1), pgrp: num(2), sid: num(3)}
	// A leader thread that has ended shows as a zombie while other threads run on.
	e.zombie = (f[0][0] == 'Z' && num(17) <= 1) || f[0][0] == 'X' || f[0][0] == 'x'
	return e, true
}

func startOf(pid int) (stamp, bool) {
	e, ok := entryOf(pid)
	return e.start, ok
}

// signalExactly signals one process and never another one that got its number.
func signalExactly(k kin, sig syscall.Signal) error {
	fd, err := unix.PidfdOpen(k.pid, 0)
	if errors.Is(err, unix.ESRCH) {
		return err
	}
	if err == nil {
		defer unix.Close(fd)
	}
	// From here on the number is that of the handle, or of nobody.
	if start, ok := startOf(k.pid); !ok || start != k.start {
		return unix.ESRCH
	}
	if err == nil {
		if err = unix.PidfdSendSignal(fd, sig, nil, 0); !errors.Is(err, unix.ENOSYS) {
			return err
		}
	}
	return unix.Kill(k.pid, sig)
}

// reap removes zombies that were adopted by us. A direct child is left to its
// own goroutine, and what another package started to that package.
func reap(fam []entry) {
	self := os.Getpid()
	for _, e := range fam {
		if !e.zombie || e.ppid != self {
			continue
		}
		reapOne(e.pid)
	}
}

// reapOne leaves a direct child alone, also one that is being started.
func reapOne(pid int) {
	marks.Lock()
	defer marks.Unlock()
	if _, ours := direct.Load(pid); !ours {
		_, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil)
	}
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(s))
}
