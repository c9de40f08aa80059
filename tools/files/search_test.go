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

	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// hits writes the matches in one line each.
func hits(r searchResult) string {
	var out []string
	for _, m := range r.Matches {
		s := m.Path
		if m.Line > 0 {
			s = fmt.Sprintf("%s:%d:%d:%s", m.Path, m.Line, m.Column, m.Text)
		}
		out = append(out, s)
	}
	return strings.Join(out, "\n")
}

func TestSearch(t *testing.T) {
	g := newGate(t, "R:./**")
	g.write("a.go", "package a\nfunc Foo() {}\r\n// foo\n")
	g.write("src/b.go", "x é foo\nfoo foo\n")
	g.write("src/c.ts", "foo")
	g.write("src/deep/d.txt", "no\nfoo$\n")
	g.write("latin", "caf\xe9 foo\n")
	g.write("wide", u16(encUTF16LE, "über\nfoo é\n"))
	g.write(".hidden/e", "foo hidden\n")
	type m = map[string]any
	for _, c := range []struct {
		args m
		want string
	}{
		{m{"query": "foo", "path": "src"}, "src/b.go:1:5:x é foo\nsrc/b.go:2:1:foo foo\nsrc/c.ts:1:1:foo\nsrc/deep/d.txt:2:1:foo$"},
		{m{"query": "foo", "path": "./src/../src/", "glob": "*.go"}, "src/b.go:1:5:x é foo\nsrc/b.go:2:1:foo foo"},
		{m{"query": "foo", "glob": "src/*.{ts,txt}"}, "src/c.ts:1:1:foo"},
		{m{"query": "foo", "glob": "a.go", "case": false}, "a.go:2:6:func Foo() {}\na.go:3:4:// foo"},
		{m{"query": `^func \w+\(\) \{\}$`, "regex": true}, "a.go:2:1:func Foo() {}"},
		{m{"query": "foo$", "path": "src", "regex": true}, "src/b.go:1:5:x é foo\nsrc/b.go:2:5:foo foo\nsrc/c.ts:1:1:foo"},
		{m{"query": "foo$"}, "src/deep/d.txt:2:1:foo$"},
		{m{"query": `é`}, "latin:1:4:café foo\nsrc/b.go:1:3:x é foo\nwide:2:5:foo é"},
		{m{"query": `É`, "case": false, "glob": "latin"}, "latin:1:4:café foo"},
		{m{"query": "hidden"}, ".hidden/e:1:5:foo hidden"},
		{m{"query": "foo", "path": "src/c.ts"}, "src/c.ts:1:1:foo"},
		{m{"query": "nowhere"}, ""},
		{m{"query": `\Afoo\z`, "regex": true}, "src/c.ts:1:1:foo"},
		{m{"query": `no\s+foo`, "regex": true}, ""},
		{m{"query": `[^x]foo`, "regex": true, "path": "src/deep"}, ""},
		{m{"glob": "*.go"}, "a.go\nsrc/b.go"},
		{m{"glob": "**/d*"}, "src/deep/d.txt"},
		{m{"glob": "src/**", "path": "."}, "src/b.go\nsrc/c.ts\nsrc/deep/d.txt"},
	} {
		r := into[searchResult](t, g.call("search_files", c.args))
		if got := hits(r); got != c.want || r.Truncated {
			t.Errorf("%v:\n%s\nwant:\n%s", c.args, got, c.want)
		}
	}
	abs := filepath.ToSlash(g.path("src"))
	if got := hits(into[searchResult](t, g.call("search_files", m{"query": "foo", "path": abs, "glob": "*.ts"}))); got != abs+"/c.ts:1:1:foo" {
		t.Errorf("absolute path: %s", got)
	}
	r := into[searchResult](t, g.call("search_files", m{"query": "func", "context": 2}))
	if b, a := r.Matches[0].Before, r.Matches[0].After; len(b) != 1 || b[0] != "package a" || len(a) != 1 || a[0] != "// foo" {
		t.Errorf("context = %q, %q", b, a)
	}
	for args, want := range map[string][]string{
		`{}`:                                  {"query", "glob"},
		`{"query":""}`:                        {`"query"`},
		`{"query":"(","regex":true}`:          {"RE2", "regex to false"},
		`{"query":"(?=x)","regex":true}`:      {"RE2"},
		`{"query":"a\nb"}`:                    {"line by line"},
		`{"query":"a","glob":"../x"}`:         {"glob"},
		`{"query":"a","context":11}`:          {`"context"`, "0 to 10"},
		`{"query":"a","case":"no"}`:           {`"case"`},
		`{"query":"a","file_pattern":"*.go"}`: {`"file_pattern"`, "glob"},
		`{"query":"a","path":"nothing"}`:      {"no folder"},
	} {
		g.fails("search_files", args, want...)
	}
}

func TestSearchPassesOver(t *testing.T) {
	g := newGate(t, "R:./**")
	g.write(".gitignore", "*.log\n/build/\nnode_modules\n")
	for _, f := range []string{"x.log", "build/a", "src/build/ok", "node_modules/m/a", "src/.env", ".git/config", "key.pem", "fine", ".ssh/id_rsa", "sub/keep.log"} {
		g.write(f, "needle\n")
	}
	g.write("sub/.gitignore", "!keep.log\n")
	g.write("bin", "needle\x00")
	g.write("big", "needle\n"+strings.Repeat("x", maxSearchFile))
	g.write(".zeroclaw-write-0123456789abcdef0123456789abcdef.tmp", "needle")
	want := "fine\nsrc/build/ok\nsub/keep.log"
	links := runtime.GOOS != "windows"
	if links {
		outside := filepath.Join(filepath.Dir(g.root), "outside")
		if err := os.WriteFile(outside, []byte("needle"), 0o644); err != nil {
			t.Fatal(err)
		}
		for at, to := range map[string]string{"out": outside, "outdir": filepath.Dir(g.root), "in": "fine", "loop": ".", "state": filepath.Join(filepath.Dir(g.root), "home/.zeroclaw")} {
			if err := os.Symlink(to, g.path(at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, args := range []map[string]any{{"query": "needle"}, {"glob": "**"}} {
		r := into[searchResult](t, g.call("search_files", args))
		var got []string
		for _, m := range r.Matches {
			if m.Path != "bin" && m.Path != "big" && !strings.HasSuffix(m.Path, ".gitignore") {
				got = append(got, m.Path)
			}
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%v found %q, want %q", args, got, want)
		}
		s := r.Skipped
		if s.Protected < 3 || s.Ignored != 3 || links && (s.Outside != 2 || s.OwnState != 1) {
			t.Errorf("%v skipped %+v", args, s)
		}
		if args["query"] != nil && (s.Binary != 1 || s.Large != 1) {
			t.Errorf("%v skipped %+v", args, s)
		}
	}
	// A folder that is named itself is searched, and rules from above hold in it.
	r := into[searchResult](t, g.call("search_files", map[string]any{"query": "needle", "path": "sub"}))
	if hits(r) != "sub/keep.log:1:1:needle" {
		t.Errorf("sub: %s", hits(r))
	}
	g.write("src/y.log", "needle")
	r = into[searchResult](t, g.call("search_files", map[string]any{"query": "needle", "path": "src"}))
	if hits(r) != "src/build/ok:1:1:needle" {
		t.Errorf("src: %s", hits(r))
	}
}

func TestSearchIsBoundByRules(t *testing.T) {
	g := newGate(t, "R:./open/**", "R:./*")
	g.write("open/a", "needle")
	g.write("closed/b", "needle")
	g.write("top", "needle")
	r := into[searchResult](t, g.call("search_files", map[string]any{"query": "needle"}))
	// "." itself is covered by no rule: a person let the call through, for all
	// that lies below.
	if got := hits(r); got != "closed/b:1:1:needle\nopen/a:1:1:needle\ntop:1:1:needle" {
		t.Errorf("approved by a person: %s", got)
	}
	rules, _ := permissions.ParseRules([]string{"R:.", "R:./open/**"})
	g.set.Rules = g.r.Anchor(rules, nil)
	r = into[searchResult](t, g.call("search_files", map[string]any{"query": "needle"}))
	if got := hits(r); got != "open/a:1:1:needle" || r.Skipped.Outside != 2 {
		t.Errorf("let through by a rule for the folder: %s, %+v", got, r.Skipped)
	}
	// Home holds the companion's state: it is passed over, not an obstacle.
	home := filepath.Join(filepath.Dir(g.root), "home")
	for _, n := range []string{"mine", ".zeroclaw/config.toml"} {
		if err := os.WriteFile(filepath.Join(home, n), []byte("needle"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r = into[searchResult](t, g.call("search_files", map[string]any{"query": "needle", "path": "~"}))
	if got := hits(r); got != "~/mine:1:1:needle" || r.Skipped.OwnState == 0 {
		t.Errorf("home: %s, %+v", got, r.Skipped)
	}
}

func TestSearchIsBounded(t *testing.T) {
	g := newGate(t, "R:./**")
	for i := range 30 {
		g.write(fmt.Sprintf("d%d/f", i), strings.Repeat("needle "+strings.Repeat("x", 5000)+"\n", 40))
	}
	r := into[searchResult](t, g.call("search_files", map[string]any{"query": "needle"}))
	if len(r.Matches) != 200 || !r.Truncated || len(r.Matches[0].Text) > maxLineShown+10 {
		t.Errorf("%d matches, truncated %v", len(r.Matches), r.Truncated)
	}
	res := g.call("search_files", map[string]any{"query": "needle", "max_matches": 2000, "context": 10})
	if r := into[searchResult](t, res); !r.Truncated || len(res.Content[0].Text) > 2*maxAnswer {
		t.Errorf("%d bytes", len(res.Content[0].Text))
	}
	for i := range 5 {
		g.write(fmt.Sprintf("e/%d", i), "exact\n")
	}
	r = into[searchResult](t, g.call("search_files", map[string]any{"query": "exact", "max_matches": 5}))
	if len(r.Matches) != 5 || r.Truncated {
		t.Errorf("exactly as many as asked for: %d, truncated %v", len(r.Matches), r.Truncated)
	}
}

func TestSearchStops(t *testing.T) {
	g := newGate(t, "R:./**")
	for i := range 300 {
		g.write(fmt.Sprintf("d/%d", i), strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaa\n", 4000))
	}
	args := json.RawMessage(`{"query":"(a+)+(a+)+b","regex":true}`)
	_, paths, err := g.plan("search_files", string(args))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(g.pass("search_files", paths), 30*time.Millisecond)
	defer cancel()
	from := time.Now()
	if _, err := g.tool("search_files").Run(ctx, args); err == nil {
		t.Error("a cancelled search brought a result")
	}
	if d := time.Since(from); d > 20*time.Second {
		t.Errorf("a cancelled search went on for %v", d)
	}
}

func TestSearchLongLines(t *testing.T) {
	g := newGate(t, "R:./**")
	g.write("f", strings.Repeat("é", 100_000)+"needle"+strings.Repeat("€", 100_000)+"\n")
	r := into[searchResult](t, g.call("search_files", map[string]any{"query": "needle"}))
	if m := r.Matches[0]; !strings.Contains(m.Text, "éneedle€") || strings.Contains(m.Text, "\ufffd") || !strings.HasPrefix(m.Text, "…") || m.Column != 100_001 {
		t.Errorf("match = %+v", m)
	}
}

// A fault in a worker reaches the call, in every part of the walk, and leaves
// no worker behind that waits for ever.
func TestSearchFaults(t *testing.T) {
	g := newGate(t, "R:./**")
	for i := range 40 {
		g.write(fmt.Sprintf("d%d/sub/a.txt", i), "needle\n")
	}
	for _, op := range []permissions.Op{permissions.OpList, permissions.OpRead} {
		_, paths, err := g.plan("search_files", `{"query":"needle"}`)
		if err != nil {
			t.Fatal(err)
		}
		judge := g.judge("search_files")
		ctx := tools.WithPass(t.Context(), &tools.Pass{
			Paths: paths, Root: filepath.ToSlash(g.root), MayRead: g.mayRead, Progress: func(tools.Progress) {},
			Judge: func(path string, o permissions.Op) (permissions.Path, permissions.Verdict) {
				if o == op && strings.Contains(path, "/d7") {
					panic("planted")
				}
				return judge(path, o)
			},
		})
		recovered := func() (p any) {
			defer func() { p = recover() }()
			_, err := g.tool("search_files").Run(ctx, json.RawMessage(`{"query":"needle"}`))
			t.Errorf("%s: the search ended with %v", op, err)
			return nil
		}()
		if recovered == nil || recovered == "planted" {
			t.Errorf("%s: recovered %v, want the fault of a worker", op, recovered)
		}
	}
}
