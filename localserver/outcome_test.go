package localserver

import (
	"encoding/json"
	"net/http/httptest"
	"reflect"
	"testing"

	"zeroclaw/localserver/session"
	"zeroclaw/tools"
)

// A call is the same to a client, whether its content was copied or not.
func TestWriteOutcome(t *testing.T) {
	for _, o := range []tools.Outcome{
		{CallID: "c"},
		{CallID: "c", Tool: "t", Status: tools.OK, ModelText: "<x>", Structured: json.RawMessage(`{"a":[1, 2]}`)},
		{CallID: "c", Content: []json.RawMessage{json.RawMessage(`{"type":"text","text":"\u00e9 <b>"}`), json.RawMessage(` {"type" : "x"} `)}, Reason: "why"},
	} {
		call := session.Live{Outcome: o, OutputEnd: 3, Output: []session.Piece{{Stream: "stdout", Text: "abc"}}}
		w := httptest.NewRecorder()
		writeOutcome(w, call, nil)
		want, err := json.Marshal(call)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil {
			t.Fatalf("%v: %s", err, w.Body)
		}
		if json.Unmarshal(want, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("answered %s, want %s", w.Body, want)
		}
	}
}
