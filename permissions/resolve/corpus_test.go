//go:build unix

package resolve

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/permissions"
)

type pathCase struct {
	ID, Title, Setup string
	Rules            []string
	Op               permissions.Op
	Path             string
	OS               []string
	Expected         struct {
		Decision   string
		DecisionIn []string `json:"decision_in"`
		MaxMs      int      `json:"max_ms"`
		Or         string
	}
}

// world is a home with a root, a folder beside it and a state folder.
type world struct{ home, root, out, state string }

func newWorld(t testing.TB) world {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{home, filepath.Join(home, "work"), filepath.Join(home, "out"), filepath.Join(home, ".zeroclaw")}
	for _, f := range []string{"work/p/src", "work/pp", "work/app/[slug]", "out", ".zeroclaw", ".ssh", "docs"} {
		if err := os.MkdirAll(filepath.Join(home, f), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{
		"work/p/a.txt", "work/p/src/b.go", "work/p/.env", "work/p/.hidden", "work/pp/x.txt",
		"work/app/[slug]/page.tsx", "out/secret.txt", ".zeroclaw/config.toml", ".ssh/id_ed25519", "docs/n.md",
	} {
		w.write(t, filepath.Join(home, f), f)
	}
	return w
}

func (w world) write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (w world) resolver(t testing.TB) *Resolver {
	t.Helper()
	r, err := New(Config{Root: w.root, Home: w.home, State: w.state})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// grant reaches every local tool.
func grant() permissions.Grant {
	g, _ := permissions.NewGrant(permissions.Inputs{Agent: permissions.BuiltinAgent})
	return g
}

var toolFor = map[permissions.Op]string{
	permissions.OpRead: "read_file", permissions.OpList: "list_directory",
	permissions.OpWrite: "edit_file", permissions.OpDelete: "edit_file",
}

func (w world) decide(t testing.TB, r *Resolver, rules []string, given string, op permissions.Op) (permissions.Path, permissions.Verdict) {
	t.Helper()
	parsed, _ := permissions.ParseRules(rules)
	p := r.Path(given, op, false)
	return p, permissions.Decide(permissions.Settings{Rules: r.Anchor(parsed, nil)}, grant(),
		permissions.Request{Tool: toolFor[op], Origin: permissions.OriginLocal, Paths: []permissions.Path{p}})
}

func readCases(t *testing.T) []pathCase {
	t.Helper()
	f, err := os.Open("testdata/path-rules.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []pathCase
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var c pathCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// elsewhere are cases without a decision: what they ask is tested where it
// happens.
var elsewhere = map[string]string{
	"P044": "a race, see TestOpenRace", "P045": "a race, see TestOpenParentRace",
	"P065": "a limit of read_file", "P066": "a limit of list_directory", "P072": "what a log line shows",
	"P071": "names in listings, see TestOddNames",
}

func TestPathCases(t *testing.T) {
	skipped := map[string]string{}
	cases := readCases(t)
	for _, c := range cases {
		if why, ok := elsewhere[c.ID]; ok {
			skipped[c.ID] = why
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			if len(c.OS) > 0 && !slices.Contains(c.OS, runtime.GOOS) {
				if !slices.Equal(c.OS, []string{"windows"}) {
					t.Fatalf("case for %v has no stand-in", c.OS)
				}
				if why := refusedOnWindows(c.Path); why == "" {
					t.Errorf("refusedOnWindows(%q) = \"\", want a reason", c.Path)
				}
				return
			}
			w := newWorld(t)
			layOut(t, w, c.Setup)
			fill := strings.NewReplacer("${ROOT}", w.root, "${OUT}", w.out, "${HOME}", w.home,
				"${STATE}", w.state, "${LINKROOT}", filepath.Join(w.home, "linkroot"))
			r := w.resolver(t)
			for i := range c.Rules {
				c.Rules[i] = fill.Replace(c.Rules[i])
			}
			start := time.Now()
			_, v := w.decide(t, r, c.Rules, fill.Replace(c.Path), c.Op)
			took := time.Since(start)
			want := c.Expected.DecisionIn
			if c.Expected.Decision != "" {
				want = append(want, c.Expected.Decision)
			}
			if c.Expected.Or == "deny" || c.Expected.Or == "ask" {
				want = append(want, c.Expected.Or)
			}
			if len(want) > 0 && !slices.Contains(want, string(v.Decision)) {
				t.Errorf("%s: %s %q under %q = %s (row %d: %s), want %v", c.Title, c.Op, c.Path, c.Rules, v.Decision, v.Row, v.Reason, want)
			}
			limit := time.Duration(c.Expected.MaxMs) * time.Millisecond
			for try := 0; limit > 0 && took > limit && try < 4; try++ { // the machine was busy, perhaps
				start = time.Now()
				w.decide(t, r, c.Rules, fill.Replace(c.Path), c.Op)
				took = min(took, time.Since(start))
			}
			if limit > 0 && took > limit {
				t.Errorf("%s: took %v, want at most %v", c.Title, took, limit)
			}
		})
	}
	t.Logf("%d cases, %d answered in other tests: %v", len(cases), len(skipped), skipped)
}

// layOut makes what a case's setup describes besides the usual world.
func layOut(t *testing.T, w world, setup string) {
	t.Helper()
	link := func(target, name string) {
		if err := os.Symlink(target, name); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	p := filepath.Join(w.root, "p")
	switch {
	case strings.Contains(setup, "p/link ->"):
		link(filepath.Join(w.out, "secret.txt"), filepath.Join(p, "link"))
		link(w.out, filepath.Join(p, "dlink"))
		link("./a.txt", filepath.Join(p, "in"))
		link("loop", filepath.Join(p, "loop"))
	case strings.Contains(setup, "p/absin ->"):
		link(filepath.Join(p, "a.txt"), filepath.Join(p, "absin"))
	case strings.Contains(setup, "${LINKROOT}"):
		link(w.root, filepath.Join(w.home, "linkroot"))
	case strings.Contains(setup, "${ROOT}/cur"):
		link("./p", filepath.Join(w.root, "cur"))
	case strings.Contains(setup, "p/dang"):
		link(filepath.Join(w.out, "new"), filepath.Join(p, "dang"))
	case strings.Contains(setup, "link(${OUT}"):
		if err := os.Link(filepath.Join(w.out, "secret.txt"), filepath.Join(p, "hard")); err != nil {
			t.Fatal(err)
		}
	case strings.Contains(setup, "mkfifo"):
		makeFIFO(t, filepath.Join(p, "fifo"))
	}
}
