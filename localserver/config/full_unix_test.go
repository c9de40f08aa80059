//go:build linux || darwin

package config

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func saveWithoutSpace(dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	f, err := Open(Config{Dir: dir, Environ: []string{}})
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 16, Max: 16})
	}
	if err == nil {
		_, err = f.Set(context.Background(), "", put("server.port", 2))
	}
	if f != nil && f.Current().Server.Port != 1 {
		fmt.Println("the refused value is in force")
	}
	fmt.Println(err)
	os.Exit(0)
}

func TestDiskFull(t *testing.T) {
	text := "[server]\nport = 1\n# long enough not to fit\n"
	dir := folder(t, text)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullDir+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "save the configuration: ") || !strings.Contains(string(out), "nothing was saved") {
		t.Errorf("a save without space said %q, %v", out, err)
	}
	if got := read(t, dir); got != text {
		t.Errorf("the file became %q", got)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 { // config.toml and run
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestSomethingInTheWayOfSaving(t *testing.T) {
	text := "[server]\nport = 1\n"
	for _, name := range []string{"run", FileName + ".bak", filepath.Join("run", "config.lock")} {
		dir := folder(t, text)
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "run" {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f := open(t, dir)
		if _, err := f.Set(t.Context(), "", put("server.port", 2)); err == nil || !strings.HasPrefix(err.Error(), "save the configuration: ") {
			t.Errorf("%s in the way: %v", name, err)
		}
		if read(t, dir) != text || f.Current().Server.Port != 1 {
			t.Errorf("%s in the way: something was saved", name)
		}
	}
}
