package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"zeroclaw/tools/jsonparts"
)

// message is the outermost level of one JSON-RPC message; the fields are parts
// of the line that was scanned, nil when absent.
type message struct {
	jsonrpc, id, method, params, result, err json.RawMessage
}

// marked reports whether the message calls itself one of JSON-RPC, as a line of a
// log does not.
func (m message) marked() bool { return string(m.jsonrpc) == `"2.0"` }

// neither is why an answer cannot be used that says nothing.
const neither = "the answer of the server has neither a result nor an error"

// inUTF8 is a text in UTF-8, which JSON has to be in: what is passed on as it came
// would end the connection of a client that is strict about it.
func inUTF8(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\uFFFD"))
}

// scanMessage splits a JSON object that is known to be valid. A 16 MiB answer is
// not decoded here.
func scanMessage(b []byte) (m message, ok bool) {
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) == 0 || b[0] != '{' {
		return m, false
	}
	for name, value := range jsonparts.Members(b) {
		switch name {
		case "jsonrpc":
			m.jsonrpc = value
		case "id":
			m.id = value
		case "method":
			m.method = value
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.err = value
		}
	}
	if string(m.id) == "null" {
		m.id = nil
	}
	if string(m.err) == "null" {
		m.err = nil
	}
	return m, true
}

// scanElements splits a JSON array that is known to be valid. Of one with more
// than limit elements it returns the first, and is not ok.
func scanElements(b []byte, limit int) (parts []json.RawMessage, ok bool) {
	if b = bytes.TrimLeft(b, " \t\r\n"); len(b) == 0 || b[0] != '[' {
		return nil, false
	}
	for value := range jsonparts.Elements(b) {
		if len(parts) == limit {
			return parts, false
		}
		parts = append(parts, value)
	}
	return parts, true
}

// maxDepth bounds how deep a message is nested. encoding/json reads 10,000
// levels, and what is taken here is put inside other values later.
const maxDepth = 9_900

// tooDeep is the error for a message that is nested too deeply to be read. Only
// its outermost level is known.
type tooDeep struct {
	id     string          // as received, "" = not known
	method json.RawMessage // nil for an answer
}

func (e *tooDeep) Error() string {
	return fmt.Sprintf("the answer of the server is nested more than %d levels deep, which is not read", maxDepth)
}

// answers reports whether it may be the answer to the request with our id.
func (e *tooDeep) answers(id string) bool {
	return e.method == nil && (e.id == "" || sameID(e.id, id))
}

// checkDepth returns an error for a message, or a batch of them, that is nested
// too deeply, nil for everything else, be it valid or not.
func checkDepth(b []byte) *tooDeep {
	if bytes.Count(b, []byte{'{'})+bytes.Count(b, []byte{'['}) <= maxDepth {
		return nil
	}
	outer, depth := outline(b)
	if depth <= maxDepth || !json.Valid(outer) {
		return nil
	}
	m, ok := scanMessage(outer)
	switch {
	case !ok:
		return &tooDeep{} // a batch
	case m.method == nil && (m.id == nil || m.result == nil && m.err == nil):
		return nil
	}
	return &tooDeep{id: string(m.id), method: m.method}
}

// outline copies the outermost level of a JSON text, in which every object and
// list is left empty, and returns how deep the text is nested. Of what is not
// JSON the copy is not either.
func outline(b []byte) (out []byte, deepest int) {
	depth := 0
	for i := 0; i < len(b); {
		end, kept := i+1, depth < 2
		switch b[i] {
		case '"':
			end = jsonparts.StringEnd(b, i)
		case '{', '[':
			depth++
			deepest, kept = max(deepest, depth), depth <= 2
		case '}', ']':
			kept = depth <= 2
			depth--
		}
		if kept {
			out = append(out, b[i:end]...)
		}
		i = end
	}
	return out, deepest
}
