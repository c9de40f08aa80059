package session

import (
	"encoding/json"
	"sync"

	"zeroclaw/tools"
)

// modelSchemas keeps the copies of schemas that go to models, by the hash of the
// definition. The zero value is ready.
type modelSchemas struct {
	mu   sync.Mutex
	held map[string]json.RawMessage
}

// maxSchemas bounds how many are kept; a session with more has them made anew.
const maxSchemas = 4096

// schema is the copy of a tool's schema, without secrets that a server may have
// written into it.
func (m *modelSchemas) schema(t Tool, redact func(string) string) json.RawMessage {
	if t.hash == "" {
		return tools.ModelSchema(t.spec.InputSchema)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if s, ok := m.held[t.hash]; ok {
		return s
	}
	if m.held == nil || len(m.held) >= maxSchemas {
		m.held = map[string]json.RawMessage{}
	}
	s := json.RawMessage(redact(string(tools.ModelSchema(t.spec.InputSchema))))
	m.held[t.hash] = s
	return s
}
