package services

import (
	"encoding/json"
	"reflect"
	"slices"
)

// Set replaces the definitions that were given by the last Set. A server whose
// definition is gone is stopped; one whose definition changed runs on as it was
// started until its next start.
func (v *Supervisor) Set(specs []Spec) {
	v.mu.Lock()
	v.given = slices.Clone(specs)
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
	current, wanted := map[string]Spec{}, map[string]Spec{}
	for name, s := range v.services {
		current[name] = s.spec
	}
	for _, s := range append(slices.Clone(v.given), found...) {
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
				if !s.active {
					s.settleLocked()
				}
			})
			s.wake()
		case remove:
			s := v.services[name]
			delete(v.services, name)
			v.notes.gone(s)
			if s.end != nil {
				v.leaving[name] = s
				s.mu.Lock()
				s.want = false
				s.mu.Unlock()
				s.end()
			}
		}
	}
}

func (v *Supervisor) addLocked(spec Spec) {
	s := &service{sup: v, name: spec.Name, kick: make(chan struct{}, 1), done: make(chan struct{}), changed: make(chan struct{}), calls: map[*underway]struct{}{},
		logs: &ring{now: v.config.Now, redact: v.config.Redact}, spec: spec, saved: v.saved[spec.Name],
		// A millionth of a second for each change leaves room below 2^53,
		// where JavaScript's whole numbers end.
		rev: uint64(v.config.Now().Unix()) * 1_000_000}
	s.settleLocked()
	if s.spec.Invalid == nil && s.installed && s.autostartLocked() {
		s.want, s.state = true, Starting
	}
	var before <-chan struct{}
	if old := v.leaving[spec.Name]; old != nil {
		before = old.done
	}
	delete(v.leaving, spec.Name)
	v.services[spec.Name] = s
	v.launchLocked(s, before)
	v.notes.mark(s, noteState)
}

// settleLocked puts a server that does nothing into the state that its
// definition gives it.
func (s *service) settleLocked() {
	s.installed = s.sup.isInstalled(s.spec)
	switch {
	case s.spec.Invalid != nil:
		s.state, s.reason = Failed, s.spec.Invalid.Error()
	case !s.installed:
		s.state, s.reason = NotInstalled, ""
	case s.want:
	default:
		s.state, s.reason = Stopped, ""
	}
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

func launchKey(s Spec, values map[string]any) string {
	b, err := json.Marshal(values)
	if err != nil {
		return ""
	}
	return launchHash(s) + string(b)
}
