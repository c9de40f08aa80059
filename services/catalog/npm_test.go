package catalog

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

func TestProgramsThatAreMissingOrTooOld(t *testing.T) {
	const bin = "/usr/bin:/bin"
	for _, tt := range []struct {
		name    string
		scripts map[string]string
		in      *services.Installer
		want    []string
	}{
		{"no node", nil, npmOf("p", "1.0.0"), []string{"Node.js", "not found in the PATH, which is DIR", "nodejs.org"}},
		{"old node", map[string]string{"node": "echo v14.21.3", "npm": "exit 0"}, npmOf("p", "1.0.0"), []string{"14.21.3", "DIR/node", "the PATH, which is DIR", "18 or newer", "nodejs.org"}},
		{"not new enough", map[string]string{"node": "echo v20.1.0", "npm": "exit 0"}, &services.Installer{Type: "npm", NodeMajor: 22, Packages: map[string]string{"p": "1.0.0"}}, []string{"20.1.0", "Node.js 22 or newer"}},
		{"broken node", map[string]string{"node": "echo 'node: GLIBC_2.28 not found' >&2; exit 1"}, npmOf("p", "1.0.0"), []string{"DIR/node", "GLIBC_2.28"}},
		{"no version", map[string]string{"node": "echo hello"}, npmOf("p", "1.0.0"), []string{"hello"}},
		{"no npm", map[string]string{"node": fakeNode}, npmOf("p", "1.0.0"), []string{"npm", "not found", "DIR/node"}},
		{"npm that may not run", map[string]string{"node": fakeNode, "npm": "-"}, npmOf("p", "1.0.0"), []string{"DIR/npm is not executable"}},
		{"no python", nil, &services.Installer{Type: "python", Packages: map[string]string{"p": "1.0"}}, []string{"Python 3", `"python3"`, "DIR", "python.org"}},
		{"old python", map[string]string{"python3": "echo 3.8.10", "python": "echo 2.7.18"}, &services.Installer{Type: "python", Packages: map[string]string{"p": "1.0"}}, []string{"DIR/python3 is Python 3.8.10", "DIR/python is Python 2.7.18", "3.9 or newer"}},
		{"python without venv", map[string]string{"python3": `case "$1" in -c) echo 3.11.2;; *) echo "$0: No module named venv" >&2; exit 1;; esac`}, &services.Installer{Type: "python", Packages: map[string]string{"p": "1.0"}}, []string{"python3-venv"}},
		{"a name that leads elsewhere", nil, npmOf("../../x", "1.0.0"), []string{`"../../x"`}},
		{"a name that is an option", nil, &services.Installer{Type: "python", Packages: map[string]string{"--target=/": "1.0"}}, []string{`"--target=/"`}},
		{"another kind", nil, &services.Installer{Type: "cargo", Packages: map[string]string{"p": "1.0"}}, []string{"cargo"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := programs(t, tt.scripts)
			t.Parallel()
			if tt.scripts["npm"] == "-" {
				if err := os.Chmod(filepath.Join(dir, "npm"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			path := dir
			if strings.HasPrefix(tt.name, "python without") {
				path += ":" + bin
			}
			b := newBench(t, path, nil, tt.in)
			err := b.install(t.Context())
			if err == nil {
				t.Fatal("installed")
			}
			for _, w := range tt.want {
				if w = strings.ReplaceAll(w, "DIR", dir); !strings.Contains(err.Error(), w) {
					t.Errorf("err = %v\nwant %q in it", err, w)
				}
			}
			if left := b.files(t); len(left) != 0 || b.Installed(b.spec) {
				t.Errorf("left behind: %v", left)
			}
			if _, err := b.Node(t.Context()); tt.name == "old node" && (err == nil || !strings.Contains(err.Error(), "14.21.3")) {
				t.Errorf("Node: %v", err)
			}
		})
	}
}

func TestNPM(t *testing.T) {
	dir := programs(t, map[string]string{"node": fakeNode, "npm": `echo "$@" > ../args; env > ../environment; cat package.json > ../given` + "\n" + fakeTree})
	b := newBench(t, dir+":/usr/bin:/bin", []string{
		"HOME=/h", "SECRET=x", "npm_config_registry=http://r", "npm_config_local_prefix=/elsewhere", "NPM_CONFIG_GLOBAL=true", "npm_config_@a:registry=http://a",
		"https_proxy=http://p", "PIP_TARGET=/t", "PIP_INDEX_URL=http://i",
	}, npmOf("p", "1.0.0"))
	if b.Installed(b.spec) {
		t.Error("installed before")
	}
	if err := b.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got, want := b.files(t), []string{".installed.json", "args", "environment", "given", "node_modules", "package-lock.json", "package.json"}; !slices.Equal(got, want) {
		t.Errorf("files = %v", got)
	}
	if !b.Installed(b.spec) {
		t.Error("not installed after")
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(b.spec.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if args := read("args"); !strings.HasPrefix(args, "install --save-exact ") || !strings.Contains(args, "--ignore-scripts --no-audit --no-fund") {
		t.Errorf("args = %s", args)
	}
	env := read("environment")
	for _, w := range []string{"HOME=/h", "npm_config_registry=http://r", "npm_config_@a:registry=http://a", "https_proxy=http://p", "PIP_INDEX_URL=http://i", "PATH=" + dir} {
		if !strings.Contains(env, w) && !strings.Contains(w, "@") { // a shell drops names that it cannot hold
			t.Errorf("npm did not get %s:\n%s", w, env)
		}
	}
	for _, w := range []string{"SECRET", "local_prefix", "GLOBAL", "PIP_TARGET"} {
		if strings.Contains(env, w) {
			t.Errorf("npm got %s", w)
		}
	}
	if g := read("given"); !strings.Contains(g, `"private": true`) || !strings.Contains(g, `"p": "1.0.0"`) {
		t.Errorf("package.json = %s", g)
	}

	// With the lock file of the first time.
	if err := b.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if args := read("args"); !strings.HasPrefix(args, "ci --ignore-scripts ") {
		t.Errorf("args = %s", args)
	}

	// Each of these makes it count as not installed.
	for name, spoil := range map[string]func() error{
		"another version":  func() error { b.spec.Installer = npmOf("p", "1.0.1"); return nil },
		"one more package": func() error { b.spec.Installer = npmOf("p", "1.0.0", "q", "1.0.0"); return nil },
		"another lock":     func() error { return os.WriteFile(filepath.Join(b.spec.Dir, lockName), []byte("{}"), 0o600) },
		"no lock":          func() error { return os.Remove(filepath.Join(b.spec.Dir, lockName)) },
		"no package":       func() error { return os.RemoveAll(filepath.Join(b.spec.Dir, modulesName, "p")) },
		"half a marker":    func() error { return os.WriteFile(filepath.Join(b.spec.Dir, markerName), []byte(`{"type":`), 0o600) },
		"no marker":        func() error { return os.Remove(filepath.Join(b.spec.Dir, markerName)) },
	} {
		b.spec.Installer = npmOf("p", "1.0.0")
		if err := b.install(t.Context()); err != nil || !b.Installed(b.spec) {
			t.Fatalf("%s: repairing: %v", name, err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if b.Installed(b.spec) {
			t.Errorf("%s: it counts as installed", name)
		}
	}
}

func TestNPMLeavesAUsersPackageFile(t *testing.T) {
	b := newBench(t, programs(t, map[string]string{"node": fakeNode, "npm": fakeTree})+":/usr/bin:/bin", nil, npmOf("p", "1.0.0"))
	const mine = `{"name":"mine","scripts":{"test":"x"}}`
	if err := os.WriteFile(filepath.Join(b.spec.Dir, packageName), []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.install(t.Context()); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(b.spec.Dir, packageName)); err != nil || string(data) != mine || !b.Installed(b.spec) {
		t.Errorf("package.json = %s, %v", data, err)
	}
}

// What fails or is stopped leaves the folder as it was: with what was installed
// before, if anything was.
func TestNPMThatFails(t *testing.T) {
	for _, tt := range []struct{ name, script, want string }{
		{"no network", `echo "npm error code ENOTFOUND"; echo "npm error request to https://registry.npmjs.org/p failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org"; exit 1`, "did not reach its registry"},
		{"refused", `echo "npm error FetchError: connect ECONNREFUSED 127.0.0.1:1"; exit 1`, "did not reach its registry"},
		{"checksum", `echo "npm error code EINTEGRITY"; exit 1`, "not the one that the lock file names"},
		{"no such version", `echo "npm error code ETARGET"; echo "npm error notarget No matching version found for p@9"; exit 1`, "No matching version found for p@9"},
		{"disk", `echo "npm error code ENOSPC"; exit 1`, "the disk is full"},
		{"anything else", `i=0; while [ $i -lt 1000 ]; do echo "line $i"; i=$((i+1)); done; echo last words; exit 3`, "exit code 3: line 995; line 996; line 997; line 998; line 999; last words"},
		{"killed", `kill -9 $$`, "SIGKILL"},
		{"nothing there", `exit 0`, "p 1.0.0 is not there"},
		{"the wrong version", fakeTree + `; printf '{"version":"1.0.1"}' > node_modules/p/package.json`, "p 1.0.0 is not there"},
		{"a flood", `yes | head -c 4000000; exit 1`, "exit code 1"},
		{"one long line", `head -c 3000000 /dev/zero | tr '\0' x; exit 1`, "exit code 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := programs(t, map[string]string{"node": fakeNode, "npm": fakeTree})
			t.Parallel()
			b := newBench(t, dir+":/usr/bin:/bin", nil, npmOf("p", "1.0.0"))
			for _, before := range []bool{false, true} {
				if before {
					rewrite(t, dir, "npm", fakeTree)
					if err := b.install(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				was := b.files(t)
				rewrite(t, dir, "npm", tt.script)
				err := b.install(t.Context())
				if err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 5000 {
					t.Errorf("err = %.6000v, want %q in it", err, tt.want)
				}
				if got := b.files(t); !slices.Equal(got, was) || b.Installed(b.spec) != before {
					t.Errorf("installed = %v, files %v, before %v", b.Installed(b.spec), got, was)
				}
			}
		})
	}
}

func TestNPMIsStopped(t *testing.T) {
	b := newBench(t, programs(t, map[string]string{"node": fakeNode, "npm": `trap '' TERM; mkdir node_modules; sleep 61.25 & echo started; sleep 61.25`})+":/usr/bin:/bin", nil, npmOf("p", "1.0.0"))
	stop := errors.New("stopped by a person")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for !strings.Contains(b.progress(), "started") {
			time.Sleep(5 * time.Millisecond)
		}
		cancel(stop)
	}()
	began := time.Now()
	if err := b.install(ctx); !errors.Is(err, stop) {
		t.Errorf("err = %v", err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
	if left := running(t, "61.25"); len(left) != 0 {
		t.Errorf("still running: %v", left)
	}
	if left := b.files(t); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}

	b.config.Limit = 300 * time.Millisecond
	if err := b.install(t.Context()); err == nil || !strings.Contains(err.Error(), "did not end within 300ms") {
		t.Errorf("err = %v", err)
	}
	if left := running(t, "61.25"); len(left) != 0 {
		t.Errorf("still running: %v", left)
	}
}

func TestLockFits(t *testing.T) {
	for _, id := range Bundled() {
		files, err := bundled.ReadDir("bundled/" + id)
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(t.TempDir(), id)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := bundled.ReadFile("bundled/" + id + "/" + f.Name())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, f.Name()), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := services.LoadService(dir)
		if s.Installer == nil {
			continue
		}
		lock, err := os.ReadFile(filepath.Join(dir, lockName))
		if err != nil || !lockFits(lock, s.Installer.Packages) {
			t.Errorf("the lock file of %s does not fit its installer.json: %v", id, err)
		}
		var l struct {
			Packages map[string]struct{ Resolved, Integrity string }
		}
		readJSON(t, filepath.Join(dir, lockName), &l)
		for name, p := range l.Packages {
			if name != "" && (!strings.HasPrefix(p.Resolved, "https://registry.npmjs.org/") || !strings.HasPrefix(p.Integrity, "sha512-")) {
				t.Errorf("%s: %s comes from %q with the checksum %q", id, name, p.Resolved, p.Integrity)
			}
		}
	}
	for _, bad := range []string{``, `{}`, `[]`, `{"lockfileVersion":1,"packages":{"":{"dependencies":{"p":"1"}},"node_modules/p":{"version":"1"}}}`,
		`{"lockfileVersion":3,"packages":{"":{"dependencies":{"p":"2"}},"node_modules/p":{"version":"1"}}}`,
		`{"lockfileVersion":3,"packages":{"":{"dependencies":{"p":"1"}},"node_modules/p":{"version":"2"}}}`,
		`{"lockfileVersion":3,"packages":{"":{"dependencies":{"p":"1","q":"1"}},"node_modules/p":{"version":"1"}}}`} {
		if lockFits([]byte(bad), map[string]string{"p": "1"}) {
			t.Errorf("%s fits", bad)
		}
	}
}

// What a companion leaves behind that is killed at any step never counts as
// installed and is no obstacle to the next installation.
func TestNPMAfterAKill(t *testing.T) {
	dir := programs(t, map[string]string{"node": fakeNode, "npm": `[ ! -e node_modules ] || exit 9` + "\n" + fakeTree})
	b := newBench(t, dir+":/usr/bin:/bin", nil, npmOf("p", "1.0.0"))
	for _, step := range []struct {
		name string
		undo []string // of a complete installation: what was not there yet
		left []string // and what was
	}{
		{"while npm worked", []string{markerName, modulesName, lockName, packageName}, []string{stagingName + "/node_modules/p", stagingName + "/package.json"}},
		{"while npm worked for another version", nil, []string{stagingName + "/node_modules/p"}},
		{"after the old packages were moved away", []string{markerName, modulesName}, []string{replacedDir + "/p", stagingName + "/node_modules"}},
		{"before the marker was written", []string{markerName}, []string{replacedDir + "/p"}},
		{"while the old packages were removed", nil, []string{replacedDir + "/p"}},
	} {
		if err := b.install(t.Context()); err != nil {
			t.Fatalf("before %s: %v", step.name, err)
		}
		for _, name := range step.undo {
			if err := os.RemoveAll(filepath.Join(b.spec.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range step.left {
			if err := os.MkdirAll(filepath.Join(b.spec.Dir, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := b.Installed(b.spec), len(step.undo) == 0; got != want {
			t.Errorf("%s: installed = %v, want %v", step.name, got, want)
		}
		if err := b.install(t.Context()); err != nil || !b.Installed(b.spec) {
			t.Errorf("%s: the next installation: %v", step.name, err)
		}
		if got, want := b.files(t), []string{markerName, modulesName, lockName, packageName}; !slices.Equal(got, want) {
			t.Errorf("%s: files = %v", step.name, got)
		}
	}
}
