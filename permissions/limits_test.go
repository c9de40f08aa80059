package permissions

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestRuleLimits is about lists that would make every call slow.
func TestRuleLimits(t *testing.T) {
	wild := "R:./" + strings.Repeat("**/a*b/", maxWildNames/2)
	if rules, bad := ParseRules([]string{wild + "x"}); len(rules) != 1 {
		t.Errorf("%d names with wildcards: %+v", maxWildNames, bad)
	}
	if _, bad := ParseRules([]string{wild + "*.go"}); len(bad) != 1 || bad[0].Code != "too_many_wildcards" {
		t.Errorf("one more: %+v, want too_many_wildcards", bad)
	}
	var lines []string
	for i := range maxRules + 2 {
		lines = append(lines, fmt.Sprintf("# %d\nR:./p%d", i, i))
	}
	rules, bad := ParseRules(lines)
	if len(rules) != maxRules || len(bad) != 2 || bad[0].Code != "too_many_rules" || bad[0].Line != 2*maxRules+2 {
		t.Errorf("%d rules: %d are taken, the others are %+v", maxRules+2, len(rules), bad)
	}
	rules, _ = ParseRules([]string{"R:./*.go/A*"})
	lower, upper := rules[0].rest[0].globs, rules[0].rest[1].globs
	if lower[0] != lower[1] || lower[0] != lower[3] || upper[0] == upper[1] || upper[1] != upper[3] {
		t.Error("patterns that are the same on several volumes are compiled for each")
	}
}

// TestCoversStopsEarly compares a long rule that fails at its first name with a
// short one: what stands behind may not count.
func TestCoversStopsEarly(t *testing.T) {
	cost := func(line string) time.Duration {
		rules, bad := ParseRules([]string{line})
		if len(bad) > 0 {
			t.Fatal(bad)
		}
		a := Anchored{Rule: rules[0], Base: "/r", Status: RuleActive}
		p := Path{Op: OpRead, Real: "/r" + strings.Repeat("/a", 1500)}
		best := time.Hour
		for range 30 {
			from := time.Now()
			if a.Covers(p) {
				t.Fatalf("%.30q covers %.30q", line, p.Real)
			}
			best = min(best, time.Since(from))
		}
		return best
	}
	short, long := cost("R:./**/a*b"), cost("R:./"+strings.Repeat("**/a*b/", 8)+"c")
	if long > 3*short {
		t.Errorf("the long rule takes %v, the short one %v", long, short)
	}
}
