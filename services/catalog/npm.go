package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"zeroclaw/services"
	"zeroclaw/tools/atomicfile"
)

// Names inside a service's folder.
const (
	lockName    = "package-lock.json"
	packageName = "package.json"
	modulesName = "node_modules"
	stagingName = ".installing"   // where npm works; left behind only by a kill
	replacedDir = ".old-packages" // the former node_modules, on its way out
)

// ownPackage is the name in the package.json files that are written here.
const ownPackage = "zeroclaw-service"

// npmName is what a package may be called. It becomes part of a path.
var npmName = regexp.MustCompile(`^(@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~-][A-Za-z0-9._~-]*$`)

// npmInstalled reports whether the packages of s are in its folder: the marker
// fits the definition and its lock file, and each package is there in its
// version.
func npmInstalled(s services.Spec) bool {
	m, ok := readMarker(s.Dir)
	if !ok || !m.fits(s.Installer) {
		return false
	}
	lock, err := atomicfile.Read(filepath.Join(s.Dir, lockName), maxSmall)
	return err == nil && hash(lock) == m.Lock && missingPackage(s.Dir, s.Installer.Packages) == ""
}

// missingPackage names a package that is not below dir in its version.
func missingPackage(dir string, packages map[string]string) string {
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		var have struct{ Version string }
		data, err := atomicfile.Read(filepath.Join(dir, modulesName, filepath.FromSlash(name), packageName), maxSmall)
		if err != nil || json.Unmarshal(data, &have) != nil || have.Version != packages[name] {
			return name
		}
	}
	return ""
}

// lockFits reports whether a lock file belongs to exactly these packages.
func lockFits(lock []byte, packages map[string]string) bool {
	var l struct {
		LockfileVersion int
		Packages        map[string]struct {
			Version      string
			Dependencies map[string]string
		}
	}
	if json.Unmarshal(lock, &l) != nil || l.LockfileVersion < 2 || !maps.Equal(l.Packages[""].Dependencies, packages) {
		return false
	}
	for name, version := range packages {
		if l.Packages[modulesName+"/"+name].Version != version {
			return false
		}
	}
	return true
}

// installNPM installs below a folder of its own inside the service's and moves
// the result to its place.
func (i *Installer) installNPM(ctx context.Context, s services.Spec, progress func(string)) error {
	for name := range s.Installer.Packages {
		if !npmName.MatchString(name) {
			return fmt.Errorf("%q cannot be the name of an npm package", name)
		}
	}
	progress("looking for Node.js and npm")
	node, err := i.node(ctx, s.Installer.NodeMajor)
	if err != nil {
		return err
	}
	npm, first, err := i.npm(ctx, node.path)
	if err != nil {
		return err
	}
	progress(fmt.Sprintf("Node.js %s (%s), npm %s", node.version, node.path, npm))
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return fmt.Errorf("opening the service's folder: %w", err)
	}
	defer root.Close()
	lock, err := i.stage(root, s)
	if err != nil {
		return fmt.Errorf("preparing %s: %w", filepath.Join(s.Dir, stagingName), err)
	}
	defer root.RemoveAll(stagingName)
	args, total := npmArgs(lock)
	err = i.run(ctx, job{
		program: npm, args: append(first, args...), dir: filepath.Join(s.Dir, stagingName), limit: i.config.Limit,
		env:  environment(i.config.Environ(), i.config.Path(ctx)),
		line: npmProgress(total, progress),
	})
	if err != nil {
		return npmError(err)
	}
	if name := missingPackage(filepath.Join(s.Dir, stagingName), s.Installer.Packages); name != "" {
		return fmt.Errorf("npm ended without an error, but %s %s is not there: run the installation again", name, s.Installer.Packages[name])
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	progress("putting the packages in place")
	if err := i.place(root, s, "node "+node.version); err != nil {
		return fmt.Errorf("putting the packages in place in %s: %w", s.Dir, err)
	}
	return nil
}

// stage makes the folder that npm works in: a package.json, and the service's
// lock file when it belongs to the definition (else nil is returned).
func (i *Installer) stage(root *os.Root, s services.Spec) (lock []byte, err error) {
	for _, name := range []string{stagingName, replacedDir} {
		if err := root.RemoveAll(name); err != nil {
			return nil, err
		}
	}
	if err := root.Mkdir(stagingName, 0o700); err != nil {
		return nil, err
	}
	dir, err := root.OpenRoot(stagingName)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	text, err := json.MarshalIndent(struct {
		Name         string            `json:"name"`
		Private      bool              `json:"private"`
		Dependencies map[string]string `json:"dependencies"`
	}{ownPackage, true, s.Installer.Packages}, "", "  ")
	if err != nil {
		return nil, err
	}
	if err := writeFile(dir, packageName, append(text, '\n')); err != nil {
		return nil, err
	}
	lock, err = atomicfile.Read(filepath.Join(s.Dir, lockName), maxSmall)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !lockFits(lock, s.Installer.Packages) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return lock, writeFile(dir, lockName, lock)
}

// npmArgs are what npm is run with. total is how many packages a lock file
// names, 0 without one.
func npmArgs(lock []byte) (args []string, total int) {
	args = []string{"install", "--save-exact"}
	if lock != nil {
		args = []string{"ci"}
		var l struct{ Packages map[string]json.RawMessage }
		if json.Unmarshal(lock, &l) == nil {
			total = max(0, len(l.Packages)-1)
		}
	}
	// The second half undoes what a user's .npmrc may say for other projects.
	return append(args, "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=http", "--no-progress", "--color=false",
		"--no-update-notifier", "--fetch-retries=2", "--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000",
		"--package-lock=true", "--install-strategy=hoisted", "--global=false", "--dry-run=false", "--omit=dev", "--include=prod", "--include=optional", "--include=peer"), total
}

// npmProgress tells how many packages have been fetched, and every other line
// that npm prints.
func npmProgress(total int, progress func(string)) func(string) {
	fetched := 0
	some := throttle(progress)
	return func(line string) {
		switch {
		case strings.HasPrefix(line, "npm http fetch") && strings.Contains(line, ".tgz"):
			fetched++
			if total > 0 {
				some(fmt.Sprintf("fetched %d of %d packages", min(fetched, total), total))
			} else {
				some(fmt.Sprintf("fetched %d packages", fetched))
			}
		case strings.HasPrefix(line, "npm http"):
			some("asking the registry")
		default:
			some(line)
		}
	}
}

// npmError turns the end of npm into a sentence.
func npmError(err error) error {
	var e *exitError
	if !errors.As(err, &e) {
		return fmt.Errorf("npm: %w", err)
	}
	if line := unreachable(err); line != "" {
		return fmt.Errorf("npm did not reach its registry (%s): check the network and npm's proxy and registry settings, then install again; what was fetched is kept", strings.TrimPrefix(line, "npm error "))
	}
	switch {
	case mentions(err, "EINTEGRITY"):
		return fmt.Errorf("a package is not the one that the lock file names, so nothing was installed: %w", err)
	case mentions(err, "E404", "ETARGET"):
		return fmt.Errorf("the registry does not have a package in the version that the definition names: %w", err)
	case mentions(err, "ENOSPC"):
		return fmt.Errorf("the disk is full: %w", err)
	case mentions(err, "EBADENGINE"):
		return fmt.Errorf("a package needs another version of Node.js: %w", err)
	}
	return fmt.Errorf("npm failed with %w", err)
}

// place moves what npm made to where the service looks for it. Until the marker
// is written, which comes last, the service is not installed.
func (i *Installer) place(root *os.Root, s services.Spec, with string) error {
	if err := removed(root.Remove(markerName)); err != nil {
		return err
	}
	if err := removed(rename(root, modulesName, replacedDir)); err != nil {
		return err
	}
	if err := rename(root, filepath.Join(stagingName, modulesName), modulesName); err != nil {
		return err
	}
	lock, err := atomicfile.Read(filepath.Join(s.Dir, stagingName, lockName), maxSmall)
	if err != nil {
		return err
	}
	if old, err := atomicfile.Read(filepath.Join(s.Dir, lockName), maxSmall); err != nil || hash(old) != hash(lock) {
		if err := writeFile(root, lockName, lock); err != nil {
			return err
		}
	}
	if ownsPackageFile(s.Dir) {
		if err := rename(root, filepath.Join(stagingName, packageName), packageName); err != nil {
			return err
		}
	}
	err = writeMarker(root, marker{Type: "npm", Packages: s.Installer.Packages, Lock: hash(lock), With: with, Time: i.config.Now().UTC()})
	if err != nil {
		return err
	}
	return root.RemoveAll(replacedDir)
}

// ownsPackageFile reports whether the package.json of a folder is missing or
// was written here: one that a user wrote stays.
func ownsPackageFile(dir string) bool {
	data, err := atomicfile.Read(filepath.Join(dir, packageName), maxSmall)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}
	var p struct{ Name string }
	return err == nil && json.Unmarshal(data, &p) == nil && p.Name == ownPackage
}

// rename moves within a folder. On Windows a scanner that looks at new files
// holds them for a moment.
func rename(root *os.Root, from, to string) error {
	err := root.Rename(from, to)
	for n := 0; runtime.GOOS == "windows" && errors.Is(err, fs.ErrPermission) && n < 20; n++ {
		time.Sleep(100 * time.Millisecond)
		err = root.Rename(from, to)
	}
	return err
}
