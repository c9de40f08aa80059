package tools

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

var keyOrWord = regexp.MustCompile(`(?s)-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----|-----BEGIN PRIVATE KEY-----.*|hunter2|123456789`)

func hide(s string) string { return keyOrWord.ReplaceAllString(s, "[redacted]") }

func TestRedactJSON(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing to hide", ` {"a" : [1, true, null, "x\u0041"]} `, ` {"a" : [1, true, null, "x\u0041"]} `},
		{"a key that spans texts",
			`{"message":"-----BEGIN PRIVATE KEY-----","requestedSchema":{"a":["-----END PRIVATE KEY-----"]}}`,
			`{"message":"[redacted]","requestedSchema":{"a":["-----END PRIVATE KEY-----"]}}`},
		{"a key within one", `{"z":"a -----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY----- b","a":1}`, `{"z":"a [redacted] b","a":1}`},
		{"an escape in the middle", `["h\u0075nter2"]`, `["[redacted]"]`},
		{"an escape in front", `["\\hunter2\""]`, `["\\[redacted]\""]`},
		{"the name of a member", `{"hunter2":{"x":"hunter2"}}`, `{"[redacted]":{"x":"[redacted]"}}`},
		{"a number", `{"pin": 123456789, "n":-1.5e3}`, `{"pin": "[redacted]", "n":-1.5e3}`},
		{"a text alone", `"hunter2"`, `"[redacted]"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := RedactJSON(json.RawMessage(tt.in), hide)
			if string(got) != tt.want || !json.Valid(got) {
				t.Errorf("RedactJSON(%s) =\n%s, want\n%s", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzRedactJSON(f *testing.F) {
	for _, s := range []string{`{"a":"-----BEGIN PRIVATE KEY-----","b":"-----END PRIVATE KEY-----"}`, `["hunter\u0032",123456789]`, `"\ud800"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		got := RedactJSON(json.RawMessage(s), hide)
		var back any
		d := json.NewDecoder(strings.NewReader(string(got)))
		d.UseNumber() // of any size
		if err := d.Decode(&back); err != nil {
			t.Fatalf("%q became %q: %v", s, got, err)
		}
		if plain, _ := json.Marshal(back); strings.Contains(string(plain), "hunter2") {
			t.Fatalf("%q became %q", s, got)
		}
	})
}
