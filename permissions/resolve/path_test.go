//go:build unix

package resolve

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

func (w world) link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func (w world) mkdir(t testing.TB, path string) {
	t.Helper()
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestPathReal(t *testing.T) {
	w := newWorld(t)
	at := func(parts ...string) string { return filepath.Join(append([]string{w.root}, parts...)...) }
	w.link(t, w.out, at("p/dlink"))
	w.link(t, "../p/./a.txt", at("pp/up"))
	w.link(t, at("pp/up"), at("chain"))
	w.link(t, filepath.Join(w.out, "new/deep"), at("dang"))
	w.link(t, "p", at("dir"))
	w.link(t, "..", at("p/parent"))
	tests := []struct {
		given string
		op    permissions.Op
		real  string
		kind  permissions.Kind
	}{
		{"p/a.txt", permissions.OpRead, at("p/a.txt"), permissions.KindFile},
		{"./p//./src/../a.txt", permissions.OpRead, at("p/a.txt"), permissions.KindFile},
		{"p/a.txt/", permissions.OpRead, at("p/a.txt"), permissions.KindFile},
		{".", permissions.OpList, w.root, permissions.KindDir},
		{"..", permissions.OpList, w.home, permissions.KindDir},
		{"~/docs/n.md", permissions.OpRead, filepath.Join(w.home, "docs/n.md"), permissions.KindFile},
		{"~", permissions.OpList, w.home, permissions.KindDir},
		{"~/../../../../../../../..", permissions.OpList, "/", permissions.KindDir},
		{"$HOME/x", permissions.OpRead, at("$HOME/x"), permissions.KindNone},
		{"p/~/x", permissions.OpRead, at("p/~/x"), permissions.KindNone},
		{"./~x", permissions.OpWrite, at("~x"), permissions.KindNone},
		{"p/dlink/secret.txt", permissions.OpRead, filepath.Join(w.out, "secret.txt"), permissions.KindFile},
		{"p/dlink/new/x", permissions.OpWrite, filepath.Join(w.out, "new/x"), permissions.KindNone},
		{"p/dlink", permissions.OpDelete, at("p/dlink"), permissions.KindLink},
		{"dir/dlink", permissions.OpDelete, at("p/dlink"), permissions.KindLink},
		{"dir", permissions.OpWrite, at("p"), permissions.KindDir},
		{"chain", permissions.OpRead, at("p/a.txt"), permissions.KindFile},
		{"dang", permissions.OpWrite, filepath.Join(w.out, "new/deep"), permissions.KindNone},
		{"dang/x", permissions.OpWrite, filepath.Join(w.out, "new/deep/x"), permissions.KindNone},
		{"p/parent/pp/x.txt", permissions.OpRead, at("pp/x.txt"), permissions.KindFile},
		{"p/dlink/../a.txt", permissions.OpRead, at("p/a.txt"), permissions.KindFile}, // cleaned as text
		{"missing/../p/a.txt", permissions.OpRead, at("p/a.txt"), permissions.KindFile},
		{"a b/é", permissions.OpWrite, at("a b/é"), permissions.KindNone},
	}
	r := w.resolver(t)
	for _, tt := range tests {
		p := r.Path(tt.given, tt.op, false)
		if p.Err != "" || p.Real != tt.real || p.Kind != tt.kind {
			t.Errorf("Path(%q, %s) = %q kind %d, err %q; want %q kind %d", tt.given, tt.op, p.Real, p.Kind, p.Err, tt.real, tt.kind)
		}
		if p.Given != tt.given || p.Op != tt.op {
			t.Errorf("Path(%q, %s) forgets what it was asked", tt.given, tt.op)
		}
	}
	if p := r.Path("p/dlink", permissions.OpDelete, false); p.Second != w.out {
		t.Errorf("deleting a link: second place %q, want %q", p.Second, w.out)
	}
}

func TestPathImpossible(t *testing.T) {
	w := newWorld(t)
	at := func(p string) string { return filepath.Join(w.root, p) }
	w.link(t, "loop", at("loop"))
	w.link(t, "two", at("one"))
	w.link(t, "one", at("two"))
	w.link(t, "gone/../p/a.txt", at("tricky"))
	prev := "p/a.txt"
	for i := range 45 {
		name := fmt.Sprintf("l%d", i)
		w.link(t, prev, at(name))
		prev = name
	}
	makeFIFO(t, at("fifo"))
	r := w.resolver(t)
	for _, given := range []string{
		"", " ", "\t\n", "\u00a0", "a\x00b", "\x00", strings.Repeat("a/", 2100), strings.Repeat("x", 300),
		"loop", "loop/x", "one", "tricky", "l44", "fifo", "p/a.txt/x", "p/a.txt/../a.txt/x", "/dev/null", "/dev/zero", "~nobody/x",
	} {
		for _, op := range []permissions.Op{permissions.OpRead, permissions.OpList, permissions.OpWrite} {
			if p := r.Path(given, op, false); p.Err == "" {
				t.Errorf("Path(%.20q, %s) = %q, want it impossible", given, op, p.Real)
			}
		}
	}
	if p := r.Path("l30", permissions.OpRead, false); p.Err != "" {
		t.Errorf("a chain of 31 links: %s", p.Err)
	}
	if p := r.Path("loop", permissions.OpDelete, false); p.Err != "" || p.Kind != permissions.KindLink {
		t.Errorf("a link that leads nowhere can be removed, got %q", p.Err)
	}
}

func TestPathFacts(t *testing.T) {
	w := newWorld(t)
	if err := os.Link(filepath.Join(w.out, "secret.txt"), filepath.Join(w.root, "hard")); err != nil {
		t.Fatal(err)
	}
	r := w.resolver(t)
	if p := r.Path("hard", permissions.OpWrite, false); p.Links != 2 || p.OwnState {
		t.Errorf("hard link: links %d, own state %v", p.Links, p.OwnState)
	}
	for given, want := range map[string]string{
		".": ".", "p": "./p", "p/a.txt": "./p/a.txt", "~": "~/", "~/docs/n.md": "~/docs/n.md", "/etc": "/etc", "..": "~/",
		"../out/secret.txt": "~/out/secret.txt",
	} {
		if p := r.Path(given, permissions.OpList, false); p.Spelled != want {
			t.Errorf("Path(%q) is spelled %q, want %q", given, p.Spelled, want)
		}
	}
	p := r.Path("new/deep/file", permissions.OpWrite, false)
	if p.Dir != w.root || p.DirIno == 0 || p.Ino != 0 {
		t.Errorf("a new file starts in %q (inode %d), want the root", p.Dir, p.DirIno)
	}
	if p := r.Path("p/.env", permissions.OpRead, false); p.Protected != ".env" {
		t.Errorf(".env: protected %q", p.Protected)
	}
	w.link(t, filepath.Join(w.root, "p/.env"), filepath.Join(w.root, "innocent"))
	if p := r.Path("innocent", permissions.OpRead, false); p.Protected != ".env" {
		t.Errorf("a link to .env: protected %q", p.Protected)
	}
}

func TestWorkspace(t *testing.T) {
	w := newWorld(t)
	space := filepath.Join(w.state, "sessions", "mine")
	other := filepath.Join(w.state, "sessions", "other")
	for _, d := range []string{"uploads", "work/x", "outputs"} {
		w.mkdir(t, filepath.Join(space, d))
		w.mkdir(t, filepath.Join(other, d))
	}
	w.link(t, filepath.Join(w.state, "config.toml"), filepath.Join(space, "work/sneaky"))
	w.link(t, "/", filepath.Join(other, "work/everything"))
	if err := os.Link(filepath.Join(w.state, "config.toml"), filepath.Join(space, "work/hard")); err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{Root: w.root, Home: w.home, State: w.state, Workspace: space})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path string
		area permissions.Area
		own  bool
	}{
		{"uploads/a", permissions.AreaUploads, false},
		{"work/x/y", permissions.AreaWork, false},
		{"outputs", permissions.AreaOutputs, false},
		{"elsewhere", permissions.AreaNone, false},
		{"", permissions.AreaNone, false},
		{"worker", permissions.AreaNone, false},
		{"work/../../other/work/x", permissions.AreaNone, true},
		{"work/sneaky", permissions.AreaNone, true},
		{"work/hard", permissions.AreaNone, true},
		{"..", permissions.AreaNone, true},
	} {
		p := r.Path(space+"/"+tt.path, permissions.OpRead, false)
		if p.Area != tt.area || p.OwnState != tt.own {
			t.Errorf("%q in the workspace: area %d, own state %v; want %d, %v", tt.path, p.Area, p.OwnState, tt.area, tt.own)
		}
	}
	// What a session put into its workspace makes nothing own state.
	if p := r.Path("p/a.txt", permissions.OpRead, false); p.OwnState {
		t.Error("a link in another session's workspace turns every path into own state")
	}
	if p := r.Path(filepath.Join(space, "work"), permissions.OpList, true); !p.OwnState {
		t.Error("a walk does not meet a hard link into the state folder")
	}
	os.Remove(filepath.Join(space, "work/hard"))
	if p := r.Path(filepath.Join(space, "work"), permissions.OpList, true); p.OwnState {
		t.Error("walking the own workspace counts as own state")
	}
}

func TestWalk(t *testing.T) {
	w := newWorld(t)
	r := w.resolver(t)
	w.link(t, w.home, filepath.Join(w.root, "app/home"))
	if p := r.Path("app", permissions.OpList, true); p.OwnState || p.Protected != "" || !p.Walk {
		t.Errorf("a walk follows links: own state %v, protected %q", p.OwnState, p.Protected)
	}
	if p := r.Path("p", permissions.OpList, true); p.Protected != ".env" {
		t.Errorf("a walk over .env meets %q", p.Protected)
	}
	if p := r.Path("p", permissions.OpList, false); p.Protected != "" {
		t.Errorf("a plain listing meets %q", p.Protected)
	}
	w.mkdir(t, filepath.Join(w.root, "repo/sub/.git/hooks"))
	if p := r.Path("repo", permissions.OpList, true); p.Protected != "" {
		t.Errorf("reading over .git meets %q", p.Protected)
	}
	if p := r.Path("repo", permissions.OpDelete, false); p.Protected != ".git" || !p.Walk {
		t.Errorf("moving a folder with .git in it: protected %q, walk %v", p.Protected, p.Walk)
	}
	w.mkdir(t, filepath.Join(w.root, "empty"))
	if p := r.Path("empty", permissions.OpDelete, false); p.Walk {
		t.Error("removing an empty folder touches nothing below")
	}
	many := filepath.Join(w.root, "many")
	w.mkdir(t, many)
	r.maxWalk = 300
	for i := range r.maxWalk + 1 {
		f, err := os.Create(filepath.Join(many, fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if p := r.Path("many", permissions.OpList, true); !p.TooMany {
		t.Errorf("%d entries are not too many", r.maxWalk+1)
	}
	os.Remove(filepath.Join(many, "0"))
	if p := r.Path("many", permissions.OpList, true); p.TooMany {
		t.Errorf("%d entries are too many", r.maxWalk)
	}
}

// TestOddNames takes names from a listing and gives them to later calls.
func TestOddNames(t *testing.T) {
	if runtime.GOOS == "darwin" {
		t.Skip("the volumes of macOS keep no name that is not UTF-8")
	}
	w := newWorld(t)
	odd := []string{"\xff\xfe", "caf\xe9.txt", "\ufffd", "\ufffdff", "a\n[INFO]\x1b[2J", "%ff", `\xff`, "~", " x "}
	for _, n := range odd {
		w.write(t, filepath.Join(w.root, "p", n), n)
	}
	entries, err := os.ReadDir(filepath.Join(w.root, "p"))
	if err != nil {
		t.Fatal(err)
	}
	r := w.resolver(t)
	seen := 0
	for _, e := range entries {
		if !slices.Contains(odd, e.Name()) {
			continue
		}
		seen++
		given := "./p/" + permissions.EncodePath(e.Name())
		p, v := w.decide(t, r, []string{"R:./p/**"}, given, permissions.OpRead)
		if v.Decision != permissions.Allow {
			t.Errorf("reading %q: %s (%s)", given, v.Decision, v.Reason)
			continue
		}
		f, err := Open(p, os.O_RDONLY, 0)
		if err != nil {
			t.Errorf("opening %q: %v", given, err)
			continue
		}
		text := make([]byte, 100)
		n, _ := f.Read(text)
		f.Close()
		if string(text[:n]) != e.Name() {
			t.Errorf("%q leads to the file %q", given, text[:n])
		}
		// A rule can name it, too, unless it holds a control character.
		if _, v := w.decide(t, r, []string{"R:" + given}, given, permissions.OpRead); v.Decision != permissions.Allow && !strings.Contains(given, "\n") && e.Name() != " x " {
			t.Errorf("the rule R:%s does not cover its own path", given)
		}
	}
	if seen != len(odd) {
		t.Errorf("the volume kept %d of %d names", seen, len(odd))
	}
}
