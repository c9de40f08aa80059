package files

import (
	"strings"
	"testing"
)

// TestIgnore follows the rules and examples of gitignore(5).
func TestIgnore(t *testing.T) {
	for _, c := range []struct {
		rules string
		path  string // a trailing slash marks a folder
		want  bool
	}{
		{"", "a", false},
		{"# a", "# a", false},
		{`\#a`, "#a", true},
		{"!a", "a", false},
		{`\!a`, "!a", true},
		{"a", "a", true},
		{"a", "x/y/a", true},
		{"a", "ab", false},
		{"A", "a", false},
		{"a\r\nb\r\n", "a", true},
		{"\ufeffa", "a", true},
		{"a ", "a", true},
		{`a\ `, "a ", true},
		{`a\\ `, `a\`, true},
		{"a\t", "a", false},
		{" a", "a", false},
		{"a b", "a b", true},
		{"/a", "a", true},
		{"/a", "x/a", false},
		{"x/a", "x/a", true},
		{"x/a", "y/x/a", false},
		{"doc/frotz/", "doc/frotz/", true},
		{"doc/frotz/", "a/doc/frotz/", false},
		{"frotz/", "frotz/", true},
		{"frotz/", "a/frotz/", true},
		{"frotz/", "frotz", false},
		{"foo/*", "foo/test.json", true},
		{"foo/*", "foo/bar/", true},
		{"foo/*", "foo/bar/hello.c", false},
		{"*.html", "x/a.html", true},
		{"*.html", ".html", true},
		{"foo.*", "foo.", true},
		{"?", "x", true},
		{"?", "é", false},
		{"??", "é", true},
		{"?", "ab", false},
		{"a?c", "a/c", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false},
		{"[^a-c]x", "dx", true},
		{"[]-]x", "]x", true},
		{"[]-]x", "-x", true},
		{"[[:digit:]]x", "3x", true},
		{"[[:digit:]]x", "ax", false},
		{`[\]]x`, "]x", true},
		{"[a", "[a", false},
		{`a\*`, "a*", true},
		{`a\*`, "ab", false},
		{`a\`, `a\`, false},
		{"**/foo", "foo", true},
		{"**/foo", "a/b/foo", true},
		{"**/foo/bar", "a/foo/bar", true},
		{"**/foo/bar", "foo/x/bar", false},
		{"abc/**", "abc/x", true},
		{"abc/**", "abc/x/y", true},
		{"abc/**", "abc/", false},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "x/a/b", false},
		{"a/**/**/b/**/c", "a/b/c", true},
		{"foo**bar", "fooxbar", true},
		{"foo**bar", "foo/bar", false},
		{"a/x**y", "a/xzy", true},
		{"a/x**y", "a/x/y", false},
		{"**", "a", true},
		{"/**", "a/b", true},
		{"**/", "a/", true},
		{"**/", "a", false},
		{"/", "a", false},
		{"/*\n!/foo", "foo/", false},
		{"/*\n!/foo", "bar", true},
		{"*.log\n!keep.log", "x/keep.log", false},
		{"!keep.log\n*.log", "keep.log", true},
		{"{a,b}", "a", false},
		{"{a,b}", "{a,b}", true},
		{"a//b", "a/b", false},
		{strings.Repeat("*a", 30), strings.Repeat("a", 3000) + "b", false},
		{strings.Repeat("**/a/", 30) + "b", strings.Repeat("a/", 500) + "c", false},
	} {
		path, folder := strings.CutSuffix(c.path, "/")
		dir, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			dir, name = path[:i+1], path[i+1:]
		}
		g := &ignores{rules: parseIgnore(c.rules)}
		if got := g.match(dir, name, folder); got != c.want {
			t.Errorf("rules %q, path %q: ignored = %v, want %v", c.rules, c.path, got, c.want)
		}
	}
}

func TestIgnoreLevels(t *testing.T) {
	// The search starts in repo/sub; rules stand in repo, repo/sub and
	// repo/sub/deep.
	top := &ignores{rules: parseIgnore("*.log\n/sub/top\n/top2\n"), prefix: "sub/"}
	sub := &ignores{above: top, rules: parseIgnore("!keep.log\n/here\n")}
	deep := &ignores{above: sub, rules: parseIgnore("/only\nkeep.log\n"), strip: len("deep/")}
	for _, c := range []struct {
		g         *ignores
		dir, name string
		want      bool
	}{
		{sub, "", "a.log", true},
		{sub, "", "keep.log", false},
		{sub, "", "top", true},
		{sub, "", "top2", false},
		{sub, "", "here", true},
		{deep, "deep/", "here", false},
		{deep, "deep/", "only", true},
		{deep, "deep/", "keep.log", true},
		{deep, "deep/x/", "only", false},
		{deep, "deep/x/", "b.log", true},
	} {
		if got := c.g.match(c.dir, c.name, false); got != c.want {
			t.Errorf("%s%s: ignored = %v, want %v", c.dir, c.name, got, c.want)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		glob, path string
		want       bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "x/y/a.go", true},
		{"*.go", "a.gox", false},
		{"**/*needle*", "needle.go", true},
		{"**/*needle*", "d/s/a_needle", true},
		{"src/*.go", "src/a.go", true},
		{"src/*.go", "src/x/a.go", false},
		{"src/**/*.go", "src/a.go", true},
		{"src/**/*.go", "src/x/y/a.go", true},
		{"./src/**", "src/x", true},
		{"src/", "src/x/y", true},
		{"/a.go", "a.go", true},
		{"/a.go", "x/a.go", false},
		{"**/src/*.go", "x/src/a.go", true},
		{"*.{ts,tsx}", "x/a.tsx", true},
		{"*.{ts,tsx}", "a.js", false},
		{"{a,b{c,d}}.x", "bd.x", true},
		{"{a}.x", "{a}.x", true},
		{"{a,b", "{a,b", true},
		{"}{", "}{", true},
		{"[ab].go", "b.go", true},
		{"?.go", "é.go", true},
		{"[é-ü].go", "í.go", true},
		{"", "x", true},
	} {
		var g glob
		if c.glob != "" {
			var err error
			if g, err = newGlob(c.glob); err != nil {
				t.Errorf("%q: %v", c.glob, err)
				continue
			}
		}
		i := strings.LastIndexByte(c.path, '/') + 1
		if got := g.match(c.path[:i], c.path[i:]); got != c.want {
			t.Errorf("glob %q, path %q: %v, want %v", c.glob, c.path, got, c.want)
		}
	}
	for _, bad := range []string{"../x", "a/../b", "./", strings.Repeat("{a,b}", 12)} {
		if _, err := newGlob(bad); err == nil {
			t.Errorf("glob %q was taken", bad)
		}
	}
}

func FuzzIgnore(f *testing.F) {
	f.Add("a/**/b\n!x[", "a/c/b")
	f.Add("{[\\", "}")
	f.Fuzz(func(t *testing.T, rules, path string) {
		(&ignores{rules: parseIgnore(rules)}).match("", path, false)
		if g, err := newGlob(rules); err == nil {
			g.match("d/", path)
		}
	})
}
