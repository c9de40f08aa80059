package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"zeroclaw/tools/jsonparts"
)

// Error codes of JSON-RPC 2.0 and of MCP.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeHeaders        = -32020 // headers and body differ (2026-07-28)
	codeCapability     = -32021 // the client lacks a capability (2026-07-28)
	codeVersion        = -32022 // no such protocol version (2026-07-28)
)

// rpcAnswer is an error that a server behind us answered with.
type rpcAnswer interface {
	JSONRPC() (code int, message string, data json.RawMessage)
}

// rpcError is a JSON-RPC error with the status that it is sent with, 0 = what the
// revision gives its code.
type rpcError struct {
	code    int
	message string
	data    json.RawMessage
	status  int
}

func (e *rpcError) Error() string { return e.message }

// message is one JSON-RPC message. The parts are those of the body, not copies.
type message struct {
	id     json.RawMessage // nil: none
	method string          // "" for a response
	params json.RawMessage // an object, or nil
	result json.RawMessage // of a response
	failed json.RawMessage // error member of a response
}

// request reports whether the message is to be answered.
func (m *message) request() bool { return m.method != "" && m.id != nil }

// param is one member of the parameters, nil where there is none.
func (m *message) param(name string) json.RawMessage { return member(m.params, name) }

func member(object json.RawMessage, name string) json.RawMessage {
	for key, value := range jsonparts.Members(object) {
		if key == name {
			return value
		}
	}
	return nil
}

// read takes the one message that a request holds.
func (s *Server) read(r *http.Request) (message, *rpcError) {
	body, err := readBody(r)
	switch {
	case err != nil:
		return message{}, &rpcError{code: codeParse, message: "the message could not be read: " + err.Error(), status: http.StatusBadRequest}
	case len(body) > maxMessage:
		return message{}, &rpcError{code: codeInvalidRequest, message: fmt.Sprintf("a message may have at most %d bytes", maxMessage), status: http.StatusRequestEntityTooLarge}
	}
	return s.parse(body)
}

func readBody(r *http.Request) ([]byte, error) {
	limited := io.LimitReader(r.Body, maxMessage+1)
	if n := r.ContentLength; n > 0 && n <= maxMessage {
		body := make([]byte, n)
		_, err := io.ReadFull(limited, body)
		return body, err
	}
	return io.ReadAll(limited)
}

// parse reads a message as JSON-RPC 2.0 describes it.
func (s *Server) parse(body []byte) (message, *rpcError) {
	bad := func(code int, text string) (message, *rpcError) {
		return message{}, &rpcError{code: code, message: text, status: http.StatusBadRequest}
	}
	body = bytes.Trim(body, " \t\r\n")
	if err := s.config.Check(body); err != nil {
		if !json.Valid(body) {
			return bad(codeParse, "the body is no valid JSON")
		}
		return bad(codeInvalidRequest, err.Error())
	}
	switch {
	case body[0] == '[':
		return bad(codeInvalidRequest, "send one message at a time: batches are not taken")
	case body[0] != '{':
		return bad(codeInvalidRequest, "a message is a JSON object")
	}
	var m message
	version := ""
	for key, value := range jsonparts.Members(body) {
		switch key {
		case "jsonrpc":
			version = jsonparts.Text(value)
		case "id":
			m.id = value
		case "method":
			if m.method = jsonparts.Text(value); m.method == "" {
				return bad(codeInvalidRequest, "the method must be a text")
			}
		case "params":
			m.params = value
		case "result":
			m.result = value
		case "error":
			m.failed = value
		}
	}
	switch {
	case version != "2.0":
		return bad(codeInvalidRequest, `a message has "jsonrpc":"2.0"`)
	case m.id != nil && m.id[0] != '"' && m.id[0] != '-' && (m.id[0] < '0' || m.id[0] > '9'):
		return bad(codeInvalidRequest, "an id is a text or a number")
	case m.params != nil && m.params[0] != '{':
		return bad(codeInvalidParams, "params must be an object")
	case m.method == "" && (m.id == nil || m.result == nil && m.failed == nil):
		return bad(codeInvalidRequest, "a message has a method, or an id and a result or an error")
	}
	return m, nil
}
