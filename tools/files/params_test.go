package files

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// TestSchemas compiles each schema and makes sure that it is strict and agrees
// with the decoder on calls that fit and calls that do not.
func TestSchemas(t *testing.T) {
	calls := map[string]map[string]bool{
		"read_file": {
			`{"path":"a"}`: true, `{"path":"a","start_line":2,"image":true}`: true, `{}`: false, `{"path":""}`: false,
			`{"path":"a","start_line":"2"}`: false, `{"path":"a","start_line":true}`: false, `{"path":"a","image":1}`: false,
			`{"path":"a","max_lines":0}`: false, `{"path":"a","max_bytes":1e9}`: false, `{"path":"a","x":1}`: false,
		},
		"edit_file": {
			`{"path":"a","content":""}`: true, `{"path":"a","mode":"replace","old_text":"a","new_text":""}`: true,
			`{"path":"a","mode":"Write","content":""}`: false, `{"path":"a","old_text":"","new_text":"x"}`: false,
		},
		"list_directory": {`{}`: true, `{"limit":10}`: true, `{"max_depth":1}`: false, `{"limit":10001}`: false, `{"path":null}`: false},
		"search_files":   {`{"query":"a"}`: true, `{"glob":"*"}`: true, `{"query":"a","max_matches":2.5}`: false, `{"query":1}`: false},
	}
	g := newGate(t)
	for _, tool := range g.files.Tools() {
		s := tool.Spec()
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(s.InputSchema))
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("tool.json", doc); err != nil {
			t.Fatal(err)
		}
		schema, err := c.Compile("tool.json")
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if s.Title == "" || s.Description == "" || !json.Valid(s.Annotations) {
			t.Errorf("%s: the definition is not complete", s.Name)
		}
		for args, want := range calls[s.Name] {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(args)))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); (err == nil) != want {
				t.Errorf("%s %s: the schema says %v, want fits = %v", s.Name, args, err, want)
			}
			if _, _, err := g.plan(s.Name, args); (err == nil) != want {
				t.Errorf("%s %s: the decoder says %v, want fits = %v", s.Name, args, err, want)
			}
		}
	}
}

func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"path":"a","start_line":1.0,"image":true}`))
	f.Add([]byte(`{"path":"\ud800","path":"\ufffd"}`))
	f.Fuzz(func(t *testing.T, args []byte) {
		for _, ps := range []params{readParams, editParams, listParams, searchParams} {
			if v, err := ps.decode("tool", args); err == nil && !json.Valid(args) && len(bytes.TrimSpace(args)) > 0 {
				t.Errorf("%q was read as %v", args, v)
			}
		}
	})
}
