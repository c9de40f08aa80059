package mcpclient

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
)

// words keeps the parameters of the server's requests as they stood: mcp-go
// decodes them into maps, and the order of the fields of a form is lost. The
// zero value is ready.
type words struct {
	mu   sync.Mutex
	held map[string]json.RawMessage
}

// note takes a request's parameters before the transport gets it.
func (w *words) note(id string, params json.RawMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Those that the transport dropped are of no use any more.
	if w.held == nil || len(w.held) > 2*maxAsked {
		w.held = map[string]json.RawMessage{}
	}
	w.held[id] = bytes.Clone(params)
}

// take returns the parameters of a request as they stood, else as they were
// decoded.
func (w *words) take(r transport.JSONRPCRequest) (json.RawMessage, error) {
	id, err := json.Marshal(r.ID)
	if err == nil {
		w.mu.Lock()
		params, ok := w.held[string(id)]
		delete(w.held, string(id))
		w.mu.Unlock()
		if ok {
			return params, nil
		}
	}
	return json.Marshal(r.Params)
}
