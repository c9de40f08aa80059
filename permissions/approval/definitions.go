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
	unsaved  bool // something was pinned that the file does not hold yet
}

// OpenDefinitions reads the accepted definitions, none when the file does not
// exist. After an error every definition counts as changed until accepted.
func OpenDefinitions(path string) (*Definitions, error) {
	d := &Definitions{path: path, accepted: map[string]Accepted{}}
	if _, err := atomicfile.ReadJSON(path, maxState, &d.accepted); err != nil {
		d.accepted = nil
		return d, fmt.Errorf("read accepted tool definitions, all of which must be accepted again: %w", err)
	}
	return d, nil
}

// Check compares a definition with the accepted one, which it returns.
func (d *Definitions) Check(tool string, hash string) (State, Accepted) {
	d.mu.Lock()
	defer d.mu.Unlock()
	old, ok := d.accepted[tool]
	switch {
	case d.accepted == nil:
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
		if _, seen := d.accepted[tool]; !seen {
			d.accepted[tool], d.unsaved = a, true
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
	maps.Copy(next, fresh)
	if err := atomicfile.WriteJSON(d.path, next); err != nil {
		return fmt.Errorf("save accepted tool definitions: %w", err)
	}
	d.accepted, d.unsaved = next, false
	return nil
}
