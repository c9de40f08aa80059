package tools

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Members walks through the members of a JSON object that is known to be valid.
// The values are parts of raw, not copies: a result of 16 MiB is looked into
// without another 16 MiB. Anything but an object has no members.
func Members(raw json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		b := bytes.TrimSpace(raw)
		if len(b) == 0 || b[0] != '{' {
			return
		}
		for i := jsonSpace(b, 1); i < len(b)-1; {
			end := jsonString(b, i)
			key := JSONText(b[i:end])
			i = jsonSpace(b, jsonSpace(b, end)+1)
			end = jsonValue(b, i)
			if !yield(key, json.RawMessage(b[i:end:end])) {
				return
			}
			i = jsonNext(b, end)
		}
	}
}

// Elements walks through the elements of a JSON array that is known to be valid,
// as Members does through an object.
func Elements(raw json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		b := bytes.TrimSpace(raw)
		if len(b) == 0 || b[0] != '[' {
			return
		}
		for i := jsonSpace(b, 1); i < len(b)-1; {
			end := jsonValue(b, i)
			if !yield(json.RawMessage(b[i:end:end])) {
				return
			}
			i = jsonNext(b, end)
		}
	}
}

// JSONText decodes a JSON string that is known to be valid, with one copy. What
// is no string is "".
func JSONText(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	in := raw[1 : len(raw)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return strings.ToValidUTF8(string(in), "\uFFFD")
	}
	var b strings.Builder
	b.Grow(len(in))
	for len(in) > 0 {
		n := bytes.IndexByte(in, '\\')
		if n < 0 {
			n = len(in)
		}
		b.Write(in[:n])
		if in = in[n:]; len(in) < 2 {
			break
		}
		switch c := in[1]; c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			r := jsonRune(in)
			if utf16.IsSurrogate(r) {
				if r = utf16.DecodeRune(r, jsonRune(in[min(6, len(in)):])); r != utf8.RuneError {
					in = in[6:]
				}
			}
			b.WriteRune(r)
			in = in[min(6, len(in)):]
			continue
		default:
			b.WriteByte(c)
		}
		in = in[2:]
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// jsonRune reads an escape of the form \u1234, -1 where there is none.
func jsonRune(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// AppendJSONText appends s, valid UTF-8, as a JSON string without the escapes
// that only HTML needs.
func AppendJSONText(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\t':
			out = append(out, '\\', 't')
		case '\r':
			out = append(out, '\\', 'r')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(out, s[from:]...), '"')
}

// The functions below walk through JSON that is known to be valid.

func jsonSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// jsonString returns the index after the string that begins at i.
func jsonString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// jsonValue returns the index after the value that begins at i.
func jsonValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			i = jsonString(b, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default:
			for i < len(b) && !isJSONBreak(b[i]) {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
	return len(b)
}

func isJSONBreak(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\r' || c == '\n'
}

// jsonNext returns the index of the member after the one that ends at i.
func jsonNext(b []byte, i int) int {
	if i = jsonSpace(b, i); i < len(b) && b[i] == ',' {
		i = jsonSpace(b, i+1)
	}
	return i
}
