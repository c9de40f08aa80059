package localserver

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"zeroclaw/localserver/session"
	"zeroclaw/permissions"
	"zeroclaw/tools"
)

// TestMainJob is the thin path through every layer: a question, its answer,
// the result, and then a rule that makes the question go away.
func TestMainJob(t *testing.T) {
	r := newRig(t)
	events := r.listen()
	s := r.session()
	id := r.call(s.ID, "read_file", map[string]any{"path": "README.md"})
	q := r.question(id)
	if q.Reason == "" || len(q.Resolved) != 1 || q.Resolved[0].Path != filepath.Join(r.root, "README.md") || q.Resolved[0].Access != "R" {
		t.Errorf("the question is %+v", q)
	}
	r.answer(q, map[string]any{"decision": "once"})
	o := r.outcome(s.ID, id)
	if o.Status != tools.OK || o.By != "person" || !strings.Contains(o.ModelText, "second line") {
		t.Errorf("ended %+v", o)
	}
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Directories = []string{"R:./**"}
	if p = do[permissionsView](r, "PUT", "/api/permissions", p); len(p.Rules) != 1 || p.Rules[0].Status != permissions.RuleActive {
		t.Fatalf("the rule was saved as %+v", p.Rules)
	}
	o = r.outcome(s.ID, r.call(s.ID, "read_file", map[string]any{"path": "README.md"}))
	if o.Status != tools.OK || o.By != "rule" || o.Rule != "R:./**" {
		t.Errorf("with a rule it ended %+v", o)
	}
	for _, want := range []string{"hello", "session.opened", "call.started", "question.asked", "question.resolved", "call.finished", "permissions.changed"} {
		for found := false; !found; {
			select {
			case e, open := <-events:
				if !open {
					t.Fatalf("the stream ended before %s", want)
				}
				found = e[0] == want
			case <-time.After(5 * time.Second):
				t.Fatalf("there was no event %s", want)
			}
		}
	}
}

func TestCommandAsksAndSaysWhy(t *testing.T) {
	r := newRig(t)
	s := r.session()
	id := r.call(s.ID, "execute_command", map[string]any{"command": "ls | wc -l"})
	q := r.question(id)
	if q.Command == nil || q.Command.Class != permissions.Ambiguous || len(q.Command.Marks) == 0 || len(q.Choices) != 3 {
		t.Errorf("the question is %+v with %+v", q, q.Command)
	}
	r.answer(q, map[string]any{"decision": "deny", "reason": "not now"})
	o := r.outcome(s.ID, id)
	if o.Status != tools.Denied || !strings.Contains(o.Reason, "not now") {
		t.Errorf("ended %+v", o)
	}
	id = r.call(s.ID, "execute_command", map[string]any{"command": "ls | wc -l"})
	r.answer(r.question(id), map[string]any{"decision": "once"})
	var got struct {
		Stdout   string `json:"stdout"`
		ExitCode int    `json:"exit_code"`
	}
	o = r.outcome(s.ID, id)
	if err := json.Unmarshal(o.Structured, &got); err != nil || strings.TrimSpace(got.Stdout) != "1" {
		t.Errorf("ended %+v with %s", o, o.Structured)
	}
}

func TestEditShowsDiffAndUndo(t *testing.T) {
	r := newRig(t)
	s := r.session()
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	p.Directories = []string{"R:./**"}
	do[permissionsView](r, "PUT", "/api/permissions", p)
	id := r.call(s.ID, "edit_file", map[string]any{"path": "README.md", "mode": "replace", "old_text": "second", "new_text": "2nd"})
	q := r.question(id)
	if !strings.Contains(q.Diff, "-second line") || !strings.Contains(q.Diff, "+2nd line") {
		t.Errorf("the question shows the diff %q", q.Diff)
	}
	r.answer(q, map[string]any{"decision": "once"})
	o := r.outcome(s.ID, id)
	var edit struct {
		UndoID string `json:"undo_id"`
		Diff   string `json:"diff"`
	}
	if err := json.Unmarshal(o.Structured, &edit); err != nil || edit.UndoID == "" || edit.Diff == "" {
		t.Fatalf("ended %+v with %s", o, o.Structured)
	}
	do[map[string]any](r, "POST", "/api/undo/"+edit.UndoID, map[string]any{})
	if text, _ := os.ReadFile(filepath.Join(r.root, "README.md")); string(text) != "# Hello\nsecond line\n" {
		t.Errorf("after the undo the file holds %q", text)
	}
	if status, body := r.request("POST", "/api/undo/"+edit.UndoID, map[string]any{}); status < 400 {
		t.Errorf("a second undo answers %d %s", status, body)
	}
}

func TestDroppedConnectionCancels(t *testing.T) {
	r := newRig(t)
	s := r.session()
	q, _ := http.NewRequest("POST", r.server.Address()+"api/sessions/"+s.ID+"/calls", strings.NewReader(`{"tool":"execute_command","arguments":{"command":"sleep 300"},"call_id":"slow"}`))
	q.Header.Set("Authorization", "Bearer "+r.token)
	q.Header.Set("Content-Type", "application/json")
	client := &http.Client{Timeout: 700 * time.Millisecond}
	if a, err := client.Do(q); err == nil {
		a.Body.Close()
		t.Fatal("the call answered before its question was")
	}
	if o := r.outcome(s.ID, "slow"); o.Status != tools.Cancelled {
		t.Errorf("ended %+v", o)
	}
	if n := len(r.server.broker.Open()); n != 0 {
		t.Errorf("%d questions are still open", n)
	}
}

func TestStopKillsTheCommand(t *testing.T) {
	r := newRig(t)
	s := r.session()
	marker := filepath.Join(r.root, "started")
	id := r.call(s.ID, "execute_command", map[string]any{"command": "echo so far; touch started; sleep 300 & sleep 300"})
	r.answer(r.question(id), map[string]any{"decision": "once"})
	eventually(r, func() (bool, bool) { _, err := os.Stat(marker); return false, err == nil })
	start := time.Now()
	if status, body := r.request("DELETE", "/api/sessions/"+s.ID+"/calls/"+id, nil); status != http.StatusNoContent {
		t.Fatalf("cancel answers %d %s", status, body)
	}
	if o := r.outcome(s.ID, id); o.Status != tools.Cancelled || time.Since(start) > 5*time.Second || !strings.Contains(o.ModelText, "so far") {
		t.Errorf("ended %+v after %v", o, time.Since(start))
	}
	if left := do[map[string][]any](r, "GET", "/api/sessions/"+s.ID+"/processes", nil)["processes"]; len(left) != 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// TestRunningCallShowsItsOutput gives a client that comes late what a command
// has printed so far, and how long its question waited.
func TestRunningCallShowsItsOutput(t *testing.T) {
	r := newRig(t)
	s := r.session()
	id := r.call(s.ID, "execute_command", map[string]any{"command": "echo so far; sleep 300"})
	q := r.question(id)
	time.Sleep(20 * time.Millisecond)
	r.answer(q, map[string]any{"decision": "once"})
	live := eventually(r, func() (session.Live, bool) {
		got := do[session.Live](r, "GET", "/api/sessions/"+s.ID+"/calls/"+id, nil)
		return got, len(got.Output) > 0
	})
	if p := live.Output[0]; live.Status != tools.Running || p != (session.Piece{Stream: "stdout", Text: "so far\n"}) || live.OutputEnd != 7 || live.WaitedMS < 20 {
		t.Errorf("the running call is %+v", live)
	}
	r.request("DELETE", "/api/sessions/"+s.ID+"/calls/"+id, nil)
	if r.outcome(s.ID, id); len(do[session.Live](r, "GET", "/api/sessions/"+s.ID+"/calls/"+id, nil).Output) != 0 {
		t.Error("the output is still kept after the end")
	}
}

func TestTimeoutKeepsTheOutput(t *testing.T) {
	r := newRig(t)
	s := r.session()
	id := r.call(s.ID, "execute_command", map[string]any{"command": "echo so far; sleep 300", "timeout_seconds": 1})
	r.answer(r.question(id), map[string]any{"decision": "once"})
	if o := r.outcome(s.ID, id); o.Status != tools.TimedOut || !strings.Contains(o.ModelText, "so far") {
		t.Errorf("ended %+v", o)
	}
}

func TestSixQuestionsAtOnce(t *testing.T) {
	r := newRig(t)
	s := r.session()
	var ids []string
	for range 6 {
		ids = append(ids, r.call(s.ID, "read_file", map[string]any{"path": "README.md"}))
	}
	quickest := time.Hour // a busy machine may delay one, not each
	for _, id := range ids {
		q := r.question(id)
		start := time.Now()
		r.answer(q, map[string]any{"decision": "once"})
		quickest = min(quickest, time.Since(start))
		if o := r.outcome(s.ID, id); o.Status != tools.OK {
			t.Errorf("ended %+v", o)
		}
	}
	if quickest > 100*time.Millisecond {
		t.Errorf("answering took %v at best, want under 100 ms", quickest)
	}
}

// TestRefusals sends what must never run. Each answer names what is wrong.
func TestRefusals(t *testing.T) {
	r := newRig(t)
	s := r.session()
	calls := "/api/sessions/" + s.ID + "/calls"
	tests := []struct {
		name, path, body string
		status           int
		want             string // in the answer
	}{
		{"bad JSON", calls, `{"tool":`, 400, "bad_"},
		{"duplicate key", calls, `{"tool":"list_directory","tool":"execute_command","arguments":{"command":"touch x"}}`, 400, "tool"},
		{"case variant", calls, `{"tool":"list_directory","Tool":"execute_command","arguments":{}}`, 400, "Tool"},
		{"duplicate key inside the arguments", calls, `{"tool":"read_file","arguments":{"path":"README.md","path":"/etc/passwd"}}`, 400, "path"},
		{"unknown field", calls, `{"tool":"read_file","arguments":{},"approved":true}`, 400, "approved"},
		{"no tool", calls, `{"arguments":{}}`, 400, "tool"},
		{"unknown session", "/api/sessions/nonesuch/calls", `{"tool":"read_file","arguments":{}}`, 404, "unknown_session"},
		{"oversized", calls, `{"tool":"read_file","arguments":{"path":"` + strings.Repeat("a", 5<<20) + `"}}`, 413, "too_large"},
		{"unknown tool", calls, `{"tool":"format_disk","arguments":{}}`, 200, `"unknown_tool"`},
		{"unknown argument", calls, `{"tool":"read_file","arguments":{"path":"README.md","max_depth":3}}`, 200, `unknown argument \"max_depth\"`},
		{"wrong type", calls, `{"tool":"read_file","arguments":{"path":7}}`, 200, `argument \"path\"`},
		{"arguments are a list", calls, `{"tool":"read_file","arguments":["README.md"]}`, 200, "object"},
		{"NUL in a path", calls, `{"tool":"read_file","arguments":{"path":"a\u0000/../../etc/passwd"}}`, 200, "NUL"},
		{"10,000 levels", calls, `{"tool":"read_file","arguments":{"path":"` + strings.Repeat("a/", 10000) + `"}}`, 200, "4096"},
		{"missing cwd", calls, `{"tool":"execute_command","arguments":{"command":"ls","cwd":"no/such"}}`, 200, "not an existing folder"},
		{"own state", calls, `{"tool":"read_file","arguments":{"path":"~/.zeroclaw/run/server.json"}}`, 200, `"denied"`},
		{"own state in a command", calls, `{"tool":"execute_command","arguments":{"command":"cat ~/.zeroclaw/run/server.json | wc"}}`, 200, `"denied"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := r.request("POST", tt.path, tt.body)
			if status != tt.status || !strings.Contains(body, tt.want) || strings.Contains(body, "root:") {
				t.Errorf("answers %d %.300s, want %d with %q", status, body, tt.status, tt.want)
			}
		})
	}
	if n := len(r.server.broker.Open()); n != 0 {
		t.Errorf("%d questions were asked", n)
	}
}

// TestApprovedCallCannotBeChanged is case H086: what runs is what was shown.
func TestApprovedCallCannotBeChanged(t *testing.T) {
	r := newRig(t)
	s := r.session()
	id := r.call(s.ID, "execute_command", map[string]any{"command": "ls " + r.root + " | cat"})
	q := r.question(id)
	status, body := r.request("POST", "/api/approvals/"+q.ID, map[string]any{"decision": "once", "arguments": map[string]any{"command": "touch pwned"}})
	if status != http.StatusBadRequest {
		t.Errorf("an answer with arguments gives %d %s", status, body)
	}
	r.answer(q, map[string]any{"decision": "once"})
	if o := r.outcome(s.ID, id); !strings.Contains(o.ModelText, "README.md") {
		t.Errorf("ended %+v", o)
	}
	if status, _ := r.request("POST", "/api/approvals/"+q.ID, map[string]any{"decision": "once"}); status != http.StatusConflict {
		t.Errorf("a second answer gives %d, want 409", status)
	}
}

// TestUnansweredIsDenied is case H087.
func TestUnansweredIsDenied(t *testing.T) {
	r := newRig(t)
	do[map[string]any](r, "PUT", "/api/config/prop?path=server.approval_timeout_secs", map[string]any{"value": 5})
	r.listen() // somebody is there, and silent
	s := r.session()
	o := r.outcome(s.ID, r.call(s.ID, "execute_command", map[string]any{"command": "touch pwned"}))
	if o.Status != tools.Denied || o.Key != "nobody_answered" {
		t.Errorf("ended %+v", o)
	}
	if _, err := os.Stat(filepath.Join(r.root, "pwned")); err == nil {
		t.Error("the command ran")
	}
}

func TestRememberedAnswers(t *testing.T) {
	r := newRig(t)
	s := r.session()
	args := map[string]any{"command": "go version"}
	id := r.call(s.ID, "execute_command", args)
	r.answer(r.question(id), map[string]any{"decision": "always"})
	r.outcome(s.ID, id)
	if o := r.outcome(s.ID, r.call(s.ID, "execute_command", args)); o.By != "remembered" {
		t.Errorf("the same command again ended %+v", o)
	}
	id = r.call(s.ID, "execute_command", map[string]any{"command": "go version -m"})
	r.answer(r.question(id), map[string]any{"decision": "deny"})

	id = r.call(s.ID, "read_file", map[string]any{"path": "README.md"})
	q := r.question(id)
	r.answer(q, map[string]any{"decision": "always", "rule": q.Proposed[0]})
	if o := r.outcome(s.ID, id); o.Status != tools.OK {
		t.Errorf("ended %+v", o)
	}
	p := do[permissionsView](r, "GET", "/api/permissions", nil)
	if len(p.Grants) != 1 || len(p.Directories) != 1 || p.Directories[0] != q.Proposed[0] {
		t.Fatalf("remembered are %+v and the rules %v", p.Grants, p.Directories)
	}
	if status, _ := r.request("DELETE", "/api/permissions/grants/"+p.Grants[0].ID, nil); status != http.StatusNoContent {
		t.Errorf("revoking answers %d", status)
	}
	id = r.call(s.ID, "execute_command", args)
	r.answer(r.question(id), map[string]any{"decision": "deny"})
	r.outcome(s.ID, id)
}

// TestConsentIsForWhatWasThere changes a file in place while the question
// about an edit of it waits: the diff that was shown is no longer true.
func TestConsentIsForWhatWasThere(t *testing.T) {
	r := newRig(t)
	s := r.session()
	id := r.call(s.ID, "edit_file", map[string]any{"path": "README.md", "mode": "write", "content": "mine"})
	q := r.question(id)
	r.write("work/README.md", "somebody else's new text\n")
	r.answer(q, map[string]any{"decision": "once"})
	if o := r.outcome(s.ID, id); o.Status != tools.Denied || o.Key != "changed_meanwhile" {
		t.Errorf("ended %+v", o)
	}
	if text, _ := os.ReadFile(filepath.Join(r.root, "README.md")); string(text) != "somebody else's new text\n" {
		t.Errorf("the file holds %q", text)
	}
}
