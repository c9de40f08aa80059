package catalog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"zeroclaw/services"
	"zeroclaw/tools/process"
)

// DefaultLimit is how long one run of npm or pip may take.
const DefaultLimit = 600 * time.Second

// Config is what an Installer works with. State and Path are required.
type Config struct {
	// State is the companion's own folder, absolute. The one Python
	// environment that all services share is its .venv.
	State string
	// Home is the folder that programs are asked for their version in; "" =
	// State.
	Home string
	// Path is the PATH that programs are looked for on, normally that of the
	// login shell.
	Path func(context.Context) string
	// Environ is the companion's environment, of which npm and pip get what
	// an allow-list names; nil = an empty one.
	Environ func() []string
	// Ledger records what is started; nil = nothing is recorded.
	Ledger *process.Ledger
	// Limit bounds one run of npm or pip; 0 = DefaultLimit.
	Limit time.Duration
	// Now stamps what was installed; nil = time.Now.
	Now func() time.Time
}

// Installer brings the packages of services onto the machine with npm and pip,
// and knows the Node.js and the Python that services are started with. It
// implements services.PackageInstaller. Its methods may be called at any time
// from any goroutine.
type Installer struct {
	config Config

	python chan struct{} // full while somebody changes the shared environment

	mu    sync.Mutex
	known map[string]knownProgram // by path; guarded by mu
}

// NewInstaller returns an Installer. It starts nothing and touches no file.
func NewInstaller(c Config) *Installer {
	if c.Environ == nil {
		c.Environ = func() []string { return nil }
	}
	if c.Limit == 0 {
		c.Limit = DefaultLimit
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Home == "" {
		c.Home = c.State
	}
	return &Installer{config: c, python: make(chan struct{}, 1), known: map[string]knownProgram{}}
}

// Installed implements services.PackageInstaller: it reads a few small files
// and starts nothing.
func (i *Installer) Installed(s services.Spec) bool {
	in := s.Installer
	if in == nil {
		return true
	}
	switch in.Type {
	case "npm":
		return npmInstalled(s)
	case "python":
		return i.pythonInstalled(s)
	}
	return false
}

// Install implements services.PackageInstaller. Nothing of an attempt that
// fails counts as installed; what was fetched stays in the caches of npm and
// pip, so that the next attempt goes on from there. The error is a sentence
// for a person.
func (i *Installer) Install(ctx context.Context, s services.Spec, progress func(text string)) error {
	in := s.Installer
	switch {
	case in == nil:
		return nil
	case s.Dir == "" || !filepath.IsAbs(s.Dir):
		return errors.New("the service has no folder of its own to install into")
	case in.Type == "npm":
		return i.installNPM(ctx, s, progress)
	case in.Type == "python":
		return i.installPython(ctx, s, progress)
	}
	return fmt.Errorf("packages of the type %q cannot be installed", in.Type)
}

// venv is the folder of the Python environment that services share.
func (i *Installer) venv() string { return filepath.Join(i.config.State, ".venv") }

// venvPython is the interpreter of that environment, whether it exists or not.
func (i *Installer) venvPython() string {
	if runtime.GOOS == "windows" {
		return filepath.Join(i.venv(), "Scripts", "python.exe")
	}
	return filepath.Join(i.venv(), "bin", "python")
}
