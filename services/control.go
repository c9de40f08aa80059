package services

import (
	"context"
	"fmt"
	"maps"
	"time"
)

// Start asks for a server to run and returns at once; a second start joins the
// first. After a Stop it forgets earlier failures, as Retry does. An error says why it cannot be started.
func (v *Supervisor) Start(name string) error { return v.start(name, func(*service) {}) }

// Restart stops a server, if it runs, and starts it as it is defined now.
func (v *Supervisor) Restart(name string) error {
	return v.start(name, func(s *service) {
		if s.active {
			s.cancel(errRestart)
		}
		s.breaker = breaker{}
	})
}

// Retry starts a server at once that has failed or that waits for its next
// attempt, and forgets its earlier crashes and failures: calls are sent again.
func (v *Supervisor) Retry(name string) error {
	return v.start(name, func(s *service) { s.breaker = breaker{} })
}

// start does what a person's wish for a server to run begins with.
func (v *Supervisor) start(name string, first func(*service)) error {
	return v.ask(name, func(s *service) error {
		if err := s.startableLocked(); err != nil {
			return err
		}
		first(s)
		if s.byPerson { // stopped by a person, who wants it again now
			s.breaker = breaker{}
		}
		s.byPerson = false
		s.wantLocked()
		return nil
	})
}

// Install asks for a server's packages to be installed and returns at once.
func (v *Supervisor) Install(name string) error {
	return v.ask(name, func(s *service) error {
		switch {
		case s.spec.Invalid != nil:
			return s.spec.Invalid
		case s.spec.Installer == nil:
			return fmt.Errorf("installing %s: it needs no installation", name)
		case v.config.Installer == nil:
			return fmt.Errorf("installing %s: this companion cannot install %s packages", name, s.spec.Installer.Type)
		case s.active && s.state != Installing:
			return fmt.Errorf("installing %s: stop it first", name)
		}
		s.wantInstall = true
		if !s.active {
			s.state, s.reason = Installing, ""
		}
		return nil
	})
}

func (s *service) startableLocked() error {
	switch {
	case s.spec.Invalid != nil:
		return fmt.Errorf("starting %s: %w", s.name, s.spec.Invalid)
	case s.spec.Disabled:
		return fmt.Errorf("starting %s: %w: switch it on there first", s.name, ErrDisabled)
	case !s.installed && !s.wantInstall:
		if s.installed = s.sup.isInstalled(s.spec); !s.installed {
			return fmt.Errorf("starting %s: it is not installed yet: install it first", s.name)
		}
	}
	return nil
}

func (s *service) wantLocked() {
	s.want = true
	if !s.active {
		s.freshLocked()
	}
}

// freshLocked makes the next attempt a first one.
func (s *service) freshLocked() {
	s.notBefore, s.crashes = time.Time{}, nil
	if !s.wantInstall {
		s.state, s.reason = Starting, ""
	}
}

// ask changes what is wanted of a server and wakes its goroutine.
func (v *Supervisor) ask(name string, f func(*service) error) error {
	s, err := v.find(name)
	if err != nil {
		return err
	}
	s.edit(func() { err = f(s) })
	s.wake()
	return err
}

// Stop stops a server, or its installation. It returns when nothing of it is
// left, or when ctx ends (the stop goes on then). The error names processes
// that could not be ended.
func (v *Supervisor) Stop(ctx context.Context, name string) error {
	s, err := v.find(name)
	if err != nil {
		return err
	}
	var attempt int
	s.edit(func() {
		s.want, s.wantInstall, s.byPerson, s.rested = false, false, true, false
		clear(s.loans)
		if s.active {
			attempt = s.attempt
			s.cancel(errStop)
			if s.state != Installing {
				s.state, s.reason = Stopping, ""
			}
			return
		}
		s.notBefore = time.Time{}
		if s.spec.Invalid == nil {
			s.settleLocked()
		}
	})
	s.wake()
	if attempt == 0 {
		return nil
	}
	for {
		s.mu.Lock()
		over, changed, err := s.attempt != attempt || !s.active, s.changed, s.closeErr
		s.mu.Unlock()
		if over {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s to stop: %w", name, context.Cause(ctx))
		}
	}
}

// SetOptions sets options of a service by id (others keep their value, null
// takes the default again) and, unless autostart is nil, whether it starts with
// the companion. Both are saved; options count from the next start on.
func (v *Supervisor) SetOptions(name string, values map[string]any, autostart *bool) error {
	s, err := v.find(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	spec := s.spec
	s.mu.Unlock()
	for id, x := range values {
		known := false
		for _, o := range spec.Options {
			if o.ID != id {
				continue
			}
			known = true
			if x == nil {
				continue
			}
			if err := checkValue(o, x); err != nil {
				return &OptionError{ID: id, Message: err.Error()}
			}
		}
		if !known {
			return &OptionError{ID: id, Message: fmt.Sprintf("%s has no option %q", name, id)}
		}
	}
	return v.remember(s, func(saved *Saved) {
		if len(values) > 0 && saved.Options == nil {
			saved.Options = map[string]any{}
		}
		for id, x := range values {
			if x == nil {
				delete(saved.Options, id)
			} else {
				saved.Options[id] = x
			}
		}
		if autostart != nil {
			on := *autostart
			saved.Autostart = &on
			if on {
				// A person has seen this launch and wants it.
				saved.Launch = launchHash(spec)
			}
		}
	})
}

// OptionError says which option is wrong and why.
type OptionError struct{ ID, Message string }

func (e *OptionError) Error() string { return e.Message }

// remember changes what is kept about a service and saves it. The others are
// not held up while it is written.
func (v *Supervisor) remember(s *service, change func(*Saved)) error {
	v.saving.Lock()
	defer v.saving.Unlock()
	v.mu.Lock()
	old, all := v.saved[s.name], maps.Clone(v.saved)
	v.mu.Unlock()
	next := old.clone()
	change(&next)
	if next.equal(old) {
		return nil
	}
	if v.unsaved != nil {
		return fmt.Errorf("saving the settings of %s: %w", s.name, v.unsaved)
	}
	if v.config.Store != nil {
		all[s.name] = next
		if err := v.config.Store.Save(all); err != nil {
			return fmt.Errorf("saving the settings of %s: %w", s.name, err)
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.saved[s.name] = next
	s.edit(func() { s.saved = next })
	// Its definition may have been removed and found again meanwhile.
	if now := v.services[s.name]; now != nil && now != s {
		now.edit(func() { now.saved = next })
	}
	return nil
}
