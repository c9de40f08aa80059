package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"zeroclaw/localserver/session"
	"zeroclaw/services"
	"zeroclaw/tools/jsonparts"
)

// capabilities is what a client can do for a person at it.
type capabilities struct {
	forms, pages, replies bool // elicitation of both modes, sampling
}

// client is one MCP client with the session that it works in. One that has no
// protocol session is known by whose it is and what it asked for.
type client struct {
	key     string // session id, or the key of one without
	caller  string // id of its token
	asked   session.OpenRequest
	app     string          // name of a named token, else ""
	itself  string          // what it calls itself, else ""
	server  string          // the one that is passed through, "" = none
	about   json.RawMessage // members of what it is told of the server, see Server.about
	session *session.Session
	version string
	can     capabilities

	// Guarded by Server.mu.
	unbind  func() bool // from the token's end
	streams map[*stream]struct{}
	used    time.Time
	fresh   any // the state of the session that Stale last said no to

	mu      sync.Mutex
	calls   map[string]*running // under way, by the id that the client gave
	pending map[string]*ask     // our requests to the client, by id
	list    []byte              // the result of tools/list
	names   map[string]string   // with a server: full names of tools, by its own
	at      any                 // the state of the session that both are of
}

// capabilitiesOf reads what a client declares.
func capabilitiesOf(raw json.RawMessage) capabilities {
	var out capabilities
	for key, value := range jsonparts.Members(raw) {
		switch key {
		case "elicitation":
			modes := 0
			for mode := range jsonparts.Members(value) {
				modes++
				out.forms = out.forms || mode == "form"
				out.pages = out.pages || mode == "url"
			}
			out.forms = out.forms || modes == 0 // as before there were modes
		case "sampling":
			out.replies = true
		}
	}
	return out
}

// nameIn is what a client calls itself in its clientInfo, untrusted and cut to
// what fits on a line; "" when it does not say.
func nameIn(info json.RawMessage) string {
	return services.Clip(cmp.Or(jsonparts.Text(member(info, "title")), jsonparts.Text(member(info, "name"))), 80)
}

// wanted is what a request asks for in its query.
type wanted struct {
	server  string // "" = none in particular
	agent   string
	allowed *[]string // nil: everything that the agent reaches
}

func wantedOf(r *http.Request, caller Caller) (wanted, *rpcError) {
	// What cannot be read would be left out, and what narrows would not.
	q, err := url.ParseQuery(r.URL.RawQuery)
	out := wanted{server: r.PathValue("server"), agent: q.Get("agent")}
	for name := range q {
		if name != "agent" && name != "allowed_tools" {
			return out, badQuery(fmt.Sprintf("there is no query parameter %q; there is: agent, allowed_tools", services.Clip(name, 80)))
		}
	}
	switch {
	case err != nil:
		return out, badQuery("the query of the address cannot be read (" + services.Clip(err.Error(), 200) + "); write it as ?agent=NAME&allowed_tools=A,B, with other characters as %XX")
	case len(q["agent"]) > 1:
		return out, badQuery("the query parameter agent is there twice; send it once")
	case caller.Agent == "":
	case out.agent == "":
		out.agent = caller.Agent
	case out.agent != caller.Agent:
		return out, &rpcError{code: codeInvalidRequest, status: http.StatusForbidden,
			message: fmt.Sprintf("this token is for the agent %q only", caller.Agent)}
	}
	if q.Has("allowed_tools") {
		names := []string{}
		for name := range strings.SplitSeq(strings.Join(q["allowed_tools"], ","), ",") {
			if name = strings.TrimSpace(name); name != "" {
				names = append(names, name)
			}
		}
		out.allowed = &names
	}
	return out, nil
}

func badQuery(text string) *rpcError {
	return &rpcError{code: codeInvalidRequest, status: http.StatusBadRequest, message: text}
}

// key tells clients without a protocol session apart.
func (w wanted) key(caller Caller) string {
	names := "*"
	if w.allowed != nil {
		text, _ := json.Marshal(*w.allowed) // of texts: it does not fail
		names = string(text)
	}
	return strings.Join([]string{"stateless", caller.ID, w.server, w.agent, names}, "\x00")
}

// open begins a session for a client.
func (s *Server) open(ctx context.Context, key string, caller Caller, w wanted, version string, can capabilities) (*client, *rpcError) {
	asked := session.OpenRequest{Agent: w.agent, AllowedTools: w.allowed}
	one, err := s.config.Sessions.Open(asked)
	if err != nil {
		var unknown *session.UnknownAgentError
		if errors.As(err, &unknown) {
			return nil, &rpcError{code: codeInvalidParams, message: err.Error(), status: http.StatusBadRequest}
		}
		return nil, &rpcError{code: codeInternal, message: err.Error(), status: http.StatusServiceUnavailable}
	}
	c := &client{
		key: key, caller: caller.ID, app: caller.Name, asked: asked, server: w.server, session: one, version: version, can: can,
		streams: map[*stream]struct{}{}, calls: map[string]*running{}, pending: map[string]*ask{},
	}
	if failed := s.introduce(ctx, c); failed != nil {
		_ = s.config.Sessions.CloseSession(one.ID)
		return nil, failed
	}
	s.mu.Lock()
	c.used = s.config.Now()
	closed, first := s.closed, s.clients[key]
	var gone []*client
	switch {
	case first != nil: // of two requests that came at once
		gone = append(gone, c)
		c = first
	case !closed:
		s.clients[key] = c
		gone = s.surplusLocked(c)
	}
	s.mu.Unlock()
	if closed {
		s.retire(c)
		return nil, &rpcError{code: codeInternal, message: "the companion is ending", status: http.StatusServiceUnavailable}
	}
	s.retire(gone...)
	if first == nil {
		stop := context.AfterFunc(caller.Valid, func() { s.cutOff(c) })
		s.mu.Lock()
		c.unbind = stop
		s.mu.Unlock()
	}
	return c, nil
}

// cutOff ends everything of a client whose token is no longer valid, also what
// waits for it to come back.
func (s *Server) cutOff(c *client) {
	s.mu.Lock()
	for _, run := range s.running {
		if run.client == c && !s.closed { // Close cancels every call
			s.work.Go(func() { s.leave(run) })
		}
	}
	s.mu.Unlock()
	s.forget(c)
}

// surplusLocked takes out the clients that did nothing for long, and while there
// are too many the one that was idle longest, of the token that has most: a program
// that never ends its sessions does not end those of others.
func (s *Server) surplusLocked(but *client) (gone []*client) {
	busy := map[*client]bool{but: true}
	for _, run := range s.running {
		busy[run.client] = true
	}
	var idle []*client
	for _, c := range s.clients {
		if !busy[c] && len(c.streams) == 0 {
			idle = append(idle, c)
		}
	}
	slices.SortFunc(idle, func(a, b *client) int { return a.used.Compare(b.used) })
	now := s.config.Now()
	take := func(c *client) {
		delete(s.clients, c.key)
		gone = append(gone, c)
	}
	for len(idle) > 0 && now.Sub(idle[0].used) >= idleTime {
		take(idle[0])
		idle = idle[1:]
	}
	for len(s.clients) > maxClients && len(idle) > 0 {
		have := map[string]int{}
		for _, c := range s.clients {
			have[c.caller]++
		}
		next := 0
		for i, c := range idle {
			if have[c.caller] > have[idle[next].caller] {
				next = i
			}
		}
		take(idle[next])
		idle = slices.Delete(idle, next, next+1)
	}
	return gone
}

// retire ends what belongs to clients that have been taken out.
func (s *Server) retire(gone ...*client) {
	for _, c := range gone {
		s.mu.Lock()
		for st := range c.streams {
			st.close()
		}
		unbind := c.unbind
		s.unwatchLocked(c)
		s.mu.Unlock()
		if unbind != nil {
			unbind()
		}
		_ = s.config.Sessions.CloseSession(c.session.ID) // it may be closed already
	}
}

// find returns the client that a request names in its header.
func (s *Server) find(r *http.Request) (*client, *rpcError) {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		return nil, &rpcError{code: codeInvalidRequest, status: http.StatusBadRequest, message: "the header Mcp-Session-Id is missing: initialize first"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.clients[id]
	// To another token it does not exist.
	if c == nil || c.version == modernVersion || c.server != r.PathValue("server") || c.caller != s.config.Caller(r).ID || c.session.Ended() {
		return nil, &rpcError{code: codeInvalidRequest, status: http.StatusNotFound, message: "there is no such session; initialize again"}
	}
	c.used = s.config.Now()
	return c, nil
}

// forget takes out a client whose session has ended, so that it begins anew.
func (s *Server) forget(c *client) {
	s.mu.Lock()
	if s.clients[c.key] == c {
		delete(s.clients, c.key)
	}
	s.mu.Unlock()
	s.retire(c)
}

// end serves DELETE: the client is done with its session.
func (s *Server) end(w http.ResponseWriter, r *http.Request) {
	c, failed := s.find(r)
	if failed != nil {
		newReply(w, r, nil).fail(failed)
		return
	}
	s.cutOff(c)
	w.WriteHeader(http.StatusNoContent)
}
