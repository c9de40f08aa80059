package localserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/store"
	"zeroclaw/tools"
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
	err := s.store.DeleteConversation(r.Context(), id)
	if err == nil {
		for _, one := range s.sessions.List() {
			if one.Conversation == id {
				_ = s.sessions.CloseSession(one.ID) // somebody else may have closed it
			}
		}
		err = s.removeWorkspace(id)
	}
	s.conversationsChanged(id, err)
	s.stored(w, http.StatusNoContent, nil, err)
}

// searchConversations serves GET /api/conversations/search.
func (s *Server) searchConversations(w http.ResponseWriter, r *http.Request) {
	hits, err := s.store.Search(r.Context(), r.URL.Query().Get("q"), int(number(r, "limit")))
	s.stored(w, http.StatusOK, map[string]any{"hits": hits}, err)
}

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

// getConversationCalls serves GET /api/conversations/{id}/calls.
func (s *Server) getConversationCalls(w http.ResponseWriter, r *http.Request) {
	calls, err := s.store.Calls(r.Context(), r.PathValue("id"), int(number(r, "limit")))
	s.stored(w, http.StatusOK, map[string]any{"calls": calls}, err)
}

// storeStart records the start of a conversation's call, before it runs.
func (s *Server) storeStart(c tools.Call, o tools.Outcome) {
	if c.Conversation != "" {
		s.storeFailed(s.store.CallStarted(context.Background(), c, o))
	}
}

func (s *Server) storeEnd(c tools.Call, o tools.Outcome) {
	if c.Conversation != "" {
		s.storeFailed(s.store.CallFinished(context.Background(), c, o))
	}
}

// storeFailed shows that calls are not being recorded; they run all the same.
func (s *Server) storeFailed(err error) {
	if err != nil {
		s.log.Error("record a call", "err", err)
		s.problem("store", err.Error())
	}
}
