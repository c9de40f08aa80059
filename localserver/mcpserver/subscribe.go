package mcpserver

import (
	"encoding/json"
	"net/http"

	"zeroclaw/tools/jsonparts"
)

// subscribe answers subscriptions/listen: the stream lasts until either side
// ends it.
func (s *Server) subscribe(p *reply, r *http.Request, c *client, m *message) {
	if !p.streams {
		p.fail(&rpcError{code: codeInvalidRequest, status: http.StatusNotAcceptable, message: "a stream is sent as text/event-stream, which the header Accept leaves out"})
		return
	}
	wants, allowed := map[string]bool{}, []byte{'{'}
	for key, value := range jsonparts.Members(m.param("notifications")) {
		method := subscriptions[key]
		if method == "" || string(value) != "true" || c.server == "" && method != methodToolsChanged {
			continue
		}
		wants[method] = true
		if len(allowed) > 1 {
			allowed = append(allowed, ',')
		}
		allowed = append(append(allowed, `"`+key+`"`...), `:true`...)
	}
	st, leave, failed := s.listen(c, wants)
	if failed != nil {
		p.fail(failed)
		return
	}
	defer leave()
	meta := `"_meta":{"` + metaSubscription + `":` + string(m.id) + `}`
	p.send([]byte(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{` + meta + `,"notifications":` + string(allowed) + `}}}`))
	s.follow(p, r, st, func(text string) []byte {
		method := jsonparts.Text(member(json.RawMessage(text), "method"))
		return []byte(`{"jsonrpc":"2.0","method":"` + method + `","params":{` + meta + `}}`)
	})
}

// subscriptions are what a client can subscribe to, and what it then gets.
var subscriptions = map[string]string{
	"toolsListChanged":     "notifications/tools/list_changed",
	"promptsListChanged":   "notifications/prompts/list_changed",
	"resourcesListChanged": "notifications/resources/list_changed",
}
