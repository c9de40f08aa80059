package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is what a Supervisor works with. Connector is needed; every other zero
// field means what its comment says.
type Config struct {
	Connector Connector
	// Vars tells what ${root} and the like stand for at this moment, without
	// calling the Supervisor; nil = nothing is known.
	Vars func() Vars
	// Scan lists definitions that come from outside, such as Folder.Scan. It is
	// asked when Serve begins, by Rescan and by List, so it must be quick. nil
	// = only those of Set.
	Scan func() []Spec
	// Store keeps options and what is remembered; nil = in memory only.
	Store Store
	// Cache keeps what is known of servers that do not run; nil = nothing
	// is, and their tools are not listed.
	Cache Cache
	// Installer installs what a definition needs; nil = a definition with an
	// Installer cannot be installed.
	Installer PackageInstaller
	// Notify takes events, one at a time, from one goroutine; nil = nobody
	// listens. It may be slow: events are put together meanwhile.
	Notify func(Event)
	// Redact removes secrets from what is logged and shown; nil = nothing.
	Redact func(string) string
	// Notified is told of a server's notifications that are about neither tools
	// nor progress, as they come: log messages, changed resources and prompts. It
	// must not wait. params is an object: untrusted. nil = nobody wants them.
	Notified func(server, method string, params json.RawMessage)
	// Roots answers roots/list; nil = no roots are offered.
	Roots func() []Root
	// Ask answers a sampling or elicitation request of a server; nil = they
	// are not offered.
	Ask func(context.Context, Question) (json.RawMessage, error)
	// Backoff is the restart policy.
	Backoff Backoff
	// Now stamps log lines and states; nil = time.Now. Waiting uses the real
	// clock.
	Now func() time.Time
}

// PackageInstaller brings a service's packages onto the machine.
type PackageInstaller interface {
	// Installed reports whether everything that s needs is there, quickly.
	Installed(s Spec) bool
	// Install installs it, saying what it does. A run that was cut off is
	// taken up again by the next.
	Install(ctx context.Context, s Spec, progress func(text string)) error
}

// Supervisor keeps a set of servers. Its methods may be called at any time from
// any goroutine; they return at once unless they take a context. Nothing is
// started before Serve runs.
type Supervisor struct {
	config  Config
	notes   *notes
	unsaved error         // why nothing may be saved: the file could not be read
	dirty   chan struct{} // what is remembered changed; capacity 1
	unkept  string        // why it could not be kept; of keep alone

	saving sync.Mutex // one change of saved at a time, the write to the Store included; taken before mu

	mu       sync.Mutex // guards everything below, and the order service.mu inside it
	given    []Spec     // by Set
	defined  bool       // Set was called
	services map[string]*service
	leaving  map[string]*service // removed, still ending
	// What is remembered of names that no definition has: since the last run,
	// and since they were removed in this one, which is not kept.
	unclaimed map[string]Remembered
	dropped   map[string]*memory
	saved     map[string]Saved
	ctx       context.Context // nil before Serve
	running   sync.WaitGroup
	testing   chan struct{} // holds one for each Test under way
	scanned   sync.Mutex    // one Rescan at a time
}

// New returns a Supervisor that knows no server yet. Its error is one of
// reading the Store, then the Supervisor works and saves no settings, or of
// reading the Cache, which is then begun anew.
func New(c Config) (*Supervisor, error) {
	if c.Connector == nil {
		return nil, errors.New("services: a Connector is needed")
	}
	if c.Redact == nil {
		c.Redact = func(s string) string { return s }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.Backoff = c.Backoff.withDefaults()
	v := &Supervisor{config: c, notes: newNotes(c.Notify), services: map[string]*service{}, leaving: map[string]*service{}, saved: map[string]Saved{},
		unclaimed: map[string]Remembered{}, dropped: map[string]*memory{}, dirty: make(chan struct{}, 1), testing: make(chan struct{}, maxTests)}
	var failed error
	if c.Store != nil {
		saved, err := c.Store.Load()
		if err != nil {
			v.unsaved, failed = err, err
		} else if saved != nil {
			v.saved = saved
		}
	}
	if c.Cache != nil {
		all, err := c.Cache.Load()
		if failed = errors.Join(failed, err); all != nil {
			v.unclaimed = all
		}
	}
	return v, failed
}

// Serve runs the servers until ctx ends, then stops them all at once (2.5 s at
// most before each is killed) and returns nil when nothing of them is left.
func (v *Supervisor) Serve(ctx context.Context) error {
	v.mu.Lock()
	if v.ctx != nil {
		v.mu.Unlock()
		return errors.New("services: Serve was called twice")
	}
	v.ctx = ctx
	for _, s := range v.services {
		v.launchLocked(s, nil)
	}
	v.mu.Unlock()
	var after sync.WaitGroup
	afterwards, stop := context.WithCancel(context.WithoutCancel(ctx))
	after.Go(func() { v.notes.serve(afterwards) })
	after.Go(func() { v.keep(afterwards) })
	v.Rescan()
	<-ctx.Done()
	// Taking the lock once means that nobody is adding a goroutine any more.
	v.mu.Lock()
	for _, s := range v.services {
		s.leave()
	}
	v.mu.Unlock()
	v.running.Wait()
	stop()
	after.Wait()
	return nil
}

func (v *Supervisor) launchLocked(s *service, before <-chan struct{}) {
	if v.ctx == nil || v.ctx.Err() != nil {
		return
	}
	ctx, end := context.WithCancel(v.ctx)
	s.end = end
	v.running.Add(1)
	go func() {
		defer v.running.Done()
		defer end()
		s.run(ctx, before)
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.leaving[s.name] == s {
			delete(v.leaving, s.name)
		}
	}()
}

func (s *service) restartNeededLocked() bool {
	return s.active && s.launched != "" && s.launched != launchKey(s.spec, s.saved.Options)
}

func (s *service) rememberedProtocol(given string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.misled:
		return ""
	case s.saved.Protocol != "":
		return s.saved.Protocol
	}
	return given
}

func (v *Supervisor) vars() Vars {
	if v.config.Vars == nil {
		return Vars{}
	}
	return v.config.Vars()
}

func (v *Supervisor) find(name string) (*service, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := v.services[name]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrUnknown, name)
}

// all returns the services by name.
func (v *Supervisor) all() []*service {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.SortedFunc(maps.Values(v.services), func(a, b *service) int { return strings.Compare(a.name, b.name) })
}

// List returns what is known of every server, by name, after a Rescan.
func (v *Supervisor) List() []Status {
	v.Rescan()
	return v.Statuses()
}

// Statuses is List without reading the definitions anew.
func (v *Supervisor) Statuses() []Status {
	list := []Status{}
	for _, s := range v.all() {
		list = append(list, s.status())
	}
	return list
}

// Status returns what is known of one server.
func (v *Supervisor) Status(name string) (Status, error) {
	s, err := v.find(name)
	if err != nil {
		return Status{}, err
	}
	return s.status(), nil
}

// Generation is a number that differs once the list of servers has changed, or
// the state of one, its tools, where they are known from or whether a call
// starts it: what was computed from those need not be computed again for each
// call. Each rise is told by an EventTools or an EventGone.
func (v *Supervisor) Generation() uint64 { return v.notes.changes.Load() }

// Tools returns the tools of a server, in its order: those of a running one, or
// those that it had when it ran last as what it is defined to be now. Status
// says which. The list is not to be changed.
func (v *Supervisor) Tools(name string) []ToolDef {
	s, err := v.find(name)
	if err != nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tools, _ := s.toolsLocked()
	return tools
}

// Logs returns the held log lines of a server with a number above after.
func (v *Supervisor) Logs(name string, after uint64) ([]LogLine, error) {
	s, err := v.find(name)
	if err != nil {
		return nil, err
	}
	return s.logs.after(after, 0), nil
}

// RootsChanged tells every running server that the answer of Config.Roots is
// another now.
func (v *Supervisor) RootsChanged(ctx context.Context) {
	var told sync.WaitGroup
	for _, s := range v.all() {
		s.mu.Lock()
		peer := s.peer
		s.mu.Unlock()
		if p, ok := peer.(RootsPeer); ok {
			told.Go(func() {
				if err := p.RootsChanged(ctx); err != nil {
					s.log("telling it that the roots changed failed: " + err.Error())
				}
			})
		}
	}
	told.Wait()
}
