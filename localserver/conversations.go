package localserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/store"
)

// storeError maps errors of the store to answers of the API.
func storeError(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound):
		return &guard.Error{Status: http.StatusNotFound, Code: "not_found", Message: err.Error()}
	case errors.Is(err, store.ErrChanged):
		return &guard.Error{Status: http.StatusConflict, Code: "changed_meanwhile", Field: "version", Message: err.Error()}
	case errors.Is(err, store.ErrInvalid):
		return &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Message: err.Error()}
	case errors.Is(err, store.ErrUnavailable):
		return &guard.Error{Status: http.StatusServiceUnavailable, Code: "store_unavailable", Message: err.Error()}
	}
	return err
}

// stored answers with v, or with the error of the store.
func (s *Server) stored(w http.ResponseWriter, code int, v any, err error) {
	if p := s.store.Problem(); p != "" {
		s.problem("store", p)
	}
	if err != nil {
		err = storeError(err)
	}
	answer(w, code, v, err)
}

// number reads a query parameter; what is no number counts as 0.
func number(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	return n
}

// getConversations serves GET /api/conversations.
func (s *Server) getConversations(w http.ResponseWriter, r *http.Request) {
	list, next, err := s.store.Conversations(r.Context(), r.URL.Query().Get("before"), int(number(r, "limit")))
	s.stored(w, http.StatusOK, map[string]any{"conversations": list, "next": next}, err)
}

// postConversation serves POST /api/conversations.
func (s *Server) postConversation(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Title string          `json:"title"`
		Meta  json.RawMessage `json:"meta"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	c, err := s.store.CreateConversation(r.Context(), in.Title, in.Meta)
	s.conversationsChanged(c.ID, err)
	s.stored(w, http.StatusCreated, c, err)
}

func (s *Server) conversationsChanged(id string, err error) {
	if err == nil {
		s.hub.Publish("conversations.changed", map[string]string{"id": id})
	}
}

// getConversation serves GET /api/conversations/{id}.
func (s *Server) getConversation(w http.ResponseWriter, r *http.Request) {
	c, err := s.store.Conversation(r.Context(), r.PathValue("id"))
	s.stored(w, http.StatusOK, c, err)
}

// patchConversation serves PATCH /api/conversations/{id}.
func (s *Server) patchConversation(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Title *string         `json:"title"`
		Meta  json.RawMessage `json:"meta"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	c, err := s.store.UpdateConversation(r.Context(), r.PathValue("id"), store.Patch{Title: in.Title, Meta: in.Meta})
	s.conversationsChanged(c.ID, err)
	s.stored(w, http.StatusOK, c, err)
}

// deleteConversation serves DELETE /api/conversations/{id}: its sessions,
// messages, calls, stored results and files go with it.
func (s *Server) deleteConversation(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	// Begun, it is done whole, even when the page that asked is closed.
	ctx := context.WithoutCancel(r.Context())
	_, err := s.store.Conversation(ctx, id)
	if err == nil {
		s.closeSessionsOf(id) // so that its calls have ended before their rows go
		err = s.store.DeleteConversation(ctx, id)
	}
	if err == nil {
		s.closeSessionsOf(id) // one may have been opened meanwhile
		err = errors.Join(s.removeWorkspace(id), s.files.Forget(id))
	}
	s.conversationsChanged(id, err)
	s.stored(w, http.StatusNoContent, nil, err)
}

func (s *Server) closeSessionsOf(conversation string) {
	for _, one := range s.sessions.List() {
		if one.Conversation == conversation {
			_ = s.sessions.CloseSession(one.ID) // somebody else may have closed it
		}
	}
}

// searchConversations serves GET /api/conversations/search.
func (s *Server) searchConversations(w http.ResponseWriter, r *http.Request) {
	hits, err := s.store.Search(r.Context(), r.URL.Query().Get("q"), int(number(r, "limit")))
	s.stored(w, http.StatusOK, map[string]any{"hits": hits}, err)
}
