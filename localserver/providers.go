package localserver

import (
	"net/http"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/relay"
)

// getLocalProviders serves GET /api/providers/local.
func (s *Server) getLocalProviders(w http.ResponseWriter, r *http.Request) {
	found := relay.FindLocal(r.Context(), nil, 0)
	if found == nil {
		found = []relay.Found{}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"found": found})
}

// postProviderTest serves POST /api/providers/{name}/test.
func (s *Server) postProviderTest(w http.ResponseWriter, r *http.Request) {
	var none struct{}
	if err := guard.Decode(r, &none); err != nil {
		guard.WriteError(w, err)
		return
	}
	p, ok := s.provider(r.PathValue("name"))
	if !ok {
		guard.WriteError(w, &guard.Error{Status: http.StatusNotFound, Code: "unknown_provider", Message: "there is no usable provider of that name; Settings, Providers says what it lacks"})
		return
	}
	guard.WriteJSON(w, http.StatusOK, s.relay.Test(r.Context(), p))
}
