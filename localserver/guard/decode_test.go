package guard

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

type jsonRaw = json.RawMessage

type inner struct {
	Role string    `json:"role"`
	When time.Time `json:"when"`
	Data jsonRaw   `json:"data"`
}

type base struct {
	Version *int `json:"version"`
}

type outer struct {
	base
	Tool     string            `json:"tool"`
	Messages []inner           `json:"messages"`
	ByName   map[string]*inner `json:"by_name"`
	Meta     map[string]any    `json:"meta"`
	Free     any               `json:"free"`
	Hidden   string            `json:"-"`
	Plain    string
}

func TestDecode(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	tests := []struct{ body, field, says string }{
		{`{"tool":"x","version":3,"messages":[{"role":"user","data":{"A":1,"a":2}}],"meta":{"Tool":1,"tool":2},"Plain":"p"}`, "", ""},
		{" {} \n", "", ""},
		{`{"messages":null,"tool":null}`, "", ""},
		{`{"messages":[{"when":"2026-01-02T03:04:05Z"}]}`, "", ""},
		{`{"free":{"a":[1,2,{"b":-1.5e+10}]}}`, "", ""},
		{`{"tool":"\ud83d\ude00 \" \\ \u0041"}`, "", ""},
		{"", "", "empty"},
		{" \n", "", "empty"},
		{`null`, "", "must be a JSON object"},
		{`[]`, "", "must be a JSON object"},
		{`"x"`, "", "must be a JSON object"},
		{`{} {}`, "", "not one JSON value"},
		{`{}x`, "", "not one JSON value"},
		{`{"tool":"x",}`, "", "not one JSON value"},
		{`{tool:1}`, "", "line 1"},
		{"{\n\"tool\":'x'}", "", "line 2"},
		{`{"tool":01}`, "", "not one JSON value"},
		{`{"tool":NaN}`, "", "not one JSON value"},
		{"\xef\xbb\xbf{}", "", "not one JSON value"},
		{"{\"tool\":\"\xff\"}", "", "UTF-8"},
		{"{\"tool\":\"a\tb\"}", "", "not one JSON value"},
		{`{"tool":"a","tool":"b"}`, "tool", "twice"},
		{`{"tool":"a","t\u006fol":"b"}`, "tool", "twice"},
		{`{"messages":[{"role":"a"},{"role":"a","role":"b"}]}`, "messages[1].role", "twice"},
		{`{"messages":[{"data":{"path":"a","x":[{"path":1,"path":2}]}}]}`, "messages[0].data.x[0].path", "twice"},
		{`{"free":{"":1,"":2}}`, "free", "twice"},
		{`{"Tool":"b"}`, "Tool", `"tool"`},
		{`{"tool":"a","TOOL":"b"}`, "TOOL", `"tool"`},
		{`{"tool":"a","too\u006c ":"b"}`, "tool ", "no such field"},
		{`{"messages":[{"Role":"x"}]}`, "messages[0].Role", `"role"`},
		{`{"by_name":{"n":{"rolE":"x"}}}`, "by_name.n.rolE", `"role"`},
		{`{"plain":"x"}`, "plain", `"Plain"`},
		{`{"Hidden":"x"}`, "Hidden", "no such field"},
		{`{"base":{}}`, "base", "no such field"},
		{`{"Version":1}`, "Version", `"version"`},
		{`{"tool":5}`, "tool", "a string"},
		{`{"version":1.5}`, "version", "a whole number"},
		{`{"messages":{}}`, "messages", "an array"},
		{`{"messages":["x"]}`, "messages", "an object"},
		{`{"messages":[{"when":"soon"}]}`, "", "cannot be used"},
		{`{"free":` + deep(MaxDepth-1) + `}`, "", ""},
		{`{"free":` + deep(MaxDepth) + `}`, "", "deeper"},
		{strings.Repeat("[", 1<<20), "", "deeper"},
		{strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100000), "", "deeper"},
		{`{"free":"` + strings.Repeat("[", 100) + `"}`, "", ""},
	}
	for _, tt := range tests {
		var v outer
		f := DecodeBytes([]byte(tt.body), &v)
		switch {
		case tt.says == "" && f != nil:
			t.Errorf("DecodeBytes(%.80q) = %v, want no error", tt.body, f)
		case tt.says != "" && f == nil:
			t.Errorf("DecodeBytes(%.80q) = nil, want %q", tt.body, tt.says)
		case tt.says != "" && (!strings.Contains(f.Message, tt.says) || !strings.HasPrefix(f.Field, tt.field) || tt.field == "" && tt.says != "twice" && f.Field != "" && tt.says != "cannot be used"):
			t.Errorf("DecodeBytes(%.80q) = %q %q, want %q %q", tt.body, f.Field, f.Message, tt.field, tt.says)
		}
	}
}

func TestManyKeys(t *testing.T) {
	var b bytes.Buffer
	check := func(n int) time.Duration {
		b.Reset()
		b.WriteByte('{')
		for i := range n {
			b.WriteString(`"k`)
			b.WriteString(strings.Repeat("x", i%3))
			b.WriteString(string(rune('a' + i%26)))
			b.WriteString(time.Duration(i).String())
			b.WriteString(`":0,`)
		}
		text := append(slices.Clone(b.Bytes()), []byte(`"last":0}`)...)
		best := time.Hour // of a few: a busy machine slows one down, not all
		for range 5 {
			start := time.Now()
			if f := CheckJSON(text); f != nil {
				t.Fatal(f)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	// Comparing each key with each would take a hundred times as long.
	if few, many := check(10_000), check(100_000); many > 50*few+100*time.Millisecond {
		t.Errorf("10,000 keys took %v, 100,000 keys %v", few, many)
	}
	twice := append(b.Bytes(), []byte(`"kb1ns":0,"last":0,"last":0}`)...)
	if f := CheckJSON(twice); f == nil {
		t.Error("a duplicate among many keys was missed")
	}
}

// FuzzDecode checks the two promises that the rest builds on: what is accepted
// is JSON that encoding/json takes, and then no key of a struct was ambiguous:
// re-encoding what was decoded and decoding it again gives the same.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"tool":"x","messages":[{"role":"u","data":{"a":1}}]}`, `{"Tool":1}`, `{"tool":"a","tool":"b"}`,
		`[[[[]]]]`, `{"free":{"\u0061":1,"a":2}}`, "\xff", `{"version":1e3}`, `{"":{"":[]}}`, `"\"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var v outer
		if DecodeBytes(text, &v) != nil {
			return
		}
		if !json.Valid(text) {
			t.Fatalf("accepted %q", text)
		}
		if CheckJSON(text) != nil {
			t.Fatalf("DecodeBytes takes what CheckJSON refuses: %q", text)
		}
		// Every key of the top object is a field, exactly.
		var keys map[string]json.RawMessage
		if err := json.Unmarshal(text, &keys); err != nil {
			t.Fatal(err)
		}
		for k := range keys {
			switch k {
			case "version", "tool", "messages", "by_name", "meta", "free", "Plain":
			default:
				t.Fatalf("accepted the key %q in %q", k, text)
			}
		}
	})
}
