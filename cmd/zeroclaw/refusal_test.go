package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRefusedStarts is what no start can mean: each is refused with a sentence
// and a hint, before anything is written.
func TestRefusedStarts(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args   string // separated by |
		home   string // "" leaves the test's own
		config string // ZEROCLAW_CONFIG_DIR
		code   int
		says   string
		hint   string
	}{
		{args: "--port|-1", code: exitUsage, says: "use --port -1", hint: "0 for any free one"},
		{args: "--port|65536", code: exitUsage, says: "use --port 65536", hint: "from 1 to 65535"},
		{args: "--exit-when-idle|0", code: exitUsage, says: "use --exit-when-idle 0s", hint: "like 10m"},
		{args: "--exit-when-idle|-5m", code: exitUsage, says: "use --exit-when-idle -5m0s", hint: "like 10m"},
		{args: "--root|", code: exitFailure, says: "--root is empty", hint: "give an existing folder"},
		{args: "--root|/nonesuch/x", code: exitFailure, says: "/nonesuch/x", hint: "give an existing folder"},
		{home: "relative", code: exitFailure, says: `"relative" is not an absolute path`, hint: "set HOME"},
		{args: "--root|" + dir, config: dir, code: exitFailure, says: "belongs to ZeroClaw itself", hint: "give an existing folder"},
		{args: "status", home: "relative", code: exitFailure, says: `"relative" is not an absolute path`, hint: "set HOME"},
	} {
		t.Run(c.args+c.home+c.config, func(t *testing.T) {
			t.Chdir(t.TempDir())
			e, out, _ := inProcess(t, strings.Split(c.args, "|")...)
			if c.args == "" {
				e.args = nil
			}
			if c.home != "" {
				e.home = c.home
			}
			e.getenv = func(name string) string { return map[string]string{"ZEROCLAW_CONFIG_DIR": c.config}[name] }
			if code := execute(t.Context(), e); code != c.code {
				t.Errorf("ended with %d, want %d", code, c.code)
			}
			first, rest, _ := strings.Cut(out.String(), "\n")
			if !strings.HasPrefix(first, "zeroclaw: ") || !strings.Contains(first, c.says) || strings.Contains(first, "%!") {
				t.Errorf("says %q, want %q in it", first, c.says)
			}
			if !strings.Contains(rest, c.hint) {
				t.Errorf("hints %q, want %q in it", rest, c.hint)
			}
			for _, dir := range []string{".", e.home, dir} {
				if made, _ := os.ReadDir(dir); len(made) > 0 {
					t.Errorf("made %v in %s", made, dir)
				}
			}
		})
	}
}

// TestUnstartedHints is what a person can do about a state folder that takes
// no files.
func TestUnstartedHints(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for _, c := range []struct {
		err  error
		want string
	}{
		{&os.PathError{Op: "write", Path: state, Err: diskFull[0]}, "free some space on the disk of " + state},
		{&os.PathError{Op: "open", Path: state, Err: fs.ErrPermission}, "make " + state + " writable"},
		{&os.PathError{Op: "open", Path: state, Err: readOnlyDisk}, "make " + state + " writable"},
		{&os.PathError{Op: "mkdir", Path: state, Err: notFolder}, "move away what stands"},
		{fmt.Errorf("something else"), ""},
	} {
		err := unstarted(fmt.Errorf("start: %w", c.err), state)
		if f, ok := err.(failure); !ok || !strings.HasPrefix(f.hint, c.want) || (f.hint == "") != (c.want == "") {
			t.Errorf("unstarted(%v) hints %q, want %q", c.err, f.hint, c.want)
		}
	}
	if unstarted(nil, state) != nil {
		t.Error("no error became one")
	}
}
