package files

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

func unlimited(old, new string) string {
	var w diffWriter
	w.section(old, new, 1, 1)
	return w.finish(false)
}

func TestDiff(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"same", "a\n", "a\n", ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"new file", "", "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"},
		{"emptied", "a\n", "", "@@ -1 +0,0 @@\n-a\n"},
		{"no final newline", "a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		{"final newline added", "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"line end changed", "a\r\n", "a\n", "@@ -1 +1 @@\n-a\r\n+a\n"},
		{"control characters stay", "\x1b[2J\n", "\u202e\n", "@@ -1 +1 @@\n-\x1b[2J\n+\u202e\n"},
		{"far apart", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
			"@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n"},
		{"near", "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n",
			"@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n"},
	} {
		if got := unlimited(c.old, c.new); got != c.want {
			t.Errorf("%s: diff(%q, %q) = %q, want %q", c.name, c.old, c.new, got, c.want)
		}
		if back := apply(t, c.old, c.want); back != c.new {
			t.Errorf("%s: the expected diff makes %q of %q", c.name, back, c.old)
		}
	}
}

func TestDiffIsBounded(t *testing.T) {
	for name, text := range map[string]string{
		"many lines": strings.Repeat("x\n", 100_000),
		"long line":  strings.Repeat("é", 1<<20),
		"long lines": strings.Repeat(strings.Repeat("y", 5000)+"\n", 300),
	} {
		w := diffWriter{limit: true}
		w.section("", text, 1, 1)
		got := w.finish(false)
		if len(got) > maxDiffBytes+200 || strings.Count(got, "\n") > maxDiffLines+3 {
			t.Errorf("%s: %d bytes, %d lines", name, len(got), strings.Count(got, "\n"))
		}
		if !strings.Contains(got, "left out") || strings.ContainsRune(got, '\ufffd') {
			t.Errorf("%s: ends with %q", name, got[len(got)-60:])
		}
	}
}

// apply is a strict patch for unlimited diffs.
func apply(t *testing.T, old, diff string) string {
	t.Helper()
	src := lines(old)
	var out strings.Builder
	at := 0
	all := lines(diff)
	for i := 0; i < len(all); i++ {
		l := all[i]
		if strings.HasPrefix(l, "@@ ") {
			from, n := header(t, strings.Fields(l)[1])
			if n > 0 {
				from--
			}
			for ; at < from; at++ {
				out.WriteString(src[at])
			}
			continue
		}
		text := l[1:]
		if i+1 < len(all) && all[i+1] == "\\ No newline at end of file\n" {
			text = strings.TrimSuffix(text, "\n")
			i++
		}
		if l[0] != '+' {
			if at >= len(src) || src[at] != text {
				t.Fatalf("line %d of %q does not fit %q", i, diff, old)
			}
			at++
		}
		if l[0] != '-' {
			out.WriteString(text)
		}
	}
	return out.String() + strings.Join(src[at:], "")
}

func header(t *testing.T, s string) (from, n int) {
	t.Helper()
	a, b, ok := strings.Cut(s[1:], ",")
	n = 1
	var err error
	if ok {
		if n, err = strconv.Atoi(b); err != nil {
			t.Fatal(err)
		}
	}
	if from, err = strconv.Atoi(a); err != nil {
		t.Fatal(err)
	}
	return from, n
}

func FuzzDiffAppliesBack(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("", "x")
	f.Add("a\n\\ No newline at end of file\n@@ -1 +1 @@\n", "-a\n+b\n")
	f.Add(strings.Repeat("a\nb\n", 900), strings.Repeat("b\nc\n", 901))
	f.Fuzz(func(t *testing.T, old, new string) {
		if got := apply(t, old, unlimited(old, new)); got != new {
			t.Errorf("diff of %q and %q makes %q", old, new, got)
		}
	})
}

func TestDiffIsShortest(t *testing.T) {
	// A move of one line in a long text is one deletion and one insertion.
	var a, b []string
	for i := range 500 {
		a = append(a, fmt.Sprint(i, "\n"))
	}
	b = append(append(append([]string{}, a[1:250]...), a[0]), a[250:]...)
	if got := changes(a, b); len(got) != 2 {
		t.Errorf("changes = %v, want 2", got)
	}
}
