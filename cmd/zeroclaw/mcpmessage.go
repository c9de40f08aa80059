package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// message is one JSON-RPC message as it came, with what the bridge has to know
// of it.
type message struct {
	raw     []byte
	id      json.RawMessage // nil: nobody waits for an answer
	method  string          // "": a response
	version string          // protocol version that it carries itself, since 2026-07-28; "" before
	name    string          // what a call, a reading or a prompt is about
	cancels json.RawMessage // id of the request that it takes back
}

// subjects are the parameters that say what a request is about, by method.
var subjects = map[string]string{
	"tools/call": "name", "prompts/get": "name", "resources/read": "uri", "resources/subscribe": "uri", "resources/unsubscribe": "uri",
}

// noID is what an error answers that belongs to no known request.
var noID = json.RawMessage("null")

// request reports whether an answer is due.
func (m message) request() bool { return m.id != nil && m.method != "" }

// read reports whether a request may be sent again although it may have been
// received: it changes nothing, or the same once more.
func (m message) read() bool {
	switch m.method {
	case "initialize", "ping", "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read",
		"prompts/list", "prompts/get", "completion/complete", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "subscriptions/listen":
		return true
	}
	return false
}

// newMessage looks at one JSON-RPC message. Only what the bridge needs is
// checked: whoever gets the message judges the rest. A batch is taken as a
// request without an id.
func newMessage(raw []byte) (message, error) {
	m := message{raw: bytes.TrimSpace(raw)}
	if bytes.HasPrefix(m.raw, []byte("[")) {
		m.id, m.method = noID, "batch"
		return m, nil
	}
	var params []byte
	err := members(m.raw, func(name string, value []byte) {
		switch name {
		case "id":
			m.id = value
		case "method":
			m.method = jsonText(value)
		case "params":
			params = value
		}
	})
	if err != nil {
		return m, err
	}
	if !bytes.HasPrefix(params, []byte("{")) {
		return m, nil
	}
	about := subjects[m.method]
	return m, members(params, func(name string, value []byte) {
		switch {
		case name == about && about != "":
			m.name = jsonText(value)
		case name == "requestId" && m.method == "notifications/cancelled":
			m.cancels = value
		case name == "_meta" && bytes.HasPrefix(value, []byte("{")):
			// A broken _meta is for the companion to refuse.
			_ = members(value, func(name string, value []byte) {
				if name == "io.modelcontextprotocol/protocolVersion" {
					m.version = jsonText(value)
				}
			})
		}
	})
}

// jsonText is a JSON string, "" for anything else.
func jsonText(value []byte) string {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return ""
	}
	return s
}

var errNotJSON = errors.New("it is no JSON object")

// members calls each with the members of a JSON object. Values are not looked
// into: answers of 10 MB pass here, and only their outermost members matter.
func members(raw []byte, each func(name string, value []byte)) error {
	at := pastSpace(raw, 0)
	if at == len(raw) || raw[at] != '{' {
		return errNotJSON
	}
	at = pastSpace(raw, at+1)
	if at < len(raw) && raw[at] == '}' {
		return nothingAfter(raw, at)
	}
	for {
		if at >= len(raw) || raw[at] != '"' {
			return errNotJSON
		}
		end, ok := pastValue(raw, at)
		if !ok {
			return errNotJSON
		}
		name := raw[at+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			name = []byte(jsonText(raw[at:end]))
		}
		if at = pastSpace(raw, end); at >= len(raw) || raw[at] != ':' {
			return errNotJSON
		}
		at = pastSpace(raw, at+1)
		if end, ok = pastValue(raw, at); !ok {
			return errNotJSON
		}
		each(string(name), raw[at:end:end])
		at = pastSpace(raw, end)
		switch {
		case at < len(raw) && raw[at] == ',':
			at = pastSpace(raw, at+1)
		case at < len(raw) && raw[at] == '}':
			return nothingAfter(raw, at)
		default:
			return errNotJSON
		}
	}
}

// nothingAfter checks that nothing follows the end of an object.
func nothingAfter(raw []byte, at int) error {
	if pastSpace(raw, at+1) != len(raw) {
		return errNotJSON
	}
	return nil
}

// pastSpace is the next position that holds no white space.
func pastSpace(raw []byte, at int) int {
	for at < len(raw) && (raw[at] == ' ' || raw[at] == '\t' || raw[at] == '\n' || raw[at] == '\r') {
		at++
	}
	return at
}

// pastValue is the position behind the JSON value that begins at a position.
func pastValue(raw []byte, at int) (end int, ok bool) {
	depth := 0
	for at < len(raw) {
		switch raw[at] {
		case '"':
			n := pastString(raw[at:])
			if n == 0 {
				return 0, false
			}
			at += n
		case '{', '[':
			depth++
			at++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return 0, false
			}
			at++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return 0, false
			}
			at++
			continue
		default:
			n := bytes.IndexAny(raw[at:], ",:]}[{\" \t\r\n")
			if n < 0 {
				n = len(raw) - at
			}
			at += n
		}
		if depth == 0 {
			return at, true
		}
	}
	return 0, false
}

// pastString is the length of the JSON string that a text begins with, 0 if it has
// no end.
func pastString(raw []byte) int {
	for at := 1; ; at++ {
		n := bytes.IndexByte(raw[at:], '"')
		if n < 0 {
			return 0
		}
		at += n
		escapes := 0
		for raw[at-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return at + 1
		}
	}
}

// headerValue is a text as the headers Mcp-Name and Mcp-Method carry it: what
// is no plain ASCII is encoded.
func headerValue(s string) string {
	plain := s == strings.Trim(s, " \t") && !strings.HasPrefix(s, "=?base64?")
	for i := range len(s) {
		plain = plain && s[i] >= ' ' && s[i] <= '~'
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// rpcError is an error that a request is answered with.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

// Codes of JSON-RPC that the bridge answers with by itself.
const (
	codeParse   = -32700
	codeInvalid = -32600
	codeServer  = -32000
)

// refused is the answer to a request that failed.
func refused(id json.RawMessage, err error) []byte {
	var e *rpcError
	if !errors.As(err, &e) {
		e = &rpcError{Code: codeServer, Message: "zeroclaw: " + err.Error()}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// Every part is a text, a number or JSON that came through members.
	if enc.Encode(struct {
		JSONRPC string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *rpcError       `json:"error"`
	}{"2.0", id, e}) != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"zeroclaw: the error cannot be written"}}`)
	}
	return bytes.TrimSpace(b.Bytes())
}

// notification is one of the bridge's own. params may be nil.
func notification(method string, params any) []byte {
	raw, err := json.Marshal(struct {
		JSONRPC string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params,omitempty"`
	}{"2.0", method, params})
	if err != nil {
		return nil // its parts are texts, and ids that came as JSON
	}
	return raw
}
