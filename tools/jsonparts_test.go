package tools

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Whatever JSON there is, the parts are those that encoding/json finds.
func FuzzJSONParts(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[1,{"c":"}"}],"a":"x\\"}`, `["\u00e9\ud83d\ude00\ud83d","\/\b\f\r"," "]`, ` [ ] `, `{}`, `"\ud83dx\udc00"`, "\"\xff\"", `[1 , [ ] ,{ }, "," ]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := json.RawMessage(s)
		if !json.Valid(raw) {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil && object != nil {
			got := map[string]json.RawMessage{}
			for k, v := range Members(raw) {
				got[k] = v
			}
			if len(got) != len(object) {
				t.Fatalf("%d members of %q, want %d", len(got), s, len(object))
			}
			for k, v := range object {
				if string(got[k]) != string(v) {
					t.Errorf("member %q of %q is %q, want %q", k, s, got[k], v)
				}
			}
		}
		var array []json.RawMessage
		if json.Unmarshal(raw, &array) == nil {
			got := slices.Collect(Elements(raw))
			if !slices.EqualFunc(got, array, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				t.Errorf("elements of %q are %q, want %q", s, got, array)
			}
		}
		var text string
		if trimmed := strings.TrimSpace(s); utf8.ValidString(s) && json.Unmarshal(raw, &text) == nil && trimmed[0] == '"' {
			if got := JSONText(json.RawMessage(trimmed)); got != text {
				t.Errorf("text of %q is %q, want %q", s, got, text)
			}
			var back string
			if err := json.Unmarshal(AppendJSONText(nil, text), &back); err != nil || back != text {
				t.Errorf("%q is written as %q (%v)", text, AppendJSONText(nil, text), err)
			}
		}
	})
}

func TestResultOf(t *testing.T) {
	r, err := ResultOf(json.RawMessage(` {"content":[{"type":"text","text":"a"}, 42 ],"structuredContent":null,"isError":true,"_meta":{"x":1}}`))
	if err != nil || len(r.Content) != 2 || string(r.Content[1].Raw) != "42" || r.Structured != nil || !r.IsError || string(r.Meta) != `{"x":1}` {
		t.Errorf("read as %+v, %v", r, err)
	}
	if _, err := ResultOf(json.RawMessage(`{"content":[`)); err == nil {
		t.Error("half a result was read")
	}
	many := `{"content":[` + strings.Repeat(`1,`, 20_000) + `1]}`
	if r, _ := ResultOf(json.RawMessage(many)); len(r.Content) != maxItems+1 || !strings.Contains(r.Content[maxItems].Text, "left out") {
		t.Errorf("%d items", len(r.Content))
	}
}
