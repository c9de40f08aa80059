package shell

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"zeroclaw/tools"
)

// badArguments are refused, by the schema (S), by Plan (P) or by both.
var badArguments = []struct{ name, raw, by, want string }{
	{"none", `{}`, "SP", "command"},
	{"empty", `{"command":""}`, "SP", "command"},
	{"blank", `{"command":" \n"}`, "P", "command"},
	{"number", `{"command":1}`, "SP", "command"},
	{"NUL", `{"command":"a\u0000b"}`, "P", "NUL"},
	{"too long", `{"command":"` + strings.Repeat("x", 65537) + `"}`, "SP", "65536"},
	{"too many bytes", `{"command":"` + strings.Repeat("é", 40000) + `"}`, "P", "65536"},
	{"cwd number", `{"command":"a","cwd":1}`, "SP", "cwd"},
	{"cwd NUL", `{"command":"a","cwd":"\u0000"}`, "P", "cwd"},
	{"cwd long", `{"command":"a","cwd":"` + strings.Repeat("x", 4097) + `"}`, "SP", "cwd"},
	{"timeout 0", `{"command":"a","timeout_seconds":0}`, "SP", "timeout_seconds"},
	{"timeout 601", `{"command":"a","timeout_seconds":601}`, "SP", "timeout_seconds"},
	{"timeout -1", `{"command":"a","timeout_seconds":-1}`, "SP", "timeout_seconds"},
	{"timeout 1.5", `{"command":"a","timeout_seconds":1.5}`, "SP", "whole"},
	{"timeout 1e300", `{"command":"a","timeout_seconds":1e300}`, "SP", "timeout_seconds"},
	{"timeout text", `{"command":"a","timeout_seconds":"5"}`, "SP", "timeout_seconds"},
	{"timeout bool", `{"command":"a","timeout_seconds":true}`, "SP", "timeout_seconds"},
	{"background text", `{"command":"a","background":"yes"}`, "SP", "background"},
	{"unknown", `{"command":"a","shell":"/bin/sh"}`, "SP", "shell"},
	{"other case", `{"Command":"a"}`, "SP", "Command"},
	{"array", `["a"]`, "SP", ""},
	{"null", `null`, "SP", ""},
	{"two values", `{"command":"a"}{}`, "P", ""},
	{"no JSON", `{`, "P", ""},
}

func TestArguments(t *testing.T) {
	tool := New(Config{}).Tool().(tools.Planner)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(tool.Spec().InputSchema)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("s", doc); err != nil {
		t.Fatal(err)
	}
	schema := c.MustCompile("s")
	for _, tt := range badArguments {
		_, err := tool.Plan(t.Context(), json.RawMessage(tt.raw))
		var bad *tools.ArgumentError
		if strings.Contains(tt.by, "P") && (!errors.As(err, &bad) || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: Plan = %v, want an ArgumentError with %q", tt.name, err, tt.want)
		}
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.raw))
		if strings.Contains(tt.by, "S") && err == nil && schema.Validate(value) == nil {
			t.Errorf("%s: the schema accepts it", tt.name)
		}
	}
	for _, raw := range []string{
		`{"command":"a"}`, `{"command":"a","cwd":"b","timeout_seconds":600,"background":true}`, `{"command":"a","timeout_seconds":5.0}`,
	} {
		plan, err := tool.Plan(t.Context(), json.RawMessage(raw))
		if err != nil || plan.Command != "a" || len(plan.Uses) != 0 {
			t.Errorf("Plan(%s) = %+v, %v", raw, plan, err)
		}
		value, _ := jsonschema.UnmarshalJSON(strings.NewReader(raw))
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, tt := range badArguments {
		f.Add([]byte(tt.raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		a, err := parse(raw)
		if err == nil && (strings.TrimSpace(a.Command) == "" || !a.Back && (a.timeout() < 1e9 || a.timeout() > 600e9)) {
			t.Fatalf("parse(%q) = %+v", raw, a)
		}
	})
}
