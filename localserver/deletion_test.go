package localserver

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/localserver/session"
	"zeroclaw/localserver/store"
	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// allowAll lets commands run without a question.
func (r *rig) allowAll() {
	r.t.Helper()
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Policy = permissions.PolicyAllowAll
	do[permissionsView](r, "PUT", "/api/permissions", p)
}

// chat starts a conversation and a session of it.
func (r *rig) chat() (conversation string, s session.View) {
	r.t.Helper()
	c := do[store.Conversation](r, "POST", "/api/conversations", map[string]any{"title": "x"})
	return c.ID, do[session.View](r, "POST", "/api/sessions", map[string]any{"conversation": c.ID})
}

// undoHolds reports whether a file of what is kept for undo holds the text.
func (r *rig) undoHolds(text string) (found bool) {
	r.t.Helper()
	_ = filepath.WalkDir(filepath.Join(r.home, ".zeroclaw", "objects", "undo"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			found = found || err == nil && strings.Contains(string(data), text)
		}
		return nil
	})
	return found
}

// TestDeletedConversationLeavesNothing deletes one with a stored result, an
// attachment and a call that is under way.
func TestDeletedConversationLeavesNothing(t *testing.T) {
	r := newRig(t)
	r.setRules("R:./**")
	r.allowAll()
	c, s := r.chat()
	r.write("work/big.txt", strings.Repeat("private line\n", 10_000))
	o := r.outcome(s.ID, r.call(s.ID, "read_file", map[string]any{"path": "big.txt", "max_lines": 10_000}))
	if o.ResultID == "" {
		t.Fatalf("nothing was stored: %s %s", o.Status, o.Reason)
	}
	if status, body := r.request("GET", "/api/results/"+o.ResultID, nil); status != http.StatusOK || !strings.Contains(body, "private line") {
		t.Fatalf("before: %d %.100s", status, body)
	}
	r.write("work/edited.txt", "words from before the edit")
	if o := r.outcome(s.ID, r.call(s.ID, "edit_file", map[string]any{"path": "edited.txt", "mode": "write", "content": "new"})); o.Status != tools.OK || !r.undoHolds("words from before") {
		t.Fatalf("an edit keeps nothing to undo it with: %+v", o)
	}
	if status, body := r.request("POST", "/api/conversations/"+c+"/files?name=a.txt", "attached", "Content-Type: text/plain"); status != http.StatusCreated {
		t.Fatalf("attaching answers %d %s", status, body)
	}
	r.call(s.ID, "execute_command", map[string]any{"command": "echo private words; touch running; sleep 300"})
	eventually(r, func() (bool, bool) { _, err := os.Stat(filepath.Join(r.root, "running")); return false, err == nil })

	if status, body := r.request("DELETE", "/api/conversations/"+c, nil); status != http.StatusNoContent {
		t.Fatalf("deleting answers %d %s", status, body)
	}
	if status, body := r.request("GET", "/api/results/"+o.ResultID, nil); status != http.StatusNotFound {
		t.Errorf("the stored result is still there: %d %.100s", status, body)
	}
	if status, _ := r.request("GET", "/api/sessions/"+s.ID, nil); status != http.StatusNotFound {
		t.Errorf("its session answers %d", status)
	}
	if calls, err := r.server.store.Calls(t.Context(), c, 0); err != nil || len(calls) != 0 {
		t.Errorf("calls are left: %+v, %v", calls, err)
	}
	if _, err := os.Stat(s.Workspace); err == nil {
		t.Error("its folder is left")
	}
	if r.undoHolds("words from before") {
		t.Error("what an edit kept is left")
	}
	entries, err := os.ReadDir(filepath.Join(r.home, ".zeroclaw", "objects"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != "undo" {
			t.Errorf("objects still holds %s", e.Name())
		}
	}
	if status, _ := r.request("DELETE", "/api/conversations/"+c, nil); status != http.StatusNotFound {
		t.Errorf("deleting it again answers %d, want 404", status)
	}
}
