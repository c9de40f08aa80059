//go:build unix

package shell

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/permissions/resolve"
	"zeroclaw/permissions/shellscan"
	"zeroclaw/tools"
)

// A command that the rules let through opens its operands by name. When one was
// swapped between the verdict and the start, nothing is run and a sentence says
// so; a command that a person has approved as a text is none of this.
func TestSwappedOperand(t *testing.T) {
	tests := []struct {
		name, text string
		swap       func(t *testing.T, root, out string)
		refused    bool
	}{
		{"nothing", "cat a.txt", func(*testing.T, string, string) {}, false},
		{"file by a link", "cat a.txt", func(t *testing.T, root, out string) {
			must(t, os.Remove(filepath.Join(root, "a.txt")))
			must(t, os.Symlink(filepath.Join(out, "secret"), filepath.Join(root, "a.txt")))
		}, true},
		{"link by another link", "cat link", func(t *testing.T, root, out string) {
			must(t, os.Remove(filepath.Join(root, "link")))
			must(t, os.Symlink(filepath.Join(out, "secret"), filepath.Join(root, "link")))
		}, true},
		{"folder by a link", "ls d", func(t *testing.T, root, out string) {
			must(t, os.Remove(filepath.Join(root, "d")))
			must(t, os.Symlink(out, filepath.Join(root, "d")))
		}, true},
		{"second operand", "cat link a.txt", func(t *testing.T, root, out string) {
			must(t, os.Rename(filepath.Join(out, "secret"), filepath.Join(root, "a.txt")))
		}, true},
		{"nothing by a dangling link", "touch new", func(t *testing.T, root, out string) {
			must(t, os.Symlink(filepath.Join(out, "made"), filepath.Join(root, "new")))
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home, err := filepath.EvalSymlinks(t.TempDir())
			must(t, err)
			root, out := filepath.Join(home, "work"), filepath.Join(home, "out")
			must(t, os.MkdirAll(filepath.Join(root, "d"), 0o755))
			must(t, os.Mkdir(out, 0o755))
			must(t, os.WriteFile(filepath.Join(root, "a.txt"), []byte("public"), 0o644))
			must(t, os.WriteFile(filepath.Join(out, "secret"), []byte("secret"), 0o644))
			must(t, os.Symlink("a.txt", filepath.Join(root, "link")))
			r, err := resolve.New(resolve.Config{Root: root, Home: home})
			must(t, err)
			c := r.Command(shellscan.Scan(tt.text), "")
			if c.Class != permissions.Simple || c.Binary == "" {
				t.Skipf("%q is %s and its program %q: nothing would run directly here", tt.text, c.Class, c.Binary)
			}
			s := New(Config{})
			defer s.Close("")
			tt.swap(t, root, out)
			ctx := tools.WithPass(context.Background(), &tools.Pass{Session: "s", Command: &c, Direct: true, Output: func(string, string) {}})
			res, err := s.Tool().Run(ctx, []byte(`{"command":"`+tt.text+`"}`))
			if refused := err != nil; refused != tt.refused {
				t.Fatalf("Run = %s, %v, want refused %v", res.Structured, err, tt.refused)
			}
			if err != nil && !strings.Contains(err.Error(), "nothing was run, call again") {
				t.Errorf("it is refused with %q", err)
			}
			if strings.Contains(string(res.Structured), "secret") {
				t.Errorf("it shows %s", res.Structured)
			}
			if _, err := os.Stat(filepath.Join(out, "made")); err == nil {
				t.Error("it wrote behind the link")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
