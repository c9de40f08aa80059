package approval

import (
	"encoding/json"
	"fmt"
	"maps"
	"sync"

	"zeroclaw/tools/atomicfile"
)

// State says how a tool's definition stands to the accepted one.
type State string

// The states of a definition.
const (
	DefinitionNew      State = "new" // never seen before
	DefinitionAccepted State = "accepted"
	DefinitionChanged  State = "changed" // differs from the accepted one
)

// Accepted is a definition as it was accepted.
type Accepted struct {
	Hash string          `json:"hash"`
	Text json.RawMessage `json:"text"` // name, description and schemas, for a diff
}

// Definitions keeps the accepted definition of every remote tool, by full
// name, in one file.
type Definitions struct {
	path string

	mu       sync.Mutex
	accepted map[string]Accepted
	size     int    // of the texts of accepted
	unsaved  bool   // something was pinned that the file does not hold yet
	revision uint64 // counts changes
}

// maxDefinitions bounds the texts of all pinned definitions, in bytes, so that
// a server which invents tools for ever fills no disk.
const maxDefinitions = 32 << 20

// OpenDefinitions reads the accepted definitions, none when the file does not
// exist. After an error every definition counts as changed until accepted.
func OpenDefinitions(path string) (*Definitions, error) {
	d := &Definitions{path: path, accepted: map[string]Accepted{}}
	if _, err := atomicfile.ReadJSON(path, maxState, &d.accepted); err != nil {
		d.accepted = nil
		return d, fmt.Errorf("read accepted tool definitions, all of which must be accepted again: %w", err)
	}
	if d.accepted == nil { // the file says null
		d.accepted = map[string]Accepted{}
	}
	for _, a := range d.accepted {
		d.size += len(a.Text)
	}
	return d, nil
}

// Revision is a number that rises whenever what Check answers may have changed.
func (d *Definitions) Revision() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.revision
}

// Check compares a definition with the accepted one, which it returns.
func (d *Definitions) Check(tool string, hash string) (State, Accepted) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.accepted[tool]
	switch {
	case d.accepted == nil:
		return DefinitionChanged, Accepted{}
	case !ok && d.size >= maxDefinitions:
		// It could not be told from one that changed.
		return DefinitionChanged, Accepted{}
	case !ok:
		return DefinitionNew, Accepted{}
	case old.Hash == hash:
		return DefinitionAccepted, old
	}
	return DefinitionChanged, old
}

// Observe pins the definitions that were never seen before, as they are. They
// count as accepted even when they cannot be saved, which is then tried again
// each time: otherwise a tool that changes later would pass for a new one.
func (d *Definitions) Observe(now map[string]Accepted) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.accepted == nil {
		return nil
	}
	for tool, a := range now {
		if _, seen := d.accepted[tool]; !seen && d.size < maxDefinitions {
			d.accepted[tool], d.unsaved = a, true
			d.size += len(a.Text)
			d.revision++
		}
	}
	if !d.unsaved {
		return nil
	}
	return d.save(nil)
}

// Accept pins a definition. One that cannot be saved stays as it was.
func (d *Definitions) Accept(tool string, now Accepted) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.save(map[string]Accepted{tool: now})
}

func (d *Definitions) save(fresh map[string]Accepted) error {
	next := maps.Clone(d.accepted)
	if next == nil {
		next = map[string]Accepted{}
	}
	size := d.size
	for tool, a := range fresh {
		size += len(a.Text) - len(next[tool].Text)
		next[tool] = a
	}
	if err := atomicfile.WriteJSON(d.path, next); err != nil {
		return fmt.Errorf("save accepted tool definitions: %w", err)
	}
	d.accepted, d.unsaved, d.size = next, false, size
	d.revision++
	return nil
}
