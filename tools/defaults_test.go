package tools

import (
	"encoding/json"
	"testing"
)

func TestWithDefaults(t *testing.T) {
	const schema = `{"type":"object","properties":{"scale":{"type":"string","default":"css"},"n":{"default":{"a":[1]}},"free":{"default":1},"must":{"type":"string"}},"required":["scale","n","must"]}`
	for _, tt := range []struct{ schema, args, want string }{
		{schema, `{}`, `{"scale":"css","n":{"a":[1]}}`},
		{schema, ` { "scale" : "device" } `, `{ "scale" : "device","n":{"a":[1]}}`},
		{schema, `{"must":"x","n":null,"scale":""}`, `{"must":"x","n":null,"scale":""}`},
		{`{"required":["a"],"properties":{"a":{}}}`, `{}`, `{}`},
		{`{"required":"a","properties":[]}`, `{"x":1}`, `{"x":1}`},
		{`42`, `{}`, `{}`},
		{`null`, `[]`, `[]`},
		{`{"required":[1,"a","a"],"properties":{"a":{"default":2}}}`, `{}`, `{"a":2}`},
	} {
		got := withDefaults(json.RawMessage(tt.schema), json.RawMessage(tt.args))
		if string(got) != tt.want || !json.Valid(got) {
			t.Errorf("withDefaults(%s, %s) = %s, want %s", tt.schema, tt.args, got, tt.want)
		}
	}
}
