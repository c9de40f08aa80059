package services

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Connector turns a definition into a connected server.
type Connector interface {
	// Connect starts or reaches the server and shakes hands. It returns when
	// the server can be used, when it failed, or soon after ctx ended, and
	// leaves no process behind unless it returns a Peer. s has been expanded.
	Connect(ctx context.Context, s Spec, h Hooks) (Peer, error)
}

// Peer is one connected MCP server. Its methods may be called from several
// goroutines at once.
//
// What an error says of the server is told by methods of it: Answered() bool,
// true for one that the server gave, or that is about something it did answer,
// so that the connection works; Restartable() bool, true when the connection is
// lost with it, or may be, and a new one may help. Any other error of Call and
// Request means that nothing came through. One of Connect may have Reached()
// bool, true when the server was connected to. One that the server gave as a
// JSON-RPC error has JSONRPC() (code int, message string, data json.RawMessage).
type Peer interface {
	// Tools lists the tools, every page of them, up to MaxTools+1.
	Tools(ctx context.Context) ([]ToolDef, error)
	// Call runs one tool. args is a JSON object (nil = {}). progress may be
	// nil; it is called from the calling goroutine. When ctx ends, the server
	// is told that the call is cancelled.
	Call(ctx context.Context, name string, args json.RawMessage, progress Progress) (CallResult, error)
	// Ping asks for a sign of life.
	Ping(ctx context.Context) error
	// Close ends the connection and verifies that nothing of it is left. A
	// process gets two fifths of the time until ctx's deadline to end by
	// itself after its input was closed, three fifths after it was asked to
	// terminate, then it is killed (no deadline: 2 s and 3 s). The error names
	// what could not be ended.
	Close(ctx context.Context) error
}

// RequestPeer is a Peer that sends the protocol's other requests.
type RequestPeer interface {
	// Request sends one, such as resources/list, and returns the result object
	// as received. params is a JSON object (nil = none). What the server does
	// not declare is not asked: ErrUnsupported.
	Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// RootsPeer is a Peer that passes on that the roots changed.
type RootsPeer interface {
	RootsChanged(ctx context.Context) error
}

// Progress receives what a running call reports: the part that is done, the
// whole (0 = not known) and a text from the server.
type Progress func(done, total float64, message string)

// Hooks is what a connection reports to its owner. Every function is set by
// Supervisor, returns quickly and may be called from any goroutine, also during
// Connect. Roots and Ask may be nil.
type Hooks struct {
	// Log takes one line of the streams "stdout", "stderr", "server" (log
	// notifications) or "companion" (our own remarks).
	Log func(stream, text string)
	// Notice takes a sentence about the server that belongs beside its name.
	Notice func(text string)
	// Info tells what is known about the connection, as soon as it is.
	Info func(Info)
	// ToolsChanged says that the list of tools is to be read again.
	ToolsChanged func()
	// Notified passes on the server's other notifications: log messages, and
	// that resources or prompts changed. params is an object: untrusted.
	Notified func(method string, params json.RawMessage)
	// Closed is called once when the connection was lost, not after Close.
	Closed func(error)
	// Roots answers roots/list.
	Roots func() []Root
	// Ask answers a sampling or elicitation request with the result object;
	// nil = the client does not offer them. Where it is known which call the
	// request belongs to, ctx is that call's.
	Ask func(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
}

// Info is what is known about a connection.
type Info struct {
	// Pid is the process that was started, 0 = none.
	Pid int
	// Command is the argv that was run, with the absolute path of the program.
	Command []string
	// Protocol is the MCP revision in use.
	Protocol string
	// ServerName and ServerVersion are the server's own words about itself.
	ServerName, ServerVersion string
	// Instructions is the server's text for a model: untrusted.
	Instructions string
	// Capabilities is the server's capability object as received.
	Capabilities json.RawMessage
}

// Root is a folder that a server may take for the user's project.
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// ToolCall is one call of a tool.
type ToolCall struct {
	Server, Tool string
	Args         json.RawMessage // a JSON object; nil = {}
	// Definition is the ToolDef.Hash that the call was judged by: a tool that
	// has another one by now is not called, see ErrChanged. "" = whatever it is.
	Definition string
	Progress   Progress // nil = nobody listens
	// Owner names the call to whoever answers what the server asks meanwhile;
	// it is handed to Config.Ask as it is. "" = nobody in particular.
	Owner string
}

// Question is what a server asks a person: a sampling or elicitation request.
type Question struct {
	Server string
	Method string          // "sampling/createMessage" or "elicitation/create"
	Params json.RawMessage // as received: untrusted
	// Owner is that of the call which the request belongs to, the only one
	// under way where the server does not say; "" = not known.
	Owner string
}

// CallResult is what a tool returned.
type CallResult struct {
	// Raw is the MCP result object (content, structuredContent, isError), the
	// bytes as received.
	Raw json.RawMessage
}

// Errors that callers branch on; messages around them say more.
var (
	// ErrUnknown: no server of that name is defined.
	ErrUnknown = errors.New("no such service")
	// ErrNotRunning: the server is not running and is not about to.
	ErrNotRunning = errors.New("not running")
	// ErrNoTool: the server offers no tool of that name.
	ErrNoTool = errors.New("no such tool")
	// ErrChanged: the tool is not the one that the call was judged by. Nothing
	// was sent.
	ErrChanged = errors.New("its definition has changed")
	// ErrUnsupported: the server does not offer this part of the protocol.
	ErrUnsupported = errors.New("does not support")
	// ErrTimeout: a call was silent for too long or took too long. Whether it
	// had an effect is not known; it is never sent again.
	ErrTimeout = errors.New("timed out")
	// ErrPaused: the server failed several times in a row and is left alone
	// for a while. The message says until when.
	ErrPaused = errors.New("no call is sent")
	// ErrDisabled: the definition is switched off.
	ErrDisabled = errors.New("it is switched off in the configuration")
	// ErrStopped: the server was stopped while the call ran.
	ErrStopped = errors.New("was stopped")
)

// ExitError says that a server's process ended by itself.
type ExitError struct {
	// Code is the exit code; it counts when Signal is "".
	Code   int
	Signal string
	// Stderr is the last that it printed there, escaped, at most 2 KiB.
	Stderr string
	// Hint is a sentence about a likely cause, or "".
	Hint string
}

func (e *ExitError) Error() string {
	var b strings.Builder
	switch {
	case e.Signal != "":
		fmt.Fprintf(&b, "the process was ended by %s", e.Signal)
	default:
		fmt.Fprintf(&b, "the process ended with exit code %d", e.Code)
	}
	if e.Stderr != "" {
		fmt.Fprintf(&b, "; it last printed: %s", e.Stderr)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, " (%s)", e.Hint)
	}
	return b.String()
}

// Restartable says that starting again may help.
func (e *ExitError) Restartable() bool { return true }

// wasAnswered reports whether an error is one of a server that did answer, or
// of what it answered, so that the connection works.
func wasAnswered(err error) bool {
	var a interface{ Answered() bool }
	return errors.As(err, &a) && a.Answered()
}

// restartable reports whether err is one that a restart may cure, so that the
// back-off applies. Other failures are shown at once.
func restartable(err error) bool {
	var t interface{ Restartable() bool }
	return errors.As(err, &t) && t.Restartable()
}
