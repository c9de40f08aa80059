package files

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	diffContext = 3
	// maxSteps bounds the work on two texts that have little in common; behind
	// it the diff takes everything out and puts everything in.
	maxSteps = 800

	maxDiffLines = 200
	maxDiffBytes = 64 << 10
)

// diffWriter makes a unified diff of bounded size. Control characters stay as
// they are.
type diffWriter struct {
	b       strings.Builder
	lines   int
	dropped int
	limit   bool
}

// section adds the hunks between two texts, the first lines of which have the
// numbers oldLine and newLine.
func (w *diffWriter) section(old, new string, oldLine, newLine int64) {
	a, b := lines(old), lines(new)
	for _, h := range hunks(changes(a, b), len(a)) {
		w.line(fmt.Sprintf("@@ -%s +%s @@\n", extent(oldLine, h.a0, h.a1), extent(newLine, h.b0, h.b1)))
		i, j := h.a0, h.b0
		for _, c := range h.changes {
			for ; i < c.a0; i, j = i+1, j+1 {
				w.text(" ", a[i])
			}
			for ; i < c.a1; i++ {
				w.text("-", a[i])
			}
			for ; j < c.b1; j++ {
				w.text("+", b[j])
			}
		}
		for ; i < h.a1; i++ {
			w.text(" ", a[i])
		}
	}
}

func (w *diffWriter) text(mark, line string) {
	if strings.HasSuffix(line, "\n") {
		w.line(mark + line)
		return
	}
	w.line(mark + line + "\n")
	w.line("\\ No newline at end of file\n")
}

func (w *diffWriter) line(s string) {
	if w.limit && (w.dropped > 0 || w.lines == maxDiffLines || w.b.Len()+len(s) > maxDiffBytes) {
		if room := maxDiffBytes - w.b.Len(); w.dropped == 0 && w.lines < maxDiffLines && room > 200 {
			cut := room - 100
			for !utf8.RuneStart(s[cut]) {
				cut--
			}
			fmt.Fprintf(&w.b, "%s… (%d more bytes)\n", s[:cut], len(s)-cut)
			w.lines++
		}
		w.dropped++
		return
	}
	w.b.WriteString(s)
	w.lines++
}

// finish returns the diff; more says that there are changes it was never given.
func (w *diffWriter) finish(more bool) string {
	switch {
	case more:
		w.b.WriteString("… more changes are left out\n")
	case w.dropped > 0:
		fmt.Fprintf(&w.b, "… %d more lines of the diff are left out\n", w.dropped)
	}
	return w.b.String()
}

// extent is one side of a hunk header. An empty side is named by the line
// before it.
func extent(first int64, from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", first+int64(from)-1)
	case 1:
		return fmt.Sprint(first + int64(from))
	}
	return fmt.Sprintf("%d,%d", first+int64(from), to-from)
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	l := strings.SplitAfter(s, "\n")
	if l[len(l)-1] == "" {
		l = l[:len(l)-1]
	}
	return l
}

// changed says that lines a[a0:a1] became b[b0:b1].
type changed struct{ a0, a1, b0, b1 int }

type hunk struct {
	changed // with context
	changes []changed
}

// hunks groups changes that are close together and adds context; n is the
// number of old lines.
func hunks(all []changed, n int) []hunk {
	var out []hunk
	for _, c := range all {
		if k := len(out) - 1; k >= 0 && c.a0-out[k].a1 <= diffContext {
			out[k].changes = append(out[k].changes, c)
			grow := min(c.a1+diffContext, n)
			out[k].b1 = c.b1 + grow - c.a1
			out[k].a1 = grow
			continue
		}
		before := min(diffContext, c.a0)
		after := min(diffContext, n-c.a1)
		out = append(out, hunk{changed{c.a0 - before, c.a1 + after, c.b0 - before, c.b1 + after}, []changed{c}})
	}
	return out
}

// changes is the shortest list of changes that turns a into b (E. Myers, "An
// O(ND) difference algorithm", 1986), or one change for all that lies between
// the common start and end when that takes more than maxSteps.
func changes(a, b []string) []changed {
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
	}
	if start == endA && start == endB {
		return nil
	}
	ids := map[string]int{}
	x, y := intern(ids, a[start:endA]), intern(ids, b[start:endB])
	steps := shortest(x, y)
	if steps == nil {
		return []changed{{start, endA, start, endB}}
	}
	var out []changed
	for _, s := range steps {
		s = changed{s.a0 + start, s.a1 + start, s.b0 + start, s.b1 + start}
		if k := len(out) - 1; k >= 0 && out[k].a1 == s.a0 && out[k].b1 == s.b0 {
			out[k].a1, out[k].b1 = s.a1, s.b1
			continue
		}
		out = append(out, s)
	}
	return out
}

func intern(ids map[string]int, lines []string) []int {
	out := make([]int, len(lines))
	for i, l := range lines {
		id, ok := ids[l]
		if !ok {
			id = len(ids)
			ids[l] = id
		}
		out[i] = id
	}
	return out
}

// shortest returns single insertions and deletions in order, or nil when more
// than maxSteps would be needed.
func shortest(a, b []int) []changed {
	n, m := len(a), len(b)
	var trace [][]int // trace[d][k+d]: furthest x on diagonal k before step d
	v := []int{0, 0, 0}
	for d := 0; d <= min(n+m, maxSteps); d++ {
		trace = append(trace, v)
		next := make([]int, 2*d+3)
		for k := -d; k <= d; k += 2 {
			x := furthest(v, d, k)
			for y := x - k; x < n && y < m && a[x] == b[y]; y++ {
				x++
			}
			next[k+d+1] = x
			if x >= n && x-k >= m {
				return walkBack(trace, n, m)
			}
		}
		v = next
	}
	return nil
}

// furthest is where step d starts on diagonal k; v is indexed by diagonal + d.
func furthest(v []int, d, k int) int {
	if d == 0 {
		return 0
	}
	if k == -d || k != d && v[k-1+d] < v[k+1+d] {
		return v[k+1+d]
	}
	return v[k-1+d] + 1
}

func walkBack(trace [][]int, x, y int) []changed {
	out := make([]changed, len(trace)-1)
	for d := len(trace) - 1; d > 0; d-- {
		v, k := trace[d], x-y
		if k == -d || k != d && v[k-1+d] < v[k+1+d] {
			x = v[k+1+d]
			y = x - k - 1
			out[d-1] = changed{x, x, y, y + 1}
		} else {
			x = v[k-1+d]
			y = x - k + 1
			out[d-1] = changed{x, x + 1, y, y}
		}
	}
	return out
}
