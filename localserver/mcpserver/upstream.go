package mcpserver

import (
	"encoding/json"
	"errors"
	"net/http"

	"zeroclaw/services"
	"zeroclaw/tools"
)

// cacheable are the members that revision 2026-07-28 wants in what may be cached:
// nothing may, since it changes at any time.
const cacheable = `"resultType":"complete","ttlMs":0,"cacheScope":"private",`

// passedOn are the capabilities of a server that reach its clients.
func passedOn(raw json.RawMessage) []byte {
	out := []byte{'{'}
	for key, value := range tools.Members(raw) {
		switch key {
		case "tools", "resources", "prompts", "completions", "logging":
			if len(out) > 1 {
				out = append(out, ',')
			}
			out = append(append(appendText(out, key), ':'), value...)
		}
	}
	return append(out, '}')
}

// pass answers what goes to the server as it is, and reports whether the request
// is one of those: what is got from a server runs through the gate instead.
func (s *Server) pass(p *reply, r *http.Request, c *client, m *message) bool {
	if c.server == "" {
		return false
	}
	lists := ""
	switch m.method {
	case "resources/list":
		lists = "resources"
	case "prompts/list":
		lists = "prompts"
	case "resources/templates/list":
		lists = "resourceTemplates"
	case "completion/complete", "logging/setLevel":
	case "resources/subscribe", "resources/unsubscribe":
		if !s.watch(p, c, m) {
			return true
		}
	default:
		return false
	}
	raw, err := s.config.Servers.Request(r.Context(), c.server, m.method, without(m.params, "_meta"))
	if err == nil && !json.Valid(raw) {
		err = errors.New("the server's answer is no valid JSON")
	}
	if err != nil {
		p.fail(s.failed(c, err))
		return true
	}
	if lists != "" {
		raw = s.admitted(c, raw, lists)
	}
	p.result(complete(c, lists != "", tools.RedactJSON(raw, s.config.Redact)))
	return true
}

// failed is why a server did not answer, or what it answered.
func (s *Server) failed(c *client, err error) *rpcError {
	e := &rpcError{code: codeInternal, message: err.Error()}
	var told interface {
		JSONRPC() (code int, message string, data json.RawMessage)
	}
	switch {
	case errors.As(err, &told):
		e.code, e.message, e.data = told.JSONRPC()
	case errors.Is(err, services.ErrUnsupported):
		e.code = codeNoMethod
	}
	e.message, e.data = s.config.Redact(e.message), tools.RedactJSON(e.data, s.config.Redact)
	if c.version == modernVersion {
		e.status = modernStatus(e.code)
	}
	return e
}

// watch notes that a client watches a resource, or no longer does. It reports
// whether the server is to be told: not while another client still watches.
func (s *Server) watch(p *reply, c *client, m *message) bool {
	uri := tools.JSONText(m.param("uri"))
	if !c.session.ReachesItem(c.server, uri) {
		p.fail(&rpcError{code: codeInvalidParams, message: "there is no such resource"})
		return false
	}
	on := m.method == "resources/subscribe"
	s.mu.Lock()
	others := false
	for _, other := range s.clients {
		others = others || other != c && other.server == c.server && other.watches(uri)
	}
	s.mu.Unlock()
	c.mu.Lock()
	if on {
		c.uris[uri] = true
	} else {
		delete(c.uris, uri)
	}
	c.mu.Unlock()
	if !on && others {
		p.result(json.RawMessage(`{}`))
		return false
	}
	return true
}

func (c *client) watches(uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.uris[uri]
}

// admitted is a list without the items that the policy does not admit.
func (s *Server) admitted(c *client, raw json.RawMessage, list string) json.RawMessage {
	var out []byte
	all := true
	for key, value := range tools.Members(raw) {
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
		for item := range tools.Elements(value) {
			own := tools.JSONText(member(item, "uri"))
			if list != "resources" {
				own = tools.JSONText(member(item, "name"))
			}
			if list != "resourceTemplates" && !c.session.ReachesItem(c.server, own) {
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
	for key, value := range tools.Members(raw) {
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
	for range tools.Members(raw) {
		return append(add, raw[1:]...)
	}
	return append(add[:len(add)-1], '}')
}

// Notified passes on what a server tells: to clients whose call is under way, on
// the answer of that, to others on a stream that they hold open.
func (s *Server) Notified(server, method string, params json.RawMessage) {
	text := ""
	s.mu.Lock()
	defer s.mu.Unlock()
	busy := map[*client]bool{}
	for _, run := range s.running {
		c := run.client
		if c.server != server || busy[c] || !c.wants(method, params) {
			continue
		}
		busy[c] = true
		text = s.notification(text, method, params)
		run.tell(func() {
			if len(run.passed) < maxNews {
				run.passed = append(run.passed, text)
			}
		})
	}
	for _, c := range s.clients {
		if c.server != server || busy[c] || len(c.streams) == 0 || c.version != modernVersion && !c.wants(method, params) {
			continue
		}
		text = s.notification(text, method, params)
		for st := range c.streams {
			// One without sessions may have subscribed on several.
			if st.offer(method, text) && c.version != modernVersion {
				break
			}
		}
	}
}

func (s *Server) notification(made, method string, params json.RawMessage) string {
	if made != "" {
		return made
	}
	return `{"jsonrpc":"2.0","method":"` + method + `","params":` + string(tools.RedactJSON(params, s.config.Redact)) + `}`
}

// wants reports whether a notification is for a client.
func (c *client) wants(method string, params json.RawMessage) bool {
	switch {
	case c.version == modernVersion:
		return false // it says what it wants with subscriptions/listen
	case method == "notifications/resources/updated":
		return c.watches(tools.JSONText(member(params, "uri")))
	}
	return true
}
