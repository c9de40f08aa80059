package tools

import (
	"context"
	"encoding/json"
	"errors"

	"zeroclaw/permissions"
)

// Tool is one callable, local or remote.
type Tool interface {
	Spec() Spec
	// Run performs a call that has been allowed. It returns an error when it
	// did not get to an end: a sentence that says what was tried and what to
	// do. What there is by then may come along in the Result. A failure that
	// the tool itself reports is a Result with IsError. Run must stop soon
	// after ctx ends.
	Run(ctx context.Context, args json.RawMessage) (Result, error)
}

// ErrChanged is what Run returns when the tool is no longer the one that was
// judged. Nothing was done.
var ErrChanged = errors.New("the tool's definition changed meanwhile; nothing was done, call again to ask anew")

// Spec is the definition of a tool as clients and models see it.
type Spec struct {
	Name         string // full name, unique, ^[A-Za-z][A-Za-z0-9_-]{0,63}$
	Origin       permissions.Origin
	Server       string // "" for a local tool
	OwnName      string // the server's own name; equal to Name for a local tool
	Title        string
	Description  string
	InputSchema  json.RawMessage // JSON Schema, an object
	OutputSchema json.RawMessage // nil if none
	Annotations  json.RawMessage // MCP annotations as given, nil if none
}

// Planner is a Tool that touches files or runs commands: Plan says what a
// call would touch, before anything happens and without side effects.
type Planner interface {
	Tool
	Plan(ctx context.Context, args json.RawMessage) (Plan, error)
}

// Plan is what a call would touch. The Runner has it resolved and judged, and
// hands the facts to Run in a Pass.
type Plan struct {
	Uses    []Use
	Command string // execute_command: the text, else ""
	Cwd     string // execute_command: the folder as written, "" for the root
	// Preview makes the diff that a question shows. It is called only when a
	// person is asked, with the resolved facts of Uses; nil where there is none.
	Preview func(ctx context.Context, paths []permissions.Path) (string, error)
}

// Use is one path of a call as the caller wrote it.
type Use struct {
	Path string
	Op   permissions.Op
	Walk bool // everything below is read too
}

// Result is what a call brings back.
type Result struct {
	Content    []Content
	Structured json.RawMessage // an object, or nil
	IsError    bool            // the tool reports a failure
	TimedOut   bool            // the tool ended because its own time was up; the rest is what there is
	Meta       json.RawMessage // MCP _meta, nil if none
	// Whole is the entire MCP result object, valid JSON, where the call asked
	// for it; then Content and Structured are empty. It must not be changed.
	Whole json.RawMessage
}

// Content is one MCP content item. Text items use Text; any other item is kept
// as it came, in Raw.
type Content struct {
	Text string
	Raw  json.RawMessage // nil for a text item; else the entire item with its "type", valid JSON
}

// Text makes a Result of one text item.
func Text(s string) Result { return Result{Content: []Content{{Text: s}}} }
