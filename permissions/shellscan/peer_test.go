package shellscan

import (
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// TestPeerBugs holds the faults that users of other companions reported about
// rules for commands, by the row of our list of them. None of these texts may
// ever run by rule; an ambiguous one cannot be remembered either.
func TestPeerBugs(t *testing.T) {
	const ambiguous, unmodelled = permissions.Ambiguous, permissions.Unmodelled
	for _, tt := range []struct {
		row  string
		want permissions.CommandClass
		text string
	}{
		{"A1", ambiguous, "git status && touch out"}, // peer bug A1: only the first command of a chain is judged
		{"A1", ambiguous, "git log; touch out"},
		{"A1", ambiguous, "cat a & touch out"},
		{"A2", ambiguous, "cat f | tee /tmp/x"}, // peer bug A2: nor is what stands behind a pipe
		{"A2", ambiguous, "true || rm f"},
		{"A2", ambiguous, "cat f |& tee x"},
		{"A3", ambiguous, "echo a\ntouch x"}, // peer bug A3: a line break is no separator
		{"A3", ambiguous, "echo a\r\ntouch x"},
		{"A3", ambiguous, "echo a\u2028touch x"},
		{"A4", ambiguous, "echo `touch x`"}, // peer bug A4: a command hides in a safe one
		{"A4", ambiguous, "echo $(touch x)"},
		{"A4", ambiguous, `echo "$(touch x)"`},
		{"A4", ambiguous, "cat <(touch x)"},
		{"A6", unmodelled, "/bin/cat f"}, // peer bug A6: a name with a path inherits the trust in the bare one
		{"A6", unmodelled, "./cat f"},
		{"A6", unmodelled, "../bin/cat f"},
		{"A7", unmodelled, "sh -c 'touch x'"}, // peer bug A7: wrappers run anything
		{"A7", unmodelled, "env touch x"},
		{"A7", unmodelled, "xargs touch"},
		{"A7", unmodelled, "python -c 'print(1)'"},
		{"A7", unmodelled, "nohup touch x"},
		{"A7", ambiguous, "time touch x"},
		{"A9", unmodelled, "git diff --no-index --output=x a b"}, // peer bug A9: readers with flags that write or run
		{"A9", unmodelled, "git -p status"},
		{"A9", unmodelled, "git -c core.pager=x log"},
		{"A9", unmodelled, "find . -exec touch x +"},
		{"A9", unmodelled, "find . -fprint x"},
		{"A9", unmodelled, "rg --pre sh x"},
		{"A9", unmodelled, "uniq in out"},
		{"A9", unmodelled, "sort -o x a"},
		{"A9", unmodelled, "sort --output=x a"},
		{"A9", unmodelled, "sort --compress-program=sh a"},
		{"A11", unmodelled, "lsof a"}, // peer bug A11: a name that only begins like one that is known
		{"A11", unmodelled, "lsblk"},
		{"A11", unmodelled, "catman a"},
		{"A11", unmodelled, "rmt a"},
		{"A11", unmodelled, "git statusfoo"},
	} {
		c := Scan(tt.text)
		if c.Class != tt.want || c.Operands != nil {
			t.Errorf("%s: Scan(%q) is %s (%s), want %s", tt.row, tt.text, c.Class, c.Why, tt.want)
		}
	}
	// peer bug A12: a question about parts that are all allowed has to say why.
	if c := Scan("cd a && ls b"); !strings.Contains(c.Why, "`&&` joins two commands") {
		t.Errorf("A12: asks because of %q", c.Why)
	}
}
