package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func at(i int) time.Time { return time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC) }

func TestQueryNewestFirstAcrossRotation(t *testing.T) {
	l := Open(Config{Dir: t.TempDir(), MaxBytes: 700, Keep: 50})
	defer l.Close()
	for i := range 40 {
		tool := "read_file"
		if i%4 == 0 {
			tool = "execute_command"
		}
		if err := l.Write(Entry{Time: at(i), Tool: tool, Outcome: "ok", Arguments: json.RawMessage(fmt.Sprintf(`{"n":%d}`, i))}); err != nil {
			t.Fatal(err)
		}
	}
	got, more, err := l.Query(Filter{Limit: 7})
	if err != nil || len(got) != 7 || !more || !got[0].Time.Equal(at(39)) || !got[6].Time.Equal(at(33)) {
		t.Errorf("Query = %v entries, more %v, %v", got, more, err)
	}
	got, more, _ = l.Query(Filter{Tool: "execute_command"})
	if len(got) != 10 || more {
		t.Errorf("%d entries of one tool, more %v, want 10 and no more", len(got), more)
	}
	got, _, _ = l.Query(Filter{Text: `"N":3`, Before: 40})
	if len(got) != 10 { // 3 and 30 to 38
		t.Errorf("%d entries hold the text, want 10", len(got))
	}
}

func TestKeepsOnlySoMany(t *testing.T) {
	dir := t.TempDir()
	l := Open(Config{Dir: dir, MaxBytes: 300, Keep: 2})
	defer l.Close()
	for i := range 50 {
		if err := l.Write(Entry{Time: at(i), Tool: "t"}); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 3 {
		t.Errorf("%d files, want 3", len(files))
	}
}

func TestLineHoldsNoSecretNoContentsNoControl(t *testing.T) {
	dir := t.TempDir()
	l := Open(Config{Dir: dir, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }})
	args, _ := json.Marshal(map[string]any{"path": "a\x1b[2J\nb", "content": "short but private", "query": strings.Repeat("x", 5000), "key": "hunter2"})
	if err := l.Write(Entry{Time: at(0), Tool: "edit_file", Arguments: args}); err != nil {
		t.Fatal(err)
	}
	l.Close()
	data, _ := os.ReadFile(filepath.Join(dir, name))
	if n := strings.Count(string(data), "\n"); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
	for _, bad := range []string{"hunter2", "private", "\x1b", strings.Repeat("x", 1000)} {
		if strings.Contains(string(data), bad) {
			t.Errorf("the line holds %q", bad)
		}
	}
}

func TestCutLineDoesNotHarmTheNext(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(`{"time":"2026-01-01T0`), 0o600); err != nil {
		t.Fatal(err)
	}
	l := Open(Config{Dir: dir})
	defer l.Close()
	if err := l.Write(Entry{Time: at(1), Tool: "t"}); err != nil {
		t.Fatal(err)
	}
	if got, _, err := l.Query(Filter{}); len(got) != 1 || err != nil {
		t.Errorf("Query = %v, %v, want the one entire entry", got, err)
	}
}

// What Note took is in the log for whoever reads it, in order, and in the file
// once the log is closed or a moment has passed.
func TestNotedEntriesAreWritten(t *testing.T) {
	dir := t.TempDir()
	l := Open(Config{Dir: dir})
	defer l.Close()
	lines := func() int {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("\n"))
	}
	add := func(write func(Entry) error, n int) {
		for range n {
			if err := write(Entry{Time: at(0), Tool: "t"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	add(l.Note, 50)
	if got, _, err := l.Query(Filter{}); err != nil || len(got) != 50 || got[0].Seq != 50 {
		t.Errorf("of 50 entries %d are found: %v", len(got), err)
	}
	add(l.Note, 10)
	add(l.Write, 1)
	if n := lines(); n != 61 {
		t.Errorf("a written entry leaves %d lines in the file, want 61", n)
	}
	add(l.Note, 10)
	for end := time.Now().Add(5 * time.Second); lines() < 71; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d lines are in the file, want 71", lines())
		}
	}
	add(l.Note, 10)
	if err := l.Close(); err != nil || lines() != 81 {
		t.Errorf("a closed log has %d lines, want 81: %v", lines(), err)
	}
}
