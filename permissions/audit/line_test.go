package audit

import (
	"encoding/json"
	"testing"
	"time"
)

// A line is what encoding/json writes.
func TestLinesAreJSON(t *testing.T) {
	odd := "a\"b\\c\n<&>é\u2028\xff"
	for _, e := range []Entry{
		{},
		{Seq: 7, Time: at(3), Session: "s", Agent: "a", Client: "mcp", Call: "c", Tool: "t", Arguments: json.RawMessage(`{"a":[1,"x y"]}`)},
		{Time: time.Date(2026, 1, 2, 3, 4, 5, 678, time.FixedZone("x", 5400)), Arguments: json.RawMessage(`{"a":"b"}`), Row: -3, DurationMS: 1 << 40,
			Sizes: map[string]int64{"result": 5, "arguments": -1, odd: 2}},
		{Session: odd, Agent: odd, Client: odd, App: odd, Call: odd, Tool: odd, Verdict: odd, Rule: odd, Reason: odd, AnsweredBy: odd, Answer: odd,
			Outcome: odd, Arguments: json.RawMessage(`{"a": "<b>"}`), Sizes: map[string]int64{}},
		{App: "n", Verdict: "allow", Rule: "r", Reason: "w", AnsweredBy: "page", Answer: "once", Outcome: "ok", Arguments: json.RawMessage(`{}`)},
		{Arguments: json.RawMessage(`null`)},
	} {
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		got, err := appendLine([]byte("x"), e)
		if err != nil || string(got) != "x"+string(want)+"\n" {
			t.Errorf("the line is\n%s (%v), want\n%s", got, err, want)
		}
	}
	for _, e := range []Entry{{Arguments: json.RawMessage(`{`)}, {Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC), Arguments: json.RawMessage(`{}`)}} {
		if got, err := appendLine(nil, e); err == nil {
			t.Errorf("%+v is written as %s", e, got)
		}
	}
}
