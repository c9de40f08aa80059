package services

import (
	"context"
	"maps"
	"time"
)

// Where the tools in a Status come from.
const (
	ToolsLive       = "live"       // the server runs
	ToolsRemembered = "remembered" // as they were when it ran last
	ToolsNone       = "none"
)

// maxDropped bounds of how many removed servers it is known what they were.
const maxDropped = 20

// savePause is how long changes of what is remembered are put together.
const savePause = time.Second

// memory is what is kept of one server. It is guarded by service.mu.
type memory struct {
	Remembered
	read  bool      // what Tools held is in tools now
	tools []ToolDef // whole, and never changed
}

// defs are the remembered definitions. One that cannot be read is left out:
// somebody changed the file.
func (m *memory) defs() []ToolDef {
	if !m.read {
		m.read = true
		for _, raw := range m.Tools {
			if t, err := NewToolDef(raw); err == nil {
				m.tools = append(m.tools, t)
			}
		}
		m.tools, _ = admitTools(m.tools, MaxTools)
		m.Tools = nil
	}
	return m.tools
}

// snapshot is what a Cache keeps of m.
func (m *memory) snapshot() Remembered {
	r := m.Remembered
	for _, t := range m.tools {
		r.Tools = append(r.Tools, t.Raw)
	}
	return r
}

// keep takes a list that was just read.
func (m *memory) keep(source string, list []ToolDef, info Info, now time.Time) {
	m.Source, m.Seen = source, now.UTC()
	m.Protocol = info.Protocol
	m.ServerName, m.ServerVersion = Clip(info.ServerName, 200), Clip(info.ServerVersion, 100)
	m.Instructions = Clip(info.Instructions, maxInstructions)
	m.Tools, m.TooBig, m.read, m.tools = nil, false, true, nil
	size := 0
	for _, t := range list {
		size += len(t.Raw)
	}
	if m.TooBig = size > maxTools; m.TooBig {
		return
	}
	m.tools = list
}

// about reports whether m is about the server of that source.
func (m *memory) about(source string) bool { return m.Source != "" && m.Source == source }

// toolsLocked are the tools of a server and where they are from.
func (s *service) toolsLocked() ([]ToolDef, string) {
	switch {
	case s.peer != nil:
		return s.tools, ToolsLive
	case s.spec.Disabled || s.spec.Invalid != nil || !s.recalledLocked():
		return nil, ToolsNone
	}
	if list := s.memory.defs(); len(list) > 0 {
		return list, ToolsRemembered
	}
	return nil, ToolsNone
}

// recalledLocked reports whether something is remembered of the server that the
// definition is about.
func (s *service) recalledLocked() bool {
	return s.sup.config.Cache != nil && s.memory.about(s.source)
}

// foundLocked takes a list of tools that was just read, and what is different
// in it, into the memory of the server. A difference is recorded, and every
// reading that was asked for.
func (s *service) foundLocked(d Discovery, list []ToolDef, trigger string) {
	now := s.sup.config.Now()
	d.Time, d.Trigger = now.UTC(), trigger
	s.memory.keep(s.running, list, s.info, now)
	if trigger == TriggerRequest || !d.same() {
		s.memory.Discoveries = remembering(d, s.memory.Discoveries)
	}
	if trigger == TriggerRequest {
		s.requested++
		s.answer = d
	}
	s.sup.touch()
}

// baseLocked is what a list that was just read is compared with. known is false
// when there was one that could not be kept.
func (s *service) baseLocked() (list []ToolDef, known bool) {
	switch {
	case s.peer != nil:
		return s.tools, true
	case !s.memory.about(s.running):
		return nil, true
	}
	return s.memory.defs(), !s.memory.TooBig
}

// Instructions returns what a server tells a model about itself, as it was told
// last; untrusted, at most 16 KiB; "" when there is none.
func (v *Supervisor) Instructions(name string) string {
	s, err := v.find(name)
	if err != nil {
		return ""
	}
	s.mu.Lock()
	text := ""
	switch {
	case s.peer != nil:
		text = s.info.Instructions
	case s.recalledLocked() && !s.spec.Disabled:
		text = s.memory.Instructions
	}
	s.mu.Unlock()
	return Clip(s.redact(text), maxInstructions)
}

// touch says that what is remembered has changed.
func (v *Supervisor) touch() {
	select {
	case v.dirty <- struct{}{}:
	default:
	}
}

// remembered is everything to be kept.
func (v *Supervisor) remembered() map[string]Remembered {
	v.mu.Lock()
	defer v.mu.Unlock()
	all := maps.Clone(v.unclaimed)
	for name, s := range v.services {
		s.mu.Lock()
		if s.memory.Source != "" {
			all[name] = s.memory.snapshot()
		}
		s.mu.Unlock()
	}
	return all
}

// keep saves what is remembered, away from everything that waits, until ctx
// ends, and then once more.
func (v *Supervisor) keep(ctx context.Context) {
	for last := false; !last; {
		select {
		case <-v.dirty:
			last = !sleep(ctx, savePause)
		case <-ctx.Done():
			last = true
			select {
			case <-v.dirty:
			default:
				return
			}
		}
		v.saveCache()
	}
	select {
	case <-v.dirty:
		v.saveCache()
	default:
	}
}

func (v *Supervisor) saveCache() {
	if v.config.Cache == nil {
		return
	}
	err := v.config.Cache.Save(v.remembered())
	text := ""
	if err != nil {
		text = "its tools are not kept for the next run: " + err.Error()
	}
	if text == v.unkept { // of keep alone
		return
	}
	if v.unkept = text; err == nil {
		return
	}
	for _, s := range v.all() {
		s.log(text)
	}
}

// recall gives a server that becomes known what is remembered of its name.
func (v *Supervisor) recallLocked(s *service) {
	if m := v.dropped[s.name]; m != nil {
		delete(v.dropped, s.name)
		s.memory = *m
		v.touch()
	} else if r, ok := v.unclaimed[s.name]; ok {
		delete(v.unclaimed, s.name)
		s.memory.Remembered = r
	}
}

// disclaimLocked forgets, once all definitions have been seen, what no
// definition names. One that comes back in this run finds it again.
func (v *Supervisor) disclaimLocked() {
	if !v.defined {
		return
	}
	for _, name := range sortedKeys(v.unclaimed) {
		if len(v.dropped) < maxDropped {
			v.dropped[name] = &memory{Remembered: v.unclaimed[name]}
		}
		delete(v.unclaimed, name)
	}
}

// dropLocked forgets a server whose definition is gone, unless it comes back
// in this run.
func (v *Supervisor) dropLocked(s *service) {
	s.mu.Lock()
	m := s.memory
	s.mu.Unlock()
	if m.Source == "" {
		return
	}
	if len(v.dropped) < maxDropped {
		v.dropped[s.name] = &m
	}
	v.touch()
}
