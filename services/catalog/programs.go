package catalog

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"

	"zeroclaw/tools/process"
)

const (
	// lowestNode is the lowest major version of Node.js that anything is run
	// with.
	lowestNode = 18
	// lowestPython is the lowest minor version of Python 3.
	lowestPython = 9
	// askLimit is how long a program may take to tell its version, on a slow
	// disk at the first time.
	askLimit = 15 * time.Second
)

// knownProgram is what a program once said of itself.
type knownProgram struct {
	stamp   string
	path    string // the program behind a shim
	version string // "20.20.2"
}

// Node returns the path of the Node.js on the PATH. The error says what was
// found, where it was looked for and how to get it.
func (i *Installer) Node(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*askLimit)
	defer cancel()
	p, err := i.node(ctx, lowestNode)
	return p.path, err
}

// node finds a Node.js of at least a major version.
func (i *Installer) node(ctx context.Context, major int) (knownProgram, error) {
	advice := fmt.Sprintf("install Node.js %d or newer from https://nodejs.org, or with a version manager such as nvm, and try again", max(major, lowestNode))
	path := i.config.Path(ctx)
	found, err := process.LookPath("node", path, "")
	if err != nil {
		return knownProgram{}, fmt.Errorf("it needs Node.js, which was not found: %w; %s", err, advice)
	}
	p, err := i.ask(ctx, found, path, []string{"-p", "process.versions.node + '\\n' + process.execPath"})
	if err != nil {
		return knownProgram{}, fmt.Errorf("the Node.js that was found, %s, does not tell its version (%w); %s", found, err, advice)
	}
	if have, _, _ := strings.Cut(p.version, "."); number(have) < max(major, lowestNode) {
		return knownProgram{}, fmt.Errorf("it needs Node.js %d or newer, and the one found is %s (%s) on the PATH, which is %s; %s",
			max(major, lowestNode), p.version, found, path, advice)
	}
	return p, nil
}

// npm returns the program and first arguments that run the npm on the PATH.
func (i *Installer) npm(ctx context.Context, node string) (program string, args []string, err error) {
	path := i.config.Path(ctx)
	found, err := process.LookPath("npm", path, "")
	if err != nil {
		return "", nil, fmt.Errorf("it needs npm, which was not found though Node.js was (%s): %w; npm comes with Node.js from https://nodejs.org, on Debian and Ubuntu it is the package npm", node, err)
	}
	if runtime.GOOS == "windows" {
		// npm.cmd would be read by a shell.
		script := filepath.Join(filepath.Dir(found), "node_modules", "npm", "bin", "npm-cli.js")
		if st, err := os.Stat(script); err == nil && st.Mode().IsRegular() {
			return node, []string{script}, nil
		}
	}
	return found, nil, nil
}

// basePython finds a Python 3 that environments can be made with.
func (i *Installer) basePython(ctx context.Context) (knownProgram, error) {
	advice := fmt.Sprintf("install Python 3.%d or newer from https://www.python.org or with the system's package manager, and try again", lowestPython)
	path := i.config.Path(ctx)
	var met []string
	var missing error
	for _, name := range []string{"python3", "python"} {
		found, err := process.LookPath(name, path, "")
		if err != nil {
			missing = cmp.Or(missing, err)
			continue
		}
		p, err := i.ask(ctx, found, path, []string{"-c", "import sys; print('.'.join(map(str, sys.version_info[:3]))); print(sys.executable)"})
		switch v := strings.Split(p.version, "."); {
		case ctx.Err() != nil:
			return knownProgram{}, context.Cause(ctx)
		case err != nil:
			met = append(met, fmt.Sprintf("%s does not tell its version (%v)", found, err))
		case number(v[0]) != 3 || len(v) < 2 || number(v[1]) < lowestPython:
			met = append(met, fmt.Sprintf("%s is Python %s", found, p.version))
		default:
			return p, nil
		}
	}
	if len(met) == 0 {
		return knownProgram{}, fmt.Errorf("it needs Python 3, which was not found: %w; %s", missing, advice)
	}
	return knownProgram{}, fmt.Errorf("it needs Python 3.%d or newer: %s; the PATH is %s; %s", lowestPython, strings.Join(met, ", "), path, advice)
}

var versionText = regexp.MustCompile(`^v?([0-9]+(?:\.[0-9]+)*)`)

// ask runs a program that prints its version and its own path on two lines,
// and remembers the answer as long as the file is the same.
func (i *Installer) ask(ctx context.Context, program, path string, args []string) (knownProgram, error) {
	st, err := os.Stat(program)
	if err != nil {
		return knownProgram{}, err
	}
	stamp := fmt.Sprintf("%d %s", st.Size(), st.ModTime().Format(time.RFC3339Nano))
	// What stands behind a shim depends on its version manager's settings.
	shim := strings.Contains(filepath.ToSlash(program), "/shims/")
	i.mu.Lock()
	p, ok := i.known[program]
	i.mu.Unlock()
	if ok && p.stamp == stamp && !shim {
		return p, nil
	}
	text, err := i.said(ctx, job{program: program, args: args, dir: i.config.Home, env: environment(i.config.Environ(), path), limit: askLimit})
	if err != nil {
		return knownProgram{}, err
	}
	first, rest, _ := strings.Cut(text, "\n")
	m := versionText.FindStringSubmatch(first)
	if m == nil {
		return knownProgram{}, fmt.Errorf("it said %q", first)
	}
	p = knownProgram{stamp: stamp, path: program, version: m[1]}
	if own := strings.TrimSpace(rest); filepath.IsAbs(own) {
		if st, err := os.Stat(own); err == nil && st.Mode().IsRegular() {
			p.path = own
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.known[program] = p
	return p, nil
}

// number is a text as a number, 0 when it is none.
func number(s string) int {
	n, _ := strconv.Atoi(s)
	return n
}
