package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"

	"zeroclaw/localserver/session"
	"zeroclaw/services"
	"zeroclaw/tools"
	"zeroclaw/tools/jsonparts"
)

// running is one call under way. Requests of the client attend it: one, or
// without protocol sessions one after the other.
type running struct {
	id     string
	call   call
	client *client
	can    capabilities    // of the client, for questions
	ctx    context.Context // ends with cancel
	cancel context.CancelFunc
	done   chan struct{} // closed once out and err are set
	out    tools.Outcome
	err    error
	news   chan struct{} // capacity 1: something below is new

	mu        sync.Mutex
	progress  []tools.Progress // at most maxNews
	passed    []string         // notifications of the server, encoded; at most maxNews
	asked     []Question
	resolved  []string // ids of questions that are answered
	open      map[string]Question
	dismissed map[string]bool // ids of questions that the client's person leaves to others
	attended  bool
	parked    int    // how often it was
	attend    func() // called once, at the first news, with mu held; nil: somebody attends
}

func (r *running) tell(f func()) {
	r.mu.Lock()
	f()
	if r.attend != nil {
		r.attend()
		r.attend = nil
	}
	r.mu.Unlock()
	select {
	case r.news <- struct{}{}:
	default:
	}
}

// news is what happened to a call.
type news struct {
	passed   []string
	progress []tools.Progress
	asked    []Question
	resolved []string
	waits    bool // for an answer
}

// take is what is new since the last time.
func (r *running) take() news {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := slices.DeleteFunc(r.asked, func(q Question) bool {
		_, open := r.open[q.ID]
		return !open
	})
	n := news{r.passed, r.progress, asked, r.resolved, len(r.open) > 0}
	r.passed, r.progress, r.asked, r.resolved = nil, nil, nil, nil
	return n
}

// start begins a call. It lasts until it ends or is cancelled, whoever attends.
func (s *Server) start(c *client, can capabilities, made call) (*running, *rpcError) {
	run, failed := s.enter(context.Background(), c, can, made)
	if failed == nil {
		go s.do(run)
	}
	return run, failed
}

// enter makes a call known that is to be done: see do. It is cancelled with ctx.
func (s *Server) enter(ctx context.Context, c *client, can capabilities, made call) (*running, *rpcError) {
	ctx, cancel := context.WithCancel(ctx)
	if made.through != nil {
		ctx = services.WithThrough(ctx, *made.through)
	}
	run := &running{
		id: s.config.NewID(), call: made, client: c, can: can, ctx: ctx, cancel: cancel,
		done: make(chan struct{}), news: make(chan struct{}, 1), open: map[string]Question{}, dismissed: map[string]bool{},
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		cancel()
		return nil, &rpcError{code: codeInternal, message: "the companion is ending", status: http.StatusServiceUnavailable}
	}
	s.running[run.id] = run
	s.work.Add(1)
	s.mu.Unlock()
	return run, nil
}

// do runs a call to its end.
func (s *Server) do(run *running) {
	c := run.client
	defer s.work.Done()
	defer run.cancel()
	defer close(run.done)
	run.out, run.err = c.session.Do(run.ctx, run.cancel, tools.Call{ID: run.id, Client: tools.ClientMCP, App: c.app, ClientName: run.call.who, Tool: run.call.tool, Arguments: run.call.args, Item: run.call.item != ""}, func(p tools.Progress) {
		run.tell(func() {
			if len(run.progress) == maxNews {
				run.progress = run.progress[:maxNews-1]
			}
			run.progress = append(run.progress, p)
		})
	})
	s.mu.Lock()
	c.used = s.config.Now()
	s.mu.Unlock()
}

// leave forgets a call that nobody attends any more.
func (s *Server) leave(run *running) {
	run.cancel()
	<-run.done
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, run.id)
}

// call is what a request runs through the gate.
type call struct {
	tool string // full name
	args json.RawMessage
	item string // of a resource or a prompt: what is got; "" for a tool
	who  string // what the client calls itself
	// through is what a server of the revision without sessions gets from a client
	// of the same.
	through *services.Through
}

// callOf reads which call a request is. ok is false for one that is none.
func (s *Server) callOf(ctx context.Context, c *client, m *message) (made call, ok bool, failed *rpcError) {
	missing := func(what string) (call, bool, *rpcError) {
		return call{}, true, &rpcError{code: codeInvalidParams, message: m.method + " lacks the " + what}
	}
	who := c.itself
	if info := member(m.param("_meta"), metaClient); info != nil {
		who = nameIn(info)
	}
	switch {
	case m.method == "tools/call":
		name := jsonparts.Text(m.param("name"))
		if name == "" {
			return missing("name of a tool")
		}
		if c.server != "" {
			own := name
			_, names := s.known(ctx, c)
			if name = names[own]; name == "" {
				return call{}, true, &rpcError{code: codeInvalidParams, message: "there is no tool " + services.Clip(own, 80)}
			}
		}
		return call{tool: name, args: m.param("arguments"), who: who}, true, nil
	case c.server == "":
		return call{}, false, nil
	case m.method == "resources/read":
		uri := jsonparts.Text(m.param("uri"))
		if uri == "" {
			return missing("uri")
		}
		args := appendText([]byte(`{"action":"read","uri":`), c.server+"__"+uri)
		return call{tool: "mcp_resources", args: append(args, '}'), item: uri, who: who}, true, nil
	case m.method == "prompts/get":
		name := jsonparts.Text(m.param("name"))
		if name == "" {
			return missing("name of a prompt")
		}
		args := appendText([]byte(`{"action":"get","name":`), c.server+"__"+name)
		if given := m.param("arguments"); len(given) > 0 && given[0] == '{' {
			args = append(append(args, `,"arguments":`...), given...)
		}
		return call{tool: "mcp_prompts", args: append(args, '}'), item: name, who: who}, true, nil
	}
	return call{}, false, nil
}

// enter takes the id of a call, and reports whether it was free.
func (c *client) enter(key string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.calls[key]; used {
		return false
	}
	c.calls[key] = nil
	return true
}

func (c *client) leave(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, key)
}

// gated answers a request of a session that runs through the gate, and reports
// whether it is one.
func (s *Server) gated(p *reply, r *http.Request, c *client, m *message) bool {
	made, ok, failed := s.callOf(r.Context(), c, m)
	if !ok {
		return false
	}
	if failed != nil {
		p.fail(failed)
		return true
	}
	key := string(m.id)
	if !c.enter(key) { // before anything runs
		p.fail(&rpcError{code: codeInvalidRequest, message: "a request with this id is under way", status: http.StatusBadRequest})
		return true
	}
	defer c.leave(key)
	run, failed := s.enter(r.Context(), c, c.can, made)
	if failed != nil {
		p.fail(failed)
		return true
	}
	defer c.abandon(run)
	defer s.leave(run)
	c.mu.Lock()
	c.calls[key] = run
	c.mu.Unlock()
	a := attendance{server: s, reply: p, run: run, token: m.progressToken()}
	a.ask = func(q Question) { s.request(p, c, run, q) }
	a.resolved = func(id string) { s.withdraw(p, c, id) }
	if a.here(r.Context(), func() { s.do(run) }) && s.valid(r) {
		s.outcome(p, c, run)
	} else {
		s.cut(p, r)
	}
	return true
}

// valid reports whether the token of a request still is: its end cancels calls, in
// no order with the request.
func (s *Server) valid(r *http.Request) bool { return s.config.Caller(r).Valid.Err() == nil }

// outcome answers with how a call ended.
func (s *Server) outcome(p *reply, c *client, run *running) {
	var told rpcAnswer
	o := run.out
	switch {
	case errors.Is(run.err, session.ErrClosed):
		s.forget(c)
		p.fail(&rpcError{code: codeInvalidRequest, status: http.StatusNotFound, message: "the session has ended; initialize again"})
	case run.err != nil:
		p.fail(&rpcError{code: codeInternal, message: run.err.Error()})
	case o.Whole != nil && o.Reason == "":
		p.result(complete(c, run.call.item != "", o.Whole))
	case o.Err != nil && errors.As(o.Err, &told):
		p.fail(s.failed(o.Err))
	case run.call.item != "":
		p.fail(&rpcError{code: codeInvalidParams, message: s.config.Redact(o.Reason)})
	case o.Key == "unknown_tool":
		p.fail(&rpcError{code: codeInvalidParams, message: o.Reason})
	default:
		p.result(complete(c, false, withReason(o.Whole, s.config.Redact(o.Reason))))
	}
}

// withReason is the result of a call that did not end well: why, and behind that
// what there is of its content.
func withReason(whole json.RawMessage, reason string) json.RawMessage {
	out := appendText([]byte(`{"content":[{"type":"text","text":`), reason)
	out = append(out, '}')
	for item := range jsonparts.Elements(member(whole, "content")) {
		out = append(append(out, ','), item...)
	}
	return append(out, `],"isError":true}`...)
}
