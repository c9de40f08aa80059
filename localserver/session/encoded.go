package session

import (
	"encoding/json"
	"sync"
)

// stamp tells one state of everything that a list of tools is made from.
type stamp struct{ servers, policy, definitions uint64 }

func (s *Sessions) stamp() stamp {
	now := stamp{policy: s.config.Policy.Changes(), definitions: s.config.Definitions.Revision()}
	if s.config.Remote != nil {
		now.servers = s.config.Remote.Generation()
	}
	return now
}

// encoded is a list of tools as JSON, made once for each state. The zero value
// is ready.
type encoded struct {
	mu   sync.Mutex
	at   stamp
	json []byte
}

// get returns the list for a state, which was read before the list is made:
// what changes meanwhile is made anew next time.
func (e *encoded) get(now stamp, list func() []Tool) ([]byte, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.json != nil && e.at == now {
		return e.json, nil
	}
	text, err := json.Marshal(list())
	if err != nil {
		return nil, err
	}
	e.at, e.json = now, text
	return text, nil
}

// AllToolsJSON is AllTools as JSON. The bytes must not be changed.
func (s *Sessions) AllToolsJSON() ([]byte, error) { return s.encoded.get(s.stamp(), s.AllTools) }

// ViewJSON is View(true) as JSON, with the list of tools as it was made last.
func (n *Session) ViewJSON() ([]byte, error) {
	list, err := n.encoded.get(n.host.stamp(), n.Tools)
	if err != nil {
		return nil, err
	}
	v := n.View(false)
	v.Warnings = append(v.Warnings, n.grant.UnmatchedNames(n.known())...)
	rest, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(list)+len(rest)+16)
	out = append(out, `{"tools":`...)
	out = append(out, list...)
	out = append(out, ',')
	return append(out, rest[1:]...), nil
}
