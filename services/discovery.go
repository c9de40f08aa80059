package services

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"zeroclaw/tools/jsonparts"
)

// What made the tools of a server be read.
const (
	TriggerStart   = "start"        // it was started
	TriggerChanged = "list_changed" // it said that they changed
	TriggerRequest = "request"      // a person asked
)

// Bounds of what is kept of discoveries.
const (
	maxDiscoveries   = 50        // of one server
	maxDiscoverySize = 128 << 10 // bytes of one
	maxHistorySize   = 1 << 20   // bytes of all of one server
	maxFieldText     = 4 << 10   // bytes of one old or new value
	maxNameText      = 200
)

// Discovery is what one reading of a server's tools found to be different from
// the one before. Every text in it is the server's: untrusted.
type Discovery struct {
	Time time.Time `json:"time"`
	// Trigger is one of the constants above.
	Trigger string       `json:"trigger"`
	Added   []string     `json:"added"` // names of tools, the server's own
	Removed []string     `json:"removed"`
	Changed []ToolChange `json:"changed"`
	// Omitted counts the differences that were too many to keep.
	Omitted int `json:"omitted,omitempty"`
}

// ToolChange is one tool whose definition is another now.
type ToolChange struct {
	Name   string        `json:"name"`
	Fields []FieldChange `json:"fields"`
}

// FieldChange is one part of a definition that is another now: title,
// description, inputSchema, outputSchema or annotations. Old and New are texts,
// or JSON with sorted keys, "" where there was or is none; each is cut at 4 KiB.
type FieldChange struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// compare tells what is different in a list of tools. show is applied to every
// text that is kept.
func compare(old, now []ToolDef, show func(string) string) Discovery {
	d := Discovery{Added: []string{}, Removed: []string{}, Changed: []ToolChange{}}
	before := map[string]ToolDef{}
	for _, t := range old {
		before[t.Name] = t
	}
	room := maxDiscoverySize
	text := func(s string, most int) string {
		s = Clip(show(strings.ToValidUTF8(s, "\uFFFD")), most)
		room -= len(s)
		return s
	}
	for _, t := range now {
		was, known := before[t.Name]
		delete(before, t.Name)
		switch {
		case known && was.Hash == t.Hash:
		case room <= 0:
			d.Omitted++
		case !known:
			d.Added = append(d.Added, text(t.Name, maxNameText))
		default:
			c := ToolChange{Name: text(t.Name, maxNameText), Fields: []FieldChange{}}
			for _, f := range changedFields(was, t) {
				c.Fields = append(c.Fields, FieldChange{Field: f.Field, Old: text(f.Old, maxFieldText), New: text(f.New, maxFieldText)})
			}
			d.Changed = append(d.Changed, c)
		}
	}
	for _, t := range old {
		if _, gone := before[t.Name]; !gone {
			continue
		}
		if room <= 0 {
			d.Omitted++
		} else {
			d.Removed = append(d.Removed, text(t.Name, maxNameText))
		}
	}
	return d
}

func changedFields(old, now ToolDef) []FieldChange {
	var out []FieldChange
	for _, f := range []FieldChange{{"title", old.Title, now.Title}, {"description", old.Description, now.Description}} {
		if f.Old != f.New {
			out = append(out, f)
		}
	}
	for _, f := range []struct {
		name     string
		old, now []byte
	}{{"inputSchema", old.InputSchema, now.InputSchema}, {"outputSchema", old.OutputSchema, now.OutputSchema}, {"annotations", old.Annotations, now.Annotations}} {
		if bytes.Equal(jsonparts.AppendCanonical(nil, f.old), jsonparts.AppendCanonical(nil, f.now)) {
			continue
		}
		a, b := SortedJSON(f.old), SortedJSON(f.now)
		if a == b { // such as a key that is there twice
			a, b = string(f.old), string(f.now)
		}
		out = append(out, FieldChange{f.name, a, b})
	}
	return out
}

// SortedJSON is JSON with sorted keys and numbers as they are spelled; what is
// none is returned as it is.
func SortedJSON(raw []byte) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if len(raw) == 0 || d.Decode(&v) != nil {
		return string(raw)
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return string(raw)
	}
	return strings.TrimRight(b.String(), "\n")
}

// same reports whether nothing was different.
func (d Discovery) same() bool {
	return len(d.Added)+len(d.Removed)+len(d.Changed)+d.Omitted == 0
}

func (d Discovery) size() int {
	n := 100
	for _, name := range slices.Concat(d.Added, d.Removed) {
		n += len(name) + 3
	}
	for _, c := range d.Changed {
		n += len(c.Name) + 30
		for _, f := range c.Fields {
			n += len(f.Field) + len(f.Old) + len(f.New) + 40
		}
	}
	return n
}

// remembering puts d before the older ones, as many as are kept.
func remembering(d Discovery, older []Discovery) []Discovery {
	list := append([]Discovery{d}, older...)
	size := 0
	for i, d := range list {
		if size += d.size(); i == maxDiscoveries || i > 0 && size > maxHistorySize {
			return list[:i]
		}
	}
	return list
}

// Discoveries are the recorded differences in a server's list of tools, the
// newest first.
func (v *Supervisor) Discoveries(name string) []Discovery {
	s, err := v.find(name)
	if err != nil {
		return []Discovery{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Discovery{}, s.memory.Discoveries...)
}

// Discover reads the tools of a server again, now, and returns what is
// different from the last time. A server that does not run is started for it
// and left as it was found, unless a call would have started it: then it runs
// on until it is idle.
func (v *Supervisor) Discover(ctx context.Context, name string) (Discovery, error) {
	s, err := v.find(name)
	if err != nil {
		return Discovery{}, err
	}
	fail := func(err error) (Discovery, error) {
		return Discovery{}, s.clean(fmt.Errorf("reading the tools of %s: %w", name, err))
	}
	var before int
	s.edit(func() {
		before = s.requested
		if err = s.startableLocked(); err == nil {
			// The reading at the start is the one that was asked for.
			s.onRequest = s.peer == nil
		}
	})
	if err != nil {
		return fail(err)
	}
	defer s.borrow()()
	for {
		s.mu.Lock()
		done, d, state, reason, changed, life := s.requested != before, s.answer, s.state, s.reason, s.changed, s.life
		waits := state == Starting && (reason == "" || reason == restarting) || state == Stopping && s.wantedLocked()
		s.mu.Unlock()
		switch {
		case done:
			return d, nil
		case state == Running:
			reply := make(chan error, 1)
			select {
			case s.orders <- reply:
				select {
				case err := <-reply:
					if err != nil {
						return fail(err)
					}
				case <-ctx.Done():
					return fail(context.Cause(ctx))
				}
				continue
			case <-life.Done():
				// Its end is a change of the state too.
			case <-ctx.Done():
				return fail(context.Cause(ctx))
			}
		case !waits:
			return fail(fmt.Errorf("the server is %w (%s): %s", ErrNotRunning, state, reason))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fail(context.Cause(ctx))
		}
	}
}
