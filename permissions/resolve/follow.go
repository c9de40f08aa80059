package resolve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"zeroclaw/permissions"
)

// maxLinks is how many links one path may lead through, as in the kernel.
const maxLinks = 40

// place is where a path leads.
type place struct {
	real string      // every link followed
	info fs.FileInfo // what stands there, nil if nothing
	link bool        // it is a link itself (only when the last one is not followed)
	proc []string    // what was passed in /proc on the way

	// Where nothing stands at real, the deepest folder above it that exists.
	dir     string
	dirInfo fs.FileInfo
}

// folder is the deepest folder at or above the place that exists.
func (at place) folder() (dir string, info fs.FileInfo, err error) {
	switch {
	case at.info == nil:
		return at.dir, at.dirInfo, nil
	case at.info.IsDir():
		return at.real, at.info, nil
	}
	dir = parent(at.real)
	info, err = os.Lstat(filepath.FromSlash(dir))
	return dir, info, err
}

// lstat looks at a slash path without following a link at its end.
type lstat func(string) (fs.FileInfo, error)

func lstatSlash(p string) (fs.FileInfo, error) { return os.Lstat(filepath.FromSlash(p)) }

// remembering is an lstat that looks at each path once: for many paths below
// the same folders, in a moment in which nothing is expected to change.
func remembering() lstat {
	type seen struct {
		info fs.FileInfo
		err  error
	}
	known := map[string]seen{}
	return func(p string) (fs.FileInfo, error) {
		k, ok := known[p]
		if !ok {
			k.info, k.err = lstatSlash(p)
			known[p] = k
		}
		return k.info, k.err
	}
}

// follow resolves every link of a clean absolute path, the last one only if
// last is set. Names behind one that does not exist are kept as they are. why
// says in words what makes the path impossible.
func follow(clean string, last bool) (at place, why string) {
	return followWith(lstatSlash, clean, last)
}

func followWith(look lstat, clean string, last bool) (at place, why string) {
	drive, rest := splitDrive(clean)
	at.real = drive + "/"
	info, err := look(at.real)
	if err != nil {
		return at, explain(at.real, err)
	}
	at.info = info
	todo := names(rest)
	links := 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if !at.info.IsDir() {
			return at, fmt.Sprintf("%q is not a folder", permissions.Visible(at.real))
		}
		if name == ".." {
			at.real = parent(at.real)
			if at.info, err = look(at.real); err != nil {
				return at, explain(at.real, err)
			}
			continue
		}
		next := join(at.real, name)
		if strings.HasPrefix(next, "/proc/") {
			at.proc = append(at.proc, next)
		}
		info, err := look(next)
		if errors.Is(err, fs.ErrNotExist) {
			return at.missing(next, todo)
		}
		if err != nil {
			return at, explain(next, err)
		}
		target, isLink, err := readLink(next, info)
		if err != nil {
			return at, explain(next, err)
		}
		if !isLink {
			at.real, at.info = next, info
			continue
		}
		if len(todo) == 0 && !last {
			at.real, at.info, at.link = next, info, true
			return at, tooLong(next)
		}
		if links++; links > maxLinks {
			return at, "its links lead in a circle"
		}
		from, rest, why := linkStart(next, target, at.real)
		if why != "" {
			return at, why
		}
		if from != "" {
			at.real = from
			if at.info, err = look(at.real); err != nil {
				return at, explain(at.real, err)
			}
		}
		todo = append(names(rest), todo...)
	}
	return at, tooLong(at.real)
}

// missing is the place of names behind one that does not exist.
func (at place) missing(next string, todo []string) (place, string) {
	if up := slices.Index(todo, ".."); up >= 0 {
		return at, fmt.Sprintf("a link leads through %q, which does not exist", permissions.Visible(strings.Join(append([]string{next}, todo[:up]...), "/")))
	}
	at.dir, at.dirInfo = at.real, at.info
	at.real, at.info = strings.Join(append([]string{next}, todo...), "/"), nil
	return at, tooLong(at.real)
}

// linkStart says where what a link says begins: at a root, or at the folder of
// the link, for which from is "". rest is what follows.
func linkStart(link, target, folder string) (from, rest, why string) {
	if len(target) > maxPathBytes {
		return "", "", tooLong(target)
	}
	drive, rest := splitDrive(target)
	switch {
	case runtime.GOOS == "windows" && strings.HasPrefix(target, "//"):
		return "", "", fmt.Sprintf("the link %q leads to the network", permissions.Visible(link))
	case runtime.GOOS != "windows":
		drive, rest = "", target
	case drive == "":
		drive, _ = splitDrive(folder)
	}
	if strings.HasPrefix(rest, "/") {
		return strings.ToUpper(drive) + "/", rest, ""
	}
	return "", target, ""
}

// readLink returns what a link says. Windows shows a junction as an irregular
// file.
func readLink(p string, info fs.FileInfo) (target string, isLink bool, err error) {
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err = os.Readlink(filepath.FromSlash(p))
		return linkTarget(target), true, err
	case info.Mode()&fs.ModeIrregular != 0:
		if target, err = os.Readlink(filepath.FromSlash(p)); err == nil {
			return linkTarget(target), true, nil
		}
	}
	return "", false, nil
}

func linkTarget(t string) string {
	t = strings.TrimPrefix(t, `\??\`)
	t = strings.TrimPrefix(t, `\\?\`)
	return filepath.ToSlash(t)
}

func names(p string) []string {
	var out []string
	for _, n := range strings.Split(p, "/") {
		if n != "" && n != "." {
			out = append(out, n)
		}
	}
	return out
}

func tooLong(p string) string {
	if len(p) > maxPathBytes {
		return fmt.Sprintf("it is longer than %d bytes", maxPathBytes)
	}
	return ""
}

// explain turns an error of the system into half a sentence about a path.
func explain(p string, err error) string {
	shown := permissions.Visible(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%q does not exist", shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%q may not be looked at: permission denied", shown)
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "it holds a name that is too long"
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Sprintf("%q cannot be looked at: %v", shown, err)
}
