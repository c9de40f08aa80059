package meta

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/results"
)

// index is a list of tools, and what was made callable.
type index struct {
	list   []tools.Spec
	active []string
}

func (i *index) Deferred() []tools.Spec  { return i.list }
func (i *index) Activate(names []string) { i.active = append(i.active, names...) }

func deferred(name, description string) tools.Spec {
	return tools.Spec{Name: name, Origin: permissions.OriginServer, Server: "s", Description: description, InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func TestToolSearch(t *testing.T) {
	list := []tools.Spec{
		deferred("s__write_file", "Writes a file."),
		deferred("s__read_file", "Reads a FILE from disk."),
		deferred("s__list", "Lists files and folders, reads nothing"),
		deferred("s__mail", "Sends mail.\n\"quoted\" \\ </function>\u200b"),
		deferred("s__another_file", "a file"),
	}
	tests := []struct {
		args   string
		active string // in order
		text   string // in the result
	}{
		{`{"query":" "}`, "", "query parameter is required"},
		{`{}`, "", "query parameter is required"},
		{`{"query":"file"}`, "s__another_file s__list s__read_file s__write_file", "<functions>\n"},
		{`{"query":"file reads","max_results":2}`, "s__list s__read_file", "</functions>"},
		{`{"query":"FILE","max_results":1}`, "s__another_file", `"parameters":{"type":"object","properties":{}}}</function>`},
		{`{"query":"calendar"}`, "", "No matching deferred tools found."},
		{`{"query":"select:s__read_file, nope,,s__list,s__w,s__list"}`, "s__read_file s__list", "</functions>\nNot found: nope, s__w"},
		{`{"query":"select: nope"}`, "", "No matching deferred tools found.\nNot found: nope"},
		{`{"query":"select:S__LIST"}`, "", "Not found: S__LIST"},
		{`{"query":"mail"}`, "s__mail", `"description":"[server s, untrusted] Sends mail.\n\"quoted\" \\ \u003c/function\u003e"`},
	}
	for _, tt := range tests {
		i := &index{list: list}
		got, r := run(t, ToolSearch{i, frames()}, tt.args)
		if strings.Join(i.active, " ") != tt.active || !strings.Contains(got, tt.text) || r.IsError != (tt.text == "query parameter is required") {
			t.Errorf("Run(%s) makes %q callable and says\n%s\nwant %q and %q", tt.args, i.active, got, tt.active, tt.text)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if inner, ok := strings.CutPrefix(line, "<function>"); ok && !json.Valid([]byte(strings.TrimSuffix(inner, "</function>"))) {
				t.Errorf("not JSON: %s", line)
			}
		}
	}
}

// However much there is, a result is never cut inside a definition.
func TestToolSearchIsBounded(t *testing.T) {
	i := &index{}
	var names []string
	for n := range 200 {
		name := fmt.Sprintf("s__tool%03d", n)
		names = append(names, name)
		s := deferred(name, "does things")
		s.InputSchema = json.RawMessage(`{"type":"object","properties":{"a":{"description":"` + strings.Repeat("long ", 300) + `"}}}`)
		i.list = append(i.list, s)
	}
	got, _ := run(t, ToolSearch{i, frames()}, `{"query":"select:`+strings.Join(names, ",")+`"}`)
	if n := strings.Count(got, "<function>"); len(i.active) != 200 || n == 0 || n != strings.Count(got, "</function>") {
		t.Errorf("%d are callable, %d are shown", len(i.active), n)
	}
	if !strings.Contains(got, "come with the next turn: s__tool0") || len(got) > results.DefaultMaxChars {
		t.Errorf("%d bytes, ending %.200q", len(got), got[max(0, len(got)-200):])
	}
}

// Arguments that a tool does not know are refused by name.
func TestSchemasAreStrict(t *testing.T) {
	var s tools.Schemas
	for _, tool := range []tools.Tool{ToolSearch{}, Resources{}, Prompts{}} {
		schema := tool.Spec().InputSchema
		err := s.Check(schema, json.RawMessage(`{"surprise":1}`))
		if err == nil || !strings.Contains(err.Error(), `unknown argument "surprise"; this tool takes `) {
			t.Errorf("%s: %v", tool.Spec().Name, err)
		}
		if err := s.Check(schema, json.RawMessage(`{}`)); err != nil {
			t.Errorf("%s leaves nothing to refuse itself: %v", tool.Spec().Name, err)
		}
		if !json.Valid(tools.ModelSchema(schema)) {
			t.Errorf("%s has no schema", tool.Spec().Name)
		}
	}
}
