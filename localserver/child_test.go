package localserver

import (
	"testing"

	"zeroclaw/localserver/session"
	"zeroclaw/permissions"
)

// TestAlwaysDoesNotTravel opens a child session after the parent's person
// answered "always".
func TestAlwaysDoesNotTravel(t *testing.T) {
	r := newRig(t)
	parent := r.session()
	id := r.call(parent.ID, "read_file", map[string]any{"path": "README.md"})
	r.answer(r.question(id), map[string]any{"decision": "always"})
	r.outcome(parent.ID, id)
	child := do[session.View](r, "POST", "/api/sessions", map[string]any{"parent": parent.ID})
	id = r.call(child.ID, "read_file", map[string]any{"path": "README.md"})
	r.answer(r.question(id), map[string]any{"decision": "session"})
	r.outcome(child.ID, id)
	if o := r.outcome(child.ID, r.call(child.ID, "read_file", map[string]any{"path": "README.md"})); o.By != "remembered" {
		t.Errorf("what was answered in the child itself does not count there: %+v", o)
	}
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Tools["read_file"] = toolSetting{Mode: permissions.ModeDeny, Enabled: true}
	do[permissionsView](r, "PUT", "/api/permissions", p)
	if o := r.outcome(child.ID, r.call(child.ID, "read_file", map[string]any{"path": "README.md"})); o.Key != "tool_denied" {
		t.Errorf("a tool that was denied meanwhile ended %+v", o)
	}
}
