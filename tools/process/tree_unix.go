//go:build unix

package process

// entry is one line of the process table.
type entry struct {
	kin
	ppid, pgrp, sid int
	zombie          bool
	mark            uint64 // 0 when it carries none
}

// subject is what a family is collected for.
type subject struct {
	leader  int   // number of the direct child; its group and session have the same
	start   stamp // of the direct child
	trusted bool  // the number still belongs to it, dead or alive
	mark    uint64
	seen    map[kin]bool
	self    int // the companion: never part of a family
	selfSID int
}

// family picks from a process table everything that belongs to s: members of
// its session and group, carriers of its mark, what was seen before, and all
// their descendants. Zombies are included.
//
// A carrier of the mark in the companion's own session is somebody else's: a
// child leads a session of its own from its first instruction on, and nobody
// can enter an existing session other than by birth.
func family(table []entry, s subject) []entry {
	if !s.trusted {
		// A number in use as a session is not given away. When another process has it now, the session is over.
		for _, e := range table {
			if e.pid == s.leader {
				s.trusted = e.start == s.start
				if !s.trusted {
					s.leader = -1
				}
			}
		}
	}
	in := make(map[int]bool)
	for _, e := range table {
		switch {
		case e.pid == s.self || e.pid <= 1:
		case s.leader > 0 && e.start >= s.start && (e.sid == s.leader || e.pgrp == s.leader),
			s.mark != 0 && e.mark == s.mark && e.sid != s.selfSID,
			s.seen[e.kin]:
			in[e.pid] = true
		}
	}
	for grew := true; grew; {
		grew = false
		for _, e := range table {
			if !in[e.pid] && in[e.ppid] && e.pid != s.self && e.pid > 1 {
				in[e.pid] = true
				grew = true
			}
		}
	}
	var out []entry
	for _, e := range table {
		if in[e.pid] {
			out = append(out, e)
		}
	}
	return out
}
