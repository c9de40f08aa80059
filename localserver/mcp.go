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
	s.mcp.Asked(mcpserver.Question{ID: q.ID, Kind: string(q.Kind), Call: q.CallID, Text: inWords(q), Params: q.Arguments})
}

// elsewhere reports whether the MCP client of a call can show its question.
func (s *Server) elsewhere(q approval.Question) bool {
	return s.mcp.Reaches(q.CallID, string(q.Kind), q.Arguments)
}

// maxWords bounds what of a question's arguments or diff is put into words, in
// bytes.
const maxWords = 4000

// inWords is a question about a call as one text, for a client that shows texts
// only.
func inWords(q approval.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ZeroClaw asks: may the tool %s run?\n%s\n", q.Tool, q.Reason)
	part := func(name, text string) {
		if text == "" {
			return
		}
		if len(text) > maxWords {
			text = text[:maxWords] + "\n[cut; the ZeroClaw page shows all of it]"
		}
		fmt.Fprintf(&b, "\n%s:\n%s\n", name, tools.ModelText(text, maxWords+100))
	}
	if q.Command != nil {
		part("Command in "+q.Command.Cwd, q.Command.Text)
	} else {
		part("Arguments", spread(q.Arguments))
	}
	for _, r := range q.Resolved {
		fmt.Fprintf(&b, "%s %s\n", r.Access, r.Path)
	}
	part("Changes", q.Diff)
	part("The definition of the tool changed", q.Definition)
	return b.String()
}

func spread(raw json.RawMessage) string {
	out, err := json.MarshalIndent(raw, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(out)
}
