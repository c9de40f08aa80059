package files

import (
	"bytes"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is how the bytes of a text file stand for characters.
type encoding uint8

// The encodings that are read and kept. Latin-1 is the fallback for text that
// is not valid UTF-8: every byte has a character in it, so nothing is lost.
const (
	encUTF8 encoding = iota
	encUTF8BOM
	encUTF16LE
	encUTF16BE
	encLatin1
)

func (e encoding) String() string {
	return [...]string{"utf-8", "utf-8 with BOM", "utf-16le with BOM", "utf-16be with BOM", "latin-1"}[e]
}

// bom is the byte order mark that a file of this encoding starts with.
func (e encoding) bom() []byte {
	switch e {
	case encUTF8BOM:
		return []byte{0xEF, 0xBB, 0xBF}
	case encUTF16LE:
		return []byte{0xFF, 0xFE}
	case encUTF16BE:
		return []byte{0xFE, 0xFF}
	}
	return nil
}

// unit is the number of bytes of one code unit.
func (e encoding) unit() int64 {
	if e == encUTF16LE || e == encUTF16BE {
		return 2
	}
	return 1
}

// byBOM recognises a byte order mark; without one the encoding is encUTF8
// until the bytes prove otherwise.
func byBOM(head []byte) encoding {
	for _, e := range []encoding{encUTF8BOM, encUTF16LE, encUTF16BE} {
		if bytes.HasPrefix(head, e.bom()) {
			return e
		}
	}
	return encUTF8
}

// encode writes s in e, without a byte order mark. A character that e has no
// bytes for is an error.
func (e encoding) encode(s string) ([]byte, error) {
	switch e {
	case encUTF16LE, encUTF16BE:
		out := make([]byte, 0, 2*len(s))
		for _, r := range s {
			if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
				out = e.appendUnit(e.appendUnit(out, uint16(r1)), uint16(r2))
			} else {
				out = e.appendUnit(out, uint16(r))
			}
		}
		return out, nil
	case encLatin1:
		out := make([]byte, 0, len(s))
		for _, r := range s {
			if r > 0xFF {
				return nil, fmt.Errorf("the file is %s, which has no character %q (%U); use only characters that it has", e, r, r)
			}
			out = append(out, byte(r))
		}
		return out, nil
	}
	return []byte(s), nil
}

// decode reads b, a piece without a byte order mark that starts and ends
// between characters. What stands for no character (half a surrogate pair, bad
// UTF-8) becomes U+FFFD.
func (e encoding) decode(b []byte) string {
	switch e {
	case encUTF16LE, encUTF16BE:
		out := make([]byte, 0, len(b)+len(b)/2)
		for i := 0; i+1 < len(b); i += 2 {
			r := rune(e.unitAt(b, i))
			if utf16.IsSurrogate(r) {
				low := rune(utf8.RuneError)
				if i+3 < len(b) {
					low = rune(e.unitAt(b, i+2))
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					i += 2
				}
			}
			out = utf8.AppendRune(out, r)
		}
		if len(b)%2 == 1 {
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		return string(out)
	case encLatin1:
		out := make([]byte, 0, len(b)+len(b)/8)
		for _, c := range b {
			out = utf8.AppendRune(out, rune(c))
		}
		return string(out)
	}
	if utf8.Valid(b) {
		return string(b)
	}
	return string(bytes.ToValidUTF8(b, []byte("\ufffd")))
}

func (e encoding) unitAt(b []byte, i int) uint16 {
	if e == encUTF16BE {
		return uint16(b[i])<<8 | uint16(b[i+1])
	}
	return uint16(b[i]) | uint16(b[i+1])<<8
}

func (e encoding) appendUnit(b []byte, u uint16) []byte {
	if e == encUTF16BE {
		return append(b, byte(u>>8), byte(u))
	}
	return append(b, byte(u), byte(u>>8))
}

// ascii is the bytes of one ASCII character or string in e.
func (e encoding) ascii(s string) []byte {
	b, _ := e.encode(s)
	return b
}

// index is the offset of the first aligned sep in b, or -1. b starts at a code
// unit.
func (e encoding) index(b, sep []byte) int {
	if e.unit() == 1 {
		return bytes.Index(b, sep)
	}
	for from := 0; ; {
		i := bytes.Index(b[from:], sep)
		if i < 0 {
			return -1
		}
		if i += from; i%2 == 0 {
			return i
		}
		from = i + 1
	}
}

// lastIndex is index from the end.
func (e encoding) lastIndex(b, sep []byte) int {
	for to := len(b); ; {
		i := bytes.LastIndex(b[:to], sep)
		if i < 0 || int64(i)%e.unit() == 0 {
			return i
		}
		to = i + len(sep) - 1
	}
}

// count is the number of aligned sep in b.
func (e encoding) count(b, sep []byte) int64 {
	if e.unit() == 1 {
		return int64(bytes.Count(b, sep))
	}
	n := int64(0)
	for {
		i := e.index(b, sep)
		if i < 0 {
			return n
		}
		n++
		b = b[i+len(sep):]
	}
}

// whole is the length of the longest part of b that does not end inside a
// character.
func (e encoding) whole(b []byte) int {
	n := len(b)
	switch e {
	case encUTF8, encUTF8BOM:
		for back := 1; back <= utf8.UTFMax && back <= n; back++ {
			if utf8.RuneStart(b[n-back]) {
				if !utf8.FullRune(b[n-back:]) {
					return n - back
				}
				break
			}
		}
	case encUTF16LE, encUTF16BE:
		n -= n % 2
		if n >= 2 {
			if u := e.unitAt(b, n-2); u >= 0xD800 && u < 0xDC00 {
				return n - 2
			}
		}
	}
	return n
}
