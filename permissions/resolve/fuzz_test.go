//go:build unix

package resolve

import (
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// FuzzPath gives any text as a path: the result is impossible or absolute and
// clean, the real path agrees with the system's own resolution, and a rule on
// one folder never covers what lies outside.
func FuzzPath(f *testing.F) {
	w := newWorld(f)
	w.link(f, w.out, filepath.Join(w.root, "p/dlink"))
	w.link(f, "../p/a.txt", filepath.Join(w.root, "pp/up"))
	w.link(f, "loop", filepath.Join(w.root, "loop"))
	w.link(f, filepath.Join(w.out, "new"), filepath.Join(w.root, "p/dang"))
	for _, s := range []string{
		"p/a.txt", "./p/../p//a.txt", "~/docs", "~root/x", "p/dlink/secret.txt", "pp/up", "loop", "p/dang", "/proc/self/environ", "..", "/",
		"p/\ufffdff", "a\x00b", " ", "p/a.txt/x", "~/.zeroclaw/config.toml", `C:\x`, "p/dlink/../x", "../work/p/a.txt",
	} {
		f.Add(s)
	}
	r := w.resolver(f)
	rule := r.Anchor(parse(f, "RW:./p/**"), nil)[0]
	inside := filepath.Join(w.root, "p")
	f.Fuzz(func(t *testing.T, given string) {
		if clean := r.Path(given, permissions.OpRead, false).Clean; within("/proc", clean) || within("/dev", clean) {
			t.Skip("processes and what they have open come and go")
		}
		for _, op := range []permissions.Op{permissions.OpRead, permissions.OpWrite, permissions.OpDelete} {
			p := r.Path(given, op, false)
			if p.Err != "" {
				if rule.Covers(p) {
					t.Fatalf("the rule covers the impossible %q", given)
				}
				continue
			}
			for _, c := range []string{p.Clean, p.Real, p.Dir} {
				if !strings.HasPrefix(c, "/") || cleanAbs(c) != c || strings.ContainsRune(c, 0) {
					t.Fatalf("Path(%q) holds %q, which is not clean", given, c)
				}
			}
			if op != permissions.OpDelete {
				if real, err := filepath.EvalSymlinks(p.Clean); err == nil && real != p.Real {
					t.Fatalf("Path(%q) = %q, the system says %q", given, p.Real, real)
				}
			}
			if rule.Covers(p) && !within(inside, p.Real) {
				t.Fatalf("R:./p/** covers %q at %q", given, p.Real)
			}
			if within(w.state, p.Real) && !p.OwnState {
				t.Fatalf("%q at %q is not own state", given, p.Real)
			}
			if again := r.Path(permissions.EncodePath(p.Real), op, false); again.Err == "" && again.Real != p.Real {
				t.Fatalf("Path(%q) = %q, whose encoded form leads to %q", given, p.Real, again.Real)
			}
		}
	})
}
