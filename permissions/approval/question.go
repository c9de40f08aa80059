package approval

import (
	"encoding/json"
	"slices"
	"time"

	"zeroclaw/permissions"
)

// Kind says what a question is about.
type Kind string

// The kinds of questions.
const (
	KindCall        Kind = "call"
	KindElicitation Kind = "elicitation"
	KindSampling    Kind = "sampling"
)

// Decision is what a person can answer.
type Decision string

// The decisions. Rule is "always" with a rule instead of the tool; Stop denies
// and ends the turn. Accept, Decline and Cancel answer an elicitation.
const (
	Once    Decision = "once"
	Session Decision = "session"
	Always  Decision = "always"
	Rule    Decision = "rule"
	Deny    Decision = "deny"
	Stop    Decision = "stop"
	Accept  Decision = "accept"
	Decline Decision = "decline"
	Cancel  Decision = "cancel"
)

// Allows reports whether the decision lets the call run.
func (d Decision) Allows() bool {
	return d == Once || d == Session || d == Always || d == Rule || d == Accept
}

// Question is one question in the form that every client shows.
type Question struct {
	ID           string            `json:"id"`
	Kind         Kind              `json:"kind"`
	Session      string            `json:"session"`
	Conversation string            `json:"conversation,omitempty"`
	CallID       string            `json:"call_id"`
	Agent        string            `json:"agent,omitempty"`
	Client       string            `json:"client,omitempty"`      // who called: "page", "cli" or "mcp"
	App          string            `json:"app,omitempty"`         // of "mcp": the name of its token
	ClientName   string            `json:"client_name,omitempty"` // of "mcp": what it calls itself; untrusted
	Tool         string            `json:"tool"`
	Server       string            `json:"server,omitempty"`
	Title        string            `json:"title,omitempty"`
	Reason       string            `json:"reason"`
	Key          string            `json:"key,omitempty"`  // stable name of Reason, for translation
	Args         map[string]string `json:"args,omitempty"` // its variables
	Rule         string            `json:"rule,omitempty"`
	Row          int               `json:"row"`
	Arguments    json.RawMessage   `json:"arguments"`
	Command      *Command          `json:"command,omitempty"`
	Resolved     []Resolved        `json:"resolved"`
	Diff         string            `json:"diff,omitempty"`
	Definition   string            `json:"definition_diff,omitempty"`
	Schema       json.RawMessage   `json:"schema,omitempty"`
	Choices      []Decision        `json:"choices"`
	Proposed     []string          `json:"proposed_rules,omitempty"`
	Asked        time.Time         `json:"asked"`
	Deadline     time.Time         `json:"deadline"`

	DefinitionHash string `json:"-"` // what "session" and "always" are bound to
}

// Command is the command of a question with the bytes that made it ask.
type Command struct {
	Text  string                   `json:"text"`
	Cwd   string                   `json:"cwd"`
	Class permissions.CommandClass `json:"class"`
	Marks []permissions.Mark       `json:"marks"`
}

// Resolved is one path that the call would touch.
type Resolved struct {
	Path   string         `json:"path"`
	Access string         `json:"access"` // "R" or "W"
	Op     permissions.Op `json:"op"`
}

// Answer is a decision about one question.
type Answer struct {
	Decision Decision
	Reason   string          // given to the model with a denial
	Rule     string          // Rule: the rule to save, one of Question.Proposed
	Content  json.RawMessage // Accept: what the form holds
	By       string          // "page", "cli", "mcp"
}

// Outcome says how a question ended.
type Outcome string

// The outcomes.
const (
	Answered  Outcome = "answered"
	Expired   Outcome = "expired"   // nobody answered before the deadline
	Nobody    Outcome = "nobody"    // there was nobody to ask
	Cancelled Outcome = "cancelled" // the call ended first
)

// Resolution is how a question ended and what was answered.
type Resolution struct {
	Question Question
	Outcome  Outcome
	Answer   Answer
}

// offers reports whether an answer is one that the question allows.
func (q Question) offers(a Answer) bool {
	if !slices.Contains(q.Choices, a.Decision) {
		return false
	}
	return a.Decision != Rule || slices.Contains(q.Proposed, a.Rule)
}
