package localserver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"zeroclaw/localserver/session"
	"zeroclaw/permissions/approval"
	"zeroclaw/services"
	"zeroclaw/tools"
)

// maxQuestion bounds what a server may put before a person, in bytes.
const maxQuestion = 256 << 10

// askPerson answers what a server asks for: a form, a page to open, or a reply
// of a model. It waits as long as any question does.
func (s *Server) askPerson(ctx context.Context, q services.Question) (json.RawMessage, error) {
	if len(q.Params) > maxQuestion {
		return nil, fmt.Errorf("what it asks for has %d bytes; at most %d are shown to a person", len(q.Params), maxQuestion)
	}
	if !isObject(q.Params) {
		return nil, fmt.Errorf("what it asks for is no valid JSON object")
	}
	question := s.serverQuestion(q)
	return answerOf(question.Kind, s.broker.Ask(ctx, question))
}

func isObject(raw json.RawMessage) bool {
	raw = bytes.TrimSpace(raw)
	return len(raw) > 0 && raw[0] == '{' && json.Valid(raw)
}

// serverQuestion is a server's question as every client shows it. What the
// server says in it is untrusted.
func (s *Server) serverQuestion(q services.Question) approval.Question {
	out := approval.Question{
		Kind: approval.KindElicitation, Server: q.Server, Arguments: tools.RedactJSON(q.Params, s.secrets.Redact),
		Key: "server_elicits", Args: map[string]string{"server": q.Server},
		Reason:  fmt.Sprintf("The server %s asks you for something.", q.Server),
		Choices: []approval.Decision{approval.Accept, approval.Decline, approval.Cancel},
	}
	if q.Method == "sampling/createMessage" {
		out.Kind, out.Key = approval.KindSampling, "server_samples"
		out.Reason = fmt.Sprintf("The server %s asks for a reply of your model.", q.Server)
		out.Choices = []approval.Decision{approval.Accept, approval.Deny}
	}
	var params struct {
		Schema json.RawMessage `json:"requestedSchema"`
	}
	if json.Unmarshal(out.Arguments, &params) == nil {
		out.Schema = params.Schema
	}
	id, call := session.CallOf(q.Owner)
	if one, err := s.sessions.Get(id); err == nil {
		out.Session, out.Conversation, out.CallID = id, one.Conversation, call
		if c, err := one.Call(call); err == nil {
			out.Tool = c.Tool
		}
	}
	return out
}

// answerOf is the result object that the server gets. Nobody to ask, or nobody
// answering, is a form that was closed, not a refusal.
func answerOf(kind approval.Kind, r approval.Resolution) (json.RawMessage, error) {
	if kind == approval.KindSampling {
		switch {
		case r.Outcome == approval.Answered && r.Answer.Decision == approval.Accept:
			return r.Answer.Content, nil
		case r.Outcome == approval.Answered:
			return nil, fmt.Errorf("the user declined the request")
		}
		return nil, fmt.Errorf("nobody answered the request")
	}
	action := map[string]any{"action": "cancel"}
	if r.Outcome == approval.Answered {
		switch r.Answer.Decision {
		case approval.Accept:
			action["action"] = "accept"
			if len(r.Answer.Content) > 0 {
				action["content"] = r.Answer.Content
			}
		case approval.Decline, approval.Deny:
			action["action"] = "decline"
		}
	}
	return json.Marshal(action)
}

// checkContent says what is wrong with what a person, or the page for them,
// sends a server.
func checkContent(q approval.Question, a approval.Answer) string {
	if a.Decision != approval.Accept {
		return ""
	}
	var fields map[string]json.RawMessage
	object := json.Unmarshal(a.Content, &fields) == nil && fields != nil
	switch q.Kind {
	case approval.KindSampling:
		if !object || len(fields["role"]) == 0 || len(fields["content"]) == 0 || len(fields["model"]) == 0 {
			return "give the reply as an object with role, model and content"
		}
	case approval.KindElicitation:
		if len(a.Content) > 0 && string(a.Content) != "null" && !object {
			return "give what the form holds as an object"
		}
	}
	return ""
}
