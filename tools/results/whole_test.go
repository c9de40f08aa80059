package results

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"zeroclaw/tools"
)

// TestWholeHasNoSecrets: however a server writes a secret in its JSON, a client
// that gets the result as it came does not get that.
func TestWholeHasNoSecrets(t *testing.T) {
	const secret = `p/a"ss\wö<rd`
	inJSON, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	redact := strings.NewReplacer(secret, "[redacted]", strings.Trim(string(inJSON), `"`), "[redacted]", `p/a\"ss\\wö<rd`, "[redacted]").Replace
	f := New(Config{Redact: redact, Objects: &objects{put: map[string][]byte{}}})
	for _, written := range []string{
		`p/a\"ss\\wö<rd`, `p\/a\"ss\\wö<rd`, `p/a\u0022ss\\wö<rd`, `p/a\"ss\\w\u00f6<rd`,
		`p/a\"ss\\wö\u003crd`, `p/a\"ss\u005cwö<rd`, `\u0070/a\"ss\\wö<rd`,
	} {
		text := `"one\n` + written + `\ttwo"`
		var plain string
		if err := json.Unmarshal([]byte(text), &plain); err != nil || plain != "one\n"+secret+"\ttwo" {
			t.Fatalf("%s is no way to write it: %q, %v", text, plain, err)
		}
		raw := json.RawMessage(`{"content":[{"type":"text","text":` + text + `}],` + text + `:1}`)
		for name, r := range map[string]tools.Result{
			"as it came": tools.WholeResult(raw),
			"an item":    {Content: []tools.Content{{Raw: json.RawMessage(`{"type":"text","text":` + text + `}`)}}},
			"a value":    {Structured: json.RawMessage(text), Meta: json.RawMessage(`{"a":` + text + `}`)},
		} {
			var o tools.Outcome
			f.Finish(t.Context(), tools.Call{Client: tools.ClientMCP}, tools.Spec{}, r, &o)
			var out any
			if err := json.Unmarshal(o.Whole, &out); err != nil {
				t.Fatalf("%s: %s: %v", name, o.Whole, err)
			}
			var again bytes.Buffer
			enc := json.NewEncoder(&again)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(out); err != nil || strings.Contains(again.String(), `p/a\"ss`) || !strings.Contains(again.String(), "[redacted]") {
				t.Errorf("%s, written %s: %s, %v", name, written, again.String(), err)
			}
		}
	}
}
