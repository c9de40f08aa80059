// Package jsonparts finds the parts of a JSON text (RFC 8259) without decoding
// it: an answer of 16 MiB is looked into without another 16 MiB. It is a leaf
// that every package may use.
package jsonparts

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
)

// Members walks through the members of a JSON object that is known to be valid,
// in their order and with those that come twice. The values are parts of raw,
// not copies. Anything but an object has no members.
func Members(raw json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		_ = walk(raw, '{', func(name, value []byte) bool { return yield(Text(name), value) })
	}
}

// Elements walks through the elements of a JSON array that is known to be valid,
// as Members does through an object.
func Elements(raw json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		_ = walk(raw, '[', func(_, value []byte) bool { return yield(value) })
	}
}

// errNotObject is why Split stops.
var errNotObject = errors.New("it is no JSON object")

// Split calls each with the members of an object that nobody has looked at yet.
// It checks the outermost level and that nothing follows; whether the values are
// JSON is for those who read them. What was found before an error has been told.
func Split(raw []byte, each func(name string, value json.RawMessage)) error {
	return walk(raw, '{', func(name, value []byte) bool {
		each(Text(name), value)
		return true
	})
}

// walk tells the parts of the object or array in b, which opens with the given
// bracket, until each says false. The name of an element is nil.
func walk(b []byte, opening byte, each func(name, value []byte) bool) error {
	closing := opening + 2 // in ASCII, for both kinds
	at := space(b, 0)
	if at == len(b) || b[at] != opening {
		return errNotObject
	}
	at = space(b, at+1)
	if at < len(b) && b[at] == closing {
		return nothingAfter(b, at)
	}
	for {
		var name []byte
		if opening == '{' {
			if at == len(b) || b[at] != '"' {
				return errNotObject
			}
			end := stringEnd(b, at)
			if end < 0 {
				return errNotObject
			}
			name = b[at:end]
			if at = space(b, end); at == len(b) || b[at] != ':' {
				return errNotObject
			}
			at = space(b, at+1)
		}
		end := valueEnd(b, at)
		if end < 0 {
			return errNotObject
		}
		if !each(name, b[at:end:end]) {
			return nil
		}
		at = space(b, end)
		switch {
		case at < len(b) && b[at] == ',':
			at = space(b, at+1)
		case at < len(b) && b[at] == closing:
			return nothingAfter(b, at)
		default:
			return errNotObject
		}
	}
}

// nothingAfter checks that nothing follows the bracket at a position.
func nothingAfter(b []byte, at int) error {
	if space(b, at+1) != len(b) {
		return errNotObject
	}
	return nil
}

// space returns the first position from at on that holds no white space.
func space(b []byte, at int) int {
	for at < len(b) && (b[at] == ' ' || b[at] == '\t' || b[at] == '\r' || b[at] == '\n') {
		at++
	}
	return at
}

// StringEnd returns the position after the JSON string that begins at a
// position, len(b) when it has no end.
func StringEnd(b []byte, at int) int {
	if end := stringEnd(b, at); end >= 0 {
		return end
	}
	return len(b)
}

// stringEnd is StringEnd, but -1 for a string without an end.
func stringEnd(b []byte, at int) int {
	for at++; ; at++ {
		n := bytes.IndexByte(b[at:], '"')
		if n < 0 {
			return -1
		}
		at += n
		escapes := 0
		for b[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// valueEnd returns the position after the value that begins at a position, -1
// when none begins there or it has no end.
func valueEnd(b []byte, at int) int {
	depth := 0
	for at < len(b) {
		switch b[at] {
		case '"':
			if at = stringEnd(b, at); at < 0 {
				return -1
			}
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return -1
			}
			at++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return -1
			}
			at++
			continue
		default:
			for at < len(b) && !breaks[b[at]] {
				at++
			}
		}
		if depth == 0 {
			return at
		}
	}
	return -1
}

// breaks are the characters that end a number or a literal.
var breaks = [256]bool{',': true, ':': true, ']': true, '}': true, '[': true, '{': true, '"': true, ' ': true, '\t': true, '\r': true, '\n': true}
