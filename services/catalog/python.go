package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"zeroclaw/services"
)

// startedName is in a service's folder while pip works for it. A run that finds
// one repairs what the one before may have left half done.
const startedName = ".installing-python"

// pythonName is what a package may be called. It is given to pip as an
// argument.
var pythonName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(\[[A-Za-z0-9._,-]+\])?$`)

// Python returns the interpreter of the environment that services share, never
// that of the system. The environment is made when it is not there, in two
// minutes at most.
func (i *Installer) Python(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	free, err := i.holdPython(ctx)
	if err != nil {
		return "", err
	}
	defer free()
	return i.sharedPython(ctx, func(string) {})
}

// holdPython waits until nobody else changes the shared environment.
func (i *Installer) holdPython(ctx context.Context) (free func(), err error) {
	select {
	case i.python <- struct{}{}:
		return func() { <-i.python }, nil
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for what works on the environment %s: %w", i.venv(), context.Cause(ctx))
	}
}

// sharedPython makes the shared environment, without pip, unless it is there.
func (i *Installer) sharedPython(ctx context.Context, progress func(string)) (python string, err error) {
	python = i.venvPython()
	// A link to a Python that was removed does not count.
	if st, err := os.Stat(python); err == nil && st.Mode().IsRegular() {
		return python, nil
	}
	base, err := i.basePython(ctx)
	if err != nil {
		return "", err
	}
	progress(fmt.Sprintf("making the environment %s with Python %s (%s)", i.venv(), base.version, base.path))
	err = i.run(ctx, i.pythonJob(ctx, base.path, "-m", "venv", "--clear", "--without-pip", i.venv()))
	if mentions(err, "No module named venv") {
		return "", fmt.Errorf("%s cannot make environments: on Debian and Ubuntu install the package python3-venv, then try again", base.path)
	}
	if err != nil {
		return "", fmt.Errorf("making the environment %s with %s: %w", i.venv(), base.path, err)
	}
	if _, err := os.Stat(python); err != nil {
		return "", fmt.Errorf("making the environment %s with %s: %w", i.venv(), base.path, err)
	}
	return python, nil
}

func (i *Installer) pythonJob(ctx context.Context, program string, args ...string) job {
	env := append(environment(i.config.Environ(), i.config.Path(ctx)),
		// Whatever else is set, pip then refuses to work outside an environment.
		"PIP_REQUIRE_VIRTUALENV=1", "PYTHONUTF8=1", "PYTHONNOUSERSITE=1", "PYTHONUNBUFFERED=1")
	return job{program: program, args: args, dir: i.config.State, env: env, limit: i.config.Limit}
}

// installPython installs the packages of s with pip into the shared
// environment.
func (i *Installer) installPython(ctx context.Context, s services.Spec, progress func(string)) error {
	packages := s.Installer.Packages
	names := slices.Sorted(maps.Keys(packages))
	for _, name := range names {
		if !pythonName.MatchString(name) {
			return fmt.Errorf("%q cannot be the name of a Python package", name)
		}
	}
	progress("looking for Python")
	free, err := i.holdPython(ctx)
	if err != nil {
		return err
	}
	defer free()
	if err := i.disagreement(s); err != nil {
		return err
	}
	python, err := i.sharedPython(ctx, progress)
	if err != nil {
		return err
	}
	if err := i.pip(ctx, python, progress); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return fmt.Errorf("opening the service's folder: %w", err)
	}
	defer root.Close()
	args := []string{"-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar=off", "--prefer-binary", "--no-user"}
	if _, err := root.Lstat(startedName); err == nil {
		progress("repairing what a run that was cut off left behind")
		args = append(args, "--force-reinstall")
	}
	if err := removed(root.Remove(markerName)); err != nil {
		return err
	}
	if err := writeFile(root, startedName, nil); err != nil {
		return err
	}
	for _, name := range names {
		args = append(args, name+"=="+packages[name])
	}
	j := i.pythonJob(ctx, python, args...)
	j.line = throttle(progress)
	if err := i.run(ctx, j); err != nil {
		var exit *exitError
		if errors.As(err, &exit) && exit.signal == "" {
			// pip ended by itself: it has put back what it had taken away.
			err = errors.Join(pipError(err), removed(root.Remove(startedName)))
		}
		return err
	}
	if name := i.missingPython(packages); name != "" {
		return fmt.Errorf("pip ended without an error, but %s %s is not in %s", name, packages[name], i.venv())
	}
	err = writeMarker(root, marker{Type: "python", Packages: packages, With: python, Time: i.config.Now().UTC()})
	return errors.Join(err, removed(root.Remove(startedName)))
}

// pip makes sure that the environment has a pip. What writes RECORD, which
// comes last, is taken to have written the rest.
func (i *Installer) pip(ctx context.Context, python string, progress func(string)) error {
	have := func() bool {
		entries, _ := os.ReadDir(i.sitePackages())
		return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
			if !strings.HasPrefix(e.Name(), "pip-") {
				return false
			}
			_, err := os.Stat(filepath.Join(i.sitePackages(), e.Name(), "RECORD"))
			return err == nil
		})
	}
	if have() {
		return nil
	}
	progress("adding pip to the environment")
	err := i.run(ctx, i.pythonJob(ctx, python, "-m", "ensurepip", "--upgrade", "--default-pip"))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case mentions(err, "No module named", "ensurepip is disabled"):
		return fmt.Errorf("the Python behind %s comes without pip: on Debian and Ubuntu install the package python3-venv, then try again", python)
	case err != nil:
		return fmt.Errorf("adding pip to %s: %w", i.venv(), err)
	case !have():
		return fmt.Errorf("adding pip to %s left none there: remove that folder and install again", i.venv())
	}
	return nil
}

// pipError turns the end of pip into a sentence.
func pipError(err error) error {
	if line := unreachable(err); line != "" {
		return fmt.Errorf("pip did not reach its package index (%s): check the network and pip's proxy and index settings, then install again; what was fetched is kept", line)
	}
	switch {
	case mentions(err, "No matching distribution found", "Could not find a version"):
		return fmt.Errorf("the package index does not have a package in the version that the definition names: %w", err)
	case mentions(err, "ResolutionImpossible", "conflicting dependencies"):
		return fmt.Errorf("the packages do not go together: %w", err)
	case mentions(err, "No space left on device"):
		return fmt.Errorf("the disk is full: %w", err)
	}
	return fmt.Errorf("pip failed with %w", err)
}

// pythonInstalled reports whether the packages of s are in the shared
// environment. It looks at the environment too, where another service may have
// replaced one.
func (i *Installer) pythonInstalled(s services.Spec) bool {
	m, ok := readMarker(s.Dir)
	if !ok || !m.fits(s.Installer) {
		return false
	}
	if _, err := os.Stat(i.venvPython()); err != nil {
		return false
	}
	return i.missingPython(s.Installer.Packages) == ""
}

// sitePackages is where the packages of the shared environment are.
func (i *Installer) sitePackages() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(i.venv(), "Lib", "site-packages")
	}
	lib := filepath.Join(i.venv(), "lib")
	entries, _ := os.ReadDir(lib)
	for _, e := range entries {
		// One environment has one Python, so there is one.
		if strings.HasPrefix(e.Name(), "python3") {
			lib = filepath.Join(lib, e.Name())
			break
		}
	}
	return filepath.Join(lib, "site-packages")
}

// missingPython names a package that is not in the shared environment in its
// version.
func (i *Installer) missingPython(packages map[string]string) string {
	entries, _ := os.ReadDir(i.sitePackages())
	have := map[string]bool{}
	for _, e := range entries {
		if base, ok := strings.CutSuffix(e.Name(), ".dist-info"); ok {
			if n := strings.LastIndexByte(base, '-'); n > 0 {
				have[normalName(base[:n])+"=="+normalVersion(base[n+1:])] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if !have[normalName(name)+"=="+normalVersion(packages[name])] {
			return name
		}
	}
	return ""
}

// normalName is a package's name as pip compares it, without its extras.
func normalName(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), "[")
	return separators.ReplaceAllString(name, "-")
}

var separators = regexp.MustCompile(`[-_.]+`)

// normalVersion is a version as pip compares it, as far as exact versions of
// releases differ: 1.0 is 1.0.0, and a local part follows _ in a file's name.
func normalVersion(v string) string {
	v = strings.ToLower(strings.ReplaceAll(v, "_", "+"))
	for strings.HasSuffix(v, ".0") {
		v = strings.TrimSuffix(v, ".0")
	}
	return v
}

// disagreement says which other service needs another version of a package
// that s needs, because all share one environment.
func (i *Installer) disagreement(s services.Spec) error {
	folders, _ := os.ReadDir(filepath.Dir(s.Dir))
	for _, f := range folders {
		dir := filepath.Join(filepath.Dir(s.Dir), f.Name())
		if dir == s.Dir {
			continue
		}
		m, ok := readMarker(dir)
		if !ok || m.Type != "python" {
			continue
		}
		for other, version := range m.Packages {
			for name, wanted := range s.Installer.Packages {
				if normalName(name) == normalName(other) && normalVersion(version) != normalVersion(wanted) {
					return fmt.Errorf("this service needs %s %s and the service in %s needs %s: both share %s, so write the same version into their installer.json",
						name, wanted, dir, version, i.venv())
				}
			}
		}
	}
	return nil
}
