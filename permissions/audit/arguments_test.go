package audit

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// spanning redacts from BEGIN to END, as a private key is, and one word.
func spanning(s string) string {
	if i := strings.Index(s, "BEGIN"); i >= 0 {
		if j := strings.Index(s[i:], "END"); j >= 0 {
			return s[:i] + "[redacted]" + s[i+j+3:]
		}
	}
	return strings.NewReplacer("hunter2", "[redacted]", "123456789", "[redacted]").Replace(s)
}

// TestRedactionKeepsTheLine: no text of a call makes its line unreadable.
func TestRedactionKeepsTheLine(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"a key across texts", `{"a":"BEGIN","b":{"c":["END"]}}`, `{"a":"BEGIN","b":{"c":["END"]}}`},
		{"a key within one", `{"a":"x BEGIN\nEND y"}`, `{"a":"x [redacted] y"}`},
		{"an escape", `{"a":"h\u0075nter2"}`, `{"a":"[redacted]"}`},
		{"the name of a member", `{"hunter2":{"hunter2":1}}`, `{"[redacted]":{"[redacted]":1}}`},
		{"a number", `{"pin":[123456789,12]}`, `{"pin":["[redacted]",12]}`},
		{"a secret where a text is cut", `{"a":"` + strings.Repeat("x", longestArgument-3) + `hunter2"}`,
			`{"a":"` + strings.Repeat("x", longestArgument-3) + `[re… (516 bytes)"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := Open(Config{Dir: t.TempDir(), Redact: spanning})
			defer l.Close()
			if err := l.Write(Entry{Time: at(0), Tool: "t BEGIN", Arguments: json.RawMessage(tt.args), Reason: "END"}); err != nil {
				t.Fatal(err)
			}
			got, _, err := l.Query(Filter{})
			if err != nil || len(got) != 1 || string(got[0].Arguments) != tt.want || got[0].Reason != "END" {
				t.Errorf("Query = %+v, %v, want the arguments %s", got, err, tt.want)
			}
		})
	}
}

// TestEveryTextIsRedacted looks at each text that an entry has.
func TestEveryTextIsRedacted(t *testing.T) {
	l := Open(Config{Dir: t.TempDir(), Redact: spanning})
	defer l.Close()
	e := Entry{Time: at(0)}
	fields := reflect.ValueOf(&e).Elem()
	texts := 0
	for i := range fields.NumField() {
		switch fields.Field(i).Interface().(type) {
		case string:
			fields.Field(i).SetString("a hunter2 b")
			texts++
		case uint64, int64, int, time.Time, json.RawMessage, map[string]int64: // arguments have a test above; sizes are named by us
		default:
			t.Errorf("nobody redacts the field %s", fields.Type().Field(i).Name)
		}
	}
	if err := l.Write(e); err != nil {
		t.Fatal(err)
	}
	got, _, _ := l.Query(Filter{})
	if len(got) != 1 {
		t.Fatalf("%d entries, want 1", len(got))
	}
	text, _ := json.Marshal(got[0])
	if strings.Contains(string(text), "hunter2") || strings.Count(string(text), "a [redacted] b") != texts {
		t.Errorf("the entry is %s", text)
	}
}
