package localserver

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"zeroclaw/localserver/guard"
	"zeroclaw/services"
)

// block makes a file of the state folder impossible to save.
func (r *rig) block(name string) {
	r.t.Helper()
	path := statePath(filepath.Join(r.home, ".zeroclaw"), name)
	if err := os.RemoveAll(path); err != nil {
		r.t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
		r.t.Fatal(err)
	}
}

// TestUnsavedIsNoConflict: an option that is wrong names itself, and a disk that
// does not take the settings is no fault of the request.
func TestUnsavedIsNoConflict(t *testing.T) {
	r := newRig(t)
	const options = "/api/services/dummy_mcp/options"
	if status, body := r.request("PUT", options, map[string]any{"options": map[string]any{"nope": true}}); status != http.StatusBadRequest || !strings.Contains(body, `"field":"options.nope"`) {
		t.Errorf("an unknown option = %d %s", status, body)
	}
	r.block("service-options.json")
	if status, body := r.request("PUT", options, map[string]any{"autostart": true}); status != http.StatusInternalServerError || !strings.Contains(body, "not_saved") {
		t.Errorf("settings that cannot be saved = %d %s", status, body)
	}
	if status, body := r.request("POST", "/api/tools/nope/accept", map[string]any{}); status != http.StatusNotFound || !strings.Contains(body, "unknown_tool") {
		t.Errorf("accepting an unknown tool = %d %s", status, body)
	}
	var e *guard.Error
	if err := serviceError(services.ErrUnknown); !errors.As(err, &e) || e.Status != http.StatusNotFound {
		t.Errorf("an unknown service = %v", err)
	}
}

// TestSavedPermissionsAreTold: the file is saved, so every page hears of it,
// also when what was remembered cannot be taken back.
func TestSavedPermissionsAreTold(t *testing.T) {
	r := newRig(t)
	s := r.session()
	id := r.call(s.ID, "execute_command", map[string]any{"command": "go version"})
	r.answer(r.question(id), map[string]any{"decision": "always"})
	r.outcome(s.ID, id)
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	if len(p.Grants) != 1 {
		t.Fatalf("remembered are %+v", p.Grants)
	}
	r.block("decisions.json")
	events := r.listen()
	p.Tools["execute_command"] = toolSetting{"deny", true}
	if status, body := r.request("PUT", "/api/permissions", p); status != http.StatusInternalServerError || !strings.Contains(body, "not_saved") {
		t.Errorf("saving answers %d %s", status, body)
	}
	r.next(events, "permissions.changed")
	if now := do[permissionsView](r, "GET", "/api/permissions", nil); now.Tools["execute_command"].Mode != "deny" {
		t.Errorf("the tool is set to %q", now.Tools["execute_command"].Mode)
	}
}
