package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"zeroclaw/services"
	"zeroclaw/tools/jsonparts"
)

// post serves one message of a client.
func (s *Server) post(w http.ResponseWriter, r *http.Request) {
	m, failed := s.read(r)
	if failed != nil {
		newReply(w, r, m.id).fail(failed)
		return
	}
	if modern(r, &m) {
		s.stateless(w, r, &m)
		return
	}
	p := newReply(w, r, m.id)
	if m.method == "initialize" && m.request() {
		s.initialize(p, r, &m)
		return
	}
	c, failed := s.find(r)
	if failed == nil {
		if v := r.Header.Get("MCP-Protocol-Version"); v != "" && !slices.Contains(legacyVersions, v) {
			failed = &rpcError{code: codeInvalidRequest, status: http.StatusBadRequest, message: "the header MCP-Protocol-Version names no revision that is spoken here"}
		}
	}
	switch {
	case failed != nil:
		p.fail(failed)
	case m.method == "":
		s.answered(c, &m)
		w.WriteHeader(http.StatusAccepted)
	case !m.request():
		if m.method == "notifications/cancelled" {
			c.cancel(m.param("requestId"))
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		s.serve(p, r, c, &m)
	}
}

// serve answers a request of a session.
func (s *Server) serve(p *reply, r *http.Request, c *client, m *message) {
	switch m.method {
	case "ping":
		p.result(json.RawMessage(`{}`))
	case "tools/list":
		s.list(p, r, c, m)
	default:
		if !s.gated(p, r, c, m) && !s.pass(p, r, c, m) {
			p.fail(noMethod(m.method))
		}
	}
}

func noMethod(method string) *rpcError {
	return &rpcError{code: codeNoMethod, message: "there is no method " + services.Clip(method, 80)}
}

// about is what the client is told of the server, after the given members.
func (s *Server) about(c *client, first string) json.RawMessage {
	out := append([]byte("{"+first+","), c.about...)
	if c.version == modernVersion {
		out = append(append(append(out, `,"_meta":{"`+metaServer+`":`...), member(append(append([]byte{'{'}, c.about...), '}'), "serverInfo")...), '}')
	}
	return append(out, '}')
}

// introduce fills in what the client is told of the server.
func (s *Server) introduce(ctx context.Context, c *client) *rpcError {
	name, version, text := "zeroclaw", s.config.Version, ""
	capabilities := []byte(`{"tools":{"listChanged":true}}`)
	if c.server != "" {
		if !c.session.ReachesServer(c.server) {
			return &rpcError{code: codeInvalidParams, status: http.StatusNotFound,
				message: fmt.Sprintf("the agent %s reaches no server of the name %s", c.session.Agent, services.Clip(c.server, 80))}
		}
		info, err := s.config.Servers.About(ctx, c.server)
		if err != nil {
			return &rpcError{code: codeInternal, message: s.config.Redact(err.Error()), status: http.StatusServiceUnavailable}
		}
		name, version = cmp.Or(s.config.Redact(info.ServerName), c.server), s.config.Redact(info.ServerVersion)
		text, capabilities = s.config.Redact(info.Instructions), passedOn(c, info.Capabilities)
	} else if parts := c.session.System(); len(parts) > 0 {
		text = parts[0].Text
	}
	out := append(append([]byte(`"capabilities":`), capabilities...), `,"serverInfo":{"name":`...)
	out = appendText(append(appendText(out, name), `,"version":`...), version)
	out = append(out, '}')
	if text != "" {
		out = appendText(append(out, `,"instructions":`...), text)
	}
	c.about = out
	return nil
}

func appendText(out []byte, s string) []byte { return jsonparts.AppendText(out, s) }
