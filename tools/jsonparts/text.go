package jsonparts

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Text decodes a JSON string that is known to be valid, with one copy. What
// is no string is "".
func Text(raw json.RawMessage) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	in := raw[1 : len(raw)-1]
	if bytes.IndexByte(in, '\\') < 0 {
		return validText(string(in))
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
			r := escaped(in)
			if utf16.IsSurrogate(r) {
				if r = utf16.DecodeRune(r, escaped(in[min(6, len(in)):])); r != utf8.RuneError {
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
	return validText(b.String())
}

// validText replaces each byte that is no UTF-8, as encoding/json does.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// escaped reads an escape of the form \u1234, -1 where there is none.
func escaped(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// AppendText appends s, valid UTF-8, as a JSON string without the escapes
// that only HTML needs.
func AppendText(out []byte, s string) []byte {
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
