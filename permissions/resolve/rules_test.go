//go:build unix

package resolve

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"zeroclaw/permissions"
)

func parse(t testing.TB, lines ...string) []permissions.Rule {
	t.Helper()
	rules, bad := permissions.ParseRules(lines)
	if len(bad) > 0 {
		t.Fatal(bad)
	}
	return rules
}

func TestAnchor(t *testing.T) {
	w := newWorld(t)
	w.link(t, "p", filepath.Join(w.root, "cur"))
	w.link(t, "loop", filepath.Join(w.root, "loop"))
	r := w.resolver(t)
	for line, want := range map[string]string{
		"R:./cur/**": "p", "R:./**": "", "R:.": "", "R:../out/*": "../out", "R:~/docs/**": "../docs", "R:~/": "..", "R:./new/deep/**": "new/deep",
		"R:./app/[slug]/**": "app/[slug]", "R:./cur/a.txt": "p/a.txt",
	} {
		a := r.Anchor(parse(t, line), nil)[0]
		if a.Status != permissions.RuleActive || a.Base != filepath.Join(w.root, want) {
			t.Errorf("Anchor(%q) = %s at %q, want active at %q", line, a.Status, a.Base, filepath.Join(w.root, want))
		}
	}
	if a := r.Anchor(parse(t, "R:./loop/**"), nil)[0]; a.Status != permissions.RuleInvalid || a.Covers(r.Path("p/a.txt", permissions.OpRead, false)) {
		t.Errorf("a rule on a link loop is %s", a.Status)
	}
	homeless, err := New(Config{Root: w.root})
	if err != nil {
		t.Fatal(err)
	}
	if a := homeless.Anchor(parse(t, "R:~/x"), nil)[0]; a.Status != permissions.RuleInvalid {
		t.Errorf("a rule on a home that does not exist is %s", a.Status)
	}
}

// TestAnchorMoved is about rules whose prefix leads elsewhere than when they
// were saved, and about rules that belong to another root.
func TestAnchorMoved(t *testing.T) {
	w := newWorld(t)
	cur := filepath.Join(w.root, "cur")
	w.link(t, "p", cur)
	if runtime.GOOS != "darwin" { // whose volumes keep no such name
		w.mkdir(t, filepath.Join(w.root, "odd\xff"))
	}
	r := w.resolver(t)
	rules := parse(t, "R:./cur/**", "R:~/docs/**", "R:./odd\ufffdff/**")
	bases := r.Bases(rules, nil)
	text, err := json.Marshal(bases)
	if err != nil {
		t.Fatal(err)
	}
	bases = nil
	if err := json.Unmarshal(text, &bases); err != nil {
		t.Fatal(err)
	}
	status := func(r *Resolver, bases Bases) (out [3]permissions.RuleStatus) {
		for i, a := range r.Anchor(rules, bases) {
			out[i] = a.Status
		}
		return out
	}
	active, moved, elsewhere := permissions.RuleActive, permissions.RuleMoved, permissions.RuleElsewhere
	if got := status(r, bases); got != [3]permissions.RuleStatus{active, active, active} {
		t.Errorf("just saved: %v", got)
	}
	covers := func(given string) bool {
		p := r.Path(given, permissions.OpRead, false)
		for _, a := range r.Anchor(rules, bases) {
			if a.Covers(p) {
				return true
			}
		}
		return false
	}
	if !covers("cur/a.txt") || !covers("p/a.txt") {
		t.Error("the rule does not cover what its link leads to")
	}
	os.Remove(cur)
	w.link(t, w.out, cur)
	if got := status(r, bases); got != [3]permissions.RuleStatus{moved, active, active} {
		t.Errorf("link moved: %v", got)
	}
	if covers("cur/secret.txt") || covers("~/out/secret.txt") || covers("p/a.txt") {
		t.Error("a moved rule still covers something")
	}
	if kept := r.Bases(rules, bases); kept["R:./cur/**"] != bases["R:./cur/**"] {
		t.Error("saving again makes a moved rule follow")
	}
	if again := r.Bases(rules, nil); status(r, again)[0] != active {
		t.Error("using the rule here does not make it active")
	}

	second, err := New(Config{Root: filepath.Join(w.root, "app"), Home: w.home})
	if err != nil {
		t.Fatal(err)
	}
	if got := status(second, Bases{}); got != [3]permissions.RuleStatus{elsewhere, active, elsewhere} {
		t.Errorf("another root: %v", got)
	}
}

func TestNew(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Config{
		{}, {Root: "relative"}, {Root: file}, {Root: filepath.Join(dir, "none")}, {Root: dir, Home: "x"}, {Root: dir, State: "x"}, {Root: dir, Workspace: "x"},
	} {
		if _, err := New(c); err == nil {
			t.Errorf("New(%+v) succeeds", c)
		}
	}
}

func TestVolume(t *testing.T) {
	w := newWorld(t)
	r := w.resolver(t)
	p := r.Path("p/a.txt", permissions.OpRead, false)
	// The volume itself is the judge.
	_, err := os.Stat(filepath.Join(w.root, "P"))
	if folds := err == nil; p.Fold != folds {
		t.Errorf("fold = %v, want %v", p.Fold, folds)
	}
	if fold, nfc := volume("/", "/"); fold && nfc {
		t.Logf("the top folds: %v, normalises: %v", fold, nfc)
	}
}

func BenchmarkPath(b *testing.B) {
	w := newWorld(b)
	r := w.resolver(b)
	rules := parse(b, "R:./p/**", "RW:~/docs/**")
	b.Run("path", func(b *testing.B) {
		for b.Loop() {
			r.Path("p/src/b.go", permissions.OpRead, false)
		}
	})
	b.Run("anchor", func(b *testing.B) {
		for b.Loop() {
			r.Anchor(rules, nil)
		}
	})
	p := r.Path("p/src/b.go", permissions.OpRead, false)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			f, err := Open(p, os.O_RDONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			f.Close()
		}
	})
}
