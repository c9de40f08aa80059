package shell

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"zeroclaw/tools"
	"zeroclaw/tools/process"
)

// facts is what is known about a command when its call returns.
type facts struct {
	system       SystemInfo
	shell        string // "" when it ran without one
	cwd          string
	path         string   // the PATH it had
	words        []string // word-like pieces of the command
	timeout      time.Duration
	maxProcesses int
	maxOutput    int64

	end     end
	state   process.State
	exit    int    // -1: no exit code
	missing string // the program that a command without shell could not be started for
	ours    bool   // we ended it
	tooMany bool
	running []int
	took    time.Duration
}

// structured is the object that docs/api.md describes.
type structured struct {
	ExitCode   *int      `json:"exit_code"` // null: ended by a signal, or still running
	Signal     string    `json:"signal,omitempty"`
	Stdout     string    `json:"stdout"`
	Stderr     string    `json:"stderr"`
	Cwd        string    `json:"cwd"`
	Shell      string    `json:"shell"` // "" when the command ran directly
	TimedOut   bool      `json:"timed_out"`
	Cancelled  bool      `json:"cancelled,omitempty"`
	Truncated  bool      `json:"truncated"`
	OmittedOut int64     `json:"omitted_stdout"`
	OmittedErr int64     `json:"omitted_stderr"`
	Replaced   bool      `json:"replaced_bytes,omitempty"` // some output was no UTF-8
	Running    []int     `json:"running"`
	DurationMS int64     `json:"duration_ms"`
	Diagnosis  Diagnosis `json:"diagnosis"`
}

// result puts everything into the form that people, programs and models read.
func (f facts) result(out, errs kept) tools.Result {
	d := diagnose(f, errs.text, machine{path: f.path, cwd: f.cwd})
	s := structured{
		Signal: f.state.Signal, Stdout: out.text, Stderr: errs.text, Cwd: f.cwd, Shell: f.shell,
		TimedOut: f.end == timedOut, Cancelled: f.end == cancelled,
		Truncated:  out.omitted > 0 || errs.omitted > 0,
		OmittedOut: out.omitted, OmittedErr: errs.omitted, Replaced: out.invalid || errs.invalid,
		Running: f.running, DurationMS: f.took.Milliseconds(), Diagnosis: d,
	}
	if s.Running == nil {
		s.Running = []int{}
	}
	if f.end != goesOn && f.exit >= 0 {
		s.ExitCode = &f.exit
	}
	raw, err := json.Marshal(s)
	if err != nil {
		raw = nil // strings and numbers always marshal
	}
	return tools.Result{
		Content:    []tools.Content{{Text: f.text(s)}},
		Structured: raw,
		IsError:    f.ours,
		TimedOut:   f.end == timedOut,
	}
}

// text is the result as one text item: output first, then what is to be said about it in brackets.
func (f facts) text(s structured) string {
	var b strings.Builder
	part := func(text string) {
		b.WriteString(text)
		if text != "" && !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	part(s.Stdout)
	if s.Stderr != "" {
		b.WriteString("[stderr]\n")
		part(s.Stderr)
	}
	if b.Len() == 0 {
		b.WriteString("[no output]\n")
	}
	if s.Replaced {
		b.WriteString("[some bytes of the output are not UTF-8 and are shown as \uFFFD]\n")
	}
	fmt.Fprintf(&b, "[%s]", f.ending(s))
	if len(s.Running) > 0 {
		fmt.Fprintf(&b, "\n[still running: %s; it goes on until it ends, is stopped by the user, or the session ends]", list(s.Running))
	}
	if s.Diagnosis.Hint != "" {
		fmt.Fprintf(&b, "\n[%s: %s]", s.Diagnosis.Reason, s.Diagnosis.Hint)
	}
	return b.String()
}

// ending is one phrase on how the command ended.
func (f facts) ending(s structured) string {
	took := f.took.Round(time.Millisecond)
	switch {
	case f.end == goesOn && len(s.Running) > 0:
		return "running in the background"
	case f.end == timedOut:
		return fmt.Sprintf("ended after its time of %v was up", f.timeout)
	case f.end == cancelled:
		return fmt.Sprintf("cancelled after %v", took)
	case f.end == flooded || f.tooMany:
		return fmt.Sprintf("ended by the companion after %v", took)
	case s.Signal != "":
		return fmt.Sprintf("ended by %s after %v", s.Signal, took)
	}
	return fmt.Sprintf("exit code %d after %v", f.exit, took)
}

// list names at most ten processes.
func list(pids []int) string {
	var parts []string
	for i, pid := range pids {
		if i == 10 {
			parts = append(parts, fmt.Sprintf("and %d more", len(pids)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("process %d", pid))
	}
	return strings.Join(parts, ", ")
}
