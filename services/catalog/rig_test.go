package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"zeroclaw/services"
	"zeroclaw/tools/process"
)

func TestMain(m *testing.M) {
	if err := process.Subreaper(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("zeroclaw/tools/process.reapForever"))
}

// bench is a state folder with one service in it, and an Installer.
type bench struct {
	*Installer
	state string
	spec  services.Spec

	mu   sync.Mutex
	said []string // guarded by mu
}

// newBench makes a service "x" that needs these packages, and programs that
// are looked for in the folders of path alone.
func newBench(t *testing.T, path string, environ []string, in *services.Installer) *bench {
	t.Helper()
	state := t.TempDir()
	dir := filepath.Join(state, "services", "x")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return &bench{
		Installer: NewInstaller(Config{State: state, Path: func(context.Context) string { return path }, Environ: func() []string { return environ }}),
		state:     state,
		spec:      services.Spec{Name: "x", Origin: services.OriginService, Dir: dir, Installer: in},
	}
}

func (b *bench) install(ctx context.Context) error {
	return b.Install(ctx, b.spec, func(text string) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.said = append(b.said, text)
	})
}

func (b *bench) progress() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Join(b.said, "\n")
}

// files lists what is in the service's folder.
func (b *bench) files(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(b.spec.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// programs makes a folder of programs by name, each of which reads a script
// beside it that a test may change. Call it before t.Parallel: a program that is
// still open for writing in a child of another test cannot be started.
func programs(t *testing.T, scripts map[string]string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the fake programs are shell scripts")
	}
	dir := t.TempDir()
	for name, script := range scripts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n. \"$0.sh\"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		rewrite(t, dir, name, script)
	}
	return dir
}

// rewrite changes what one of programs does.
func rewrite(t *testing.T, dir, name, script string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name+".sh"), []byte(script+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// realPath is the PATH that the tests run with, where it has the programs.
func realPath(t *testing.T, needed ...string) string {
	t.Helper()
	for _, name := range needed {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is needed: %v", name, err)
		}
	}
	return os.Getenv("PATH")
}

// npmOf is an installer for npm packages.
func npmOf(packages ...string) *services.Installer {
	in := &services.Installer{Type: "npm", Packages: map[string]string{}}
	for n := 0; n < len(packages); n += 2 {
		in.Packages[packages[n]] = packages[n+1]
	}
	return in
}

// fakeTree makes a node_modules with one package, as the script of a fake npm.
const fakeTree = `mkdir -p node_modules/p
printf '{"name":"p","version":"1.0.0"}' > node_modules/p/package.json
[ -f package-lock.json ] || printf '{"lockfileVersion":3,"packages":{"":{"dependencies":{"p":"1.0.0"}},"node_modules/p":{"version":"1.0.0"}}}' > package-lock.json`

const fakeNode = `echo 20.1.0`

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}
