package catalog

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"zeroclaw/services"
)

func pythonOf(packages ...string) *services.Installer {
	in := npmOf(packages...)
	in.Type = "python"
	return in
}

// wheel makes a package with one module in a folder that pip can take it from.
func wheel(t *testing.T, dir, name, version string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%s-%s-py3-none-any.whl", name, version)))
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	for _, file := range []struct{ name, text string }{
		{name + ".py", fmt.Sprintf("version = %q\n", version)},
		{info + "METADATA", fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", name + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(file.name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(file.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// pythonBench is a bench whose pip knows the wheels of one folder and nothing
// else.
func pythonBench(t *testing.T, in *services.Installer) (b *bench, wheels string) {
	t.Helper()
	path := realPath(t, "python3")
	for _, module := range []string{"venv", "ensurepip"} {
		if out, err := exec.CommandContext(t.Context(), "python3", "-c", "import "+module).CombinedOutput(); err != nil {
			t.Skipf("this Python has no %s: %s", module, out)
		}
	}
	wheels = t.TempDir()
	return newBench(t, path, []string{"HOME=" + t.TempDir(), "PIP_NO_INDEX=1", "PIP_FIND_LINKS=" + wheels, "PIP_USER=1", "PIP_TARGET=/nowhere"}, in), wheels
}

// imported asks a Python which version of a module it has.
func imported(t *testing.T, python, module string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), python, "-c", "import "+module+"; print("+module+".version)").CombinedOutput()
	if err != nil {
		return "none"
	}
	return strings.TrimSpace(string(out))
}

func TestPython(t *testing.T) {
	b, wheels := pythonBench(t, pythonOf("zc_one", "1.2.3"))
	wheel(t, wheels, "zc_one", "1.2.3")
	wheel(t, wheels, "zc_one", "2.0")
	if b.Installed(b.spec) {
		t.Error("installed before")
	}
	if err := b.install(t.Context()); err != nil {
		t.Fatalf("%v\n%s", err, b.progress())
	}
	python, err := b.Python(t.Context())
	if err != nil || python != b.venvPython() || !strings.HasPrefix(python, b.state) || !b.Installed(b.spec) {
		t.Errorf("Python = %s, %v; installed = %v", python, err, b.Installed(b.spec))
	}
	if got := imported(t, python, "zc_one"); got != "1.2.3" {
		t.Errorf("the environment has %s", got)
	}
	if got := imported(t, "python3", "zc_one"); got != "none" {
		t.Errorf("the system's Python has %s", got)
	}
	if got := b.files(t); !slices.Equal(got, []string{markerName}) {
		t.Errorf("files = %v", got)
	}

	// Another service shares the environment and may not take it over.
	second := &bench{Installer: b.Installer, state: b.state, spec: services.Spec{Name: "y", Dir: filepath.Join(b.state, "services", "y"), Installer: pythonOf("Zc.One", "2.0")}}
	if err := os.Mkdir(second.spec.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := second.install(t.Context()); err == nil || !strings.Contains(err.Error(), "zc_one") && !strings.Contains(err.Error(), "1.2.3") {
		t.Errorf("the other service: %v", err)
	}
	second.spec.Installer = pythonOf("Zc.One", "1.2.3")
	if err := second.install(t.Context()); err != nil || !second.Installed(second.spec) {
		t.Errorf("the same version: %v", err)
	}

	// What pip does not have, and an upgrade.
	b.spec.Installer = pythonOf("zc_missing", "1.0")
	if err := b.install(t.Context()); err == nil || !strings.Contains(err.Error(), "does not have a package") || b.Installed(b.spec) {
		t.Errorf("a package that does not exist: %v", err)
	}
	if err := os.RemoveAll(second.spec.Dir); err != nil {
		t.Fatal(err)
	}
	b.spec.Installer = pythonOf("zc_one", "2.0.0")
	if b.Installed(b.spec) {
		t.Error("another version counts as installed")
	}
	if err := b.install(t.Context()); err != nil || imported(t, python, "zc_one") != "2.0" || !b.Installed(b.spec) {
		t.Errorf("an upgrade: %v", err)
	}

	// A run that was killed while pip wrote: the package looks installed.
	module, _ := filepath.Glob(filepath.Join(b.venv(), "lib", "python3*", "site-packages", "zc_one.py"))
	if len(module) != 1 {
		t.Skipf("the module is not where it is looked for: %v", module)
	}
	for name, text := range map[string]string{module[0]: "", filepath.Join(b.spec.Dir, startedName): ""} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(b.spec.Dir, markerName)); err != nil {
		t.Fatal(err)
	}
	if b.Installed(b.spec) {
		t.Error("half an installation counts")
	}
	if err := b.install(t.Context()); err != nil || imported(t, python, "zc_one") != "2.0" {
		t.Errorf("repairing: %v", err)
	}

	if os.Getenv("ZEROCLAW_LONG") == "" {
		return // pip is added once more, which takes as long as everything above
	}
	// An environment whose Python was removed is made anew.
	if err := os.Remove(python); err != nil {
		t.Fatal(err)
	}
	if b.Installed(b.spec) {
		t.Error("it counts as installed without its Python")
	}
	if err := b.install(t.Context()); err != nil || imported(t, python, "zc_one") != "2.0" || !b.Installed(b.spec) {
		t.Errorf("after its Python was removed: %v", err)
	}
}

// A script without packages needs an environment too, and quickly.
func TestPythonWithoutPackages(t *testing.T) {
	b, _ := pythonBench(t, nil)
	began := time.Now()
	python, err := b.Python(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("made in %s", time.Since(began))
	out, err := exec.CommandContext(t.Context(), python, "-c", "import sys; print(sys.prefix != sys.base_prefix, sys.prefix)").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "True "+b.venv() {
		t.Errorf("%s, %v", out, err)
	}
}

// Who waits for another's work on the environment can be told to stop.
func TestPythonWaitsNoLongerThanItsContext(t *testing.T) {
	b := newBench(t, t.TempDir(), nil, &services.Installer{Type: "python", Packages: map[string]string{"p": "1"}})
	free, err := b.holdPython(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("it was stopped")
	cancel(gone)
	if _, err := b.Python(ctx); !errors.Is(err, gone) {
		t.Errorf("Python = %v", err)
	}
	if err := b.install(ctx); !errors.Is(err, gone) {
		t.Errorf("Install = %v", err)
	}
	free()
	if _, err := b.Python(t.Context()); err == nil || errors.Is(err, gone) {
		t.Errorf("afterwards: %v", err) // there is no Python on this PATH
	}
}

func TestPythonNames(t *testing.T) {
	for _, tt := range [][2]string{{"Zc.One", "zc-one"}, {"a__b", "a-b"}, {"a-_.b[x,y]", "a-b"}} {
		if got := normalName(tt[0]); got != tt[1] {
			t.Errorf("%s is %s, want %s", tt[0], got, tt[1])
		}
	}
	for _, tt := range [][2]string{{"1.0", "1"}, {"1.0.0", "1"}, {"1.10", "1.10"}, {"1.0_cpu", "1.0+cpu"}, {"1.0RC1", "1.0rc1"}} {
		if got := normalVersion(tt[0]); got != tt[1] {
			t.Errorf("%s is %s, want %s", tt[0], got, tt[1])
		}
	}
}
