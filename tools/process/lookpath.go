package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// NotFoundError says that a program is in none of the folders searched. It
// wraps exec.ErrNotFound.
type NotFoundError struct {
	Name    string
	Folders []string // in the order they were searched; nil when Name is a path
	// Unusable is a file of that name that may not be executed, "" if there is none.
	Unusable string
}

// Error says what was looked for, where, and what is wrong with what was found.
func (e *NotFoundError) Error() string {
	switch {
	case e.Unusable != "":
		return fmt.Sprintf("program %q: %s is not executable", e.Name, e.Unusable)
	case e.Folders == nil:
		return fmt.Sprintf("program %q: there is no such file", e.Name)
	case len(e.Folders) == 0:
		return fmt.Sprintf("program %q not found: the PATH is empty", e.Name)
	}
	return fmt.Sprintf("program %q not found in the PATH, which is %s", e.Name, strings.Join(e.Folders, string(os.PathListSeparator)))
}

// Unwrap is exec.ErrNotFound.
func (e *NotFoundError) Unwrap() error { return exec.ErrNotFound }

// LookPath finds a program like exec.LookPath, on the given PATH instead of
// our own. A name that holds a slash is taken as a path, relative to dir.
// Relative folders of the PATH are never searched. The result is absolute; the
// error is a *NotFoundError.
func LookPath(name, pathEnv, dir string) (string, error) {
	if name == "" || strings.ContainsRune(name, 0) {
		return "", &NotFoundError{Name: name, Folders: []string{}}
	}
	if strings.ContainsRune(name, '/') || filepath.Base(name) != name || filepath.VolumeName(name) != "" {
		full := name
		if !filepath.IsAbs(full) {
			full = filepath.Join(dir, name)
		}
		if abs, err := filepath.Abs(full); err == nil {
			full = abs
		}
		found, unusable := executable(full)
		if found == "" {
			return "", &NotFoundError{Name: name, Unusable: unusable}
		}
		return found, nil
	}
	miss := &NotFoundError{Name: name, Folders: SearchFolders(pathEnv)}
	for _, folder := range miss.Folders {
		found, unusable := executable(filepath.Join(folder, name))
		if found != "" {
			return found, nil
		}
		if miss.Unusable == "" {
			miss.Unusable = unusable
		}
	}
	return "", miss
}

// SearchFolders are the folders that a PATH makes LookPath search: absolute,
// without repetitions, in order.
func SearchFolders(pathEnv string) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, folder := range filepath.SplitList(pathEnv) {
		if filepath.IsAbs(folder) && !seen[folder] {
			seen[folder] = true
			out = append(out, folder)
		}
	}
	return out
}

// executable returns the file that stands for path as a program, or the file
// that is there and may not be executed.
func executable(path string) (found, unusable string) {
	if runtime.GOOS == "windows" {
		return executableWindows(path)
	}
	fi, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return "", path
		}
		return "", ""
	}
	if fi.IsDir() || !mayExecute(path, fi) {
		if fi.Mode().IsRegular() {
			return "", path
		}
		return "", ""
	}
	return path, ""
}

// executableWindows tries the extensions that make a file a program.
func executableWindows(path string) (found, unusable string) {
	exts := strings.ToLower(os.Getenv("PATHEXT"))
	if exts == "" {
		exts = ".com;.exe;.bat;.cmd"
	}
	isFile := func(p string) bool {
		fi, err := os.Stat(p)
		return err == nil && !fi.IsDir()
	}
	has := strings.ToLower(filepath.Ext(path))
	for _, ext := range strings.Split(exts, ";") {
		if ext != "" && ext == has && isFile(path) {
			return path, ""
		}
	}
	for _, ext := range strings.Split(exts, ";") {
		if ext != "" && isFile(path+ext) {
			return path + ext, ""
		}
	}
	if isFile(path) {
		return "", path
	}
	return "", ""
}
