package files

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func names(l listing) string {
	var out []string
	for _, e := range l.Entries {
		out = append(out, e.Name+":"+e.Type)
	}
	return strings.Join(out, " ")
}

func TestList(t *testing.T) {
	g := newGate(t, "R:./**")
	g.write("b.txt", "12345")
	g.write("a.txt", "")
	g.write("z/inner", "x")
	if err := os.Mkdir(g.path("Y"), 0o755); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2024, 2, 3, 4, 5, 6, 0, time.UTC)
	if err := os.Chtimes(g.path("b.txt"), when, when); err != nil {
		t.Fatal(err)
	}
	want := "Y:folder z:folder a.txt:file b.txt:file"
	if runtime.GOOS != "windows" {
		for at, to := range map[string]string{"dir-link": "z", "out": "/etc/passwd", "gone": "nowhere"} {
			if err := os.Symlink(to, g.path(at)); err != nil {
				t.Fatal(err)
			}
		}
		want += " dir-link:link gone:link out:link"
	}
	res := g.call("list_directory", map[string]any{})
	l := into[listing](t, res)
	if names(l) != want || l.Truncated || l.Path != filepath.ToSlash(g.root) {
		t.Errorf("entries = %s, want %s", names(l), want)
	}
	for _, e := range l.Entries {
		switch e.Name {
		case "b.txt":
			if *e.Size != 5 || e.Modified != "2024-02-03T04:05:06Z" {
				t.Errorf("b.txt: %+v", e)
			}
		case "out":
			if e.Target != "/etc/passwd" {
				t.Errorf("out: %+v", e)
			}
		}
	}
	if text := res.Content[0].Text; !strings.HasPrefix(text, "Y/\nz/\na.txt  0 bytes\nb.txt  5 bytes\n") {
		t.Errorf("text = %q", text)
	}
	g.fails("list_directory", `{"path":"a.txt"}`, "is a file", "read_file")
	g.fails("list_directory", `{"path":"nothing"}`, "no folder")
	for _, no := range []string{"max_depth", "recursive", "depth"} {
		g.fails("list_directory", `{"path":".","`+no+`":2}`, `"`+no+`"`, "path, offset, limit")
	}
}

// TestNamesRoundTrip lists files with hostile names and reads each of them by
// the name in the listing.
func TestNamesRoundTrip(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("such names do not exist on Windows")
	}
	g := newGate(t, "R:./**")
	hostile := []string{"\xff\xfe", "caf\xe9", "a\n[INFO] approved\x1b[2J", "\ufffdff", "\u202egnp.exe", "sp ace ", `quo"te\`, "日本", "-rf", "~", "x\u2028y", "tab\there"}
	made := 0
	for _, n := range hostile {
		if err := os.WriteFile(g.path(n), []byte("content of "+fmt.Sprintf("%q", n)), 0o644); err != nil {
			t.Logf("the volume does not take the name %q: %v", n, err)
			continue
		}
		made++
	}
	res := g.call("list_directory", map[string]any{})
	l := into[listing](t, res)
	if len(l.Entries) != made || made < 8 {
		t.Fatalf("%d entries, want %d", len(l.Entries), made)
	}
	if n := strings.Count(res.Content[0].Text, "\n"); n != made {
		t.Errorf("the text has %d lines for %d entries: %q", n, made, res.Content[0].Text)
	}
	if strings.ContainsAny(res.Content[0].Text, "\x1b\u202e\u2028") {
		t.Errorf("control characters in the text: %q", res.Content[0].Text)
	}
	for _, e := range l.Entries {
		path := e.Name
		if path == "~" {
			path = "./~"
		}
		r := g.call("read_file", map[string]any{"path": path})
		if r.IsError || !strings.HasPrefix(r.Content[0].Text, "content of ") {
			t.Errorf("%q: %q", e.Name, r.Content[0].Text)
		}
		// As it stands in the text: plain, or a JSON string.
		if s := shown(e.Name); strings.HasPrefix(s, `"`) {
			var back string
			if err := json.Unmarshal([]byte(s), &back); err != nil || back != e.Name {
				t.Errorf("shown(%q) = %s reads back as %q, %v", e.Name, s, back, err)
			}
		} else if !strings.Contains("\n"+res.Content[0].Text, "\n"+e.Name+"  ") {
			t.Errorf("the text names %q differently: %q", e.Name, res.Content[0].Text)
		}
	}
}

func TestListPages(t *testing.T) {
	n := 3000
	if os.Getenv("ZEROCLAW_LONG") != "" {
		n = 200_000
	}
	g := newGate(t, "R:./**")
	if err := os.MkdirAll(g.path("many/sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n - 1 {
		if err := os.WriteFile(g.path(fmt.Sprintf("many/f%06d", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	from := time.Now()
	if _, err := os.ReadDir(g.path("many")); err != nil {
		t.Fatal(err)
	}
	bare := time.Since(from)
	from = time.Now()
	l := into[listing](t, g.call("list_directory", map[string]any{"path": "many"}))
	if len(l.Entries) != 1000 || l.Total != n || !l.Truncated || l.Next != 1000 || l.Entries[0].Name != "sub" {
		t.Errorf("first page: %d of %d, next %d", len(l.Entries), l.Total, l.Next)
	}
	if d := time.Since(from); d > max(10*time.Second, 20*bare) {
		t.Errorf("the first page took %v, a plain listing %v", d, bare)
	}
	seen := map[string]bool{}
	for offset := 0; ; {
		l := into[listing](t, g.call("list_directory", map[string]any{"path": "many", "offset": offset, "limit": 10_000}))
		for _, e := range l.Entries {
			seen[e.Name] = true
		}
		if !l.Truncated {
			break
		}
		offset = l.Next
	}
	if len(seen) != n {
		t.Errorf("the pages hold %d names, want %d", len(seen), n)
	}
	l = into[listing](t, g.call("list_directory", map[string]any{"path": "many", "offset": n + 5}))
	if len(l.Entries) != 0 || l.Truncated {
		t.Errorf("behind the end: %+v", l)
	}
}

func TestListMarksUnreadable(t *testing.T) {
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		// root reads everything: take the entry away between name and look.
		dir := t.TempDir()
		for _, n := range []string{"a", "b"} {
			if err := os.WriteFile(filepath.Join(dir, n), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		entries, err := readEntries(context.Background(), f, 10)
		if err != nil || len(entries) != 2 {
			t.Fatalf("entries = %v, %v", entries, err)
		}
		if err := os.Remove(filepath.Join(dir, entries[0].name)); err != nil {
			t.Fatal(err)
		}
		if e := describe(folder{f.Fd(), dir}, entries[0]); runtime.GOOS != "windows" && e.Type != "unreadable" || e.Name != entries[0].name {
			t.Errorf("entry = %+v", e)
		}
		return
	}
	g := newGate(t, "R:./**")
	g.write("d/f", "x")
	if err := os.Chmod(g.path("d"), 0o444); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(g.path("d"), 0o755)
	if l := into[listing](t, g.call("list_directory", map[string]any{"path": "d"})); names(l) != "f:unreadable" {
		t.Errorf("entries = %s", names(l))
	}
}
