package localserver

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"zeroclaw/localserver/guard"
	"zeroclaw/permissions/approval"
)

// getApprovals serves GET /api/approvals. Who asks is there to answer.
func (s *Server) getApprovals(w http.ResponseWriter, _ *http.Request) {
	s.broker.Seen()
	guard.WriteJSON(w, http.StatusOK, map[string]any{"approvals": encoded(s.log, s.broker.Open())})
}

// encoded is every question as JSON. One that cannot be encoded must not keep
// the others from a person.
func encoded(log *slog.Logger, open []approval.Question) []json.RawMessage {
	out := make([]json.RawMessage, 0, len(open))
	for _, q := range open {
		text, err := json.Marshal(q)
		if err != nil {
			log.Error("a question was left out of the list", "id", q.ID, "tool", q.Tool, "server", q.Server, "err", err)
			continue
		}
		out = append(out, text)
	}
	return out
}

// postApproval serves POST /api/approvals/{id}.
func (s *Server) postApproval(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Decision approval.Decision `json:"decision"`
		Reason   string            `json:"reason"`
		Rule     string            `json:"rule"`
		Content  json.RawMessage   `json:"content"`
	}
	if err := guard.Decode(r, &in); err != nil {
		guard.WriteError(w, err)
		return
	}
	if len(in.Reason) > 2000 {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "reason", Message: "use at most 2000 characters"})
		return
	}
	if in.Decision == approval.Always && in.Rule != "" {
		in.Decision = approval.Rule
	}
	q := s.question(r.PathValue("id"))
	if err := fromElsewhere(r, in.Decision, q); err != nil {
		guard.WriteError(w, err)
		return
	}
	a := approval.Answer{Decision: in.Decision, Reason: in.Reason, Rule: in.Rule, Content: in.Content, By: string(guard.From(r).Kind)}
	if wrong := checkContent(q, a); wrong != "" {
		guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "content", Message: wrong})
		return
	}
	if err := s.broker.Resolve(r.PathValue("id"), a); err != nil {
		guard.WriteError(w, approvalError(err))
		return
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"id": r.PathValue("id"), "decision": in.Decision})
}

// question is the open one of an id, the zero one where there is none.
func (s *Server) question(id string) approval.Question {
	for _, q := range s.broker.Open() {
		if q.ID == id {
			return q
		}
	}
	return approval.Question{}
}

// fromElsewhere refuses what a page on another origin may not decide: shell
// commands, and anything for good.
func fromElsewhere(r *http.Request, d approval.Decision, q approval.Question) error {
	if guard.From(r).Loopback() || !d.Allows() || d != approval.Always && d != approval.Rule && q.Command == nil {
		return nil
	}
	return &guard.Error{Status: http.StatusForbidden, Code: "loopback_only", Field: "decision",
		Message: "commands, and answers that count for good, are allowed " + openOwnPage}
}

func approvalError(err error) error {
	e := &guard.Error{Message: err.Error()}
	switch {
	case errors.Is(err, approval.ErrUnknown):
		e.Status, e.Code = http.StatusNotFound, "unknown_question"
	case errors.Is(err, approval.ErrAnswered):
		e.Status, e.Code, e.Message = http.StatusConflict, "already_answered", "somebody answered this question first"
	case errors.Is(err, approval.ErrExpired):
		e.Status, e.Code, e.Message = http.StatusGone, "expired", "the question is no longer open: its time was up or its call has ended"
	case errors.Is(err, approval.ErrChoice):
		e.Status, e.Code, e.Field, e.Message = http.StatusBadRequest, "not_offered", "decision", "this question does not offer that answer"
	default:
		e.Status, e.Code = http.StatusInternalServerError, "not_remembered"
	}
	return e
}

// questionEnded tells every tab how a question ended.
func (s *Server) questionEnded(r approval.Resolution) {
	s.mcp.Resolved(r.Question.CallID, r.Question.ID)
	s.hub.Publish("question.resolved", map[string]any{
		"id": r.Question.ID, "call_id": r.Question.CallID, "session": r.Question.Session, "conversation": r.Question.Conversation,
		"decision": r.Answer.Decision, "by": r.Answer.By, "outcome": r.Outcome, "reason": r.Answer.Reason,
	})
}
