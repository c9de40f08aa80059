package shell

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"zeroclaw/tools/process"
)

// machine is the prober that looks at the real one.
type machine struct{ path, cwd string }

func (m machine) found(name string) bool {
	_, err := process.LookPath(name, m.path, m.cwd)
	return err == nil
}

func (m machine) free(dir string) (uint64, bool) { return freeSpace(dir) }

func tempDir() string { return os.TempDir() }

// maxNames bounds how many names on the PATH are looked at.
const maxNames = 20000

// near lists up to three programs on the PATH whose names a slip of the
// fingers turns into name, closest first.
func (m machine) near(name string) []string {
	var names []string
	for _, folder := range process.SearchFolders(m.path) {
		d, err := os.Open(folder)
		if err != nil {
			continue
		}
		some, _ := d.Readdirnames(maxNames - len(names))
		d.Close()
		if names = append(names, some...); len(names) >= maxNames {
			break
		}
	}
	var out []string
	for _, n := range closest(name, names) {
		if m.found(n) {
			out = append(out, n)
		}
		if len(out) == 3 {
			break
		}
	}
	return out
}

// closest orders those of names that are near enough to name by distance, then
// by name.
func closest(name string, names []string) []string {
	if len(name) > 64 {
		return nil
	}
	limit := 2
	if len(name) <= 3 {
		limit = 1
	}
	type scored struct {
		name string
		d    int
	}
	var out []scored
	seen := map[string]bool{name: true}
	for _, n := range names {
		if runtime.GOOS == "windows" {
			n = strings.TrimSuffix(strings.ToLower(n), filepath.Ext(n))
		}
		if seen[n] || len(n) < len(name)-limit || len(n) > len(name)+limit {
			continue
		}
		seen[n] = true
		if d := distance(name, n); d <= limit {
			out = append(out, scored{n, d})
		}
	}
	slices.SortFunc(out, func(a, b scored) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return strings.Compare(a.name, b.name)
	})
	list := make([]string, len(out))
	for i, s := range out {
		list[i] = s.name
	}
	return list
}

// distance counts insertions, deletions, substitutions and swaps of
// neighbours (optimal string alignment) between two names, in bytes.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// packagers are the programs that install others, each with what to type
// before the name of a package.
var packagers = []struct{ program, command string }{
	{"apt-get", "sudo apt-get install "}, {"dnf", "sudo dnf install "}, {"pacman", "sudo pacman -S "},
	{"zypper", "sudo zypper install "}, {"apk", "sudo apk add "}, {"brew", "brew install "}, {"winget", "winget install "},
}

// packageNames maps well-known programs to their packages. By packager where
// they differ; "" is everywhere else.
var packageNames = map[string]map[string]string{
	"git": {"": "git"}, "make": {"": "make"}, "cmake": {"": "cmake"}, "curl": {"": "curl"}, "wget": {"": "wget"},
	"jq": {"": "jq"}, "tree": {"": "tree"}, "zip": {"": "zip"}, "unzip": {"": "unzip"}, "rsync": {"": "rsync"},
	"rg": {"": "ripgrep"}, "fd": {"": "fd", "apt-get": "fd-find", "dnf": "fd-find"},
	"gcc": {"": "gcc"}, "g++": {"": "gcc", "apt-get": "g++", "dnf": "gcc-c++", "zypper": "gcc-c++", "apk": "g++"},
	"node": {"": "nodejs", "brew": "node"}, "npm": {"": "npm", "brew": "node", "dnf": "nodejs-npm"},
	"python3": {"": "python3", "pacman": "python"}, "pip": {"": "python3-pip", "pacman": "python-pip", "brew": "python", "apk": "py3-pip"},
	"pip3": {"": "python3-pip", "pacman": "python-pip", "brew": "python", "apk": "py3-pip"},
	"go":   {"": "golang", "brew": "go", "pacman": "go", "apk": "go", "zypper": "go"},
	"gh":   {"": "gh", "pacman": "github-cli", "apk": "github-cli"}, "ffmpeg": {"": "ffmpeg"}, "sqlite3": {"": "sqlite3", "dnf": "sqlite", "pacman": "sqlite", "apk": "sqlite", "brew": "sqlite"},
}

// install is a command that installs a well-known program with what this
// machine has for it.
func (m machine) install(name string) string {
	names, known := packageNames[name]
	if !known || runtime.GOOS == "windows" {
		return ""
	}
	for _, p := range packagers {
		if !m.found(p.program) {
			continue
		}
		if pkg := names[p.program]; pkg != "" {
			return p.command + pkg
		}
		return p.command + names[""]
	}
	return ""
}
