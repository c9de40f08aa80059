package localserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"zeroclaw/permissions/audit"
)

// TestAuditPages pages through calls that overlap: one that waited began
// before and ended after the others.
func TestAuditPages(t *testing.T) {
	r := newRig(t)
	s := r.session()
	slow := r.call(s.ID, "read_file", map[string]any{"path": "README.md"})
	q := r.question(slow)
	want := []string{slow}
	for range 3 {
		id := r.call(s.ID, "nope", map[string]any{})
		r.outcome(s.ID, id)
		want = append(want, id)
		// The line is written right after the outcome can be seen.
		eventually(r, func() (int, bool) { n := len(r.audited("")); return n, n == len(want)-1 })
	}
	r.answer(q, map[string]any{"decision": "deny"})
	r.outcome(s.ID, slow)
	want = append(want[1:], slow)
	eventually(r, func() (int, bool) { n := len(r.audited("")); return n, n == len(want) })

	var got []string
	for next, pages := "", 0; pages < 10; pages++ {
		page := do[struct {
			Entries []audit.Entry `json:"entries"`
			Next    string        `json:"next"`
		}](r, "GET", "/api/audit?limit=1&before="+url.QueryEscape(next), nil)
		for _, e := range page.Entries {
			got = append([]string{e.Call}, got...)
		}
		if next = page.Next; next == "" {
			break
		}
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the pages hold %v, want %v", got, want)
	}
	if n := len(r.audited("outcome=denied")); n != len(want) {
		t.Errorf("%d denied calls, want %d", n, len(want))
	}
	status, body := r.request("GET", "/api/audit?format=jsonl&tool=nope", nil)
	if status != http.StatusOK || strings.Count(body, "\n") != 3 {
		t.Errorf("the export is %d %s", status, body)
	}
	if status, body := r.request("GET", "/api/audit?before=2026-01-31T12:00:00Z", nil); status != http.StatusBadRequest || !strings.Contains(body, `"before"`) {
		t.Errorf("a wrong before answers %d %s", status, body)
	}
}
