package mcpclient

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
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

// scanMessage splits a JSON object that is known to be valid. It looks at each
// byte once; a 16 MiB answer is not decoded here.
func scanMessage(b []byte) (m message, ok bool) {
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return m, false
	}
	i = skipSpace(b, i+1)
	for i < len(b) && b[i] == '"' {
		end := skipString(b, i)
		key := b[i+1 : end-1]
		i = skipSpace(b, end)
		i = skipSpace(b, i+1) // the colon
		end = skipValue(b, i)
		value := json.RawMessage(b[i:end:end])
		switch string(key) {
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
		i = skipSpace(b, end)
		if i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
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
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '[' {
		return nil, false
	}
	for i = skipSpace(b, i+1); i < len(b) && b[i] != ']'; {
		if len(parts) == limit {
			return parts, false
		}
		end := skipValue(b, i)
		parts = append(parts, json.RawMessage(b[i:end:end]))
		if i = skipSpace(b, end); i < len(b) && b[i] == ',' {
			i = skipSpace(b, i+1)
		}
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
			end = skipString(b, i)
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

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at i.
func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return len(b)
		}
		i += n
		slashes := 0
		for b[i-1-slashes] == '\\' {
			slashes++
		}
		i++
		if slashes%2 == 0 {
			return i
		}
	}
	return len(b)
}

// skipValue returns the index after the value that begins at i.
func skipValue(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		depth := 0
		for i < len(b) {
			switch b[i] {
			case '"':
				i = skipString(b, i)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
			i++
		}
		return len(b)
	}
	for i < len(b) && !bytes.ContainsRune([]byte(",}] \t\r\n"), rune(b[i])) {
		i++
	}
	return i
}
