package localserver

import (
	"encoding/json"
	"net/http"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/store"
)

// getMessages serves GET /api/conversations/{id}/messages.
func (s *Server) getMessages(w http.ResponseWriter, r *http.Request) {
	page, err := s.store.Messages(r.Context(), r.PathValue("id"), number(r, "before"), int(number(r, "limit")))
	s.stored(w, http.StatusOK, page, err)
}

// postMessages serves POST /api/conversations/{id}/messages.
func (s *Server) postMessages(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Version  int64 `json:"version"`
		After    int64 `json:"after"`
		Messages []struct {
			ID   string          `json:"id"`
			Role string          `json:"role"`
			Data json.RawMessage `json:"data"`
		} `json:"messages"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	messages := make([]store.Message, len(in.Messages))
	for i, m := range in.Messages {
		messages[i] = store.Message{ID: m.ID, Role: m.Role, Data: m.Data}
	}
	id := r.PathValue("id")
	version, seqs, err := s.store.Append(r.Context(), id, in.Version, in.After, messages)
	s.conversationsChanged(id, err)
	s.stored(w, http.StatusOK, map[string]any{"version": version, "seq": seqs}, err)
}
