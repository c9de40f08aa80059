package mcpserver

import (
	"encoding/json"
	"maps"

	"zeroclaw/tools/jsonparts"
)

// The kinds of Question.
const (
	KindCall  = "call"        // whether a call may run
	KindForm  = "elicitation" // what a server asks a person for
	KindReply = "sampling"    // a reply of a model that a server asks for
)

// Question is what a call waits for a person to answer.
type Question struct {
	ID, Kind string
	Call     string          // id of the call
	Text     string          // of KindCall: what is asked, for a person; "" where no text can say it
	Params   json.RawMessage // of the others: the server's request, without secrets
}

// Answer is what the person at a client chose. A call is never allowed for more
// than once from there: what counts for longer is decided in the page.
type Answer struct {
	Decision string // once, deny, accept, decline or cancel
	Content  json.RawMessage
}

// ask is a question that was put to a client.
type ask struct {
	run      *running
	question Question
}

// Asked puts a question to the client whose call it is of. It does not wait.
func (s *Server) Asked(q Question) {
	if run := s.runOf(q.Call); run != nil {
		run.tell(func() {
			run.open[q.ID] = q
			run.asked = append(run.asked, q)
		})
	}
}

// Resolved withdraws a question that was answered, or that nobody answered.
func (s *Server) Resolved(call, question string) {
	if run := s.runOf(call); run != nil {
		run.tell(func() {
			delete(run.open, question)
			run.resolved = append(run.resolved, question)
		})
	}
}

// Reaches reports whether the client of a call can show a person a question, and
// nobody there has put it aside.
func (s *Server) Reaches(q Question) bool {
	run := s.runOf(q.Call)
	if run == nil {
		return false
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	return !run.dismissed[q.ID] && run.can.shows(q)
}

func (s *Server) runOf(id string) *running {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[id]
}

func (c capabilities) shows(q Question) bool {
	switch q.Kind {
	case KindCall:
		return c.forms && q.Text != ""
	case KindReply:
		return c.replies
	case KindForm:
		if jsonparts.Text(member(q.Params, "mode")) == "url" {
			return c.pages
		}
	}
	return c.forms
}

// put is a question as a request to a client: its method and parameters.
func put(q Question) (method string, params json.RawMessage) {
	switch q.Kind {
	case KindForm:
		return "elicitation/create", q.Params
	case KindReply:
		return "sampling/createMessage", q.Params
	}
	out := appendText([]byte(`{"message":`), q.Text)
	out = append(out, `,"requestedSchema":{"type":"object","properties":{"decision":{"type":"string","title":"Decision","enum":["once","deny"],"enumNames":["Allow once","Deny"]}},"required":["decision"]}}`...)
	return "elicitation/create", out
}

// answerTo reads what a client answers to a question. ok is false where it
// settles nothing.
func answerTo(q Question, result json.RawMessage) (a Answer, ok bool) {
	if result == nil {
		return a, false
	}
	if q.Kind == KindReply {
		return Answer{Decision: "accept", Content: result}, true
	}
	action, content := jsonparts.Text(member(result, "action")), member(result, "content")
	if q.Kind == KindForm {
		switch action {
		case "accept", "decline", "cancel":
			return Answer{Decision: action, Content: content}, true
		}
		return a, false
	}
	switch action {
	case "accept":
		// Anything but a clear yes is a no.
		if jsonparts.Text(member(content, "decision")) == "once" {
			return Answer{Decision: "once"}, true
		}
		return Answer{Decision: "deny"}, true
	case "decline":
		return Answer{Decision: "deny"}, true
	}
	return a, false
}

// request asks the client on the stream of its call.
func (s *Server) request(p *reply, c *client, run *running, q Question) {
	if !run.can.shows(q) {
		return
	}
	id := `"` + s.config.NewID() + `"`
	c.mu.Lock()
	c.pending[id] = &ask{run: run, question: q}
	c.mu.Unlock()
	method, params := put(q)
	out := append([]byte(`{"jsonrpc":"2.0","id":`), id...)
	out = append(append(append(out, `,"method":"`+method+`","params":`...), params...), '}')
	if p.send(out) {
		return
	}
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
	s.dismiss(run, q)
}

// dismiss says that the person at the client leaves a question to others.
func (s *Server) dismiss(r *running, q Question) {
	r.mu.Lock()
	r.dismissed[q.ID] = true
	r.mu.Unlock()
	s.config.Dismissed()
}

// withdraw takes a question back that was put to the client.
func (s *Server) withdraw(p *reply, c *client, question string) {
	c.mu.Lock()
	var open []string
	for id, a := range c.pending {
		if a.question.ID == question {
			open = append(open, id)
			delete(c.pending, id)
		}
	}
	c.mu.Unlock()
	for _, id := range open {
		p.send([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `,"reason":"the question was answered elsewhere"}}`))
	}
}

// answered takes a client's response to a request of ours. One that nobody
// waits for any more is dropped.
func (s *Server) answered(c *client, m *message) {
	c.mu.Lock()
	a := c.pending[string(m.id)]
	delete(c.pending, string(m.id))
	c.mu.Unlock()
	if a != nil {
		s.settle(a.run, a.question, m.result)
	}
}

// settle passes a client's answer on. What settles nothing leaves the question
// to the page.
func (s *Server) settle(run *running, q Question, result json.RawMessage) {
	a, ok := answerTo(q, result)
	if !ok {
		s.dismiss(run, q)
		return
	}
	if err := s.config.Answer(q.ID, a); err != nil {
		s.config.Log.Info("an answer of an MCP client came to nothing", "tool", run.call.tool, "err", err)
		s.dismiss(run, q)
	}
}

// abandon drops what a client was asked for a call that has ended.
func (c *client) abandon(run *running) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.pending, func(_ string, a *ask) bool { return a.run == run })
}
