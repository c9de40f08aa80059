package mcpserver

import (
	"encoding/json"
	"net/http"
	"slices"

	"zeroclaw/tools/jsonparts"
)

// legacyVersions are the revisions with protocol sessions, newest first.
var legacyVersions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// initialize begins a session.
func (s *Server) initialize(p *reply, r *http.Request, m *message) {
	caller := s.config.Caller(r)
	want, failed := wantedOf(r, caller)
	if failed != nil {
		p.fail(failed)
		return
	}
	version := jsonparts.Text(m.param("protocolVersion"))
	if version == "" {
		p.fail(&rpcError{code: codeInvalidParams, message: "initialize names a protocolVersion", status: http.StatusBadRequest})
		return
	}
	if !slices.Contains(legacyVersions, version) {
		version = legacyVersions[0]
	}
	c, failed := s.open(r.Context(), s.config.NewID(), caller, want, version, capabilitiesOf(m.param("capabilities")))
	if failed != nil {
		p.fail(failed)
		return
	}
	c.itself = nameIn(m.param("clientInfo")) // before the client knows its session
	p.w.Header().Set("Mcp-Session-Id", c.key)
	p.result(s.about(c, `"protocolVersion":"`+version+`"`))
}

// cancel ends the call that the client started under an id.
func (c *client) cancel(id json.RawMessage) {
	c.mu.Lock()
	run := c.calls[string(id)]
	c.mu.Unlock()
	if run != nil {
		run.cancel()
	}
}
