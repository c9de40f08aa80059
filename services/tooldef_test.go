package services

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestToolDefKeepsBytes(t *testing.T) {
	raw := ` {"name":"a","x":{"inputSchema":1},"inputSchema": {"$schema":"s", "allOf":[ {"if":{}} ],"n":1.50e3}  ,"description":"d","annotations":{"readOnlyHint":true},"title":null}`
	d, err := NewToolDef(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	if string(d.InputSchema) != `{"$schema":"s", "allOf":[ {"if":{}} ],"n":1.50e3}` || string(d.Annotations) != `{"readOnlyHint":true}` || d.OutputSchema != nil || string(d.Raw) != strings.TrimSpace(raw) {
		t.Errorf("def = %+v", d)
	}
}

func TestToolDefHash(t *testing.T) {
	hash := func(raw string) string {
		d, err := NewToolDef(json.RawMessage(raw))
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		return d.Hash
	}
	base := hash(`{"name":"a","description":"d","inputSchema":{"type":"object","required":["x"]}}`)
	for _, same := range []string{
		`{"description":"d","name":"a","inputSchema":{ "required":["x"], "type":"object" }}`,
		`{"name":"\u0061","description":"d","inputSchema":{"type":"object","required":["x"]},"_meta":{"n":1}}`,
	} {
		if hash(same) != base {
			t.Errorf("%s has another hash", same)
		}
	}
	for _, other := range []string{
		`{"name":"b","description":"d","inputSchema":{"type":"object","required":["x"]}}`,
		`{"name":"a","description":"d ","inputSchema":{"type":"object","required":["x"]}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","required":["y"]}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","required":["x"],"required":["x"]}}`,
		`{"name":"a","description":"d","inputSchema":{"type":"object","required":["x"]},"annotations":{}}`,
		`{"name":"a","description":"d","outputSchema":{"type":"object","required":["x"]}}`,
		`{"name":"a","title":"t","description":"d","inputSchema":{"type":"object","required":["x"]}}`,
	} {
		if hash(other) == base {
			t.Errorf("%s has the same hash", other)
		}
	}
}

func TestToolDefRefuses(t *testing.T) {
	for _, raw := range []string{``, `null`, `42`, `[]`, `{}`, `{"name":""}`, `{"name":7}`, `{"name":"a","description":{}}`, `{"name":"a"} x`, `{"name":"a"`} {
		if d, err := NewToolDef(json.RawMessage(raw)); err == nil {
			t.Errorf("NewToolDef(%s) = %+v", raw, d)
		}
	}
}

func TestAdmitTools(t *testing.T) {
	var list []ToolDef
	for i := range 7 {
		list = append(list, ToolDef{Name: fmt.Sprint(i % 5)})
	}
	kept, notices := admitTools(list, 4)
	if len(kept) != 4 || len(notices) != 1 || !strings.Contains(notices[0], "at least 3") {
		t.Errorf("kept %d, notices %q", len(kept), notices)
	}
	kept, notices = admitTools(list, 10)
	if len(kept) != 5 || len(notices) != 2 {
		t.Errorf("kept %d, notices %q", len(kept), notices)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ñ 漢 🙂":       "plain ñ 漢 🙂",
		"a\nb\r":            `a\nb\r`,
		"\x1b[31m\x00\x7f":  `\x1b[31m\x00\x7f`,
		"\u202eevil\u200b":  `\u202eevil\u200b`,
		"\xff\xfe":          `\xff\xfe`,
		"nbsp\u00a0":        `nbsp\xa0`,
		"tag\U000e0041":     `tag\U000e0041`,
		"\ufeff":            `\ufeff`,
		"tab\tstays":        "tab\tstays",
		"combining e\u0301": "combining e\u0301",
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestRingIsBounded(t *testing.T) {
	r := &ring{now: time.Now, redact: func(s string) string { return strings.ReplaceAll(s, "SECRET", "[redacted]") }}
	for i := range 3 * ringLines {
		r.add("stderr", fmt.Sprint(i))
	}
	all := r.after(0, 0)
	if len(all) != ringLines || all[len(all)-1].Text != fmt.Sprint(3*ringLines-1) {
		t.Errorf("%d lines, the last %+v", len(all), all[len(all)-1])
	}
	if got := r.after(all[len(all)-1].Seq-2, 0); len(got) != 2 {
		t.Errorf("%d lines after the third last", len(got))
	}
	if got := r.after(r.seq, 0); len(got) != 0 {
		t.Errorf("%d lines after the last", len(got))
	}
	if got := r.after(r.seq+5, 0); len(got) != 0 {
		t.Errorf("%d lines after one that does not exist", len(got))
	}
	for range 500 {
		r.add("stderr", strings.Repeat("x", 100<<10)+"SECRET")
	}
	size := 0
	for _, l := range r.after(0, 0) {
		size += len(l.Text)
	}
	if size > ringBytes {
		t.Errorf("%d bytes are held", size)
	}
	r.add("stderr", strings.Repeat("x", lineBytes-3)+"SECRET")
	if got := r.after(r.seq-1, 0)[0].Text; strings.Contains(got, "SEC") {
		t.Errorf("half a secret is shown: …%s", got[len(got)-40:])
	}
}

func FuzzVisible(f *testing.F) {
	f.Add("a\x1b\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Visible(s)
		if !utf8.ValidString(got) {
			t.Errorf("Visible(%q) = %q", s, got)
		}
		for _, r := range got {
			if !plain(r) {
				t.Errorf("Visible(%q) holds %q", s, r)
			}
		}
	})
}

func FuzzToolDef(f *testing.F) {
	f.Add([]byte(`{"name":"a","inputSchema":{"type":"object","a":[1,{"b":null}]}}`))
	f.Add([]byte(`{"name":"a","name":"b","inputSchema":42}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := NewToolDef(raw)
		if err != nil {
			return
		}
		for _, part := range []json.RawMessage{d.InputSchema, d.OutputSchema, d.Annotations} {
			if part != nil && !json.Valid(part) {
				t.Errorf("part %q of %q is not JSON", part, raw)
			}
			if part != nil && !strings.Contains(string(raw), string(part)) {
				t.Errorf("part %q is no part of %q", part, raw)
			}
		}
		again, err := NewToolDef(d.Raw)
		if err != nil || again.Hash != d.Hash {
			t.Errorf("read again: %v", err)
		}
	})
}
