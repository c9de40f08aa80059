package localserver

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"zeroclaw/localserver/guard"
	"zeroclaw/permissions/approval"
	"zeroclaw/permissions/audit"
	"zeroclaw/tools"
)

// maxAudit bounds one answer of the audit log.
const maxAudit = 1000

// getAudit serves GET /api/audit.
func (s *Server) getAudit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f := audit.Filter{Text: q.Get("q"), Tool: q.Get("tool"), Outcome: q.Get("outcome")}
	if v := q.Get("before"); v != "" {
		t, err := time.Parse(time.RFC3339Nano, v)
		if err != nil {
			guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "before", Message: "give a time like 2026-01-31T12:00:00Z"})
			return
		}
		f.Before = t
	}
	export := q.Get("format") == "jsonl"
	f.Limit, _ = strconv.Atoi(q.Get("limit"))
	switch {
	case export:
		f.Limit = 1 << 20
	case f.Limit <= 0:
		f.Limit = 100
	case f.Limit > maxAudit:
		f.Limit = maxAudit
	}
	entries, more, err := s.audit.Query(f)
	if err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusInternalServerError, Code: "audit", Message: err.Error()})
		return
	}
	if export {
		w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
		w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
		out := json.NewEncoder(w)
		for _, e := range entries {
			if out.Encode(e) != nil {
				return
			}
		}
		return
	}
	next := ""
	if more {
		next = entries[len(entries)-1].Time.Format(time.RFC3339Nano)
	}
	if entries == nil {
		entries = []audit.Entry{}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"entries": entries, "next": next})
}

// callEnded writes the audit line of a call and stores its end.
func (s *Server) callEnded(c tools.Call, o tools.Outcome, j tools.Judged, answer approval.Resolution) {
	e := audit.Entry{
		Time: o.Started, Session: c.Session, Agent: c.Agent, Client: c.Client, Call: c.ID, Tool: c.Tool, Arguments: c.Arguments,
		Verdict: string(j.Verdict.Decision), Row: j.Verdict.Row, Rule: j.Verdict.Rule, Reason: o.Reason,
		Outcome: string(o.Status), DurationMS: o.DurationMS, Sizes: map[string]int64{"arguments": int64(len(c.Arguments)), "result": int64(len(o.ModelText))},
	}
	if answer.Question.ID != "" {
		e.AnsweredBy, e.Answer = answer.Answer.By, string(answer.Answer.Decision)
		if answer.Outcome != approval.Answered {
			e.Answer = string(answer.Outcome)
		}
	}
	if err := s.audit.Write(e); err != nil {
		slog.Error("audit", "err", err)
		s.problem("audit", err.Error())
	}
	s.storeEnd(c, o)
}
