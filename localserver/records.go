package localserver

import (
	"context"
	"net/http"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/audit"
	"zeroclaw/tools"
)

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

// storeChange records whether a conversation's call waits, so that a crash
// leaves no doubt whether it ran.
func (s *Server) storeChange(c tools.Call, o tools.Outcome) {
	if c.Conversation != "" {
		s.storeFailed(s.store.CallChanged(context.Background(), c, o))
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

// callEnded writes the audit line of a call and stores its end.
func (s *Server) callEnded(c tools.Call, o tools.Outcome, j tools.Judged, answer approval.Resolution) {
	e := auditEntry(c, o)
	e.Verdict, e.Row, e.Rule = string(j.Verdict.Decision), j.Verdict.Row, j.Verdict.Rule
	if answer.Question.ID != "" {
		e.AnsweredBy, e.Answer = answer.Answer.By, string(answer.Answer.Decision)
		if answer.Outcome != approval.Answered {
			e.Answer = string(answer.Outcome)
		}
	}
	if j.Verdict.Decision == permissions.Allow && answer.Question.ID == "" && o.Status == tools.OK {
		s.auditFailed(s.audit.Note(e))
	} else {
		s.writeAudit(e)
	}
	s.storeEnd(c, o)
	if o.Size() > bigContent {
		s.spare.stir()
	}
}

// bigContent is the size of a result, in bytes, that leaves memory behind which
// is worth giving back.
const bigContent = 1 << 20

// callInterrupted writes the audit line of a call that a crash cut off.
func (s *Server) callInterrupted(c tools.Call, o tools.Outcome) {
	s.writeAudit(auditEntry(c, o))
}

func auditEntry(c tools.Call, o tools.Outcome) audit.Entry {
	return audit.Entry{
		Time: o.Started, Session: c.Session, Agent: c.Agent, Client: c.Client, App: c.App, Call: c.ID, Tool: c.Tool, Arguments: c.Arguments,
		Row: o.Row, Rule: o.Rule, Reason: o.Reason, Outcome: string(o.Status), DurationMS: o.DurationMS,
		Sizes: map[string]int64{"arguments": int64(len(c.Arguments)), "result": int64(max(len(o.Whole), len(o.ModelText)))},
	}
}

// writeAudit shows that the log is not being written; what it tells of has
// happened all the same.
func (s *Server) writeAudit(e audit.Entry) { s.auditFailed(s.audit.Write(e)) }

func (s *Server) auditFailed(err error) {
	if err != nil {
		s.log.Error("audit", "err", err)
		s.problem("audit", err.Error())
	}
}
