package files

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// applyEdit runs the edit engine on bytes in memory.
func applyEdit(t testing.TB, data []byte, e edit) ([]byte, survey, error) {
	t.Helper()
	f := bytes.NewReader(data)
	s, err := takeSurvey(context.Background(), f, int64(len(data)), nil)
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := e.plan(context.Background(), f, s)
	if err != nil {
		return nil, s, err
	}
	out, err := io.ReadAll(&splice{f: f, size: s.size, pieces: pieces})
	if err != nil {
		t.Fatal(err)
	}
	return out, s, nil
}

func u16(e encoding, s string) string {
	b, err := e.encode(s)
	if err != nil {
		panic(err)
	}
	return string(append(e.bom(), b...))
}

// TestR10 is the table of edits that must change the matched bytes only.
// peer bug L1: line ends of the entire file are rewritten.
// peer bug L3: bytes that are no UTF-8 are replaced.
// peer bug L4: $& and the like in the new text are expanded.
func TestR10(t *testing.T) {
	rep := func(old, new string) edit { return edit{mode: "replace", old: old, new: new} }
	all := func(old, new string) edit { return edit{mode: "replace", old: old, new: new, all: true} }
	app := func(s string) edit { return edit{mode: "append", content: s} }
	wr := func(s string) edit { return edit{mode: "write", content: s} }
	for _, c := range []struct {
		name string
		file string
		e    edit
		want string
		enc  encoding
	}{
		{"LF", "a\nb\nc\n", rep("b", "B"), "a\nB\nc\n", encUTF8},
		{"LF, several lines", "a\nb\nc\n", rep("a\nb", "x\ny\nz"), "x\ny\nz\nc\n", encUTF8},
		{"CRLF", "a\r\nb\r\nc\r\n", rep("b", "B"), "a\r\nB\r\nc\r\n", encUTF8},
		{"CRLF, LF needle", "a\r\nb\r\nc\r\n", rep("a\nb\n", "x\ny\nz\n"), "x\r\ny\r\nz\r\nc\r\n", encUTF8},
		{"CRLF, CRLF needle", "a\r\nb\r\n", rep("a\r\nb", "x\r\ny"), "x\r\ny\r\n", encUTF8},
		{"CRLF, LF in the replacement of one word", "a\r\nb\r\n", rep("a", "x\ny"), "x\r\ny\r\nb\r\n", encUTF8},
		{"LF, CRLF in the call", "a\nb\n", rep("a\r\nb", "x\r\ny"), "x\ny\n", encUTF8},
		{"CRLF, needle of line ends", "a\r\n\r\nb\r\n", rep("\n\n", "\n"), "a\r\nb\r\n", encUTF8},
		{"mixed, nothing else changes", "a\r\nb\nc\r\n", rep("b", "B"), "a\r\nB\nc\r\n", encUTF8},
		{"mixed, LF needle over both", "a\r\nb\nc\r\n", rep("a\nb\nc", "x\ny\nz"), "x\r\ny\nz\r\n", encUTF8},
		{"mixed, more lines than before", "a\nb\r\nc\n", rep("b\n", "x\ny\n"), "a\nx\r\ny\r\nc\n", encUTF8},
		{"mixed, end of the line it is in", "a\nb\r\nc\n", rep("b", "x\ny"), "a\nx\r\ny\r\nc\n", encUTF8},
		{"lone CR is text", "a\rb\r\nc", rep("a\rb", "x"), "x\r\nc", encUTF8},
		{"CRLF made LF by removing CR", "a\r\nb\r\n", all("\r", ""), "a\nb\n", encUTF8},
		{"BOM", "\ufeffa\nb", rep("a", "A"), "\ufeffA\nb", encUTF8BOM},
		{"BOM, first bytes", "\ufeffab", rep("ab", ""), "\ufeff", encUTF8BOM},
		{"BOM kept by write", "\ufeffab", wr("x"), "\ufeffx", encUTF8BOM},
		{"BOM not doubled by write", "\ufeffab", wr("\ufeffx"), "\ufeffx", encUTF8BOM},
		{"Latin-1", "caf\xe9\nx\xff\n", rep("x", "y"), "caf\xe9\ny\xff\n", encLatin1},
		{"Latin-1, needle and replacement", "caf\xe9 \xe0\n", rep("café", "thé"), "th\xe9 \xe0\n", encLatin1},
		{"other 8-bit encodings pass through", "\xc4\xe3\xba\xc3 name\n", rep("name", "id"), "\xc4\xe3\xba\xc3 id\n", encLatin1},
		{"UTF-16 LE", u16(encUTF16LE, "a\r\nbé\r\n"), rep("a\nb", "x\ny"), u16(encUTF16LE, "x\r\nyé\r\n"), encUTF16LE},
		{"UTF-16 BE", u16(encUTF16BE, "a\n😀\n"), rep("😀", "ok 🎉"), u16(encUTF16BE, "a\nok 🎉\n"), encUTF16BE},
		{"UTF-16 matches whole units only", u16(encUTF16LE, "\u6100\u0062a"), rep("a", "z"), u16(encUTF16LE, "\u6100\u0062z"), encUTF16LE},
		{"UTF-16 kept by write", u16(encUTF16BE, "old"), wr("new"), u16(encUTF16BE, "new"), encUTF16BE},
		{"UTF-16 mixed", u16(encUTF16LE, "a\r\nb\nc"), rep("a\nb\nc", "1\n2\n3"), u16(encUTF16LE, "1\r\n2\n3"), encUTF16LE},
		{"UTF-16 with half a surrogate pair elsewhere", "\xff\xfe\x00\xd8a\x00b\x00", rep("b", "c"), "\xff\xfe\x00\xd8a\x00c\x00", encUTF16LE},
		{"no final newline", "a\nb", rep("b", "c"), "a\nc", encUTF8},
		{"no final newline, append", "a\nb", app("c"), "a\nbc", encUTF8},
		{"append follows CRLF", "a\r\n", app("b\nc\n"), "a\r\nb\r\nc\r\n", encUTF8},
		{"append to nothing", "", app("b\n"), "b\n", encUTF8},
		{"write is what was given", "a\nb", wr("x\r\ny\n"), "x\r\ny\n", encUTF8},
		{"write keeps CRLF", "a\r\nb\r\n", wr("x\ny\n"), "x\r\ny\r\n", encUTF8},
		{"$ is literal", "price\n", rep("price", "$& $$ $1 ${x} \\1"), "$& $$ $1 ${x} \\1\n", encUTF8},
		{"regexp in the needle is literal", "a.c abc\n", rep("a.c", "x"), "x abc\n", encUTF8},
		{"all", "k\nk\nk", all("k", "kk"), "kk\nkk\nkk", encUTF8},
		{"all, some the same already", "a\r\na\n", all("a\n", "a\n"), "", encUTF8},
		{"deleted", "abc", rep("b", ""), "ac", encUTF8},
		{"NFC and NFD differ", "e\u0301 é", rep("é", "x"), "e\u0301 x", encUTF8},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, s, err := applyEdit(t, []byte(c.file), c.e)
			if c.want == "" && c.file != "\ufeffab" {
				if !errors.Is(err, errSame) {
					t.Errorf("error = %v, want errSame", err)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("%q became %q, %v; want %q", c.file, got, err, c.want)
			}
			if s.enc != c.enc {
				t.Errorf("encoding = %v, want %v", s.enc, c.enc)
			}
		})
	}
}

// peer bug L5: of several matches the first is changed without a word.
func TestReplaceRefuses(t *testing.T) {
	for _, c := range []struct {
		name, file, old, new string
		want                 []string
	}{
		{"nothing", "abc\n", "x", "y", []string{"does not occur"}},
		{"three", "k\nx\nk\nk", "k", "y", []string{"3 times", "1, 3, 4", "replace_all"}},
		{"overlapping", "xaaax", "aa", "b", []string{"2 times"}},
		{"line end kinds count together", "k\r\nk\n", "k\n", "y", []string{"2 times", "1, 2"}},
		{"many", strings.Repeat("k\n", 20_000), "k", "y", []string{"more than 10000 times", "20, …"}},
		{"character that the encoding lacks, sought", "caf\xe9", "€", "x", []string{"does not occur"}},
		{"character that the encoding lacks, written", "caf\xe9", "caf", "€", []string{"latin-1", "U+20AC"}},
	} {
		_, _, err := applyEdit(t, []byte(c.file), edit{mode: "replace", old: c.old, new: c.new})
		if err == nil {
			t.Errorf("%s: no error", c.name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q lacks %q", c.name, err, w)
			}
		}
	}
	for _, mode := range []string{"write", "append"} {
		if _, _, err := applyEdit(t, []byte("caf\xe9"), edit{mode: mode, content: "€"}); err == nil {
			t.Errorf("%s: a character that Latin-1 lacks was written", mode)
		}
	}
}

func TestBinaryIsNotEditable(t *testing.T) {
	for name, data := range map[string]string{
		"png":         "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
		"late NUL":    strings.Repeat("text\n", 500) + "\x00",
		"utf-32":      "\xff\xfe\x00\x00a\x00\x00\x00",
		"gzip":        "\x1f\x8b\x08\x08\x01\x02\x03\x04\x05\x06",
		"pdf":         "%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n",
		"only a NUL":  "\x00",
		"sqlite":      "SQLite format 3\x00",
		"executable":  "\x7fELF\x02\x01\x01\x00",
		"random high": "\x01\x02\x90\x04\x05\xff\xfe\x07",
	} {
		s, err := takeSurvey(context.Background(), strings.NewReader(data), int64(len(data)), nil)
		if err != nil || !s.binary {
			t.Errorf("%s: binary = %v, %v", name, s.binary, err)
		}
	}
	for name, data := range map[string]string{
		"empty": "", "ansi": "\x1b[31mred\x1b[0m\n", "BM": "BMW\n", "MZ": "MZ is a word", "latin-1": "na\xefve\n", "form feed": "a\fb\n",
		"BM in Latin-1": "BMW f\xfcr alle\n", "gbk": "\xc4\xe3\xba\xc3\n",
	} {
		s, err := takeSurvey(context.Background(), strings.NewReader(data), int64(len(data)), nil)
		if err != nil || s.binary {
			t.Errorf("%s: binary = %v, %v", name, s.binary, err)
		}
	}
}

func TestMatchesAcrossWindows(t *testing.T) {
	defer func(n int) { windowSize = n }(windowSize)
	for windowSize = range 9 {
		for _, needle := range []string{"abc", "a", "cab", "bca"} {
			data := strings.Repeat("abcab", 7)
			got, _, err := applyEdit(t, []byte(data), edit{mode: "replace", old: needle, new: "<>", all: true})
			if want := strings.ReplaceAll(data, needle, "<>"); err != nil || string(got) != want {
				t.Errorf("window %d, %q: %q, %v; want %q", windowSize, needle, got, err, want)
			}
		}
	}
}

// FuzzEdit compares the streaming engine with a plain one, and checks that
// bytes outside the matches stay.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\r\nb\nc"), "a\nb", "x\ny", true, 3)
	f.Add([]byte("k\nk\nk"), "k", "$&", false, 1)
	f.Add([]byte("\xff\xfea\x00\r\x00\n\x00"), "a\n", "b", false, 2)
	f.Add([]byte("caf\xe9 \x80"), "é", "à", false, 5)
	f.Add([]byte("\xef\xbb\xbfaaa"), "aa", "", true, 1)
	f.Fuzz(func(t *testing.T, data []byte, old, new string, all bool, window int) {
		// The decoder of arguments lets nothing else through.
		if old == "" || !utf8.ValidString(old) || !utf8.ValidString(new) {
			return
		}
		defer func(n int) { windowSize = n }(windowSize)
		windowSize = max(0, window%64)
		ref := bytes.NewReader(data)
		s, err := takeSurvey(context.Background(), ref, int64(len(data)), nil)
		if err != nil {
			t.Fatal(err)
		}
		pieces, err := edit{mode: "replace", old: old, new: new, all: all}.plan(context.Background(), ref, s)
		spans := plainMatches(data, old, s, !all)
		if err != nil {
			var m *mismatch
			if errors.As(err, &m) && int(m.count) != len(spans) && !m.more {
				t.Fatalf("counted %d matches, want %d", m.count, len(spans))
			}
			return
		}
		if !all && len(spans) != 1 {
			t.Fatalf("%d matches and no error", len(spans))
		}
		out, err := io.ReadAll(&splice{f: ref, size: s.size, pieces: pieces})
		if err != nil {
			t.Fatal(err)
		}
		// Walk both files: between pieces all bytes are the same.
		at, rest := int64(0), out
		for _, p := range pieces {
			if !contains(spans, p.span) {
				t.Fatalf("piece %v is no match; matches are %v", p.span, spans)
			}
			keep := data[at:p.start]
			if !bytes.HasPrefix(rest, keep) || !bytes.HasPrefix(rest[len(keep):], p.text) {
				t.Fatalf("bytes %d to %d changed", at, p.start)
			}
			rest, at = rest[len(keep)+len(p.text):], p.end
		}
		if !bytes.Equal(rest, data[at:]) {
			t.Fatalf("bytes behind the last match changed")
		}
	})
}

func contains(spans []span, s span) bool {
	for _, x := range spans {
		if x == s {
			return true
		}
	}
	return false
}

// plainMatches is the meaning of a needle, written as simply as possible.
func plainMatches(data []byte, old string, s survey, overlap bool) []span {
	folded := strings.ReplaceAll(old, "\r\n", "\n")
	if strings.Contains(folded, "\r") {
		folded = old
	}
	literal := folded == old && strings.Contains(old, "\r")
	var spans []span
	unit := int(s.enc.unit())
	lf, cr := s.enc.ascii("\n"), s.enc.ascii("\r")
	skip := math.MinInt
	for at := len(s.enc.bom()); at < len(data); at += unit {
		if at < skip {
			continue
		}
		end, ok := at, true
		for _, r := range folded {
			c, err := s.enc.encode(string(r))
			if err != nil {
				return nil
			}
			if r == '\n' && !literal && bytes.HasPrefix(data[end:], append(bytes.Clone(cr), lf...)) {
				end += 2 * unit
				continue
			}
			if ok = bytes.HasPrefix(data[end:], c); !ok {
				break
			}
			end += len(c)
		}
		// The LF of a CR LF is no line end of its own.
		if ok && !literal && strings.HasPrefix(folded, "\n") && bytes.HasPrefix(data[at:], lf) &&
			at-unit >= len(s.enc.bom()) && bytes.HasPrefix(data[at-unit:], cr) {
			ok = false
		}
		if ok {
			spans = append(spans, span{int64(at), int64(end)})
			if !overlap {
				skip = end
			}
		}
	}
	return spans
}
