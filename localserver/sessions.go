package localserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/session"
	"zeroclaw/localserver/store"
	"zeroclaw/tools"
)

// sessionError maps errors of sessions to answers of the API.
func sessionError(err error) error {
	var agent *session.UnknownAgentError
	switch {
	case errors.Is(err, session.ErrNotFound):
		return &guard.Error{Status: http.StatusNotFound, Code: "unknown_session", Message: err.Error()}
	case errors.Is(err, session.ErrNoCall):
		return &guard.Error{Status: http.StatusNotFound, Code: "unknown_call", Message: err.Error()}
	case errors.Is(err, session.ErrCallID):
		return &guard.Error{Status: http.StatusConflict, Code: "call_id_used", Field: "call_id", Message: err.Error()}
	case errors.Is(err, session.ErrTooMany):
		return &guard.Error{Status: http.StatusTooManyRequests, Code: "too_many_calls", Message: err.Error()}
	case errors.Is(err, session.ErrClosed):
		return &guard.Error{Status: http.StatusGone, Code: "session_ended", Message: err.Error()}
	case errors.As(err, &agent):
		return &guard.Error{Status: http.StatusBadRequest, Code: "unknown_agent", Field: "agent", Message: err.Error()}
	}
	return err
}

// answer writes v, or the error.
func answer(w http.ResponseWriter, code int, v any, err error) {
	if err != nil {
		guard.WriteError(w, sessionError(err))
		return
	}
	if v == nil {
		w.WriteHeader(code)
		return
	}
	guard.WriteJSON(w, code, v)
}

// postSession serves POST /api/sessions.
func (s *Server) postSession(w http.ResponseWriter, r *http.Request) {
	var in session.OpenRequest
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if strings.ContainsAny(in.Conversation, "/\\.\x00") || len(in.Conversation) > 64 {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "conversation", Message: "give the id of a conversation"})
		return
	}
	if in.Conversation != "" {
		// A store that is out of order keeps nobody from working.
		if _, err := s.store.Conversation(r.Context(), in.Conversation); errors.Is(err, store.ErrNotFound) {
			guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "unknown_conversation", Field: "conversation",
				Message: fmt.Sprintf("there is no conversation %q; it may have been deleted", in.Conversation)})
			return
		}
	}
	one, err := s.sessions.Open(in)
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	writeSession(w, http.StatusCreated, one)
}

// writeSession answers with a session and its tools.
func writeSession(w http.ResponseWriter, code int, one *session.Session) {
	view, err := one.ViewJSON()
	if err != nil {
		guard.WriteError(w, err)
		return
	}
	guard.WriteEncoded(w, code, view, []byte("\n"))
}

// getSessions serves GET /api/sessions.
func (s *Server) getSessions(w http.ResponseWriter, _ *http.Request) {
	list := []session.View{}
	for _, one := range s.sessions.List() {
		list = append(list, one.View(false))
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"sessions": list})
}

// in finds the session of a request, or answers that there is none.
func (s *Server) in(w http.ResponseWriter, r *http.Request) (*session.Session, bool) {
	one, err := s.sessions.Get(r.PathValue("id"))
	if err != nil {
		answer(w, 0, nil, err)
		return nil, false
	}
	return one, true
}

// getSession serves GET /api/sessions/{id}.
func (s *Server) getSession(w http.ResponseWriter, r *http.Request) {
	if one, ok := s.in(w, r); ok {
		writeSession(w, http.StatusOK, one)
	}
}

// deleteSession serves DELETE /api/sessions/{id}.
func (s *Server) deleteSession(w http.ResponseWriter, r *http.Request) {
	answer(w, http.StatusNoContent, nil, s.sessions.CloseSession(r.PathValue("id")))
}

// postTurn serves POST /api/sessions/{id}/turns.
func (s *Server) postTurn(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Message string `json:"message"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if one, ok := s.in(w, r); ok {
		guard.WriteJSON(w, http.StatusOK, one.Turn(r.Context(), in.Message))
	}
}

// callID is what a caller may name a call: it becomes part of an address.
var callID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// postCall serves POST /api/sessions/{id}/calls.
func (s *Server) postCall(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		CallID    string          `json:"call_id"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if in.CallID != "" && !callID.MatchString(in.CallID) {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "call_id", Message: "use 1 to 128 letters, digits, _ and -"})
		return
	}
	if in.Tool == "" {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "tool", Message: "name the tool to call"})
		return
	}
	one, ok := s.in(w, r)
	if !ok {
		return
	}
	client := string(guard.From(r).Kind)
	id, err := one.Start(tools.Call{ID: in.CallID, Client: client, Tool: in.Tool, Arguments: in.Arguments})
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	if prefersAsync(r) {
		w.Header().Set("Preference-Applied", "respond-async")
		guard.WriteJSON(w, http.StatusAccepted, map[string]string{"call_id": id})
		return
	}
	out, err := one.Wait(r.Context(), id)
	writeOutcome(w, session.Live{Outcome: out}, err)
}

// prefersAsync reads the Prefer header (RFC 7240).
func prefersAsync(r *http.Request) bool {
	for _, v := range r.Header.Values("Prefer") {
		for one := range strings.SplitSeq(v, ",") {
			if strings.EqualFold(strings.TrimSpace(one), "respond-async") {
				return true
			}
		}
	}
	return false
}

// getCalls serves GET /api/sessions/{id}/calls.
func (s *Server) getCalls(w http.ResponseWriter, r *http.Request) {
	if one, ok := s.in(w, r); ok {
		guard.WriteJSON(w, http.StatusOK, map[string]any{"calls": one.Calls()})
	}
}

// getCall serves GET /api/sessions/{id}/calls/{call}.
func (s *Server) getCall(w http.ResponseWriter, r *http.Request) {
	if one, ok := s.in(w, r); ok {
		out, err := one.Live(r.PathValue("call"))
		writeOutcome(w, out, err)
	}
}

// deleteCall serves DELETE /api/sessions/{id}/calls/{call}.
func (s *Server) deleteCall(w http.ResponseWriter, r *http.Request) {
	if one, ok := s.in(w, r); ok {
		answer(w, http.StatusNoContent, nil, one.Cancel(r.PathValue("call")))
	}
}

// getProcesses serves GET /api/sessions/{id}/processes.
func (s *Server) getProcesses(w http.ResponseWriter, r *http.Request) {
	if one, ok := s.in(w, r); ok {
		guard.WriteJSON(w, http.StatusOK, map[string]any{"processes": s.shell.Processes(one.ID)})
	}
}

// deleteProcess serves DELETE /api/sessions/{id}/processes/{pid}.
func (s *Server) deleteProcess(w http.ResponseWriter, r *http.Request) {
	one, ok := s.in(w, r)
	if !ok {
		return
	}
	pid, err := strconv.Atoi(r.PathValue("pid"))
	if err == nil {
		err = s.shell.StopProcess(one.ID, pid)
	}
	if err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusNotFound, Code: "unknown_process", Message: "this session has no such background process; it may have ended"})
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
