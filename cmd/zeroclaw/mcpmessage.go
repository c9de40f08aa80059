package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"zeroclaw/tools/jsonparts"
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
	err := jsonparts.Split(m.raw, func(name string, value json.RawMessage) {
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
	return m, jsonparts.Split(params, func(name string, value json.RawMessage) {
		switch {
		case name == about && about != "":
			m.name = jsonText(value)
		case name == "requestId" && m.method == "notifications/cancelled":
			m.cancels = value
		case name == "_meta" && bytes.HasPrefix(value, []byte("{")):
			// A broken _meta is for the companion to refuse.
			_ = jsonparts.Split(value, func(name string, value json.RawMessage) {
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
