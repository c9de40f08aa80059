package localserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"zeroclaw/localserver/guard"
	"zeroclaw/localserver/mcpserver"
	"zeroclaw/permissions/approval"
	"zeroclaw/tools"
)

// wireMCP makes the endpoint for other MCP clients.
func (s *Server) wireMCP() {
	s.mcp = mcpserver.New(mcpserver.Config{
		Sessions: s.sessions, Servers: s.services,
		Caller: func(r *http.Request) mcpserver.Caller {
			c := guard.From(r)
			return mcpserver.Caller{ID: c.ID, Name: c.Name, Agent: c.Agent, Valid: c.Valid()}
		},
		Check: func(text []byte) error {
			if e := guard.CheckJSON(text); e != nil {
				return e
			}
			return nil
		},
		Answer: func(question string, a mcpserver.Answer) error {
			got := approval.Answer{Decision: approval.Decision(a.Decision), Content: a.Content, By: tools.ClientMCP}
			if wrong := checkContent(s.question(question), got); wrong != "" {
				return fmt.Errorf("%s", wrong)
			}
			return s.broker.Resolve(question, got)
		},
		Dismissed: s.broker.Wake,
		Redact:    s.secrets.Redact, Version: Version, Now: s.config.Now, NewID: newID, Log: s.log,
	})
}

// asked tells everybody who can answer of a question.
func (s *Server) asked(q approval.Question) {
	s.hub.Publish("question.asked", map[string]any{"approval": q})
	s.mcp.Asked(s.forClients(q))
}

// elsewhere reports whether the MCP client of a call can show its question.
func (s *Server) elsewhere(q approval.Question) bool { return s.mcp.Reaches(s.forClients(q)) }

func (s *Server) forClients(q approval.Question) mcpserver.Question {
	out := mcpserver.Question{ID: q.ID, Kind: string(q.Kind), Call: q.CallID, Params: q.Arguments}
	if q.Kind == approval.KindCall {
		out.Text = s.inWords(q)
	}
	return out
}

// maxWords bounds a question that is put into words, in bytes.
const maxWords = 8000

// inWords is a question about a call as one text, for a client that shows texts
// only; "" for one that a text cannot show as it is: too long, or with characters
// that do not show. What a file holds is left out: the client may have no right
// to read it.
func (s *Server) inWords(q approval.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ZeroClaw asks: may the tool %s run?\n%s\n", q.Tool, q.Reason)
	if q.Command != nil {
		fmt.Fprintf(&b, "\nCommand in %s:\n%s\n", q.Command.Cwd, q.Command.Text)
	} else {
		fmt.Fprintf(&b, "\nArguments:\n%s\n", spread(tools.RedactJSON(q.Arguments, s.secrets.Redact)))
	}
	for _, r := range q.Resolved {
		fmt.Fprintf(&b, "%s %s\n", r.Access, r.Path)
	}
	if q.Diff != "" {
		b.WriteString("\nThe ZeroClaw page shows what changes in the file.\n")
	}
	if q.Definition != "" {
		fmt.Fprintf(&b, "\nThe definition of the tool changed:\n%s\n", q.Definition)
	}
	text := s.secrets.Redact(b.String())
	if len(text) > maxWords || tools.ModelText(text, maxWords) != text {
		return ""
	}
	return text
}

func spread(raw json.RawMessage) string {
	out, err := json.MarshalIndent(raw, "", " ")
	if err != nil {
		return string(raw)
	}
	return string(out)
}
