package localserver

import (
	"errors"
	"net/http"
	"regexp"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/session"
)

// toolName is the form of every full name.
var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// getTools serves GET /api/tools: every known tool, whoever may reach it.
func (s *Server) getTools(w http.ResponseWriter, _ *http.Request) {
	list, err := s.sessions.AllToolsJSON()
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	guard.WriteEncoded(w, http.StatusOK, []byte(`{"tools":`), list, []byte("}\n"))
}

// postAccept serves POST /api/tools/{name}/accept.
func (s *Server) postAccept(w http.ResponseWriter, r *http.Request) {
	if err := s.sessions.Accept(r.PathValue("name")); err != nil {
		e := &guard.Error{Status: http.StatusInternalServerError, Code: "not_saved", Message: err.Error()}
		if errors.Is(err, session.ErrNoTool) {
			e.Status, e.Code = http.StatusNotFound, "unknown_tool"
		}
		guard.WriteError(w, e)
		return
	}
	s.hub.Publish("tools.changed", struct{}{})
	w.WriteHeader(http.StatusNoContent)
}
