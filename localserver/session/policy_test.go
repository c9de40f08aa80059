package session

import (
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
)

func resolver(t *testing.T, root string) *resolve.Resolver {
	t.Helper()
	r, err := resolve.New(resolve.Config{Root: root, Home: root, State: filepath.Join(root, ".state")})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// One call is judged by one configuration, whatever is saved meanwhile.
func TestSettingsAreOfOneConfiguration(t *testing.T) {
	dir := t.TempDir()
	root := resolver(t, dir)
	p, err := OpenPolicy(filepath.Join(dir, "bases"), true)
	if err != nil {
		t.Fatal(err)
	}
	closed := Values{Policy: permissions.PolicyAsk, Directories: []string{"RW:./**"}}
	open := Values{Policy: permissions.PolicyAllowAll}
	set := func(v Values) {
		if err := p.Set(v, root); err != nil {
			t.Error(err)
		}
	}
	set(open)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				set(closed)
				set(open)
			}
		}
	})
	var mixed atomic.Int64
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 5000 {
				s := p.Settings(root, nil)
				if (s.Policy == permissions.PolicyAllowAll) != (len(s.Rules) == 0) {
					mixed.Add(1)
				}
			}
		})
	}
	readers.Wait()
	close(stop)
	writer.Wait()
	if n := mixed.Load(); n > 0 {
		t.Errorf("%d settings have the policy of one configuration and the rules of another", n)
	}
}

// Once the stored prefixes cannot be read, no rule covers anything until a
// person saves it again: not even one whose folder appears only later.
func TestDamagedBasesAreNotTrusted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "bases")
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	// A loop does not resolve, so that nothing is known about its rule yet.
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Skip("links cannot be made here: ", err)
	}
	root := resolver(t, dir)
	p, err := OpenPolicy(path, false)
	if err == nil {
		t.Fatal("OpenPolicy took a torn file")
	}
	rules := []string{"RW:" + filepath.ToSlash(loop) + "/in/**", "R:./**", "R:./loop/in/**"}
	v := Values{Policy: permissions.PolicyAsk, Directories: rules}
	if err := p.Set(v, root); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(loop, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	check := func(p *Policy, when string) {
		t.Helper()
		if err := p.Set(v, root); err != nil {
			t.Fatal(err)
		}
		list, _ := p.Rules(root)
		for _, a := range list {
			if a.Status != permissions.RuleMoved {
				t.Errorf("%s %s is %q, want moved", when, a.Rule.Text, a.Status)
			}
		}
	}
	check(p, "then")
	again, err := OpenPolicy(path, false)
	if err != nil {
		t.Fatal(err)
	}
	check(again, "after a restart")
	if err := again.Rebase(rules[0], root); err != nil {
		t.Fatal(err)
	}
	if list, _ := again.Rules(root); list[0].Status != permissions.RuleActive {
		t.Errorf("saved again it is %q", list[0].Status)
	}
}

// What is noted about a rule never reaches the maps that are in force before
// it is taken over, and saved.
func TestNoteReplacesTheMap(t *testing.T) {
	root := resolver(t, t.TempDir())
	rules, invalid := permissions.ParseRules([]string{"R:./**"})
	if len(invalid) > 0 {
		t.Fatal(invalid)
	}
	live := resolve.Bases{"other": "/x"}
	bases := map[string]resolve.Bases{root.Root(): live}
	note(bases, rules[0], root, lost)
	if len(live) != 1 || bases[root.Root()][rules[0].Text] != lost || bases[root.Root()]["other"] != "/x" {
		t.Errorf("in force %v, noted %v", live, bases)
	}
}
