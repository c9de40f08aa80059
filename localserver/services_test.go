package localserver

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"zeroclaw/localserver/session"
	"zeroclaw/services"
	"zeroclaw/tools"
)

func (r *rig) service(id string, want services.State) services.Status {
	r.t.Helper()
	return eventually(r, func() (services.Status, bool) {
		for _, s := range do[struct{ Services []services.Status }](r, "GET", "/api/services", nil).Services {
			if s.ID == id {
				return s, s.State == want
			}
		}
		return services.Status{}, false
	})
}

// TestDummyService starts, lists, calls and stops the bundled service as the
// page does.
func TestDummyService(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, func(c *Config) { c.Self = self })
	before := r.session()
	do[services.Status](r, "POST", "/api/services/dummy_mcp/start", map[string]any{})
	running := r.service("dummy_mcp", services.Running)
	if running.Tools != 6 || running.Pid == 0 {
		t.Errorf("running as %+v", running)
	}
	if o := r.outcome(before.ID, r.call(before.ID, "mcp_dummy_mcp_echo", map[string]any{"message": "hola"})); o.Status != tools.Denied || o.Key != "unknown_tool" {
		t.Errorf("in a session from before, the call ended %+v; a grant is frozen", o)
	}
	s := r.session()
	id := r.call(s.ID, "mcp_dummy_mcp_echo", map[string]any{"message": "hola"})

	r.answer(r.question(id), map[string]any{"decision": "session"})
	if o := r.outcome(s.ID, id); o.Status != tools.OK || !strings.Contains(o.ModelText, "hola") || !strings.Contains(o.ModelText, `server="dummy_mcp"`) {
		t.Errorf("ended %+v", o)
	}
	if o := r.outcome(s.ID, r.call(s.ID, "mcp_dummy_mcp_echo", map[string]any{"message": "otra"})); o.By != "remembered" {
		t.Errorf("a second call ended %+v", o)
	}
	id = r.call(s.ID, "mcp_dummy_mcp_fail", map[string]any{"message": "no"})
	r.answer(r.question(id), map[string]any{"decision": "once"})
	if o := r.outcome(s.ID, id); o.Status != tools.OK || !o.IsError {
		t.Errorf("a tool's own failure ended %+v", o)
	}
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Tools["mcp_dummy_mcp_add"] = toolSetting{Mode: "allow", Enabled: true}
	p.Tools["mcp_dummy_mcp_echo"] = toolSetting{Mode: "ask", Enabled: false}
	do[permissionsView](r, "PUT", "/api/permissions", p)
	if o := r.outcome(s.ID, r.call(s.ID, "mcp_dummy_mcp_add", map[string]any{"a": 2, "b": 40})); o.Status != tools.OK || !strings.Contains(o.ModelText, "42") {
		t.Errorf("an allowed tool ended %+v", o)
	}
	if o := r.outcome(s.ID, r.call(s.ID, "mcp_dummy_mcp_echo", map[string]any{"message": "x"})); o.Status != tools.Denied || o.Key != "tool_off" {
		t.Errorf("a tool that is off ended %+v", o)
	}
	for _, tool := range do[session.Turn](r, "POST", "/api/sessions/"+s.ID+"/turns", map[string]any{"message": "hi"}).Tools {
		if tool.Name == "mcp_dummy_mcp_echo" {
			t.Error("a model is offered a tool that is off")
		}
	}
	id = r.call(s.ID, "mcp_dummy_mcp_slow", map[string]any{"seconds": 1, "steps": 1})
	q := r.question(id)
	do[services.Status](r, "POST", "/api/services/dummy_mcp/stop", map[string]any{})
	r.service("dummy_mcp", services.Stopped)
	r.answer(q, map[string]any{"decision": "once"})
	if o := r.outcome(s.ID, id); o.Status != tools.Denied || o.Key != "server_stopped" || o.Args["server"] != "dummy_mcp" {
		t.Errorf("a call whose server was stopped while its question waited ended %+v", o)
	}
	if o := r.outcome(s.ID, r.call(s.ID, "mcp_dummy_mcp_slow", map[string]any{"seconds": 1, "steps": 1})); o.Key != "server_stopped" || o.Args["server"] != "dummy_mcp" {
		t.Errorf("a call of a stopped server ended %+v", o)
	}
	if p, err := os.FindProcess(running.Pid); err == nil && p.Signal(syscall.Signal(0)) == nil {
		t.Errorf("process %d is still there", running.Pid)
	}
	logs := do[struct{ Lines []services.LogLine }](r, "GET", "/api/services/dummy_mcp/logs", nil)
	if len(logs.Lines) == 0 {
		t.Error("the service has no log")
	}
	if status, body := r.request("POST", "/api/services/nonesuch/start", map[string]any{}); status != http.StatusNotFound {
		t.Errorf("starting an unknown service answers %d %s", status, body)
	}
	if status, body := r.request("POST", "/api/services/dummy_mcp/explode", map[string]any{}); status != http.StatusNotFound {
		t.Errorf("an unknown action answers %d %s", status, body)
	}
}

// TestServiceGone removes the folder of a service: every tab hears of it.
func TestServiceGone(t *testing.T) {
	r := newRig(t)
	r.service("dummy_mcp", services.Stopped)
	events := r.listen()
	if err := os.RemoveAll(filepath.Join(r.home, ".zeroclaw", "services", "dummy_mcp")); err != nil {
		t.Fatal(err)
	}
	eventually(r, func() ([]services.Status, bool) {
		list := do[struct{ Services []services.Status }](r, "GET", "/api/services", nil).Services
		return list, !slices.ContainsFunc(list, func(s services.Status) bool { return s.ID == "dummy_mcp" })
	})
	late := time.After(15 * time.Second)
	for {
		select {
		case e := <-events:
			if e == [2]string{"service.gone", `{"id":"dummy_mcp"}`} {
				return
			}
		case <-late:
			t.Fatal("there was no event service.gone")
		}
	}
}
