package session

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/permissions"
)

type shellCase struct {
	ID, Title string
	Rules     []string
	Command   string
	Toggle    string
	Expected  struct {
		Decision string
	}
}

// TestShellCases takes every case that has a decision through the function
// that decides real calls. The others are about a running command and are
// tested in tools/shell.
func TestShellCases(t *testing.T) {
	home := t.TempDir()
	root, out := filepath.Join(home, "work"), filepath.Join(home, "out")
	for _, dir := range []string{"work/p/r/.git", "out", ".zeroclaw"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"work/p/a.txt", "work/p/b.txt", "work/p/cat", "out/secret.txt", "out/l"} {
		if err := os.WriteFile(filepath.Join(home, file), []byte("foo\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"link": "secret.txt", "dlink": ""} {
		if err := os.Symlink(filepath.Join(out, target), filepath.Join(root, "p", name)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open("testdata/shell.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	expand := strings.NewReplacer("${ROOT}", root, "${OUT}", out, "${HOME}", home)
	ran, elsewhere := 0, 0
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var c shellCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		if c.Expected.Decision == "" {
			elsewhere++
			continue
		}
		ran++
		command := expand.Replace(c.Command)
		got := ExplainAlone(Query{Root: root, Home: home, Rules: c.Rules, Command: &command, Mode: c.Toggle})
		want := map[string]permissions.Decision{"must_ask": permissions.Ask, "must_allow": permissions.Allow, "must_deny": permissions.Deny}[c.Expected.Decision]
		if want != "" && got.Verdict != want || got.Verdict == permissions.Error {
			t.Errorf("%s %s: %q is %s (%s), want %s", c.ID, c.Title, command, got.Verdict, got.Reason, c.Expected.Decision)
		}
	}
	if ran < 100 || elsewhere > 8 {
		t.Errorf("%d cases ran and %d did not", ran, elsewhere)
	}
}
