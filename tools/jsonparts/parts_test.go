package jsonparts

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Whatever JSON there is, the parts are those that encoding/json finds.
func FuzzParts(f *testing.F) {
	for _, s := range []string{`{"a":1,"b":[1,{"c":"}"}],"a":"x\\"}`, `["\u00e9\ud83d\ude00\ud83d","\/\b\f\r"," "]`, ` [ ] `, `{}`, `"\ud83dx\udc00"`, "\"\xff\"", "{\"\xc7\xc7\":{}}", `[1 , [ ] ,{ }, "," ]`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw := json.RawMessage(s)
		if !json.Valid(raw) {
			return
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) == nil && object != nil {
			got := map[string]json.RawMessage{}
			for k, v := range Members(raw) {
				got[k] = v
			}
			if len(got) != len(object) {
				t.Fatalf("%d members of %q, want %d", len(got), s, len(object))
			}
			for k, v := range object {
				if string(got[k]) != string(v) {
					t.Errorf("member %q of %q is %q, want %q", k, s, got[k], v)
				}
			}
		}
		var array []json.RawMessage
		if json.Unmarshal(raw, &array) == nil {
			got := slices.Collect(Elements(raw))
			if !slices.EqualFunc(got, array, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				t.Errorf("elements of %q are %q, want %q", s, got, array)
			}
		}
		var text string
		if trimmed := strings.TrimSpace(s); json.Unmarshal(raw, &text) == nil && trimmed[0] == '"' {
			if got := Text(json.RawMessage(trimmed)); got != text {
				t.Errorf("text of %q is %q, want %q", s, got, text)
			}
			var back string
			if err := json.Unmarshal(AppendText(nil, text), &back); err != nil || back != text {
				t.Errorf("%q is written as %q (%v)", text, AppendText(nil, text), err)
			}
		}
	})
}

// Split takes an object whose values nobody has looked at, and nothing else.
func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string // nil: an error
	}{
		{`{}`, []string{}},
		{" {\n} ", []string{}},
		{`{"a":1,"\u0062":[{"}":"]"}],"a":tru}`, []string{"a=1", `b=[{"}":"]"}]`, "a=tru"}},
		{``, nil}, {`[]`, nil}, {`{`, nil}, {`{"a"`, nil}, {`{"a":`, nil}, {`{"a":}`, nil}, {`{"a":1`, nil}, {`{"a":1,`, nil}, {`{"a":1,}`, nil},
		{`{"a":1]`, nil}, {`{"a":[}`, nil}, {`{"a" 1}`, nil}, {`{a:1}`, nil}, {`{"a":"`, nil}, {`{"a":"\"}`, nil}, {`{} {}`, nil}, {`{"a":1}x`, nil}, {`{"a":1 2}`, nil},
	} {
		got := []string{}
		err := Split([]byte(tt.in), func(name string, value json.RawMessage) { got = append(got, name+"="+string(value)) })
		if (err != nil) != (tt.want == nil) || err == nil && !slices.Equal(got, tt.want) {
			t.Errorf("Split(%s) = %q, %v; want %q", tt.in, got, err, tt.want)
		}
	}
}

// What is found of invalid text does not matter, but it ends and stays inside.
func FuzzSplit(f *testing.F) {
	for _, s := range []string{`{"a":1`, `{"a":"\`, `{"a":[}]`, `{"a`, "{\"a\"\x00:1}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var whole map[string]json.RawMessage
		err := Split([]byte(s), func(string, json.RawMessage) {})
		if json.Unmarshal([]byte(s), &whole) == nil && whole != nil && err != nil {
			t.Errorf("Split(%q): %v", s, err)
		}
		for range Members(json.RawMessage(s)) {
		}
		for range Elements(json.RawMessage(s)) {
		}
	})
}

// The canonical form is that of encoding/json, taken apart and put together.
func FuzzCanonical(f *testing.F) {
	for _, s := range []string{`{"b":1.50e3,"a":[{"d":null,"c":"\u00e9<&>"}],"b":2}`, `{"\u0061":1,"a":2,"A":3}`, `"\u2028\/\ud83d"`, ` [ 1 , "é" ] `, "\"\xff\xff\"", `{"a\\":{}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !json.Valid([]byte(s)) {
			return
		}
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		if got, want := AppendCanonical(nil, json.RawMessage(s)), decodedCanonical(t, d); string(got) != want {
			t.Errorf("%q is %q, want %q", s, got, want)
		}
	})
}

func decodedCanonical(t *testing.T, d *json.Decoder) string {
	token, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	switch token {
	case json.Delim('['):
		for d.More() {
			out.WriteString(decodedCanonical(t, d) + ",")
		}
		_, _ = d.Token()
		return "[" + out.String() + "]"
	case json.Delim('{'):
		var members [][2]string
		for d.More() {
			key, _ := d.Token()
			members = append(members, [2]string{key.(string), decodedCanonical(t, d)})
		}
		_, _ = d.Token()
		slices.SortStableFunc(members, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
		for _, m := range members {
			key, _ := json.Marshal(m[0])
			out.WriteString(string(key) + ":" + m[1] + ",")
		}
		return "{" + out.String() + "}"
	}
	text, err := json.Marshal(token)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
