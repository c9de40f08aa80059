//go:build unix

package resolve

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"zeroclaw/permissions"
)

// What an operand was judged by must still hold when its program starts.
func TestAgain(t *testing.T) {
	tests := []struct {
		name    string
		operand permissions.Operand
		change  func(w world, at func(string) string)
		changed bool
	}{
		{"nothing", permissions.Operand{Text: "p/a.txt", Op: permissions.OpRead}, func(world, func(string) string) {}, false},
		{"other contents", permissions.Operand{Text: "p/a.txt", Op: permissions.OpRead}, func(_ world, at func(string) string) {
			os.WriteFile(at("p/a.txt"), []byte("other"), 0o644)
		}, false},
		{"a link in its place", permissions.Operand{Text: "p/a.txt", Op: permissions.OpRead}, func(w world, at func(string) string) {
			os.Remove(at("p/a.txt"))
			os.Symlink(filepath.Join(w.out, "secret.txt"), at("p/a.txt"))
		}, true},
		{"a link above it", permissions.Operand{Text: "p/a.txt", Op: permissions.OpRead}, func(w world, at func(string) string) {
			os.Rename(at("p"), at("q"))
			os.Symlink(at("q"), at("p"))
		}, true},
		{"another file", permissions.Operand{Text: "p/a.txt", Op: permissions.OpRead}, func(_ world, at func(string) string) {
			os.WriteFile(at("p/new"), nil, 0o644)
			os.Rename(at("p/new"), at("p/a.txt"))
		}, true},
		{"gone", permissions.Operand{Text: "p/a.txt", Op: permissions.OpRead}, func(_ world, at func(string) string) { os.Remove(at("p/a.txt")) }, true},
		{"a folder in its place", permissions.Operand{Text: "p/a.txt", Op: permissions.OpRead}, func(_ world, at func(string) string) {
			os.Remove(at("p/a.txt"))
			os.Mkdir(at("p/a.txt"), 0o755)
		}, true},
		{"a link that leads elsewhere", permissions.Operand{Text: "link", Op: permissions.OpRead}, func(w world, at func(string) string) {
			os.Remove(at("link"))
			os.Symlink(filepath.Join(w.out, "secret.txt"), at("link"))
		}, true},
		{"still to be made", permissions.Operand{Text: "p/fresh", Op: permissions.OpWrite}, func(world, func(string) string) {}, false},
		{"made by somebody", permissions.Operand{Text: "p/fresh", Op: permissions.OpWrite}, func(_ world, at func(string) string) {
			os.WriteFile(at("p/fresh"), nil, 0o644)
		}, true},
		{"a dangling link to elsewhere", permissions.Operand{Text: "p/fresh", Op: permissions.OpWrite}, func(w world, at func(string) string) {
			os.Symlink(filepath.Join(w.out, "fresh"), at("p/fresh"))
		}, true},
		{"another folder above", permissions.Operand{Text: "p/fresh", Op: permissions.OpWrite}, func(_ world, at func(string) string) {
			os.Rename(at("p"), at("q"))
			os.Mkdir(at("p"), 0o755)
		}, true},
		{"written through a link", permissions.Operand{Text: "link", Op: permissions.OpWrite}, func(world, func(string) string) {}, false},
		{"a link to the same file", permissions.Operand{Text: "p/a.txt", Op: permissions.OpWrite}, func(_ world, at func(string) string) {
			os.Rename(at("p/a.txt"), at("p/b"))
			os.Symlink("b", at("p/a.txt"))
		}, true},
		{"one more name", permissions.Operand{Text: "p/a.txt", Op: permissions.OpWrite}, func(_ world, at func(string) string) {
			os.Link(at("p/a.txt"), at("p/b"))
		}, true},
		{"a link to delete", permissions.Operand{Text: "link", Op: permissions.OpDelete}, func(world, func(string) string) {}, false},
		{"a link to delete that leads elsewhere", permissions.Operand{Text: "link", Op: permissions.OpDelete}, func(w world, at func(string) string) {
			os.Remove(at("link"))
			os.Symlink(w.out, at("link"))
		}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			at := func(name string) string { return filepath.Join(w.root, name) }
			w.link(t, "p/a.txt", at("link"))
			r := w.resolver(t)
			c := r.Command(permissions.Command{Text: "x", Class: permissions.Simple, Argv: []string{"cat"}, Operands: []permissions.Operand{tt.operand}}, "")
			p := c.Paths[0]
			if p.Err != "" {
				t.Fatal(p.Err)
			}
			tt.change(w, at)
			err := Again(p)
			if got := errors.Is(err, ErrChanged); got != tt.changed || err != nil && !got {
				t.Errorf("Again = %v, want changed %v", err, tt.changed)
			}
		})
	}
}
