package store

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		`{"text":"hello","n":5,"x":null,"y":true}`: "hello",
		`{"id":"abc","type":"text","content":[{"type":"text","text":"a"},{"type":"image","data":"data:image/png;base64,AAAA"},"b"],"meta":{"role":"x","note":"c"}}`: "a\nb\nc",
		`{"a":[],"b":{},"c":"x"}`:                        "x",
		`{"id":{"deep":"y"}}`:                            "y",
		`{"data":"` + strings.Repeat("QUJD", 200) + `"}`: "",
		`{"text":"` + strings.Repeat("長い", 300) + `"}`:   strings.Repeat("長い", 300),
		`{"text":"a\u0000b"}`:                            "a b",
		`{"text":"<tool-result server=\"local\" tool=\"read_file\" trust=\"untrusted-external\" boundary=\"ab2\">\nhi <b>\n</tool-result boundary=\"ab2\">"}`: "hi <b>\n",
		`{}`: "",
		`{"text":"text","id":"id","after":"still found"}`: "text\nstill found",
	} {
		if got := words(json.RawMessage(in)); got != want {
			t.Errorf("words(%.60s) = %q, want %q", in, got, want)
		}
	}
	if got := words(json.RawMessage(`{"text":"` + strings.Repeat("é ", maxWords) + `"}`)); len(got) > maxWords || !utf8.ValidString(got) {
		t.Errorf("words of a long message: %d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}

func TestSearch(t *testing.T) {
	s := fresh(t)
	c := must[Conversation](t)(s.CreateConversation(ctx, "Canción 100% bonita", nil))
	if _, _, err := s.Append(ctx, c.ID, 1, 0, []Message{
		msg("user", "The quick brown fox jumps"), msg("assistant", `say "hello" to O'Brien; run zeroclaw_open`), msg("user", "今日は天気がいい"),
		msg("assistant", "un árbol ‹marked›"),
	}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		q    string
		seqs []int64
	}{
		{"quick", []int64{1}}, {"QUICK fox", []int64{1}}, {"fox quick", []int64{1}}, {"jum", []int64{1}}, {"qui fox", nil},
		{"fox wolf", nil}, {`"hello"`, []int64{2}}, {"o'brien", []int64{2}}, {"zeroclaw", []int64{2}}, {"arbol", []int64{4}}, {"天気", []int64{3}},
		{"天気 foo", nil}, {"canción", []int64{0}}, {"100%", []int64{0}}, {"100_", nil}, {"%", nil}, {"", nil}, {"  \t", nil}, {`"`, nil}, {"*", nil},
		{"fox*", []int64{1}}, {"words:fox", nil}, {"fox OR wolf", nil}, {"NOT fox", nil}, {"(fox", []int64{1}}, {"fox)", []int64{1}},
		{"NEAR(fox quick)", nil}, {"fox\x00", []int64{1}}, {"\xff fox", []int64{1}}, {"^fox", []int64{1}}, {"{fox}", []int64{1}}, {"fox'; DROP TABLE messages;--", nil},
	} {
		hits, err := s.Search(ctx, tt.q, 0)
		if err != nil {
			t.Errorf("Search(%q): %v", tt.q, err)
			continue
		}
		var got []int64
		for _, h := range hits {
			got = append(got, h.Seq)
			if h.Conversation != c.ID || h.Title != "Canción 100% bonita" || h.Snippet == "" {
				t.Errorf("Search(%q): %+v", tt.q, h)
			}
		}
		if len(got) != len(tt.seqs) || len(got) > 0 && got[0] != tt.seqs[0] {
			t.Errorf("Search(%q) = %v, want %v", tt.q, got, tt.seqs)
		}
	}
	for q, want := range map[string]string{"brown": "The quick ‹brown› fox jumps", "天気": "今日は‹天気›がいい", "bonita": "Canción 100% ‹bonita›"} {
		if hits := must[[]Hit](t)(s.Search(ctx, q, 0)); len(hits) != 1 || hits[0].Snippet != want {
			t.Errorf("Search(%q) = %+v, want %q", q, hits, want)
		}
	}
	if _, err := s.Search(ctx, strings.Repeat("a ", maxQuery), 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("a long query = %v", err)
	}
	if hits, err := s.Search(ctx, strings.Repeat("zz ", 100), 0); err != nil || len(hits) != 0 {
		t.Errorf("many words = %v, %v", hits, err)
	}
	// What is replaced is no longer found.
	if _, _, err := s.Append(ctx, c.ID, 2, 0, []Message{msg("user", "other")}); err != nil {
		t.Fatal(err)
	}
	if hits := must[[]Hit](t)(s.Search(ctx, "quick", 0)); len(hits) != 0 {
		t.Errorf("a replaced message is found: %+v", hits)
	}
}

func FuzzSearch(f *testing.F) {
	for _, q := range []string{`a"b`, "NEAR(a b)", "天 a", "a* -b", "\x00", "{a}:b"} {
		f.Add(q)
	}
	s := fresh(f)
	c := must[Conversation](f)(s.CreateConversation(ctx, "a b", nil))
	if _, _, err := s.Append(ctx, c.ID, 1, 0, []Message{msg("user", "a b c 天気")}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, q string) {
		if _, err := s.Search(ctx, q, 0); err != nil && !errors.Is(err, ErrInvalid) {
			t.Fatalf("Search(%q): %v", q, err)
		}
	})
}

func FuzzWords(f *testing.F) {
	f.Add(`{"text":"a","content":[{"id":"x","text":"b"}]}`)
	f.Add(`{"id":{"id":["c"]}}`)
	f.Fuzz(func(t *testing.T, data string) {
		got := words(json.RawMessage(data))
		if len(got) > maxWords || !utf8.ValidString(got) || strings.Contains(got, "\x00") {
			t.Fatalf("words(%q) = %q", data, got)
		}
	})
}
