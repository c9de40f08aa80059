package localserver

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"zeroclaw/permissions/approval"
	"zeroclaw/services"
)

// TestQuestionOfOneServerHarmsNoOther: what looks like a secret across the
// texts of a question leaves the list and the event valid.
func TestQuestionOfOneServerHarmsNoOther(t *testing.T) {
	r := newRig(t)
	r.server.secrets.Add("hunter2-hunter2")
	events := r.listen()
	ended := make(chan error, 2)
	ask := func(server, params string) {
		go func() {
			_, err := r.server.askPerson(t.Context(), services.Question{Server: server, Method: "elicitation/create", Params: json.RawMessage(params)})
			ended <- err
		}()
		if e := r.next(events, "question.asked"); !strings.Contains(e, `"server":"`+server+`"`) {
			t.Errorf("the question of %s became the event %s", server, e)
		}
	}
	ask("evil", `{"message":"-----BEGIN PRIVATE KEY-----","requestedSchema":{"a":["-----END PRIVATE KEY-----"]}}`)
	ask("good", `{"message":"the key is hunter2\u002dhunter2","requestedSchema":{"type":"object"}}`)
	open := do[struct{ Approvals []approval.Question }](r, "GET", "/api/approvals", nil).Approvals
	if len(open) != 2 || open[0].Server != "evil" || string(open[0].Schema) != `{"a":["-----END PRIVATE KEY-----"]}` ||
		string(open[1].Arguments) != `{"message":"the key is [redacted]","requestedSchema":{"type":"object"}}` {
		t.Errorf("open questions: %+v", open)
	}
	for _, q := range open {
		r.answer(q, map[string]any{"decision": "decline"})
	}
	for range open {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func TestQuestionMustBeAnObject(t *testing.T) {
	r := newRig(t)
	for _, params := range []string{"", " ", "null", "[]", `"{}"`, "1", "{", `{"a":}`, `{"a":1}{`, `{"a":"` + "\n" + `"}`} {
		_, err := r.server.askPerson(t.Context(), services.Question{Server: "s", Method: "elicitation/create", Params: json.RawMessage(params)})
		if err == nil || !strings.Contains(err.Error(), "no valid JSON object") {
			t.Errorf("asking with %q: %v, want a refusal", params, err)
		}
	}
}

func TestListOfQuestionsLeavesOutWhatCannotBeShown(t *testing.T) {
	var logged bytes.Buffer
	got := encoded(slog.New(slog.NewTextHandler(&logged, nil)), []approval.Question{
		{ID: "a"}, {ID: "b", Arguments: json.RawMessage(`{"a":`)}, {ID: "c"},
	})
	if len(got) != 2 || !strings.Contains(string(got[0]), `"id":"a"`) || !strings.Contains(string(got[1]), `"id":"c"`) || !strings.Contains(logged.String(), "id=b") {
		t.Errorf("encoded = %s; logged %s", got, &logged)
	}
	if text, _ := json.Marshal(encoded(slog.Default(), nil)); string(text) != "[]" {
		t.Errorf("no questions are %s, want []", text)
	}
}
