package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// installer is an environment that changes the files of a new home folder.
func installer(t *testing.T, args ...string) (e environment, out, errs *bytes.Buffer) {
	t.Helper()
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	self, home := filepath.Join(t.TempDir(), "zeroclaw"), t.TempDir()
	return environment{
		args: append([]string{"mcp", "install"}, args...), stdin: strings.NewReader(""), stdout: out, stderr: errs,
		home: home, cwd: home, self: self, goos: runtime.GOOS, getenv: func(string) string { return "" },
	}, out, errs
}

func TestInstall(t *testing.T) {
	e, out, errs := installer(t, "cursor", "--agent", "coder", "--yes")
	path := filepath.Join(e.home, ".cursor", "mcp.json")
	if c := execute(t.Context(), e); c != 0 {
		t.Fatalf("ended with %d: %s", c, errs)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"mcpServers\": {\n    \"zeroclaw\": {\n      \"command\": " + encoded(e.self) + ",\n      \"args\": [\"mcp\", \"--agent\", \"coder\"]\n    }\n  }\n}\n"; string(data) != want {
		t.Errorf("the file is\n%s\nwant\n%s", data, want)
	}
	if !strings.Contains(out.String(), "+     \"zeroclaw\": {\n") {
		t.Errorf("it printed\n%s", out)
	}
	info, _ := os.Stat(path)
	if c := execute(t.Context(), e); c != 0 || !strings.Contains(out.String(), "stays as it is") {
		t.Errorf("once more: %d, %s", c, out)
	}
	if again, _ := os.Stat(path); !os.SameFile(info, again) || !info.ModTime().Equal(again.ModTime()) {
		t.Error("the second time the file was written again")
	}
}

func TestInstallAsks(t *testing.T) {
	for typed, want := range map[string]bool{"yes\n": true, "YES\r\n": true, "y\n": false, "\n": false, "": false, "no\n": false} {
		e, _, errs := installer(t, "vscode")
		e.person.answers, e.stdin = true, strings.NewReader(typed)
		c := execute(t.Context(), e)
		_, err := os.Stat(e.apps("")[2].Path)
		if got := err == nil; got != want || c != 0 {
			t.Errorf("after %q written: %v, want %v; ended with %d: %s", typed, got, want, c, errs)
		}
	}
}

func TestInstallRefuses(t *testing.T) {
	tests := []struct {
		name, file string
		prepare    func(t *testing.T, e *environment, path string)
		args       []string
		code       int
		want       string
	}{
		{name: "without a terminal", args: []string{"cursor"}, code: exitUsage, want: "nothing was written"},
		{name: "another client", args: []string{"emacs", "--yes"}, code: exitUsage, want: "there is: claude-desktop, claude-code, vscode, cursor"},
		{name: "a file that does not parse", file: "{\n  \"mcpServers\": {,}\n}\n", code: exitFailure, want: "line 2, column 18"},
		{name: "a list", file: "[]", code: exitFailure, want: "line 1, column 1: there is a list where an object belongs"},
		{name: "a file that may only be read", file: "{}\n", code: exitFailure, want: "may only be read", prepare: func(t *testing.T, _ *environment, path string) {
			if err := os.Chmod(path, 0o444); err != nil {
				t.Fatal(err)
			}
		}},
		{name: "go run", code: exitFailure, want: "go install", prepare: func(_ *testing.T, e *environment, _ string) {
			e.self = filepath.FromSlash("/tmp/go-build123/b001/exe/zeroclaw")
		}},
		{name: "no home folder", code: exitFailure, want: "no home folder", prepare: func(_ *testing.T, e *environment, _ string) { e.home = "" }},
		{name: "a folder in its place", code: exitFailure, want: "mcp.json", prepare: func(t *testing.T, _ *environment, path string) {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args := tt.args
			if args == nil {
				args = []string{"cursor", "--yes"}
			}
			e, _, errs := installer(t, args...)
			path := filepath.Join(e.home, ".cursor", "mcp.json")
			if tt.file != "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if tt.prepare != nil {
				tt.prepare(t, &e, path)
			}
			if c := execute(t.Context(), e); c != tt.code || !strings.Contains(errs.String(), tt.want) {
				t.Errorf("ended with %d: %s; want %d and %q", c, errs, tt.code, tt.want)
			}
			if data, err := os.ReadFile(path); err == nil && string(data) != tt.file {
				t.Errorf("the file became %q", data)
			}
		})
	}
}

// TestInstallFollowsLinks: people keep such files elsewhere.
func TestInstallFollowsLinks(t *testing.T) {
	e, _, errs := installer(t, "claude-code", "--yes")
	real, link := filepath.Join(e.home, "dotfiles.json"), filepath.Join(e.home, ".claude.json")
	if err := os.WriteFile(real, []byte("{\"x\": 1}"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("dotfiles.json", link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	if c := execute(t.Context(), e); c != 0 {
		t.Fatalf("ended with %d: %s", c, errs)
	}
	data, err := os.ReadFile(real)
	if err != nil || !strings.HasPrefix(string(data), `{"x": 1, "mcpServers": {"zeroclaw": {"type": "stdio", "command": `) {
		t.Errorf("the file is %q, %v", data, err)
	}
	if to, err := os.Readlink(link); err != nil || to != "dotfiles.json" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if info, _ := os.Stat(real); runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
		t.Errorf("the file's mode is %v", info.Mode())
	}
}

func TestInstallLists(t *testing.T) {
	e, out, _ := installer(t)
	if c := execute(t.Context(), e); c != 0 {
		t.Fatalf("ended with %d", c)
	}
	for _, a := range e.apps("") {
		if !strings.Contains(out.String(), a.ID) || !strings.Contains(out.String(), a.Path+"\n") {
			t.Errorf("%s is not listed in\n%s", a.ID, out)
		}
	}
}
