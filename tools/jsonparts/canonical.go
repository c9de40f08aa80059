package jsonparts

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
)

// AppendCanonical appends a JSON text that is known to be valid with sorted keys,
// without white space and with one spelling for each string, so that equal texts
// are equal bytes. Keys that come twice stay, in their order: a change that hides
// behind one is still a change. Numbers keep their spelling. The result is made
// to be compared or hashed; it is no JSON.
func AppendCanonical(out []byte, raw json.RawMessage) []byte {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return out
	}
	switch raw[0] {
	case '"':
		return appendString(out, raw)
	case '[':
		out = append(out, '[')
		for value := range Elements(raw) {
			out = append(AppendCanonical(out, value), ',')
		}
		return append(out, ']')
	case '{':
		type member struct {
			name        string
			text, value []byte
		}
		var members []member
		_ = walk(raw, '{', func(text, value []byte) bool {
			members = append(members, member{Text(text), text, value})
			return true
		})
		slices.SortStableFunc(members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
		out = append(out, '{')
		for _, m := range members {
			out = append(appendString(out, m.text), ':')
			out = append(AppendCanonical(out, m.value), ',')
		}
		return append(out, '}')
	}
	return append(out, raw...)
}

// appendString appends a JSON string as encoding/json writes it.
func appendString(out []byte, text []byte) []byte {
	if plain(text) {
		return append(out, text...)
	}
	again, err := json.Marshal(Text(text))
	if err != nil { // cannot be: it is a string
		return append(out, text...)
	}
	return append(out, again...)
}

// plain reports whether a string has one spelling, which is this.
func plain(text []byte) bool {
	for _, c := range text[1 : len(text)-1] {
		if c < ' ' || c > '~' || c == '\\' || c == '<' || c == '>' || c == '&' {
			return false
		}
	}
	return true
}
