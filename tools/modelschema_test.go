package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var providerName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// providerFaults lists what OpenAI or Anthropic would refuse a schema for. Their
// published rules, as they word them:
//
//	OpenAI: "schema must have type 'object' and not have 'oneOf'/'anyOf'/
//	'allOf'/'enum'/'not' at the top level"; "object schema missing properties";
//	"array schema missing items"; "'properties' … None is not of type 'object'".
//	Anthropic: "input_schema does not support oneOf, allOf, or anyOf at the top
//	level"; "JSON schema is invalid. It must match JSON Schema draft 2020-12";
//	"Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'".
//
// Neither follows a $ref that is not a definition, some servers that speak
// their protocols follow none.
func providerFaults(schema json.RawMessage) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if len(schema) > MaxModelSchema || !utf8.Valid(schema) {
		fault("%d bytes, UTF-8 %v", len(schema), utf8.Valid(schema))
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return append(faults, err.Error())
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(noLoader{})
	c.AssertFormat()
	if err := c.AddResource("schema:x", doc); err != nil {
		fault("%v", err)
	} else if _, err := c.Compile("schema:x"); err != nil {
		fault("not 2020-12: %v", err)
	}
	top, ok := doc.(map[string]any)
	if !ok || top["type"] != "object" {
		return append(faults, "not an object at the top")
	}
	for _, k := range []string{"oneOf", "anyOf", "allOf", "enum", "not", "if", "const"} {
		if _, ok := top[k]; ok {
			fault("%s at the top", k)
		}
	}
	var walk func(at string, v any, depth int)
	walk = func(at string, v any, depth int) {
		if depth > maxSchemaDepth+2 {
			fault("%s is nested too deep", at)
			return
		}
		s, ok := v.(map[string]any)
		if !ok {
			if _, ok := v.(bool); !ok {
				fault("%s is no schema: %v", at, v)
			}
			return
		}
		has := func(name string) bool {
			if s["type"] == name {
				return true
			}
			list, _ := s["type"].([]any)
			for _, one := range list {
				if one == name {
					return true
				}
			}
			return false
		}
		for _, k := range []string{"$ref", "$defs", "definitions", "$schema", "$id"} {
			if _, ok := s[k]; ok {
				fault("%s in %s", k, at)
			}
		}
		props, ok := s["properties"].(map[string]any)
		if has("object") && !ok {
			fault("%s: object schema missing properties", at)
		}
		if _, ok := s["items"]; has("array") && !ok {
			fault("%s: array schema missing items", at)
		}
		for name, p := range props {
			if depth == 0 && !providerName.MatchString(name) { // only there it is checked
				fault("%s has a property %q", at, name)
			}
			walk(at+"."+name, p, depth+1)
		}
		for _, k := range []string{"items", "additionalProperties"} {
			if sub, ok := s[k]; ok {
				walk(at+"."+k, sub, depth+1)
			}
		}
		for _, k := range []string{"anyOf", "prefixItems"} {
			list, _ := s[k].([]any)
			for _, sub := range list {
				walk(at+"."+k, sub, depth+1)
			}
		}
	}
	walk("", doc, 0)
	return faults
}

func check(t *testing.T, name string, schema json.RawMessage) json.RawMessage {
	t.Helper()
	start := time.Now()
	got := ModelSchema(schema)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("%s took %v", name, took)
	}
	for _, f := range providerFaults(got) {
		t.Errorf("%s: %s\n%.600s", name, f, got)
	}
	if again := ModelSchema(schema); !bytes.Equal(got, again) {
		t.Errorf("%s differs the second time:\n%.600s\n%.600s", name, got, again)
	}
	return got
}

func TestModelSchema(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"number", `42`, `{"type":"object","properties":{}}`},
		{"null", `null`, `{"type":"object","properties":{}}`},
		{"nothing", ``, `{"type":"object","properties":{}}`},
		{"not JSON", `{"type":`, `{"type":"object","properties":{}}`},
		{"unknown type", `{"type":"frob"}`, `{"type":"object","properties":{}}`},
		{"an array", `{"type":"array","items":{"type":"string"}}`, `{"type":"object","properties":{}}`},
		{"no properties", `{"type":"object"}`, `{"type":"object","properties":{}}`},
		{"null properties", `{"type":"object","properties":null}`, `{"type":"object","properties":{}}`},
		{"no type", `{"properties":{"a":{"type":"string"}},"required":["a"]}`, `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"nothing more", `{"type":"object","properties":{},"additionalProperties":false}`, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"order is kept", `{"type":"object","properties":{"z":{},"a":{},"m":{}}}`, `{"type":"object","properties":{"z":{},"a":{},"m":{}}}`},
		{"definitions", `{"type":"object","$defs":{"P":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}},"properties":{"p":{"$ref":"#/$defs/P","description":"where"}}}`,
			`{"type":"object","properties":{"p":{"type":"object","description":"where","properties":{"x":{"type":"number"}},"required":["x"]}}}`},
		{"a property as definition", `{"type":"object","properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"an escaped reference", `{"definitions":{"a/b c":{"type":"integer"}},"properties":{"x":{"$ref":"#/definitions/a~1b%20c"}}}`,
			`{"type":"object","properties":{"x":{"type":"integer"}}}`},
		{"an anchor", `{"$id":"https://x/s","$defs":{"N":{"$anchor":"n","type":"null"}},"properties":{"x":{"$ref":"https://x/s#n"}}}`,
			`{"type":"object","properties":{"x":{"type":"null"}}}`},
		{"the whole", `{"$ref":"#"}`, `{"type":"object","properties":{}}`},
		{"recursion", `{"$defs":{"Node":{"type":"object","properties":{"next":{"$ref":"#/$defs/Node"}}}},"properties":{"n":{"$ref":"#/$defs/Node"}}}`,
			`{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object","description":"(recursive: again a Node)","properties":{}}}}}}`},
		{"twice is no recursion", `{"$defs":{"S":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/S"},"b":{"$ref":"#/$defs/S"}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}`},
		{"elsewhere", `{"properties":{"a":{"$ref":"http://127.0.0.1:1/x"}}}`,
			`{"type":"object","properties":{"a":{"description":"(its schema is elsewhere and was not fetched)"}}}`},
		{"allOf at the top", `{"allOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"number"}}}]}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}},"required":["a"]}`},
		{"oneOf at the top", `{"type":"object","oneOf":[{"properties":{"k":{"const":"f"},"path":{"type":"string"}},"required":["k","path"]},{"properties":{"k":{"const":"u"},"url":{"type":"string"}},"required":["k","url"]}]}`,
			`{"type":"object","description":"(one of: k + path; k + url)","properties":{"k":{"anyOf":[{"const":"f"},{"const":"u"}]},"path":{"type":"string"},"url":{"type":"string"}},"required":["k"]}`},
		{"required alternatives", `{"type":"object","properties":{"a":{},"b":{}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`{"type":"object","description":"(one of: a; b)","properties":{"a":{},"b":{}}}`},
		{"if at the top", `{"type":"object","properties":{"k":{"enum":["a"]}},"if":{"properties":{"k":{"const":"a"}}},"then":{"properties":{"x":{"type":"string"}},"required":["x"]},"not":{"required":["y"]},"enum":[{}]}`,
			`{"type":"object","properties":{"k":{"enum":["a"]},"x":{"type":"string"}}}`},
		{"nullable", `{"properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"string"},{"type":"null"}]},"c":{"type":"string","nullable":true}}}`,
			`{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"anyOf":[{"type":"string"},{"type":"null"}]},"c":{"type":"string","nullable":true}}}`},
		{"allOf of one", `{"properties":{"a":{"allOf":[{"$ref":"#/$defs/E"}],"default":"x"}},"$defs":{"E":{"enum":["x"],"type":"string"}}}`,
			`{"type":"object","properties":{"a":{"type":"string","enum":["x"],"default":"x"}}}`},
		{"a tuple", `{"properties":{"a":{"type":"array","items":[{"type":"string"},{"type":"number"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"type":"number"}],"items":{}}}}`},
		{"an array of anything", `{"properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":{"type":"array","items":{}}}}`},
		{"draft 4", `{"properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":true,"required":true}}}`,
			`{"type":"object","properties":{"a":{"type":"number","minimum":1,"exclusiveMinimum":1}}}`},
		{"names that are refused", `{"type":"object","properties":{"ok":{},"with space":{"type":"string"}},"required":["with space"],"additionalProperties":false}`,
			`{"type":"object","description":"(also takes, under names that cannot be listed: \"with space\" string required)","properties":{"ok":{}}}`},
		{"names below are not checked", `{"properties":{"a":{"type":"object","properties":{"filter[id]":{}}}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"filter[id]":{}}}}}`},
		{"names of the language", `{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"}},"required":["__proto__","toString"]}`,
			`{"type":"object","properties":{"__proto__":{"type":"string"},"constructor":{"type":"string"},"toString":{}},"required":["__proto__","toString"]}`},
		{"a slow pattern stays text, a bad one goes", `{"properties":{"a":{"type":"string","pattern":"(a+)+$"},"b":{"type":"string","pattern":"("}}}`,
			`{"type":"object","properties":{"a":{"type":"string","pattern":"(a+)+$"},"b":{"type":"string"}}}`},
		{"values that are not valid", `{"properties":{"a":{"type":"string","enum":[],"minLength":-1,"maximum":"9","format":7,"uniqueItems":1,"multipleOf":0,"minimum":1e999}},"required":["a","a",3]}`,
			`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`},
		{"schemas that are none", `{"properties":{"a":42,"b":true,"c":false,"d":null,"e":{"type":"object","properties":[]}}}`,
			`{"type":"object","properties":{"a":{},"b":{},"d":{},"e":{"type":"object","properties":{}}}}`},
		{"hidden text", `{"properties":{"a":{"description":"Do\u200b \u202ethis\u0007"}}}`, `{"type":"object","properties":{"a":{"description":"Do this"}}}`},
		{"half a character", `{"properties":{"a":{"enum":["\ud800"]},"\ud800":{}}}`, "{\"type\":\"object\",\"description\":\"(also takes, under names that cannot be listed: \\\"\\\")\",\"properties\":{\"a\":{\"enum\":[\"\uFFFD\"]}}}"},
		{"the last of equal keys", `{"properties":{"a":{"type":"string"},"a":{"type":"number"}},"properties":{"b":{}}}`, `{"type":"object","properties":{"b":{}}}`},
	}
	for _, tt := range tests {
		if got := check(t, tt.name, json.RawMessage(tt.in)); string(got) != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
	}
}

// Schemas made to blow up, or to be slow, end in something small in time.
func TestModelSchemaBounds(t *testing.T) {
	var doubling strings.Builder
	doubling.WriteString(`{"properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 40 {
		fmt.Fprintf(&doubling, `"d%d":{"type":"object","properties":{"a":{"$ref":"#/$defs/d%d"},"b":{"$ref":"#/$defs/d%d"}}},`, i, i+1, i+1)
	}
	doubling.WriteString(`"d40":{}}}`)
	many := strings.Repeat(`"p%d":{"type":"string","description":"`+strings.Repeat("long words ", 20)+`"},`, 300)
	numbers := make([]any, 300)
	for i := range numbers {
		numbers[i] = i
	}
	chain := func(n int, item string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, item, i, i+1)
		}
		return b.String()
	}
	tests := []struct{ name, in string }{
		{"doubling", doubling.String()},
		{"doubling by allOf", strings.NewReplacer(`"properties":{"a":{`, `"allOf":[{`, `},"b":{`, `},{`, `}}},`, `}]},`).Replace(doubling.String())},
		{"long texts", `{"properties":{` + fmt.Sprintf(many, numbers...) + `"z":{}}}`},
		{"50,000 properties", `{"properties":{` + chain(50_000, `"p%d":{"v":%d},`) + `"z":{}}}`},
		{"a chain of references", `{"$ref":"#/$defs/d0","$defs":{` + chain(20_000, `"d%d":{"$ref":"#/$defs/d%d"},`) + `"z":{}}}`},
		{"deep allOf", strings.Repeat(`{"allOf":[`, 4900) + `{}` + strings.Repeat(`]}`, 4900)},
		{"deep anyOf", strings.Repeat(`{"anyOf":[`, 4900) + `{}` + strings.Repeat(`]}`, 4900)},
		{"deep properties", strings.Repeat(`{"properties":{"a":`, 4900) + `{}` + strings.Repeat(`}}`, 4900)},
		{"deep default", `{"properties":{"a":{"default":` + strings.Repeat(`[`, 5000) + strings.Repeat(`]`, 5000) + `}}}`},
		{"a long enum", `{"properties":{"a":{"enum":[` + strings.Repeat(`"word",`, 50_000) + `"x"]}}}`},
		{"an endless reference", `{"properties":{"a":{"$ref":"#` + strings.Repeat("/properties/a", 10_000) + `"}}}`},
		{"2 MiB", `{"description":"` + strings.Repeat("x", 2<<20) + `"}`},
		{"many alternatives", `{"anyOf":[` + strings.Repeat(`{"properties":{"a":{"const":1}},"required":["a"]},`, 10_000) + `{}]}`},
	}
	for _, tt := range tests {
		check(t, tt.name, json.RawMessage(tt.in))
	}
	got := ModelSchema(json.RawMessage(`{"properties":{` + fmt.Sprintf(many, numbers...) + `"z":{}}}`))
	if !bytes.Contains(got, []byte(`"p299":{"type":"string"}`)) {
		t.Errorf("of a schema with long texts everything is gone: %.200s", got)
	}
}

// realSchemas are the input schemas of real servers, as they list them.
func realSchemas(tb testing.TB) map[string]json.RawMessage {
	tb.Helper()
	files, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil || len(files) == 0 {
		tb.Fatalf("no schemas: %v", err)
	}
	out := map[string]json.RawMessage{}
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		var tools map[string]json.RawMessage
		if err := json.Unmarshal(raw, &tools); err != nil {
			tb.Fatalf("%s: %v", f, err)
		}
		for name, schema := range tools {
			out[filepath.Base(f)+" "+name] = schema
		}
	}
	return out
}

func TestModelSchemaOfRealServers(t *testing.T) {
	for name, schema := range realSchemas(t) {
		got := check(t, name, schema)
		var in, out struct{ Properties map[string]json.RawMessage }
		if json.Unmarshal(schema, &in) != nil || json.Unmarshal(got, &out) != nil {
			t.Fatalf("%s is no schema", name)
		}
		for p := range in.Properties {
			if _, ok := out.Properties[p]; !ok {
				t.Errorf("%s lost %q", name, p)
			}
		}
	}
}

func FuzzModelSchema(f *testing.F) {
	for _, s := range []string{`{"$ref":"#"}`, `{"properties":{"a":{"$ref":"#/$defs/b"}},"$defs":{"b":{"allOf":[{"$ref":"#/properties/a"}]}}}`,
		`{"anyOf":[{"required":["a"]},true,[]],"items":[{}],"type":["object","array"]}`, "{\"\\u0061\":\"\xff\"}", `{"enum":["\ud800"]}`} {
		f.Add([]byte(s))
	}
	for _, s := range realSchemas(f) {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, schema []byte) { check(t, "fuzz", schema) })
}

func BenchmarkModelSchema(b *testing.B) {
	var list []json.RawMessage
	for _, s := range realSchemas(b) {
		list = append(list, s)
	}
	for b.Loop() {
		for i := range 1000 {
			ModelSchema(list[i%len(list)])
		}
	}
}
