//go:build unix

package process

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestLookPath(t *testing.T) {
	dir := t.TempDir()
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	for _, f := range []struct {
		name string
		mode os.FileMode
	}{{"one/tool", 0o644}, {"two/tool", 0o755}, {"one/plain", 0o644}, {"two/other", 0o755}} {
		full := filepath.Join(dir, f.name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, f.mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(one, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := one + ":relative:.::" + two + ":" + one
	for _, tt := range []struct{ name, path, want, fail string }{
		{"tool", path, two + "/tool", ""},
		{"other", path, two + "/other", ""},
		{"./two/tool", path, two + "/tool", ""},
		{two + "/tool", "", two + "/tool", ""},
		{"plain", path, "", one + "/plain is not executable"},
		{"./one/plain", path, "", "not executable"},
		{"folder", path, "", "not found in the PATH, which is " + one + ":" + two},
		{"missing", path, "", "not found in the PATH, which is " + one + ":" + two},
		{"./missing", path, "", "no such file"},
		{"missing", "", "", "the PATH is empty"},
		{"", path, "", "not found"},
		{"a\x00b", path, "", "not found"},
	} {
		got, err := LookPath(tt.name, tt.path, dir)
		if tt.fail == "" {
			if err != nil || got != tt.want {
				t.Errorf("LookPath(%q) = %q, %v; want %q", tt.name, got, err, tt.want)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), tt.fail) || !errors.Is(err, exec.ErrNotFound) {
			t.Errorf("LookPath(%q) = %q, %v; want an error with %q", tt.name, got, err, tt.fail)
		}
	}
}

func TestAskLogin(t *testing.T) {
	home := t.TempDir()
	lines := "echo noise; export PATH=/opt/from-profile:$PATH; [ -z \"$ZEROCLAW_X\" ] || export PATH=/leak\n"
	for _, name := range []string{".bash_profile", ".profile"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	env := []string{"HOME=" + home, "PATH=/usr/bin:/bin", "ZEROCLAW_X=1"}
	got := askLogin(t.Context(), bash, env, 5*time.Second)
	if !strings.HasPrefix(got, "/opt/from-profile:") {
		t.Errorf("askLogin = %q, want the folder of the profile first", got)
	}
	if err := os.WriteFile(filepath.Join(home, ".bash_profile"), []byte("sleep 300\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if got := askLogin(t.Context(), bash, env, 200*time.Millisecond); got != "" || time.Since(began) > 20*time.Second {
		t.Errorf("a profile that hangs: %q after %v", got, time.Since(began))
	}
	if got := askLogin(t.Context(), "/no/shell", env, time.Second); got != "" {
		t.Errorf("no shell: %q", got)
	}
	if got, want := joinPaths("/a:rel:/b", "/b:/c"), "/a:/b:/c"; got != want {
		t.Errorf("joinPaths = %q, want %q", got, want)
	}
}

// The shell and what it starts with are those of the environment given, not
// those of this process; each Login has its own answer.
func TestLoginPath(t *testing.T) {
	t.Setenv("PATH", "/not/ours")
	t.Setenv("SHELL", "/bin/false")
	dir := t.TempDir()
	shell := filepath.Join(dir, "shell")
	script := "#!/bin/sh\necho >>" + dir + "/asked\nPATH=/from/login/$WHO:$PATH; while [ $# -gt 1 ]; do shift; done; eval \"$1\"\n"
	if err := os.WriteFile(shell, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	login := func(who string) *Login {
		return NewLogin(t.Context(), func() []string {
			return []string{"SHELL=" + shell, "WHO=" + who, "PATH=/only/ours:/usr/bin:/bin"}
		})
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	one := login("one")
	if got, want := one.Path(over), "/only/ours:/usr/bin:/bin"; got != want && got != "/from/login/one:"+want {
		t.Errorf("with its time over: %q", got)
	}
	for range 2 {
		if got, want := one.Path(t.Context()), "/from/login/one:/only/ours:/usr/bin:/bin"; got != want {
			t.Errorf("Path = %q, want %q", got, want)
		}
	}
	if got, want := login("two").Path(t.Context()), "/from/login/two:/only/ours:/usr/bin:/bin"; got != want {
		t.Errorf("of another environment: %q, want %q", got, want)
	}
	if asked, err := os.ReadFile(filepath.Join(dir, "asked")); err != nil || len(asked) != 2 {
		t.Errorf("two shells were asked %d times, %v", len(asked), err)
	}
}

// A shell that hangs does not outlive who asked.
func TestLoginEndsWithItsOwner(t *testing.T) {
	dir := t.TempDir()
	shell := filepath.Join(dir, "shell")
	if err := os.WriteFile(shell, []byte("#!/bin/sh\nsleep 300\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	l := NewLogin(ctx, func() []string { return []string{"SHELL=" + shell, "PATH=/usr/bin:/bin"} })
	if got := l.Path(t.Context()); got != "/usr/bin:/bin" || time.Since(began) > loginLimit/2 {
		t.Errorf("Path = %q after %s", got, time.Since(began))
	}
}
