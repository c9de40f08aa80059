package localserver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"zeroclaw/localserver/session"
)

func TestSessionOfNoConversation(t *testing.T) {
	r := newRig(t)
	for _, id := range []string{"nope", "a\nb", "CON", "..", "a/b", "\x00", strings.Repeat("x", 65)} {
		status, body := r.request("POST", "/api/sessions", map[string]any{"conversation": id})
		if status != http.StatusBadRequest || !strings.Contains(body, `"field":"conversation"`) {
			t.Errorf("a session of conversation %q: %d %s, want 400 that names the field", id, status, body)
		}
	}
	_, body := r.request("POST", "/api/sessions", map[string]any{"conversation": "nope"})
	if !strings.Contains(body, `"unknown_conversation"`) || !strings.Contains(body, `\"nope\"`) {
		t.Errorf("the answer does not name it: %s", body)
	}
	c := do[struct{ ID string }](r, "POST", "/api/conversations", map[string]string{"title": "x"})
	if s := do[session.View](r, "POST", "/api/sessions", map[string]string{"conversation": c.ID}); s.Conversation != c.ID {
		t.Errorf("the session belongs to %q, want %q", s.Conversation, c.ID)
	}
}

// TestNoTools: a session that reaches nothing says so with an empty list.
func TestNoTools(t *testing.T) {
	r := newRig(t)
	_, body := r.request("POST", "/api/sessions", map[string]any{"allowed_tools": []string{}})
	if !strings.Contains(body, `"tools":[]`) {
		t.Errorf("the session is %s", body)
	}
	if _, list := r.request("GET", "/api/sessions", nil); strings.Contains(list, `"tools"`) {
		t.Errorf("the list has the tools of each session: %s", list)
	}
}

// TestCallIDs: whatever id is taken can be asked for again, and the others are
// refused before anything runs.
func TestCallIDs(t *testing.T) {
	r := newRig(t)
	s := r.session()
	calls := "/api/sessions/" + s.ID + "/calls"
	for id, ok := range map[string]bool{
		"a": true, "call_1-B": true, strings.Repeat("x", 128): true,
		".": false, "..": false, "a/b": false, `a\b`: false, "\x00": false, "a b": false, "a\n": false, "é": false, "%2e": false,
		"a?b": false, "a#b": false, ";": false, strings.Repeat("x", 129): false,
	} {
		status, body := r.request("POST", calls, map[string]any{"tool": "nonesuch", "arguments": map[string]any{}, "call_id": id}, "Prefer: respond-async")
		if !ok {
			if status != http.StatusBadRequest || !strings.Contains(body, `"field":"call_id"`) {
				t.Errorf("call id %q: %d %s, want 400 that names the field", id, status, body)
			}
			continue
		}
		if status != http.StatusAccepted {
			t.Errorf("call id %q: %d %s, want 202", id, status, body)
		}
		for _, method := range []string{"GET", "DELETE"} {
			if status, body := r.request(method, calls+"/"+url.PathEscape(id), nil); status >= 400 {
				t.Errorf("%s of call %q: %d %s", method, id, status, body)
			}
		}
	}
}
