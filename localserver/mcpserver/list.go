package mcpserver

import (
	"context"
	"encoding/json"
	"net/http"

	"zeroclaw/tools"
)

// list answers tools/list: everything at once.
func (s *Server) list(p *reply, r *http.Request, c *client, m *message) {
	if cursor := m.param("cursor"); cursor != nil && string(cursor) != "null" {
		p.fail(&rpcError{code: codeInvalidParams, message: "there is no such cursor: the list has one page"})
		return
	}
	list, _ := s.known(r.Context(), c)
	p.result(list)
}

// known is the result of tools/list and, where a server is passed through, the
// full names of its tools, made once for each state.
func (s *Server) known(ctx context.Context, c *client) (list json.RawMessage, names map[string]string) {
	now := c.session.State() // read first: what changes meanwhile is encoded next time
	c.mu.Lock()
	list, names = c.list, c.names
	fresh := list != nil && c.at == now
	c.mu.Unlock()
	if fresh {
		return list, names
	}
	list, names = []byte("{"), map[string]string{}
	if c.version == modernVersion {
		list = append(list, cacheable...)
	}
	list = append(list, `"tools":[`...)
	n := 0
	add := func(f func([]byte) []byte) {
		if n++; n > 1 {
			list = append(list, ',')
		}
		list = f(list)
	}
	specs := c.session.Specs(ctx)
	if c.server == "" {
		for _, spec := range specs {
			add(func(out []byte) []byte { return s.appendTool(out, spec, c.version) })
		}
	} else {
		for _, spec := range specs {
			if spec.Server == c.server {
				names[spec.OwnName] = spec.Name
			}
		}
		for _, def := range s.config.Servers.Tools(c.server) {
			if names[def.Name] != "" {
				add(func(out []byte) []byte { return append(out, tools.RedactJSON(def.Raw, s.config.Redact)...) })
			}
		}
	}
	list = append(list, "]}"...)
	c.mu.Lock()
	c.list, c.names, c.at = list, names, now
	c.mu.Unlock()
	return list, names
}

// appendTool adds a definition as MCP clients of a revision take it. What a server
// says in it is passed on without secrets.
func (s *Server) appendTool(out []byte, t tools.Spec, version string) []byte {
	out = appendText(append(out, `{"name":`...), t.Name)
	if t.Title != "" {
		out = appendText(append(out, `,"title":`...), s.config.Redact(t.Title))
	}
	out = appendText(append(out, `,"description":`...), s.config.Redact(t.Description))
	out = append(append(out, `,"inputSchema":`...), tools.RedactJSON(inputSchema(t.InputSchema), s.config.Redact)...)
	if schema := outputSchema(t.OutputSchema, version); schema != nil {
		out = append(append(out, `,"outputSchema":`...), tools.RedactJSON(schema, s.config.Redact)...)
	}
	if notes := annotations(t.Annotations); notes != nil {
		out = append(append(out, `,"annotations":`...), tools.RedactJSON(notes, s.config.Redact)...)
	}
	return append(out, '}')
}
