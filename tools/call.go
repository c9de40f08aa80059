package tools

import (
	"encoding/json"
	"time"
)

// Call is one request to run a tool, from whatever client.
type Call struct {
	ID           string // unique in the session
	Session      string
	Conversation string
	Agent        string
	Client       string // "page", "cli" or ClientMCP
	App          string // the name of the token that another program came with, else ""
	ClientName   string // what a ClientMCP calls itself: untrusted, may be ""
	Item         bool   // a ClientMCP gets one resource or prompt and wants the server's answer as it came
	Tool         string // full name as asked for
	Arguments    json.RawMessage
}

// ClientMCP is the Client of a call that came from another MCP client: its
// result is passed through whole, see Outcome.Whole.
const ClientMCP = "mcp"

// Owner is what stored results of the call belong to: the conversation, which
// outlives its sessions, or else the session.
func (c Call) Owner() string {
	if c.Conversation != "" {
		return c.Conversation
	}
	return c.Session
}

// Status is where a call stands.
type Status string

// The states of a call. Interrupted is set for a call whose end a crash of the
// companion swallowed.
const (
	Running     Status = "running"
	Waiting     Status = "waiting"
	OK          Status = "ok"
	Failed      Status = "error"
	Denied      Status = "denied"
	TimedOut    Status = "timeout"
	Cancelled   Status = "cancelled"
	Interrupted Status = "interrupted"
)

// Ended reports whether the call is over.
func (s Status) Ended() bool { return s != Running && s != Waiting }

// Outcome is one call as clients see it, from its start to its end.
type Outcome struct {
	CallID     string            `json:"call_id"`
	Tool       string            `json:"tool"`
	Server     string            `json:"server,omitempty"`
	Status     Status            `json:"status"`
	IsError    bool              `json:"is_error"`
	Content    []json.RawMessage `json:"content,omitempty"` // MCP content items, for people
	Structured json.RawMessage   `json:"structured,omitempty"`
	Reason     string            `json:"reason,omitempty"` // why it did not run or failed
	Key        string            `json:"key,omitempty"`    // stable name of Reason, for translation
	Args       map[string]string `json:"args,omitempty"`   // its variables
	Rule       string            `json:"rule,omitempty"`
	Row        int               `json:"row"`
	By         string            `json:"by,omitempty"` // who let it through or refused it: rule, remembered (a setting as well), policy, person
	ResultID   string            `json:"result_id,omitempty"`
	Started    time.Time         `json:"started"`
	DurationMS int64             `json:"duration_ms"`         // without the time a question waited
	WaitedMS   int64             `json:"waited_ms,omitempty"` // how long a question waited
	ModelText  string            `json:"model_text,omitempty"`
	Stop       bool              `json:"stop,omitempty"` // the person also ended the turn
	Partial    bool              `json:"partial,omitempty"`
	Undone     bool              `json:"undone,omitempty"` // a person took the edit back
	// Whole is the MCP result object for a ClientMCP, without secrets; then
	// Content, Structured and ModelText are not filled in.
	Whole json.RawMessage `json:"-"`
	// Err is the error behind Reason of a call that failed, for callers that look
	// for one inside it.
	Err error `json:"-"`
}

// Size is what the content takes up, in bytes.
func (o Outcome) Size() int {
	size := len(o.ModelText) + len(o.Structured) + len(o.Whole)
	for _, item := range o.Content {
		size += len(item)
	}
	return size
}
