package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"zeroclaw/permissions/resolve"
)

func TestEditArguments(t *testing.T) {
	g := newGate(t, "RW:./**")
	g.write("a", "x\n")
	for args, want := range map[string][]string{
		`{}`:                            {`"path"`},
		`{"path":"a"}`:                  {`"content"`},
		`{"path":"a","mode":"replace"}`: {`"old_text"`},
		`{"path":"a","old_text":"x"}`:   {`"new_text"`},
		`{"path":"a","old_text":"","new_text":"y"}`:                                  {`"old_text"`, "1 to"},
		`{"path":"a","old_text":"x","new_text":"x"}`:                                 {"same"},
		`{"path":"a","content":"x","old_text":"x"}`:                                  {`"new_text"`},
		`{"path":"a","mode":"write","content":"x","old_text":"x"}`:                   {`"old_text"`},
		`{"path":"a","mode":"replace_chunk","content":"x"}`:                          {"write, append, replace"},
		`{"path":"a","content":"x","replace_all":true}`:                              {"replace_all"},
		`{"path":"a","content":"x","approved":true}`:                                 {`"approved"`, "content"},
		`{"path":"a","content":"x","content":"y"}`:                                   {"twice"},
		`{"path":"a","content":7}`:                                                   {"string"},
		`{"path":"a","content":"\ud800"}`:                                            {"surrogate"},
		`{"path":"a","content":"x","expect_hash":"12"}`:                              {"expect_hash"},
		`{"path":"a","content":"x","expect_hash":"` + strings.Repeat("x", 64) + `"}`: {"expect_hash"},
		`{"path":"a","content":"` + strings.Repeat("x", maxContent+1) + `"}`:         {"1048576"},
		`{"path":"new/","content":"x"}`:                                              {`"path"`, "folder"},
		`{"path":"new/.","content":"x"}`:                                             {`"path"`, "folder"},
		`{"path":"new/x/..","content":"x"}`:                                          {`"path"`, "folder"},
		`{"path":"a/","old_text":"x","new_text":"y"}`:                                {`"path"`, "folder"},
		`[]`:                           {"object"},
		`{"path":"a","content":"x"}{}`: {"nothing behind"},
	} {
		g.fails("edit_file", args, want...)
	}
	if got := g.read("a"); got != "x\n" {
		t.Errorf("the file became %q", got)
	}
	if entries, _ := os.ReadDir(g.root); len(entries) != 1 {
		t.Errorf("an edit that was refused left %v", entries)
	}
}

func TestEditFile(t *testing.T) {
	g := newGate(t, "RW:./**")
	g.write("a.txt", "one\ntwo\nthree\n")
	r := into[editResult](t, g.call("edit_file", map[string]any{"path": "a.txt", "old_text": "two", "new_text": "2"}))
	if got := g.read("a.txt"); got != "one\n2\nthree\n" {
		t.Errorf("content = %q", got)
	}
	if want := "--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"; r.Diff != want {
		t.Errorf("diff = %q, want %q", r.Diff, want)
	}
	if r.Replacements != 1 || r.Bytes != 12 || r.Created || r.UndoID == "" || r.Hash != sum([]byte("one\n2\nthree\n")) || r.Path != filepath.ToSlash(g.path("a.txt")) {
		t.Errorf("result = %+v", r)
	}

	// The hash of the answer is what the next edit may expect.
	r2 := into[editResult](t, g.call("edit_file", map[string]any{"path": "a.txt", "mode": "append", "content": "four\n", "expect_hash": strings.ToUpper(r.Hash)}))
	if got := g.read("a.txt"); got != "one\n2\nthree\nfour\n" || !strings.Contains(r2.Diff, "@@ -1,3 +1,4 @@") {
		t.Errorf("content = %q, diff %q", got, r2.Diff)
	}
	g.fails("edit_file", `{"path":"a.txt","content":"x","expect_hash":"`+r.Hash+`"}`, "changed since")
	g.fails("edit_file", `{"path":"new","content":"x","expect_hash":"`+r.Hash+`"}`, "does not exist any more")
	g.fails("edit_file", `{"path":"nothing","old_text":"a","new_text":"b"}`, "no file", "list_directory")
	g.fails("edit_file", `{"path":"a.txt","old_text":"nowhere","new_text":"b"}`, "does not occur")
	g.fails("edit_file", `{"path":"a.txt","old_text":"o","new_text":"b"}`, "lines 1, 4")
	if got := g.read("a.txt"); got != "one\n2\nthree\nfour\n" {
		t.Errorf("a refused edit changed the file: %q", got)
	}

	r = into[editResult](t, g.call("edit_file", map[string]any{"path": "x/y/z.txt", "content": "a\nb"}))
	if got := g.read("x/y/z.txt"); got != "a\nb" || !r.Created || !strings.HasPrefix(r.Diff, "--- /dev/null\n+++ x/y/z.txt\n@@ -0,0 +1,2 @@\n") {
		t.Errorf("content = %q, result %+v", got, r)
	}
	// Folders that were made for a write that failed do not stay.
	g.fails("edit_file", `{"path":"p/q/`+strings.Repeat("n", 300)+`","content":"a"}`, "")
	g.fails("edit_file", `{"path":"p/`+strings.Repeat("n", 300)+`/f","content":"a"}`, "")
	if _, err := os.Stat(g.path("p")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("folders of a failed write are still there: %v", err)
	}
	g.fails("edit_file", `{"path":"x","content":"a"}`, "folder")
	g.fails("edit_file", `{"path":"a.txt/b","content":"a"}`, "")
}

// peer bug L7: an edit breaks links or loses the mode.
func TestEditKeepsModeAndLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no permission bits, and links need a privilege")
	}
	g := newGate(t, "RW:./**")
	g.write("run.sh", "echo 1\n")
	if err := os.Chmod(g.path("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("run.sh", g.path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(g.path("run.sh"), g.path("hard")); err != nil {
		t.Fatal(err)
	}
	r := into[editResult](t, g.call("edit_file", map[string]any{"path": "link", "old_text": "1", "new_text": "2"}))
	if got := g.read("run.sh") + g.read("hard"); got != "echo 2\necho 1\n" {
		t.Errorf("run.sh, hard = %q", got)
	}
	if !strings.Contains(r.Note, "2 hard links") {
		t.Errorf("note = %q", r.Note)
	}
	if fi, err := os.Lstat(g.path("link")); err != nil || fi.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", fi, err)
	}
	if fi, err := os.Stat(g.path("run.sh")); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("mode = %v, %v", fi, err)
	}
	g.write("ro", "x")
	if err := os.Chmod(g.path("ro"), 0o444); err != nil {
		t.Fatal(err)
	}
	g.fails("edit_file", `{"path":"ro","content":"y"}`, "read-only", "0444")
}

func TestEditDiffNeedsRead(t *testing.T) {
	g := newGate(t, "W:./**")
	g.write("a", "secret\nb\n")
	res := g.call("edit_file", map[string]any{"path": "a", "old_text": "b", "new_text": "c"})
	r := into[editResult](t, res)
	if r.Diff != "" || r.Hash == "" || strings.Contains(res.Content[0].Text, "secret") {
		t.Errorf("result = %+v, text %q", r, res.Content[0].Text)
	}
}

// peer bug B8: what guards a secret from being read holds for one spelling, or
// not for an edit that shows it.
func TestEditDiffOfProtectedFile(t *testing.T) {
	g := newGate(t, "RW:./**")
	for _, name := range []string{".env", "sub/.env.local", "server.pem", "id_rsa", ".git-credentials"} {
		g.write(name, "TOKEN=secret\n0\n")
		for i, path := range []string{name, g.path(name), "./sub/../" + name, "link"} {
			if path == "link" {
				if err := os.Symlink(g.path(name), g.path(path)); err != nil {
					t.Skipf("no links here: %v", err)
				}
			}
			res := g.call("edit_file", map[string]any{"path": path, "old_text": fmt.Sprintf("\n%d\n", i), "new_text": fmt.Sprintf("\n%d\n", i+1)})
			if r := into[editResult](t, res); r.Diff != "" || r.Hash == "" || strings.Contains(res.Content[0].Text, "secret") {
				t.Errorf("%s: result = %+v", path, r)
			}
		}
		os.Remove(g.path("link"))
	}
}

// TestParallelEdits appends from many calls at once: each either happens whole
// or is refused because the file changed, and none is lost.
func TestParallelEdits(t *testing.T) {
	g := newGate(t, "RW:./**")
	g.write("a", "")
	var done atomic.Int64
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for k := range 10 {
				r, err := g.try("edit_file", fmt.Sprintf(`{"path":"a","mode":"append","content":"%d-%d\n"}`, i, k))
				switch {
				case err == nil && !r.IsError:
					done.Add(1)
				case err != nil && !errors.Is(err, resolve.ErrChanged):
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if n := int64(strings.Count(g.read("a"), "\n")); n != done.Load() || n == 0 {
		t.Errorf("%d edits were reported, the file has %d lines", done.Load(), n)
	}
	if len(g.files.busy) != 0 {
		t.Errorf("%d files are still marked busy", len(g.files.busy))
	}
}

func TestPreviewIsTheDiffAndTouchesNothing(t *testing.T) {
	g := newGate(t, "RW:./**")
	for name, args := range map[string]string{
		"replace":           `{"path":"a","old_text":"b","new_text":"B\nBB"}`,
		"all":               `{"path":"a","old_text":"\n","new_text":"\n\n","replace_all":true}`,
		"append":            `{"path":"a","mode":"append","content":"end"}`,
		"write":             `{"path":"a","content":"a\nc\n"}`,
		"new":               `{"path":"d/e/f","content":"hello\n"}`,
		"append to nothing": `{"path":"g","mode":"append","content":"hello\n"}`,
	} {
		g.write("a", "a\nb\nc\n")
		plan, paths, err := g.plan("edit_file", args)
		if err != nil {
			t.Fatal(err)
		}
		diff, err := plan.Preview(context.Background(), paths)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if g.read("a") != "a\nb\nc\n" {
			t.Errorf("%s: the preview changed the file", name)
		}
		if _, err := os.Stat(g.path("d")); err == nil {
			t.Errorf("%s: the preview made a folder", name)
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(args), &v); err != nil {
			t.Fatal(err)
		}
		r := into[editResult](t, g.call("edit_file", v))
		if r.Diff != diff || !strings.Contains(diff, "@@") {
			t.Errorf("%s: preview %q, diff %q", name, diff, r.Diff)
		}
		body := diff[strings.Index(diff, "@@"):]
		old := "a\nb\nc\n"
		if strings.HasPrefix(diff, "--- /dev/null") {
			old = ""
		}
		if got := apply(t, old, body); got != g.read(strings.TrimPrefix(v["path"].(string), "./")) {
			t.Errorf("%s: the diff makes %q", name, got)
		}
		_ = os.RemoveAll(g.path("d"))
	}
}

func TestDiffOfFarPlaces(t *testing.T) {
	g := newGate(t, "RW:./**")
	var b strings.Builder
	for i := range 20_000 {
		b.WriteString(strings.Repeat("x", i%50))
		if i%4000 == 100 {
			b.WriteString("HERE")
		}
		b.WriteString("\n")
	}
	g.write("a", b.String())
	r := into[editResult](t, g.call("edit_file", map[string]any{"path": "a", "old_text": "HERE", "new_text": "THERE\n", "replace_all": true}))
	if r.Replacements != 5 || strings.Count(r.Diff, "@@ ") != 5 {
		t.Errorf("result = %+v", r)
	}
	if got := apply(t, b.String(), r.Diff[strings.Index(r.Diff, "@@"):]); got != g.read("a") {
		t.Error("the diff does not make the new file of the old one")
	}
	// Lines that no diff should show.
	g.write("long", strings.Repeat("x", 1<<20)+"HERE"+strings.Repeat("y", 1<<20))
	r = into[editResult](t, g.call("edit_file", map[string]any{"path": "long", "old_text": "HERE", "new_text": "!"}))
	if len(r.Diff) > maxDiffBytes {
		t.Errorf("diff of %d bytes", len(r.Diff))
	}
}

func TestRunNeedsTheGate(t *testing.T) {
	g := newGate(t)
	for _, tool := range g.files.Tools() {
		if _, err := tool.Run(context.Background(), json.RawMessage(`{"path":"a","content":"x","query":"y"}`)); err == nil {
			t.Errorf("%s ran without a pass", tool.Spec().Name)
		}
	}
}
