// Package shell owns execute_command: how a command is started, bounded,
// followed while it runs, ended with everything it started, and what is said
// about the machine and about why it failed.
package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/tools"
	"zeroclaw/tools/process"
)

// Config is what the tool depends on. The zero value works.
type Config struct {
	// Shell is the absolute path of the shell; "" is the user's own by Environ
	// (Windows PowerShell on Windows).
	Shell string
	// Environ is the user's environment; nil is os.Environ. ZEROCLAW_* and
	// variables for which Secret reports true are taken out of it.
	Environ func() []string
	// Secret reports whether a value is, or contains, a configured secret.
	Secret func(value string) bool
	// Path, if set, gives the PATH of commands, for example
	// that of a process.Login. "" leaves the one of Environ.
	Path func(ctx context.Context) string
	// Ledger records children for the sweep of the next start; may be nil.
	Ledger *process.Ledger
	// MaxProcesses is how many processes one command may have; 0 is 1000.
	MaxProcesses int
	// MaxOutput is how many bytes a command in the foreground may write to one
	// stream before it is ended; 0 is 256 MiB.
	MaxOutput int64
	// Now is the clock of time stamps; nil is time.Now.
	Now func() time.Time
}

// Limits that the description of the tool states.
const (
	keepBytes      = 1 << 20 // of each stream, half from its start and half from its end
	maxCommand     = 64 << 10
	maxCwd         = 4096
	defaultTimeout = 60
	maxTimeout     = 600
)

// Shell runs commands and keeps those that go on in the background. Close
// ends it.
type Shell struct {
	c Config

	mu    sync.Mutex
	jobs  map[*job]bool
	ended bool           // Close("") was called
	wg    sync.WaitGroup // the goroutines of all jobs
}

// New makes a Shell.
func New(c Config) *Shell {
	if c.Environ == nil {
		c.Environ = os.Environ
	}
	if c.Shell == "" {
		c.Shell = defaultShell(c.Environ())
	}
	if c.Secret == nil {
		c.Secret = func(string) bool { return false }
	}
	if c.MaxProcesses <= 0 {
		c.MaxProcesses = 1000
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = 256 << 20
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &Shell{c: c, jobs: map[*job]bool{}}
}

// Tool is execute_command.
func (s *Shell) Tool() tools.Tool { return tool{s} }

// tool hides the rest of Shell from those who call tools.
type tool struct{ *Shell }

// arguments of one call.
type arguments struct {
	Command string   `json:"command"`
	Cwd     string   `json:"cwd"`
	Timeout *float64 `json:"timeout_seconds"` // JSON Schema takes 5.0 for an integer
	Back    bool     `json:"background"`
}

const inputSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["command"],
  "properties": {
    "command": {"type": "string", "minLength": 1, "maxLength": 65536, "description": "The command line, exactly as the shell is to read it."},
    "cwd": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "Folder to run in, absolute or relative to the root. It must exist. Default: the root."},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "default": 60, "description": "After this time the command and everything it started is ended. Not applied with background."},
    "background": {"type": "boolean", "default": false, "description": "Start it and return after about a second with the first output. It runs until it ends, is stopped, or the session ends."}
  }
}`

// Spec is the definition of execute_command.
func (tool) Spec() tools.Spec {
	which := "the user's shell"
	if runtime.GOOS == "windows" {
		which = "Windows PowerShell"
	}
	return tools.Spec{
		Name: "execute_command", OwnName: "execute_command", Origin: permissions.OriginLocal,
		Title: "Run a command",
		Description: "Runs one command on the user's machine, in " + which + ", and returns its exit code, standard output and standard error. " +
			"A plain command such as `ls -l docs` runs directly, without a shell, when the rules allow it. " +
			"There is no terminal and standard input is empty, so use flags that answer questions. " +
			"Limits: 1 to 600 seconds (default 60), then everything it started is ended and the output so far is returned; " +
			"1 MiB of each stream is kept, its start and its end; 256 MiB of output or more than 1000 processes end it. " +
			"A process left in the background (`server &`, or background: true) does not hold the call up; it is listed in `running` and ends with the session. " +
			"Each call starts anew in cwd: `cd` and variables do not carry over. " +
			"A failure comes with a diagnosis: system, shell, folder and, where known, the reason and what to do.",
		InputSchema: json.RawMessage(inputSchema),
		Annotations: json.RawMessage(`{"title":"Run a command","readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}`),
	}
}

// Plan says what a call would run and where. Nothing is looked up.
func (tool) Plan(_ context.Context, raw json.RawMessage) (tools.Plan, error) {
	a, err := parse(raw)
	if err != nil {
		return tools.Plan{}, err
	}
	return tools.Plan{Command: a.Command, Cwd: a.Cwd}, nil
}

// parse reads the arguments of a call. Each error names the argument.
func parse(raw json.RawMessage) (arguments, error) {
	var a arguments
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	bad := func(field, message string) (arguments, error) {
		return arguments{}, &tools.ArgumentError{Field: field, Message: message}
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(raw, &given) == nil {
		for name := range given {
			// encoding/json would take "COMMAND" for "command".
			if kinds[name] == "" {
				return bad(name, fmt.Sprintf("unknown argument %q; this tool takes background, command, cwd, timeout_seconds", name))
			}
		}
	}
	if err := d.Decode(&a); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return bad(wrong.Field, fmt.Sprintf("argument %q has the wrong type: it must be %s", wrong.Field, kinds[wrong.Field]))
		}
		return bad("", "the arguments of execute_command cannot be read: "+strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("", "the arguments of execute_command must be one JSON object and nothing behind it")
	}
	switch {
	case strings.TrimSpace(a.Command) == "":
		return bad("command", "argument \"command\" is missing or blank: give the command line to run")
	case len(a.Command) > maxCommand:
		return bad("command", fmt.Sprintf("argument \"command\" has %d bytes, more than %d: write a script file and run that", len(a.Command), maxCommand))
	case strings.ContainsRune(a.Command, 0):
		return bad("command", "argument \"command\" contains a NUL character, which no command line can hold")
	case strings.ContainsRune(a.Cwd, 0):
		return bad("cwd", "argument \"cwd\" contains a NUL character, which no path can hold")
	case len(a.Cwd) > maxCwd:
		return bad("cwd", fmt.Sprintf("argument \"cwd\" has %d bytes, more than a path can have (%d)", len(a.Cwd), maxCwd))
	case a.Timeout != nil && (*a.Timeout < 1 || *a.Timeout > maxTimeout || *a.Timeout != math.Trunc(*a.Timeout)):
		return bad("timeout_seconds", fmt.Sprintf("argument \"timeout_seconds\" is %v: it must be a whole number from 1 to %d", *a.Timeout, maxTimeout))
	}
	return a, nil
}

// kinds names what each argument must be.
var kinds = map[string]string{
	"command": "a string", "cwd": "a string", "timeout_seconds": "a whole number from 1 to 600", "background": "true or false",
}

// timeout of the call; 0 for none.
func (a arguments) timeout() time.Duration {
	switch {
	case a.Back:
		return 0
	case a.Timeout == nil:
		return defaultTimeout * time.Second
	}
	return time.Duration(*a.Timeout) * time.Second
}
