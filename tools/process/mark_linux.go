package process

import (
	"crypto/rand"
	"encoding/binary"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// A descendant that calls setsid and whose parents have ended has nothing in
// the process table that leads back to us, and its environment is not ours to
// write in. Resource limits are inherited by everything, and one of them is
// without any effect at a size like ours: the soft limit on CPU time under
// real-time scheduling, in microseconds. Each child gets its own value beyond
// 146,000 years, made of a random number for this run of the companion and a
// counter. Nobody else has such a limit, and everybody may lower it again, so
// the mark is a way to find and never a proof of innocence.
const (
	markBit  = 1 << 62
	seqBits  = 22
	seqMask  = 1<<seqBits - 1
	runMask  = 1<<40 - 1
	noLimit  = ^uint64(0)
	markKind = unix.RLIMIT_RTTIME
)

var marks struct {
	sync.Mutex
	seq uint64
}

// thisRun is the number of this run of the companion, never 0.
var thisRun = sync.OnceValue(func() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])&runMask | 1
})

// runOf is the run that a mark belongs to, 0 if it is none.
func runOf(mark uint64) uint64 {
	if mark&^(markBit-1) != markBit {
		return 0
	}
	return mark >> seqBits & runMask
}

// startMarked starts a child that carries a mark from its first instruction
// on: limits belong to the whole process, so the mark is set on ourselves
// while we fork. What another goroutine forks in that moment carries it too;
// it is told apart by its session (family). With max, the bound of boundTasks
// is set in the same way.
func startMarked(path string, argv []string, attr *os.ProcAttr, max int) (*os.Process, uint64, error) {
	marks.Lock()
	defer marks.Unlock()
	if max > 0 {
		defer boundTasks(max)()
	}
	var was unix.Rlimit
	err := unix.Prlimit(0, markKind, nil, &was)
	if err != nil || was.Max != noLimit || was.Cur != noLimit && runOf(was.Cur) == 0 {
		proc, err := startDirect(path, argv, attr)
		return proc, 0, err
	}
	marks.seq++
	mark := uint64(markBit) | thisRun()<<seqBits | marks.seq&seqMask
	now := unix.Rlimit{Cur: mark, Max: noLimit}
	if err := unix.Prlimit(0, markKind, &now, nil); err != nil {
		mark = 0
	}
	proc, err := startDirect(path, argv, attr)
	if mark != 0 {
		_ = unix.Prlimit(0, markKind, &was, nil)
	}
	return proc, mark, err
}

// startDirect starts a child and notes it as direct. Called with marks held, so
// that nobody reaps a child that ended before it was noted.
func startDirect(path string, argv []string, attr *os.ProcAttr) (*os.Process, error) {
	proc, err := os.StartProcess(path, argv, attr)
	if err == nil {
		direct.Store(proc.Pid, true)
	}
	return proc, err
}

// markOf reads the mark of a process of the same user, dead or alive.
func markOf(pid int) uint64 {
	var r unix.Rlimit
	if unix.Prlimit(pid, markKind, nil, &r) != nil || runOf(r.Cur) == 0 {
		return 0
	}
	return r.Cur
}
