//go:build unix

package resolve

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

// TestPeerBugs holds the faults that users of other companions reported about
// rules for paths, by the row of our list of them.
func TestPeerBugs(t *testing.T) {
	w := newWorld(t)
	at := func(p string) string { return filepath.Join(w.root, p) }
	w.link(t, filepath.Join(w.out, "secret.txt"), at("p/l"))
	w.link(t, w.out, at("p/d"))
	w.mkdir(t, at("p-secret"))
	w.write(t, at("p-secret/x"), "x")
	w.mkdir(t, at("with space"))
	w.write(t, at("with space/a.txt"), "x")
	w.mkdir(t, at("a/b"))
	w.write(t, at("a/[x].txt"), "x")
	const read, write, list = permissions.OpRead, permissions.OpWrite, permissions.OpList
	allow, ask := permissions.Allow, permissions.Ask
	r := w.resolver(t)
	for _, tt := range []struct {
		row   string
		rules string // one a word, "|" between them
		op    permissions.Op
		path  string
		want  permissions.Decision
	}{
		{"B1", "R:./p/**", read, "p/l", ask}, // peer bug B1: a link inside points outside
		{"B1", "R:./p/**", read, "p/d/secret.txt", ask},
		{"B1", "R:./p/**", list, "p/d", ask},
		{"B3", "R:./p/**", read, "p-secret/x", ask}, // peer bug B3: a prefix that ends within a name
		{"B3", "R:" + at("p"), read, at("p-secret/x"), ask},
		{"B4", "RW:./p/**", write, "p/l", ask}, // peer bug B4: only reading is safe from links
		{"B4", "RW:./p/**", write, "p/d/new", ask},
		{"B4", "RW:./p/**", permissions.OpDelete, "p/d/secret.txt", ask},
		{"B5", "R:" + at("p/**"), read, "p/a.txt", allow}, // peer bug B5: absolute rules never meet relative paths
		{"B5", "R:./p/**", read, at("p/a.txt"), allow},
		{"B5", "R:~/work/p/**", read, "./p/a.txt", allow},
		{"B8", "RW:./**", read, "p/.env", ask}, // peer bug B8: a secret is guarded under one spelling only
		{"B8", "RW:./**", read, at("p/.env"), ask},
		{"B8", "RW:./**", read, "~/work/p/.env", ask},
		{"B8", "RW:./**|R:./p/.env", read, "./p/src/../.env", ask},
		{"B8", "RW:/**", read, w.home + "/.ssh/id_ed25519", ask},
		{"B9", "R:/docs/**", read, "docs/n.md", ask}, // peer bug B9: an absolute rule is taken for a relative one
		{"B9", "R:./docs/**", read, filepath.Join(w.home, "docs/n.md"), ask},
		{"B9", "R:" + w.home + "/docs/**", read, "../docs/n.md", allow},
		{"B12", "R:./with space/**", read, "with space/a.txt", allow}, // peer bug B12: usual spellings are refused
		{"B12", "R:./with space/", read, "./with space/", allow},
		{"B12", "R:.//p/./src/../**", read, "p//a.txt", allow},
		{"B12", "R:~/docs/**", read, "~/docs//n.md", allow},
		{"B13", "R:./a/*", read, "a/b/c", ask}, // peer bug B13: our matcher's own wildcards
		{"B13", "R:./a/**", read, "a/x", allow},
		{"B13", "R:./a/[x].txt", read, "a/[x].txt", allow},
		{"B13", "R:./a/[x].txt", read, "a/x.txt", ask},
		{"B13", "R:./a/{b,c}", read, "a/b", ask},
	} {
		if _, v := w.decide(t, r, strings.Split(tt.rules, "|"), tt.path, tt.op); v.Decision != tt.want {
			t.Errorf("%s: %s %q under %q = %s (row %d: %s), want %s", tt.row, tt.op, tt.path, tt.rules, v.Decision, v.Row, v.Reason, tt.want)
		}
	}
}

// peer bug B6: the order of the rules decides. Whatever their order, a path is
// covered when one of them covers it.
func TestOrderOfRulesMeansNothing(t *testing.T) {
	w := newWorld(t)
	r := w.resolver(t)
	rules := []string{"R:./p/**", "W:./p/src/*", "R:~/docs/**", "RW:./pp/x.txt", "bad rule"}
	want := map[string]permissions.Decision{}
	var try func(done, left []string)
	try = func(done, left []string) {
		for i := range left {
			try(append(slices.Clone(done), left[i]), slices.Delete(slices.Clone(left), i, i+1))
		}
		if len(left) > 0 {
			return
		}
		for _, path := range []string{"p/a.txt", "p/src/b.go", "pp/x.txt", "pp/y", "~/docs/n.md", "p/.env", "~/.zeroclaw/config.toml", "."} {
			for _, op := range []permissions.Op{permissions.OpRead, permissions.OpList, permissions.OpWrite, permissions.OpDelete} {
				key := string(op) + " " + path
				_, v := w.decide(t, r, done, path, op)
				if first, ok := want[key]; ok && v.Decision != first {
					t.Errorf("%s under %q = %s, in another order %s", key, done, v.Decision, first)
				}
				want[key] = v.Decision
			}
		}
	}
	try(nil, rules)
	if want["read p/a.txt"] != permissions.Allow || want["write p/a.txt"] != permissions.Ask || want["write p/src/b.go"] != permissions.Allow {
		t.Errorf("decisions are %v", want)
	}
}
