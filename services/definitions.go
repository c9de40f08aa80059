package services

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Set replaces the definitions that were given by the last Set. A server whose
// definition is gone is stopped; one whose definition changed runs on as it was
// started until its next start.
func (v *Supervisor) Set(specs []Spec) {
	v.mu.Lock()
	v.given, v.defined = slices.Clone(specs), true
	v.mu.Unlock()
	v.Rescan()
}

// Rescan asks Config.Scan again and takes what changed.
func (v *Supervisor) Rescan() {
	v.scanned.Lock()
	defer v.scanned.Unlock()
	var found []Spec
	if v.config.Scan != nil {
		found = v.config.Scan()
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	defer v.disclaimLocked()
	current, wanted := map[string]Spec{}, map[string]Spec{}
	for name, s := range v.services {
		current[name] = s.spec
	}
	for _, s := range append(slices.Clone(v.given), makeWay(v.given, found)...) {
		if _, twice := wanted[s.Name]; !twice {
			wanted[s.Name] = s
		}
	}
	for name, c := range reconcile(current, wanted, func(a, b Spec) bool { return reflect.DeepEqual(a, b) }) {
		switch c {
		case add:
			v.addLocked(wanted[name])
		case update:
			s := v.services[name]
			s.edit(func() {
				s.spec = wanted[name]
				s.learn(s.spec)
				s.source = sourceHash(s.spec)
				if s.spec.Disabled {
					s.switchOffLocked()
				}
				if !s.active {
					s.settleLocked()
				}
			})
			s.wake()
		case remove:
			s := v.services[name]
			delete(v.services, name)
			v.notes.gone(s)
			v.dropLocked(s)
			if s.end != nil {
				v.leaving[name] = s
				s.leave()
				s.end()
			}
		}
	}
}

func (v *Supervisor) addLocked(spec Spec) {
	s := &service{sup: v, name: spec.Name, kick: make(chan struct{}, 1), orders: make(chan chan<- error), done: make(chan struct{}), changed: make(chan struct{}), uses: map[*use]struct{}{}, loans: map[*loan]struct{}{},
		spec: spec, saved: v.saved[spec.Name], concealer: &concealer{all: v.config.Redact},
		// A millionth of a second for each change leaves room below 2^53,
		// where JavaScript's whole numbers end.
		rev: uint64(v.config.Now().Unix()) * 1_000_000}
	s.learn(spec)
	s.source = sourceHash(spec)
	v.recallLocked(s)
	s.logs = &ring{now: v.config.Now, redact: s.redact}
	s.settleLocked()
	if s.spec.Invalid == nil && !s.spec.Disabled && s.installed && s.autostartLocked() {
		s.want, s.state = true, Starting
	}
	var before <-chan struct{}
	if old := v.leaving[spec.Name]; old != nil {
		before = old.done
	}
	delete(v.leaving, spec.Name)
	v.services[spec.Name] = s
	v.launchLocked(s, before)
	v.notes.mark(s, noteState|noteTools)
}

// settleLocked puts a server that does nothing into the state that its
// definition gives it.
func (s *service) settleLocked() {
	s.installed = s.sup.isInstalled(s.spec)
	switch {
	case s.spec.Invalid != nil:
		s.state, s.reason = Failed, s.spec.Invalid.Error()
	case s.spec.Disabled:
		s.state, s.reason = Stopped, ErrDisabled.Error()
	case !s.installed:
		s.state, s.reason = NotInstalled, ""
	case s.wantedLocked():
		// Switched on again.
		if s.state == Stopped {
			s.state, s.reason = Starting, ""
		}
	case s.rested:
		s.state, s.reason = Stopped, idleReason
	default:
		s.state, s.reason = Stopped, ""
	}
}

// switchOffLocked ends what runs of a server that is switched off.
func (s *service) switchOffLocked() {
	s.want, s.wantInstall, s.rested = false, false, false
	clear(s.loans)
	s.notBefore = time.Time{}
	if s.active {
		s.cancel(errStop)
		s.state, s.reason = Stopping, ""
	}
}

// leave takes every wish from a server whose goroutine is about to end.
func (s *service) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.want, s.wantInstall, s.removed = false, false, true
	clear(s.loans)
}

func (v *Supervisor) isInstalled(s Spec) bool {
	return s.Installer == nil || v.config.Installer != nil && v.config.Installer.Installed(s)
}

// autostartLocked: a service's own wish to be started with the companion counts
// only after a person has started exactly this launch. A folder that appeared
// by itself runs nothing.
func (s *service) autostartLocked() bool {
	on := s.spec.Autostart
	if s.saved.Autostart != nil {
		on = *s.saved.Autostart
	}
	return on && (s.spec.Origin != OriginService || s.saved.Launch == launchHash(s.spec))
}

// launchKey is what a running server is compared with, to see whether a restart
// would change it.
func launchKey(s Spec, values map[string]any) string {
	return launchHash(s) + hashOf(values, s.MaxResponseBytes)
}

// makeWay makes room among the definitions that were found for those that were
// given, whose names win without regard to case.
func makeWay(given, found []Spec) []Spec {
	names := map[string]bool{}
	for _, s := range given {
		names[strings.ToLower(s.Name)] = true
	}
	out := slices.Clone(found)
	for i := range out {
		s := &out[i]
		if !names[strings.ToLower(s.Name)] {
			continue
		}
		if s.Invalid == nil {
			s.Invalid = &ManifestError{File: filepath.Join(s.Dir, ManifestName), Message: fmt.Sprintf("its id %q is the name of a configured server: change one", s.Name)}
		}
		s.Name = fmt.Sprintf("%s (%s)", s.Name, filepath.Base(s.Dir))
	}
	return out
}
