package files

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestIgnoreAgreesWithGit makes small trees with random .gitignore files and
// compares what a search finds with what git would add. Patterns such as "x**/a"
// are left out: git lets them match more than its documentation says.
func TestIgnoreAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	rounds := 15
	if os.Getenv("ZEROCLAW_LONG") != "" {
		rounds = 3000
	}
	r := rand.New(rand.NewPCG(1, uint64(rounds)))
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	for round := range rounds {
		g := newGate(t, "R:./**")
		dirs := []string{""}
		for _, dir := range []string{"a/", "a/b/", "b/", "b/a/c/", "c c/"} {
			if r.IntN(4) > 0 {
				dirs = append(dirs, dir)
				g.write(dir+"keep", "x")
			}
		}
		for _, dir := range dirs {
			for _, name := range []string{"a", "b", "ab", "x.log", "y.c", "[a]", "#h", "!n", "é", "t "} {
				if _, err := os.Stat(g.path(dir + name)); r.IntN(2) == 0 && err != nil {
					g.write(dir+name, "x")
				}
			}
		}
		var rules []string
		for _, dir := range []string{"", "a/", "b/"} {
			var lines []string
			for range r.IntN(5) {
				p := ""
				for i := range 1 + r.IntN(3) {
					if i > 0 {
						p += "/"
					}
					p += pick("a", "b", "c", "*", "**", "*.log", "?", "[ab]", "[!a]", "[a-c]*", "a*", "*b", `\[a]`, "é", "c c", "x*", `\a`, "t\\ ", "y.c ")
				}
				lines = append(lines, pick("", "", "!", "/", "#", `\#h`, `\!n`)+p+pick("", "", "/", "/**", "\r"))
			}
			if lines != nil {
				if fi, err := os.Stat(g.path(dir)); err == nil && fi.IsDir() {
					g.write(dir+".gitignore", strings.Join(lines, "\n")+"\n")
					rules = append(rules, fmt.Sprintf("%q: %q", dir, lines))
				}
			}
		}
		run := func(args ...string) string {
			cmd := exec.Command(git, args...)
			cmd.Dir = g.root
			cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+g.root)
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("git %v: %v", args, err)
			}
			return string(out)
		}
		run("init", "-q")
		want := strings.Split(strings.TrimSuffix(run("ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
		if want[0] == "" {
			want = nil
		}
		slices.Sort(want)
		var got []string
		for _, m := range into[searchResult](t, g.call("search_files", map[string]any{"glob": "**", "max_matches": 2000})).Matches {
			got = append(got, m.Path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("round %d: rules %v\nfound %q\nwant  %q", round, rules, got, want)
		}
	}
}
