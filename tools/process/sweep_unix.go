//go:build unix

package process

import (
	"os"
	"syscall"
)

// running reports whether the companion itself is alive.
func running(r run) bool {
	table, err := snapshot()
	if err != nil {
		return false
	}
	for _, e := range table {
		if e.pid == r.Pid && e.start == r.Start && !e.zombie {
			return r.Boot == bootID()
		}
	}
	return false
}

// sweep ends what is left of one run.
func sweep(r run) int {
	return killFamily(func() []entry {
		table, err := snapshot()
		if err != nil {
			return nil
		}
		return leftovers(table, r, os.Getpid())
	}, func(syscall.Signal) {})
}

// leftovers picks from a process table what the children of r and their
// descendants are. A child that is gone may have had its number given to
// somebody else, so where marks exist they alone speak for the rest of its family.
func leftovers(table []entry, r run, self int) []entry {
	started := make(map[kin]bool)
	for _, e := range table {
		started[e.kin] = true
	}
	found := make(map[kin]bool)
	var out []entry
	take := func(s subject) {
		s.self, s.selfSID = self, r.Session
		for _, e := range family(table, s) {
			if !found[e.kin] {
				found[e.kin] = true
				out = append(out, e)
			}
		}
	}
	for _, c := range r.Children {
		s := subject{leader: c.Pid, start: c.Start, mark: c.Mark}
		if c.Mark != 0 && !started[kin{c.Pid, c.Start}] {
			s.leader = -1
		}
		take(s)
	}
	for _, e := range table {
		if r.Run != 0 && runOf(e.mark) == r.Run {
			take(subject{leader: -1, mark: e.mark})
		}
	}
	return out
}
