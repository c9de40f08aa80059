package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/services/secrets"
)

// Config says where a File lives. The zero value of each field but Dir is
// usable.
type Config struct {
	// Dir is the state folder, absolute. It need not exist: the first save
	// makes it, mode 0700.
	Dir string
	// Secrets seals and unseals; nil opens the store of Dir.
	Secrets *secrets.Store
	// Environ holds the environment as "NAME=value"; nil is os.Environ().
	Environ []string
	// IgnoreBadEnv makes an environment variable that names no setting, or has
	// no fitting value, a Problem in the snapshot, for a start without a
	// terminal. What it might have narrowed is narrowed. Unset, Open fails with
	// an *EnvError.
	IgnoreBadEnv bool
	// Now is the clock; nil is time.Now. Only left-over temporary files are
	// measured by it.
	Now func() time.Time
	// Debounce is how long the watcher waits for an editor to finish; 0 is
	// 100 ms.
	Debounce time.Duration
}

// File is the configuration of a running companion.
type File struct {
	config Config
	path   string
	env    []override

	saving  chan struct{} // holds one value while this process saves; taken before mu
	mu      sync.Mutex    // serialises reload and save, and with them the subscribers
	current atomic.Pointer[Settings]

	subsMu sync.Mutex // guards subs
	subs   map[*func(*Settings)]struct{}
}

// Open reads the configuration. A missing, broken or unreadable file is no
// error: the snapshot says so. Errors are a state folder that is not safe to
// use, and an *EnvError.
func Open(c Config) (*File, error) {
	if !filepath.IsAbs(c.Dir) {
		return nil, fmt.Errorf("open the configuration: the state folder %q must be an absolute path", c.Dir)
	}
	info, err := os.Stat(c.Dir)
	switch {
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("open the configuration: the state folder %s is a file; move it away", c.Dir)
	case err == nil:
		if err := checkFolder(c.Dir, info); err != nil {
			return nil, fmt.Errorf("open the configuration: %w", err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("open the configuration: %w", err)
	}
	if c.Secrets == nil {
		if c.Secrets, err = secrets.Open(c.Dir, nil); err != nil {
			return nil, err
		}
	}
	if c.Environ == nil {
		c.Environ = os.Environ()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Debounce == 0 {
		c.Debounce = 100 * time.Millisecond
	}
	f := &File{config: c, path: filepath.Join(c.Dir, FileName), env: overrides(c.Environ), saving: make(chan struct{}, 1), subs: map[*func(*Settings)]struct{}{}}
	s, bad := f.load(readContent(f.path))
	if len(bad) > 0 && !c.IgnoreBadEnv {
		return nil, bad[0]
	}
	f.current.Store(s)
	return f, nil
}

// Path is config.toml, which may be a link.
func (f *File) Path() string { return f.path }

// Current is the snapshot in force. It never changes; ask again for a newer
// one.
func (f *File) Current() *Settings { return f.current.Load() }

// Subscribe calls fn with each new snapshot, in order, one at a time. fn must
// return quickly and must not save; cancel ends the calls.
func (f *File) Subscribe(fn func(*Settings)) (cancel func()) {
	f.subsMu.Lock()
	defer f.subsMu.Unlock()
	key := &fn
	f.subs[key] = struct{}{}
	return func() {
		f.subsMu.Lock()
		defer f.subsMu.Unlock()
		delete(f.subs, key)
	}
}

// publish makes s the snapshot in force. The caller holds mu.
func (f *File) publish(s *Settings) {
	f.current.Store(s)
	f.subsMu.Lock()
	subs := make([]func(*Settings), 0, len(f.subs))
	for fn := range f.subs {
		subs = append(subs, *fn)
	}
	f.subsMu.Unlock()
	for _, fn := range subs {
		fn(s)
	}
}

// Reload reads the file again and publishes it if it changed.
func (f *File) Reload() *Settings {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.adopt(readContent(f.path))
}

// adopt publishes what was read unless it is in force already. The caller
// holds mu.
func (f *File) adopt(c content) *Settings {
	s, _ := f.load(c)
	if old := f.Current(); old.Version == s.Version && slices.Equal(old.Problems, s.Problems) {
		return old
	}
	f.publish(s)
	return s
}

// load makes a snapshot of what was read.
func (f *File) load(c content) (*Settings, []*EnvError) {
	var doc *document
	problem := c.problem
	if problem == nil {
		var err error
		if doc, err = parse(c.data); err != nil {
			var syntax *syntaxError
			errors.As(err, &syntax)
			problem = &Problem{Code: CodeUnreadable, Severity: SevereError, File: f.path, Line: syntax.line, Column: syntax.column,
				Message: syntax.message + ". Nothing in the file is used and everything asks until it is repaired"}
		}
	}
	var limits narrow
	if problem != nil {
		doc, _ = parse(nil)
		limits = narrow{permissions: true, profiles: true, agents: true, servers: true}
	}
	chk := &checker{doc: doc, file: f.path, problems: slices.Clone(c.warnings)}
	used, bad := chk.applyEnv(f.env)
	for _, e := range bad {
		chk.problems = append(chk.problems, Problem{Code: CodeOverride, Severity: SevereError, Variable: e.Variable, Message: e.Message + "; it is ignored"})
		limits.widen(e.Variable)
	}
	chk.check(doc.root, schema)
	s := chk.build(f.config.Secrets, limits)
	s.Version, s.Exists, s.Overrides = c.version(), c.info != nil, used
	if problem != nil {
		s.Unreadable = true
		s.Problems = append([]Problem{*problem}, s.Problems...)
		s.keep(f.Current())
	}
	return s, bad
}

// widen adds the section that an ignored variable most likely meant.
func (n *narrow) widen(variable string) {
	first, _, _ := strings.Cut(strings.TrimPrefix(variable, envPrefix), "__")
	switch nearest(first, schema.names()) {
	case "permissions":
		n.permissions = true
	case "risk_profiles":
		n.profiles = true
	case "agents":
		n.agents = true
	case "mcp", "mcp_bundles":
		n.servers = true
	case "":
		*n = narrow{true, true, true, true}
	}
}

// keep carries over, from the snapshot before the file broke, what permits
// nothing: providers, the server's settings, and tools that were denied or off.
func (s *Settings) keep(before *Settings) {
	if before == nil {
		return
	}
	s.Server, s.Providers, s.Secrets, s.RuntimeProfiles = before.Server, before.Providers, before.Secrets, before.RuntimeProfiles
	for name, t := range before.Permissions.Tools {
		if t.Off || t.Mode == permissions.ModeDeny {
			s.Permissions.Tools[name] = t
		}
	}
}
