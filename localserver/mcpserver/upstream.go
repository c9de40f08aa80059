package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"zeroclaw/services"
	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
)

// cacheable are the members that revision 2026-07-28 wants in what may be cached:
// nothing may, since it changes at any time.
const cacheable = `"resultType":"complete","ttlMs":0,"cacheScope":"private",`

// The tools that an agent needs for what a server has besides tools.
const (
	resourcesTool = "mcp_resources"
	promptsTool   = "mcp_prompts"
)

// passedOn are the capabilities of a server that reach a client.
func passedOn(c *client, raw json.RawMessage) []byte {
	out := []byte{'{'}
	for key, value := range jsonparts.Members(raw) {
		switch {
		case key == "resources" && !c.session.Offers(resourcesTool), key == "prompts" && !c.session.Offers(promptsTool):
		case key == "tools", key == "resources", key == "prompts", key == "completions", key == "logging":
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(appendText(out, key), ':'), value...)
		}
	}
	return append(out, '}')
}

// passes are the requests that go to a server as they are, each with the tool
// that an agent needs for what they are about and, of a list, its name.
var passes = map[string]struct{ tool, list string }{
	"resources/list":           {resourcesTool, "resources"},
	"resources/templates/list": {resourcesTool, "resourceTemplates"},
	"resources/subscribe":      {resourcesTool, ""},
	"resources/unsubscribe":    {resourcesTool, ""},
	"prompts/list":             {promptsTool, "prompts"},
	"completion/complete":      {"", ""},
	"logging/setLevel":         {"", ""},
}

// pass answers what goes to the server as it is, and reports whether the request
// is one of those: what is got from a server runs through the gate instead.
func (s *Server) pass(p *reply, r *http.Request, c *client, m *message) bool {
	what, ok := passes[m.method]
	if c.server == "" || !ok {
		return false
	}
	if failed := admits(c, what.tool, m); failed != nil {
		p.fail(failed)
		return true
	}
	switch m.method {
	case "resources/subscribe":
		s.watch(c, jsonparts.Text(m.param("uri")))
	case "resources/unsubscribe":
		if !s.unwatch(c, jsonparts.Text(m.param("uri"))) { // others still do
			p.result(json.RawMessage(`{}`))
			return true
		}
	}
	raw, err := s.config.Servers.Request(r.Context(), c.server, m.method, without(m.params, "_meta"))
	if err == nil && !json.Valid(raw) {
		err = errors.New("the server's answer is no valid JSON")
	}
	if err != nil {
		p.fail(s.failed(err))
		return true
	}
	if what.list != "" {
		raw = admitted(c, raw, what.list)
	}
	p.result(complete(c, what.list != "", tools.RedactJSON(raw, s.config.Redact)))
	return true
}

// admits refuses a request about what the agent does not reach.
func admits(c *client, tool string, m *message) *rpcError {
	item := ""
	switch m.method {
	case "completion/complete":
		ref := m.param("ref")
		switch jsonparts.Text(member(ref, "type")) {
		case "ref/prompt":
			tool, item = promptsTool, jsonparts.Text(member(ref, "name"))
		case "ref/resource":
			tool, item = resourcesTool, jsonparts.Text(member(ref, "uri"))
		default:
			return &rpcError{code: codeInvalidParams, message: "ref is of no known type"}
		}
	case "resources/subscribe", "resources/unsubscribe":
		if item = jsonparts.Text(m.param("uri")); item == "" {
			return &rpcError{code: codeInvalidParams, message: m.method + " lacks the uri"}
		}
	}
	switch {
	case tool != "" && !c.session.Offers(tool):
		return &rpcError{code: codeNoMethod, message: fmt.Sprintf("%s is not there: the agent %s does not reach the tool %s", m.method, c.session.Agent, tool)}
	case item != "" && !c.session.ReachesItem(c.server, item):
		return &rpcError{code: codeInvalidParams, message: "there is nothing of that name"}
	}
	return nil
}

// failed is why a server did not answer, or what it answered.
func (s *Server) failed(err error) *rpcError {
	e := &rpcError{code: codeInternal, message: err.Error()}
	var told rpcAnswer
	switch {
	case errors.As(err, &told):
		e.code, e.message, e.data = told.JSONRPC()
	case errors.Is(err, services.ErrUnsupported):
		e.code = codeNoMethod
	}
	e.message, e.data = s.config.Redact(e.message), tools.RedactJSON(e.data, s.config.Redact)
	return e
}

// listed are the members that name an item, by the list.
var listed = map[string]string{"resources": "uri", "resourceTemplates": "uriTemplate", "prompts": "name"}

// admitted is a list without the items that the policy does not admit.
func admitted(c *client, raw json.RawMessage, list string) json.RawMessage {
	var out []byte
	all := true
	for key, value := range jsonparts.Members(raw) {
		if len(out) == 0 {
			out = append(out, '{')
		} else {
			out = append(out, ',')
		}
		out = append(appendText(out, key), ':')
		if key != list {
			out = append(out, value...)
			continue
		}
		out = append(out, '[')
		n := 0
		for item := range jsonparts.Elements(value) {
			own := jsonparts.Text(member(item, listed[list]))
			if !c.session.ReachesItem(c.server, own) {
				all = false
				continue
			}
			if n++; n > 1 {
				out = append(out, ',')
			}
			out = append(out, item...)
		}
		out = append(out, ']')
	}
	if all {
		return raw
	}
	return append(out, '}')
}

// without is an object without one member.
func without(raw json.RawMessage, name string) json.RawMessage {
	if member(raw, name) == nil {
		return raw
	}
	out := []byte{'{'}
	for key, value := range jsonparts.Members(raw) {
		if key == name {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(appendText(out, key), ':'), value...)
	}
	return append(out, '}')
}

// complete is a result with the members that the client's revision wants and that
// it may lack.
func complete(c *client, caches bool, raw json.RawMessage) json.RawMessage {
	if c.version != modernVersion || len(raw) < 2 || raw[0] != '{' {
		return raw
	}
	add := []byte{'{'}
	lacks := func(name, value string) {
		if member(raw, name) == nil {
			add = append(add, `"`+name+`":`+value+`,`...)
		}
	}
	lacks("resultType", `"complete"`)
	if caches {
		lacks("ttlMs", "0")
		lacks("cacheScope", `"private"`)
	}
	if len(add) == 1 {
		return raw
	}
	for range jsonparts.Members(raw) {
		return append(add, raw[1:]...)
	}
	return append(add[:len(add)-1], '}')
}
