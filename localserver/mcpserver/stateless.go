package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"zeroclaw/services"
	"zeroclaw/tools/jsonparts"
)

// modernVersion is the revision without protocol sessions.
const modernVersion = "2026-07-28"

// Names in _meta, as that revision defines them.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaServer       = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// statePrefix tells what our clients are told to keep from what servers tell them.
const statePrefix = "zeroclaw:"

// parkTime is how long a call waits for its client to come back with answers,
// outcomeTime how long the outcome of one does that ended meanwhile.
const (
	parkTime    = 10 * time.Minute
	outcomeTime = time.Minute
)

// modern reports whether a request is one of that revision or of a later one.
// Dates compare as texts.
func modern(r *http.Request, m *message) bool {
	return r.Header.Get("MCP-Protocol-Version") >= modernVersion || jsonparts.Text(member(m.param("_meta"), metaVersion)) >= modernVersion
}

// checkModern says what is wrong with the headers and the _meta of a request.
func checkModern(r *http.Request, m *message) *rpcError {
	bad := func(code int, text string) *rpcError {
		return &rpcError{code: code, message: text, status: http.StatusBadRequest}
	}
	header, version := r.Header.Get("MCP-Protocol-Version"), jsonparts.Text(member(m.param("_meta"), metaVersion))
	name := ""
	switch m.method {
	case "tools/call", "prompts/get":
		name = jsonparts.Text(m.param("name"))
	case "resources/read":
		name = jsonparts.Text(m.param("uri"))
	}
	switch {
	case header == "":
		return bad(codeHeaders, "the header MCP-Protocol-Version is missing")
	case version == "":
		return bad(codeInvalidParams, "_meta lacks "+metaVersion)
	case header != version:
		return bad(codeHeaders, "the header MCP-Protocol-Version differs from _meta")
	case version != modernVersion:
		data := appendText([]byte(`{"supported":["`+strings.Join(append([]string{modernVersion}, legacyVersions...), `","`)+`"],"requested":`), version)
		e := bad(codeVersion, "this revision is not spoken here")
		e.data = append(data, '}')
		return e
	case r.Header.Get("Mcp-Method") != m.method:
		return bad(codeHeaders, "the header Mcp-Method differs from the method")
	case name != "" && headerText(r.Header.Get("Mcp-Name")) != name:
		return bad(codeHeaders, "the header Mcp-Name differs from the parameters")
	case m.id != nil && member(m.param("_meta"), metaCapabilities) == nil:
		return bad(codeInvalidParams, "_meta lacks "+metaCapabilities)
	}
	return nil
}

// headerText is what a header says: a text that is no plain ASCII is there in
// base64, as =?base64?…?=. What is no such form is meant as it stands.
func headerText(s string) string {
	if in, ok := strings.CutPrefix(s, "=?base64?"); ok {
		if in, ok = strings.CutSuffix(in, "?="); ok {
			if text, err := base64.StdEncoding.DecodeString(in); err == nil {
				return string(text)
			}
		}
	}
	return s
}

// modernStatus is the HTTP status that the revision gives an error.
func modernStatus(code int) int {
	switch code {
	case codeNoMethod:
		return http.StatusNotFound
	case codeHeaders, codeCapability, codeVersion, codeInvalidRequest, codeInvalidParams, codeParse:
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// stateless answers a message of the revision without sessions.
func (s *Server) stateless(w http.ResponseWriter, r *http.Request, m *message) {
	p := newReply(w, r, m.id)
	p.modern = true
	if failed := checkModern(r, m); failed != nil {
		p.fail(failed)
		return
	}
	if !m.request() {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	caller := s.config.Caller(r)
	want, failed := wantedOf(r, caller)
	if failed == nil {
		switch m.method {
		case "initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
			failed = noMethod(m.method)
		}
	}
	var c *client
	if failed == nil {
		c, failed = s.shared(r.Context(), caller, want)
	}
	if failed != nil {
		p.fail(failed)
		return
	}
	switch m.method {
	case "server/discover":
		p.result(s.about(c, cacheable+`"supportedVersions":["`+
			strings.Join(append([]string{modernVersion}, legacyVersions...), `","`)+`"]`))
	case "tools/list":
		s.list(p, r, c, m)
	case "subscriptions/listen":
		s.subscribe(p, r, c, m)
	default:
		if !s.statelessCall(p, r, c, m) && !s.pass(p, r, c, m) {
			p.fail(noMethod(m.method))
		}
	}
}

// shared returns the client that stands for every request that is asked alike.
// Its session is another one once that would reach something else.
func (s *Server) shared(ctx context.Context, caller Caller, want wanted) (*client, *rpcError) {
	key := want.key(caller)
	s.mu.Lock()
	c := s.clients[key]
	var known any
	if c != nil {
		c.used = s.config.Now()
		known = c.fresh
	}
	s.mu.Unlock()
	if c == nil {
		return s.open(ctx, key, caller, want, modernVersion, capabilities{})
	}
	if now := c.session.State(); c.session.Ended() || now != known && s.config.Sessions.Stale(c.session, c.asked) {
		s.setAside(c)
		return s.open(ctx, key, caller, want, modernVersion, capabilities{})
	} else if now != known {
		s.mu.Lock()
		c.fresh = now
		s.mu.Unlock()
	}
	return c, nil
}

// setAside makes room for another client of the same key. What the old one has
// under way goes on; it is forgotten like others that do nothing.
func (s *Server) setAside(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clients[c.key] == c {
		delete(s.clients, c.key)
		c.key += "\x00" + s.config.NewID()
		s.clients[c.key] = c
	}
}

// statelessCall answers a request that runs through the gate, and reports whether
// it is one. Where the client has to answer a question first, the call waits for
// it to come back with what it was told to keep.
func (s *Server) statelessCall(p *reply, r *http.Request, c *client, m *message) bool {
	made, ok, failed := s.callOf(r.Context(), c, m)
	if !ok {
		return false
	}
	declared := member(m.param("_meta"), metaCapabilities)
	var run *running
	if failed == nil {
		run, failed = s.resume(c, made, m)
	}
	if failed == nil && run == nil {
		if c.server != "" { // what it can do is asked of it by the server, which also told it what to keep
			made.through = &services.Through{Capabilities: declared, State: m.param("requestState"), Responses: m.param("inputResponses")}
		}
		run, failed = s.start(c, capabilitiesOf(declared), made)
		if run != nil {
			run.attended = true
		}
	}
	if failed != nil {
		p.fail(failed)
		return true
	}
	var ask []Question
	a := attendance{server: s, reply: p, run: run, token: m.progressToken(), resolved: func(string) {}}
	a.ask = func(q Question) {
		if run.can.shows(q) {
			ask = append(ask, q)
		}
	}
	a.park = func() bool { return len(ask) > 0 }
	switch ended := a.wait(r.Context()); {
	case ended && s.valid(r):
		s.leave(run)
		s.outcome(p, c, run)
	case !ended && len(ask) > 0 && !p.broken:
		s.park(run)
		p.result(inputRequired(ask, run.id))
	default:
		s.leave(run)
		s.cut(p, r)
	}
	return true
}

// inputRequired is the result that asks a client for answers.
func inputRequired(asked []Question, state string) json.RawMessage {
	out := []byte(`{"resultType":"input_required","inputRequests":{`)
	for i, q := range asked {
		if i > 0 {
			out = append(out, ',')
		}
		method, params := put(q)
		out = appendText(out, q.ID)
		out = append(append(append(out, `:{"method":"`+method+`","params":`...), params...), '}')
	}
	return append(appendText(append(out, `},"requestState":`...), statePrefix+state), '}')
}

// park leaves a call waiting for its client. One that does not come back in
// time has its call cancelled.
func (s *Server) park(run *running) {
	var nth int
	run.tell(func() {
		run.attended = false
		run.parked++
		nth = run.parked
	})
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.work.Go(func() { s.keep(run, nth) })
	}
	s.mu.Unlock()
	if closed {
		s.leave(run)
	}
}

// keep ends a call that was parked for the nth time and that nobody comes back
// to. The outcome of one that ended by itself waits a while.
func (s *Server) keep(run *running, nth int) {
	t := time.NewTimer(parkTime)
	defer t.Stop()
	select {
	case <-t.C:
	case <-run.done:
		t.Reset(outcomeTime)
		select {
		case <-t.C:
		case <-s.closing:
		}
	}
	run.mu.Lock()
	alone := !run.attended && run.parked == nth
	run.attended = run.attended || alone // nobody comes back to it from here on
	run.mu.Unlock()
	if alone {
		s.leave(run)
	}
}

// resume finds the call that a client comes back to, nil for a new one, and
// takes the answers that it brings.
func (s *Server) resume(c *client, made call, m *message) (*running, *rpcError) {
	state := m.param("requestState")
	if state == nil {
		return nil, nil
	}
	gone := &rpcError{code: codeInvalidParams, message: "there is no call with this requestState; call anew", status: http.StatusBadRequest}
	id, ours := strings.CutPrefix(jsonparts.Text(state), statePrefix)
	if !ours && c.server != "" {
		return nil, nil
	}
	run := s.runOf(id)
	// The client may be another one by now, for the same program.
	if run == nil || run.client.caller != c.caller || run.client.server != c.server || run.client.session.Agent != c.session.Agent || run.call.tool != made.tool || run.call.item != made.item {
		return nil, gone
	}
	run.mu.Lock()
	busy := run.attended
	run.attended = true
	open := make([]Question, 0, len(run.open))
	for _, q := range run.open {
		open = append(open, q)
	}
	run.mu.Unlock()
	if busy {
		return nil, gone
	}
	answers := m.param("inputResponses")
	for _, q := range open {
		if result := member(answers, q.ID); result != nil {
			s.settle(run, q, result)
		} else {
			run.tell(func() { run.asked = append(run.asked, q) })
		}
	}
	return run, nil
}
