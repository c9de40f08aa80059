package config

import (
	"errors"
	"fmt"
	"strings"

	"zeroclaw/permissions"
)

// Severity says how much a problem matters.
type Severity string

// An error means that a value is not used as written; a warning changes
// nothing.
const (
	SevereError   Severity = "error"
	SevereWarning Severity = "warning"
)

// Problem is something in the configuration that a person should see. Line and
// Column count from 1, Column in bytes; both are 0 where no place can be named.
type Problem struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Path     string   `json:"path,omitempty"`     // the setting
	Variable string   `json:"variable,omitempty"` // the environment variable that is to blame
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	Message  string   `json:"message"` // what is wrong and what to do; never a secret
}

// The codes of problems.
const (
	CodeUnreadable   = "config_unreadable"    // the file as a whole: nothing of it is used, nothing is saved
	CodeInvalidValue = "invalid_value"        // wrong type, range or choice
	CodeInvalidRule  = "invalid_rule"         // a line of permissions.directories
	CodeUnknownKey   = "unknown_key"          // kept, but without effect
	CodeSecret       = "secret_unreadable"    // a sealed value that cannot be unsealed
	CodePlainSecret  = "secret_plain"         // a secret in plain text that stays so
	CodeIncomplete   = "incomplete"           // an entry that misses something
	CodeUnknownName  = "unknown_name"         // a reference to nothing
	CodeNoEffect     = "no_effect"            // servers that nobody can reach
	CodeFileMode     = "file_mode"            // others may read the file
	CodeOverride     = "environment_override" // an environment variable that is not used
	CodeEnvSecret    = "environment_secret"   // a secret from the environment
)

// String is the problem on one line: "file:line:column: setting: message".
func (p Problem) String() string {
	var b strings.Builder
	switch {
	case p.Variable != "":
		b.WriteString(p.Variable + ": ")
	case p.File != "" && p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	case p.File != "":
		b.WriteString(p.File + ": ")
	}
	if p.Path != "" && p.Variable == "" {
		b.WriteString(p.Path + " ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Errors that callers tell apart.
var (
	// ErrChanged: the file is no longer the version that the edits were made
	// for; nothing was saved. API: 409 config_changed_externally.
	ErrChanged = errors.New("the configuration was changed meanwhile, nothing was saved; load it again")
	// ErrUnrepaired: the file cannot be read, so that saving would lose what
	// is in it.
	ErrUnrepaired = errors.New("the configuration file cannot be read and is not saved over; repair it first")
	// ErrBusy: another save holds the file and does not finish. API: 503
	// config_busy.
	ErrBusy = errors.New("another program is saving the configuration and does not finish; nothing was saved, try again or end it")
	// ErrUnknownPath: no such setting. API: 404 path_not_found.
	ErrUnknownPath = errors.New("unknown setting")
)

// FieldError refuses one edit. API: 400 with Path as the field, 404 for an
// unknown path.
type FieldError struct {
	Path    string
	Message string                    // a sentence without the path
	Lines   []permissions.InvalidRule // bad lines of permissions.directories
	Unknown bool                      // the path is no setting
}

func (e *FieldError) Error() string { return e.Path + " " + e.Message }

// Unwrap makes errors.Is(err, ErrUnknownPath) work.
func (e *FieldError) Unwrap() error {
	if e.Unknown {
		return ErrUnknownPath
	}
	return nil
}
