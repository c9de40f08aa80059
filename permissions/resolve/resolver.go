package resolve

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"zeroclaw/permissions"
)

// Config says what a Resolver hangs paths from and what is the companion's own.
type Config struct {
	Root, Home, State string           // absolute; State = the ~/.zeroclaw folder ("" = none)
	Workspace         string           // the session's own folder ("" = none): uploads/, work/, outputs/ below it
	Pids              func() []int     // the companion and its children, for /proc (nil = own pid)
	Now               func() time.Time // nil = time.Now
}

// Resolver finds the facts about paths for one root and one session. It is
// safe for use by several goroutines.
type Resolver struct {
	root  string // resolved
	home  string // as configured, "" = none
	own   *ownState
	pids  func() []int
	space string // the resolved workspace, "" = none

	homeReal string
	windows  bool
	maxWalk  int
	volumes  volumes
}

// New returns a Resolver. The root must be an existing folder; the others may
// be missing. The root is resolved once, here, and stays what it was.
func New(c Config) (*Resolver, error) {
	r := &Resolver{pids: c.Pids, windows: runtime.GOOS == "windows", maxWalk: maxWalk}
	if r.pids == nil {
		r.pids = func() []int { return []int{os.Getpid()} }
	}
	now := c.Now
	if now == nil {
		now = time.Now
	}
	folders := []struct {
		name, given string
		clean, real *string
	}{
		{"root", c.Root, new(string), &r.root},
		{"home folder", c.Home, &r.home, &r.homeReal},
		{"state folder", c.State, new(string), new(string)},
		{"workspace", c.Workspace, new(string), &r.space},
	}
	for _, f := range folders {
		if f.given == "" {
			continue
		}
		if !filepath.IsAbs(f.given) {
			return nil, fmt.Errorf("resolve %s %q: give an absolute path", f.name, f.given)
		}
		*f.clean = slashed(f.given)
		at, why := follow(*f.clean, true)
		if why != "" {
			return nil, fmt.Errorf("resolve %s %q: %s", f.name, f.given, why)
		}
		*f.real = at.real
		if f.name == "root" && (at.info == nil || !at.info.IsDir()) {
			return nil, fmt.Errorf("resolve root %q: it is not an existing folder", f.given)
		}
	}
	if r.root == "" {
		return nil, fmt.Errorf("resolve root: none is given")
	}
	r.own = newOwnState(*folders[2].clean, *folders[3].clean, r.space, now)
	return r, nil
}

// Root is the resolved root, slash-separated.
func (r *Resolver) Root() string { return r.root }

// slashed cleans an absolute path of this system and writes it with slashes; a
// drive letter becomes upper case.
func slashed(p string) string {
	p = filepath.ToSlash(filepath.Clean(p))
	if len(p) >= 2 && p[1] == ':' {
		p = strings.ToUpper(p[:1]) + p[1:]
	}
	return p
}

const maxPathBytes = 4096

// clean makes an absolute, lexically cleaned path of what a caller wrote, or
// says why that is impossible. base is the folder that a relative path hangs
// from.
func (r *Resolver) clean(given, base string, literal bool) (clean, why string) {
	switch {
	case given == "":
		return "", "it is empty"
	case strings.TrimSpace(given) == "":
		return "", "it is blank"
	case len(given) > maxPathBytes:
		return "", fmt.Sprintf("it is longer than %d bytes", maxPathBytes)
	case strings.ContainsRune(given, 0):
		return "", "it holds a NUL character"
	}
	p := given
	if r.windows {
		if why := refusedOnWindows(p); why != "" {
			return "", why
		}
		p = strings.ReplaceAll(p, `\`, "/")
	}
	if !literal {
		p = permissions.DecodePath(p)
		switch first, _, _ := strings.Cut(p, "/"); {
		case first == "~":
			if r.home == "" {
				return "", "there is no home folder"
			}
			p = r.home + "/" + p[1:]
		case strings.HasPrefix(first, "~"):
			// Somebody's home is meant unless there is such a name.
			if _, err := os.Lstat(filepath.FromSlash(join(base, first))); err != nil {
				return "", "only ~/ stands for a home folder; a name that starts with ~ needs ./ in front"
			}
		}
	}
	switch {
	case r.windows && len(p) >= 2 && p[1] == ':':
		p = strings.ToUpper(p[:1]) + p[1:]
	case !strings.HasPrefix(p, "/"):
		p = base + "/" + p
	}
	p = cleanAbs(p)
	if len(p) > maxPathBytes {
		return "", fmt.Sprintf("it is longer than %d bytes", maxPathBytes)
	}
	return p, ""
}

// cleanAbs cleans an absolute slash path, with or without a drive in front.
func cleanAbs(p string) string {
	drive, rest := splitDrive(p)
	return drive + path.Clean("/"+rest)
}

// splitDrive takes "C:" off a path of the form "C:/…".
func splitDrive(p string) (drive, rest string) {
	if len(p) >= 2 && p[1] == ':' && p[0] != '/' {
		return p[:2], p[2:]
	}
	return "", p
}

// join puts a name behind a clean folder.
func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// parent is the folder of a clean absolute path; the top is its own parent.
func parent(p string) string {
	drive, rest := splitDrive(p)
	return drive + path.Dir(rest)
}

// within reports whether p is dir or below it.
func within(dir, p string) bool {
	if dir == "" {
		return false
	}
	if dir == p {
		return true
	}
	if !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	return strings.HasPrefix(p, dir)
}
