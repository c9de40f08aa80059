package localserver

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zeroclaw/localserver/session"
	"zeroclaw/permissions/audit"
	"zeroclaw/tools"
)

// edit makes an edit that needs no question and returns its undo id.
func (r *rig) edit(s session.View, path, content string) string {
	r.t.Helper()
	o := r.outcome(s.ID, r.call(s.ID, "edit_file", map[string]any{"path": path, "mode": "write", "content": content}))
	var edit struct {
		UndoID string `json:"undo_id"`
	}
	if err := json.Unmarshal(o.Structured, &edit); err != nil || o.Status != tools.OK || edit.UndoID == "" {
		r.t.Fatalf("the edit of %s ended %s %s with %s", path, o.Status, o.Reason, o.Structured)
	}
	return edit.UndoID
}

func (r *rig) audited(query string) []audit.Entry {
	r.t.Helper()
	return do[struct{ Entries []audit.Entry }](r, "GET", "/api/audit?"+query, nil).Entries
}

// TestUndoInTheWorkspace takes back edits in a session's own folder: while the
// session is open, when it has ended, and when another folder is the root.
func TestUndoInTheWorkspace(t *testing.T) {
	for name, between := range map[string]func(r *rig, s session.View){
		"session open":  func(*rig, session.View) {},
		"session ended": func(r *rig, s session.View) { r.request("DELETE", "/api/sessions/"+s.ID, nil) },
		"other root": func(r *rig, s session.View) {
			r.write("other/x", "x")
			do[map[string]any](r, "PUT", "/api/root", map[string]any{"path": filepath.Join(r.home, "other")})
			r.request("DELETE", "/api/sessions/"+s.ID, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			c, s := r.chat()
			path := filepath.Join(s.Workspace, "outputs", "a.txt")
			if !strings.Contains(path, c) {
				t.Fatalf("the workspace is %s", s.Workspace)
			}
			r.edit(s, path, "old\n")
			undo := r.edit(s, path, "new\n")
			between(r, s)
			if status, body := r.request("POST", "/api/undo/"+undo, map[string]any{}); status != http.StatusOK {
				t.Fatalf("undo answers %d %s", status, body)
			}
			if text, err := os.ReadFile(path); string(text) != "old\n" {
				t.Errorf("the file holds %q, %v", text, err)
			}
		})
	}
}

// TestUndoIsAudited writes one line for each press of Undo, with how it ended,
// and answers each kind of failure with a code of its own.
func TestUndoIsAudited(t *testing.T) {
	r := newRig(t)
	r.setRules("RW:./**")
	s := r.session()
	undo := r.edit(s, "README.md", "new\n")
	r.write("work/README.md", "somebody else's\n")
	never := "0123456789a-0123456789abcdef"
	for _, tt := range []struct {
		id      string
		prepare func()
		status  int
		code    string
		outcome string
	}{
		{never, func() {}, 404, "cannot_undo", "error"},
		{undo, func() {}, 409, "changed_since", "error"},
		{undo, func() {
			r.write("work/README.md", "new\n")
			p := do[permissionsView](r, "GET", "/api/permissions", nil)
			p.Tools["edit_file"] = toolSetting{Mode: "deny", Enabled: true}
			do[permissionsView](r, "PUT", "/api/permissions", p)
		}, 403, "denied", "denied"},
		{undo, func() {
			p := do[permissionsView](r, "GET", "/api/permissions", nil)
			p.Tools["edit_file"] = toolSetting{Mode: "ask", Enabled: true}
			do[permissionsView](r, "PUT", "/api/permissions", p)
		}, 200, `"restored":true`, "ok"},
	} {
		tt.prepare()
		before := len(r.audited("tool=undo"))
		status, body := r.request("POST", "/api/undo/"+tt.id, map[string]any{})
		if status != tt.status || !strings.Contains(body, tt.code) {
			t.Errorf("undo of %s answers %d %s, want %d with %s", tt.id, status, body, tt.status, tt.code)
		}
		lines := r.audited("tool=undo")
		if len(lines) != before+1 {
			t.Fatalf("%d lines were written, want 1", len(lines)-before)
		}
		e := lines[0]
		if e.Outcome != tt.outcome || e.Client == "" || e.AnsweredBy != e.Client || !strings.Contains(string(e.Arguments), tt.id) || e.Time.IsZero() {
			t.Errorf("the line is %+v, want it to end %s", e, tt.outcome)
		}
		if tt.id == undo && (e.Session != s.ID || !strings.Contains(string(e.Arguments), "README.md")) {
			t.Errorf("the line is %+v, want the session and the file in it", e)
		}
	}
}

// TestUndoIsRemembered shows an edit that was taken back as such, in its
// session and in its conversation.
func TestUndoIsRemembered(t *testing.T) {
	r := newRig(t)
	c, s := r.chat()
	path := filepath.Join(s.Workspace, "outputs", "a.txt")
	r.edit(s, path, "old\n")
	undo := r.edit(s, path, "new\n")
	undone := func(where string) (got []bool) {
		for _, one := range do[struct{ Calls []tools.Outcome }](r, "GET", where, nil).Calls {
			got = append(got, one.Undone)
		}
		return got
	}
	do[map[string]any](r, "POST", "/api/undo/"+undo, map[string]any{})
	for _, where := range []string{"/api/sessions/" + s.ID + "/calls", "/api/conversations/" + c + "/calls"} {
		if got := undone(where); !slices.Equal(got, []bool{false, true}) {
			t.Errorf("%s says undone %v", where, got)
		}
	}
}
