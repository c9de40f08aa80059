//go:build unix

package process

import (
	"fmt"
	"os"
	"testing"
)

func pids(fam []entry) string {
	var out []int
	for _, e := range fam {
		out = append(out, e.pid)
	}
	return fmt.Sprint(out)
}

func at(pid, ppid, pgrp, sid int, start stamp, mark uint64) entry {
	return entry{kin: kin{pid, start}, ppid: ppid, pgrp: pgrp, sid: sid, mark: mark}
}

func TestFamily(t *testing.T) {
	const self, session, mark = 100, 90, 777
	base := subject{leader: 200, start: 10, trusted: true, mark: mark, self: self, selfSID: session}
	for _, tt := range []struct {
		name  string
		table []entry
		alter func(*subject)
		want  string
	}{
		{"leader, group, session, descendants", []entry{
			at(1, 0, 1, 1, 1, 0), at(self, 90, 90, session, 5, 0), at(200, self, 200, 200, 10, 0),
			at(201, 200, 200, 200, 11, 0), at(202, 1, 203, 200, 11, 0), at(204, 201, 204, 204, 12, 0), at(205, 204, 205, 205, 12, 0),
			at(300, 1, 300, 300, 11, 0),
		}, nil, "[200 201 202 204 205]"},
		{"an orphan with the mark", []entry{at(300, self, 300, 300, 11, mark), at(301, self, 301, 301, 11, mark+1)}, nil, "[300]"},
		{"the mark in our own session is somebody else's", []entry{at(300, self, 90, session, 11, mark)}, nil, "[]"},
		{"never ourselves", []entry{at(self, 1, 200, 200, 11, mark)}, nil, "[]"},
		{"older than the child", []entry{at(300, 1, 200, 200, 9, 0)}, nil, "[]"},
		{"number taken by another", []entry{at(200, 1, 200, 200, 50, 0), at(201, 200, 200, 200, 51, 0)}, func(s *subject) { s.trusted = false }, "[]"},
		{"leader gone, group lives", []entry{at(201, 1, 200, 200, 51, 0)}, func(s *subject) { s.trusted = false }, "[201]"},
		{"seen before", []entry{at(300, self, 300, 300, 11, 0), at(301, self, 301, 301, 11, 0)}, func(s *subject) { s.seen = map[kin]bool{{300, 11}: true, {301, 12}: true} }, "[300]"},
		{"no leader, no mark", []entry{at(200, 1, 200, 200, 10, 0), at(1, 0, 0, 0, 1, 0)}, func(s *subject) { s.leader, s.mark = -1, 0 }, "[]"},
	} {
		s := base
		if tt.alter != nil {
			tt.alter(&s)
		}
		if got := pids(family(tt.table, s)); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestLeftovers(t *testing.T) {
	r := run{Pid: 50, Start: 5, Session: 40, Children: []record{{Pid: 200, Start: 10}, {Pid: 300, Start: 11, Mark: 9}}}
	for _, tt := range []struct {
		name  string
		table []entry
		want  string
	}{
		{"both children live", []entry{at(200, 1, 200, 200, 10, 0), at(300, 1, 300, 300, 11, 9), at(301, 300, 300, 300, 12, 9)}, "[200 300 301]"},
		{"numbers given away", []entry{at(200, 1, 200, 200, 99, 0), at(300, 1, 300, 300, 99, 0)}, "[]"},
		{"group without its leader", []entry{at(201, 1, 200, 200, 12, 0)}, "[201]"},
		{"group without its leader, marks known: only the mark counts", []entry{at(301, 1, 300, 300, 12, 0), at(302, 1, 300, 300, 12, 9)}, "[302]"},
		{"the user's own work in the old session", []entry{at(400, 1, 400, 40, 12, 9)}, "[]"},
	} {
		if got := pids(leftovers(tt.table, r, os.Getpid())); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
