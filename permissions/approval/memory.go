package approval

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools/atomicfile"
)

// Scope says how long a remembered decision counts.
type Scope string

// The scopes.
const (
	ScopeSession Scope = "session"
	ScopeAlways  Scope = "always"
)

// Remembered is a decision that counts for later calls.
type Remembered struct {
	ID             string    `json:"id"`
	Scope          Scope     `json:"scope"`
	Session        string    `json:"session,omitempty"` // ScopeSession only
	Tool           string    `json:"tool"`
	DefinitionHash string    `json:"definition_hash,omitempty"`
	Command        string    `json:"command,omitempty"` // execute_command: exactly this …
	Cwd            string    `json:"cwd,omitempty"`     // … in this folder
	Created        time.Time `json:"created"`
}

// Memory keeps remembered decisions. Permanent ones live in one file; those of
// a session end with it.
type Memory struct {
	path  string
	newID func() string
	now   func() time.Time

	mu   sync.Mutex
	list []Remembered // oldest first
}

// maxState bounds a file of this package, in bytes.
const maxState = 64 << 20

// OpenMemory reads the permanent decisions from a JSON file, which need not
// exist. A file that cannot be read grants nothing: the error says so and the
// Memory starts empty.
func OpenMemory(path string, newID func() string, now func() time.Time) (*Memory, error) {
	m := &Memory{path: path, newID: newID, now: now}
	var file struct {
		Decisions []Remembered `json:"decisions"`
	}
	if _, err := atomicfile.ReadJSON(path, maxState, &file); err != nil {
		return m, fmt.Errorf("read remembered decisions, none of which count now: %w", err)
	}
	for _, d := range file.Decisions {
		if d.ID != "" && d.Tool != "" && d.Scope == ScopeAlways {
			m.list = append(m.list, d)
		}
	}
	return m, nil
}

// Add remembers a decision. A permanent one counts only once it is on disk.
func (m *Memory) Add(d Remembered) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, old := range m.list {
		if old.Scope == d.Scope && old.Session == d.Session && old.remembered() == d.remembered() {
			return nil
		}
	}
	d.ID, d.Created = m.newID(), m.now().UTC()
	return m.replace(append(slices.Clone(m.list), d))
}

// Revoke forgets one decision and reports whether there was one.
func (m *Memory) Revoke(id string) (bool, error) {
	return m.drop(func(d Remembered) bool { return d.ID == id })
}

// DropTool forgets every decision about a tool.
func (m *Memory) DropTool(tool string) error {
	_, err := m.drop(func(d Remembered) bool { return d.Tool == tool })
	return err
}

// DropSession forgets the decisions of a session that ended.
func (m *Memory) DropSession(session string) {
	_, _ = m.drop(func(d Remembered) bool { return d.Scope == ScopeSession && d.Session == session })
}

// Reset forgets everything.
func (m *Memory) Reset() error {
	_, err := m.drop(func(Remembered) bool { return true })
	return err
}

func (m *Memory) drop(which func(Remembered) bool) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	kept := slices.DeleteFunc(slices.Clone(m.list), which)
	if len(kept) == len(m.list) {
		return false, nil
	}
	return true, m.replace(kept)
}

// replace takes over a new list after saving its permanent part, if that
// changed. Called with mu held.
func (m *Memory) replace(list []Remembered) error {
	old, next := permanent(m.list), permanent(list)
	if !slices.Equal(old, next) {
		if err := atomicfile.WriteJSON(m.path, map[string]any{"decisions": next}); err != nil {
			return fmt.Errorf("save remembered decisions: %w", err)
		}
	}
	m.list = list
	return nil
}

func permanent(list []Remembered) []Remembered {
	return slices.DeleteFunc(slices.Clone(list), func(d Remembered) bool { return d.Scope != ScopeAlways })
}

// List returns every decision, oldest first.
func (m *Memory) List() []Remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.list)
}

// For returns what counts in a session, in the form that Decide takes.
func (m *Memory) For(session string) []permissions.Remembered {
	return m.which(func(d Remembered) bool { return d.Scope == ScopeAlways || d.Session == session })
}

// ForChild returns what counts in a child session: only what was answered
// there. "Always" was said to the parent's agent and does not travel.
func (m *Memory) ForChild(session string) []permissions.Remembered {
	return m.which(func(d Remembered) bool { return d.Scope == ScopeSession && d.Session == session })
}

func (m *Memory) which(counts func(Remembered) bool) []permissions.Remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []permissions.Remembered
	for _, d := range m.list {
		if counts(d) {
			out = append(out, d.remembered())
		}
	}
	return out
}

func (d Remembered) remembered() permissions.Remembered {
	return permissions.Remembered{Tool: d.Tool, DefinitionHash: d.DefinitionHash, Command: d.Command, Cwd: d.Cwd}
}
