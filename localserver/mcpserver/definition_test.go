package mcpserver

import (
	"encoding/json"
	"testing"

	"zeroclaw/tools"
)

// TestDefinitions: one bad definition of one server must not take every tool from
// a client that checks the list, as that of the official SDK does.
func TestDefinitions(t *testing.T) {
	s := closed(t, accepting())
	for _, tt := range []struct{ input, output, notes, want string }{
		{`{"type":"object", "properties":{"a":{"type":"string"}},"required":["a"],"allOf":[]}`, ``, ``, `"inputSchema":{"type":"object", "properties":{"a":{"type":"string"}},"required":["a"],"allOf":[]}`},
		{``, ``, ``, `"inputSchema":{"type":"object"}`},
		{`null`, `null`, `null`, `"inputSchema":{"type":"object"}`},
		{`"x"`, `5`, `[]`, `"inputSchema":{"type":"object"}`},
		{`{"$ref":"#/x"}`, ``, ``, `"inputSchema":{"type":"object","$ref":"#/x"}`},
		{`{"type":"string","title":"t"}`, ``, ``, `"inputSchema":{"type":"object","title":"t"}`},
		{`{"type":["object","null"]}`, ``, ``, `"inputSchema":{"type":"object"}`},
		{`{"type":"object","type":"string"}`, ``, ``, `"inputSchema":{"type":"object"}`},
		{`{"type":"object","properties":5,"required":"a"}`, ``, ``, `"inputSchema":{"type":"object"}`},
		{`{"type":"object","properties":{"a":true,"b":false,"c":null,"d":{"x":1}},"required":["a",5]}`, ``, ``, `"inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{},"d":{"x":1}},"required":["a"]}`},
		{`{"type":"object"}`, `{"properties":{"a":true}}`, `{"title":5,"readOnlyHint":"yes","destructiveHint":true,"x":1}`, `"inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"a":{}}},"annotations":{"destructiveHint":true,"x":1}`},
		{`{"type":"object"}`, `{"type":"array"}`, `{"title":"t","readOnlyHint":false}`, `"inputSchema":{"type":"object"},"annotations":{"title":"t","readOnlyHint":false}`},
	} {
		got := s.appendTool(nil, tools.Spec{Name: "n", InputSchema: json.RawMessage(tt.input), OutputSchema: json.RawMessage(tt.output), Annotations: json.RawMessage(tt.notes)}, legacyVersions[0])
		if want := `{"name":"n","description":"",` + tt.want + "}"; string(got) != want || !json.Valid(got) {
			t.Errorf("%s %s %s = %s, want %s", tt.input, tt.output, tt.notes, got, want)
		}
	}
	if got := outputSchema(json.RawMessage(`{"type":"array"}`), modernVersion); string(got) != `{"type":"array"}` {
		t.Errorf("without sessions the output schema is %s", got)
	}
}
