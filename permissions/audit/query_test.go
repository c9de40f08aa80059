package audit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPagesLoseNothing pages through calls that ended in another order than
// they started, some at the same time: each comes exactly once.
func TestPagesLoseNothing(t *testing.T) {
	dir := t.TempDir()
	l := Open(Config{Dir: dir, MaxBytes: 2000, Keep: 50})
	defer func() { l.Close() }()
	start := []int{5, 3, 4, 3, 3, 1, 9, 2, 9, 0}
	var want []string
	for round := range 5 {
		for i, s := range start {
			e := Entry{Time: at(s), Call: fmt.Sprint(round, ".", i), Tool: "t"}
			if err := l.Write(e); err != nil {
				t.Fatal(err)
			}
			want = append([]string{e.Call}, want...)
		}
		l.Close() // as a restart does: the numbers go on
		l = Open(Config{Dir: dir, MaxBytes: 2000, Keep: 50})
	}
	for limit := 1; limit <= 60; limit++ {
		var got []string
		for before, more := uint64(0), true; more; {
			var page []Entry
			var err error
			if page, more, err = l.Query(Filter{Before: before, Limit: limit}); err != nil {
				t.Fatal(err)
			}
			for _, e := range page {
				got = append(got, e.Call)
				before = e.Seq
			}
		}
		if strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("pages of %d hold %v, want %v", limit, got, want)
		}
	}
}

// TestRotationWhileReading rotates between two entries of one reading: none
// comes twice.
func TestRotationWhileReading(t *testing.T) {
	l := Open(Config{Dir: t.TempDir(), MaxBytes: 400, Keep: 50})
	defer l.Close()
	write := func(i int) {
		if err := l.Write(Entry{Time: at(i), Call: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		write(i)
	}
	seen := map[string]bool{}
	for e, err := range l.Entries(Filter{}) {
		if err != nil || seen[e.Call] {
			t.Errorf("%s comes twice, or %v", e.Call, err)
		}
		seen[e.Call] = true
		write(100 + len(seen))
	}
	for i := range 20 {
		if !seen[fmt.Sprint(i)] {
			t.Errorf("entry %d is missing", i)
		}
	}
}

// TestPageReadsOnlyItsPart measures how much of a long log a page of the
// newest entries reads.
func TestPageReadsOnlyItsPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), name)
	line := strings.Repeat("x", 999) + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 8000)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b, err := newBackward(f)
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := b.next(); err != nil {
			t.Fatal(err)
		}
	}
	if read := 8_000_000 - b.at; read > 3*chunk {
		t.Errorf("100 lines of 1000 bytes cost reading %d bytes", read)
	}
}

func TestBackward(t *testing.T) {
	long := strings.Repeat("l", 3*chunk+7)
	for _, lines := range [][]string{{""}, {"a"}, {"a", ""}, {"", "a", "", "", "b"}, {long}, {"a", long, "b", long, ""}, {strings.Repeat("c", chunk), strings.Repeat("d", chunk-1), "e"}} {
		path := filepath.Join(t.TempDir(), "f")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		b, err := newBackward(f)
		for i := len(lines) - 1; i >= 0 && err == nil; i-- {
			var got []byte
			if got, err = b.next(); string(got) != lines[i] {
				t.Errorf("line %d of %.40q = %.40q (%d bytes), want %.40q", i, lines, got, len(got), lines[i])
			}
		}
		if err != nil {
			t.Errorf("%.40q: %v", lines, err)
		}
		if _, err := b.next(); err != io.EOF {
			t.Errorf("%.40q goes on with %v", lines, err)
		}
		f.Close()
	}
}

// TestForeignLines skips what is not an entry, without losing those around it.
func TestForeignLines(t *testing.T) {
	dir := t.TempDir()
	good, _ := json.Marshal(Entry{Seq: 7, Time: time.Now(), Call: "good"})
	text := "\n{}\nnot JSON\n" + string(good) + "\n" + `{"seq":3,"time":"` + "\n" + `{"seq":x}` + "\n" + `{"time":"2026-01-01T00:00:00Z"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l := Open(Config{Dir: dir})
	defer l.Close()
	if err := l.Write(Entry{Time: at(1), Call: "new"}); err != nil {
		t.Fatal(err)
	}
	got, more, err := l.Query(Filter{})
	if err != nil || more || len(got) != 2 || got[0].Call != "new" || got[0].Seq != 8 || got[1].Call != "good" {
		t.Errorf("Query = %+v, %v, %v", got, more, err)
	}
}
