package localserver

import (
	"encoding/json"
	"net/http"
	"strconv"

	"zeroclaw/localserver/guard"
	"zeroclaw/permissions/audit"
)

// maxAudit bounds one answer of the audit log.
const maxAudit = 1000

// getAudit serves GET /api/audit.
func (s *Server) getAudit(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	f := audit.Filter{Text: q.Get("q"), Tool: q.Get("tool"), Outcome: q.Get("outcome")}
	if v := q.Get("before"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil || n == 0 {
			guard.WriteError(w, &guard.Error{Status: http.StatusBadRequest, Code: "bad_request", Field: "before", Message: `give the "next" of an earlier answer`})
			return
		}
		f.Before = n
	}
	if q.Get("format") == "jsonl" {
		s.exportAudit(w, f)
		return
	}
	f.Limit, _ = strconv.Atoi(q.Get("limit"))
	f.Limit = min(max(f.Limit, 0), maxAudit)
	entries, more, err := s.audit.Query(f)
	if err != nil {
		guard.WriteError(w, &guard.Error{Status: http.StatusInternalServerError, Code: "audit", Message: err.Error()})
		return
	}
	next := ""
	if more {
		next = strconv.FormatUint(entries[len(entries)-1].Seq, 10)
	}
	if entries == nil {
		entries = []audit.Entry{}
	}
	guard.WriteJSON(w, http.StatusOK, map[string]any{"entries": entries, "next": next})
}

// exportAudit writes every entry that the filter selects, a line each.
func (s *Server) exportAudit(w http.ResponseWriter, f audit.Filter) {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.jsonl"`)
	out := json.NewEncoder(w)
	for e, err := range s.audit.Entries(f) {
		if err != nil {
			s.log.Error("export the audit log", "err", err)
			panic(http.ErrAbortHandler) // a cut answer must not look like a whole one
		}
		if out.Encode(e) != nil {
			return
		}
	}
}
