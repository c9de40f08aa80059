//go:build unix

package resolve

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"zeroclaw/permissions"
)

// TestDeepPaths compares paths of two thousand folders, none of which exists,
// with short ones, in rules and in calls: a look at each folder would cost thousands of times as much.
func TestDeepPaths(t *testing.T) {
	w := newWorld(t)
	r := w.resolver(t)
	const many = 50
	anchor := func(below string) func() {
		var rules []permissions.Rule
		for i := range many {
			rules = append(rules, parse(t, fmt.Sprintf("R:./new%d%s/**", i, below))...)
		}
		return func() {
			for _, a := range r.Anchor(rules, nil) {
				if a.Status != permissions.RuleActive {
					t.Fatalf("%.40q is %s", a.Text, a.Status)
				}
			}
		}
	}
	path := func(below string) func() {
		return func() {
			for range many {
				if p := r.Path("new"+below, permissions.OpWrite, false); p.Err != "" || p.Dir != w.root {
					t.Fatalf("Path(%.40q): folder %q, %s", p.Given, p.Dir, p.Err)
				}
			}
		}
	}
	cost := func(work func()) time.Duration {
		best := time.Hour
		for range 5 {
			from := time.Now()
			work()
			best = min(best, time.Since(from))
		}
		return best
	}
	for name, of := range map[string]func(string) func(){"rules": anchor, "calls": path} {
		short, long := cost(of("/a")), cost(of(strings.Repeat("/a", 1950)))
		t.Logf("%s: %v short, %v long", name, short, long)
		if long > 500*short {
			t.Errorf("%s: short paths take %v, long ones %v", name, short, long)
		}
	}
}
