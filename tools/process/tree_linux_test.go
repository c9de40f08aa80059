package process

import (
	"os"
	"strings"
	"testing"
)

func TestMark(t *testing.T) {
	before := markOf(os.Getpid())
	p := sh(t, "exec sleep 300", Options{})
	if p.mark == 0 {
		t.Skip("this system limits real-time CPU time, so children carry no mark")
	}
	if got := markOf(p.pid); got != p.mark || runOf(got) != thisRun() {
		t.Errorf("mark = %x, want %x of run %x", got, p.mark, thisRun())
	}
	if after := markOf(os.Getpid()); after != before {
		t.Errorf("our own mark went from %x to %x", before, after)
	}
	for _, m := range []uint64{0, noLimit, 200000, 1 << 63, 1<<63 | markBit} {
		if runOf(m) != 0 {
			t.Errorf("runOf(%x) = %x, want 0", m, runOf(m))
		}
	}
}

func TestParseStat(t *testing.T) {
	const rest = " 1 2 3 0 -1 4194304 102 0 0 0 0 0 0 0 20 0 1 0 87827 3133440 380"
	for _, tt := range []struct {
		line   string
		ok     bool
		zombie bool
	}{
		{"9 (cat) R" + rest, true, false},
		{"9 (a) Z 1 1) S" + rest, true, false},
		{"9 (cat) Z" + rest, true, true},
		{"9 (cat) Z" + strings.Replace(rest, "20 0 1 0", "20 0 2 0", 1), true, false},
		{"9 (cat) X" + rest, true, true},
		{"9 (cat R" + rest, false, false},
		{"9 (cat) R 1 2", false, false},
		{"", false, false},
	} {
		e, ok := parseStat(9, []byte(tt.line))
		if ok != tt.ok || e.zombie != tt.zombie {
			t.Errorf("parseStat(%q) = %+v, %v", tt.line, e, ok)
		}
		if ok && (e.kin != kin{9, 87827} || e.ppid != 1 || e.pgrp != 2 || e.sid != 3) {
			t.Errorf("parseStat(%q) = %+v", tt.line, e)
		}
	}
}

// The table is read several times for each command, whatever runs beside it.
func TestSnapshotCostsLittle(t *testing.T) {
	line := []byte("9 (cat) R 1 2 3 0 -1 4194304 102 0 0 0 0 0 0 0 20 0 1 0 87827 3133440 380")
	if n := testing.AllocsPerRun(100, func() { parseStat(9, line) }); n != 0 {
		t.Errorf("a line costs %v allocations", n)
	}
	table, err := snapshot()
	if err != nil || len(table) == 0 {
		t.Fatal(table, err)
	}
	// A few for each process are the names of the folder and of the file.
	if n := testing.AllocsPerRun(5, func() { _, _ = snapshot() }); n > 50+5*float64(len(table)) {
		t.Errorf("the table of %d processes costs %v allocations", len(table), n)
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("9 (cat) R 1 2 3 0 -1 4194304 102 0 0 0 0 0 0 0 20 0 1 0 87827 3133440 380"))
	f.Add([]byte(")))"))
	f.Fuzz(func(t *testing.T, line []byte) { parseStat(1, line) })
}
