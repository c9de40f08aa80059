package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// callOptions are the flags of zeroclaw call.
type callOptions struct {
	args    string
	agent   string
	allowed *[]string // nil: whatever the agent reaches
	asJSON  bool
}

// newCall is zeroclaw call.
func newCall(e environment) *cobra.Command {
	var o callOptions
	var allowed []string
	c := &cobra.Command{
		Use: "call TOOL", Short: "Call a tool as a model would, through the same gate",
		Long: strings.TrimSpace(`
Calls a tool of the running companion in a session of its own and prints what it
returns. What no rule covers is asked here when standard input and standard error
are a terminal; otherwise it waits for an answer in the page, and is denied when no
page is open. Ctrl-C cancels the call. Background processes of a command end with
the call. Exits 0 when the tool succeeded, 1 when it failed, 2 for a wrong command
line, 3 when the call was denied and 130 after Ctrl-C.`),
		Example: `  zeroclaw call read_file --args '{"path":"README.md"}'
  echo '{"command":"ls"}' | zeroclaw call execute_command --args -`,
		Args: cobra.ExactArgs(1), ValidArgsFunction: e.complete(toolNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("allowed-tools") {
				o.allowed = &allowed
			}
			return e.call(cmd.Context(), args[0], o)
		},
	}
	f := c.Flags()
	f.StringVar(&o.args, "args", "", "arguments as a JSON object; - reads them from standard input")
	f.StringVar(&o.agent, "agent", "", "agent whose tools and policy count (default: the built-in assistant)")
	f.StringSliceVar(&allowed, "allowed-tools", nil, "the only tools that the session may reach, separated by commas")
	f.BoolVar(&o.asJSON, "json", false, "print the call as JSON")
	e.completeFlag(c, "agent", agentNames)
	return c
}

// outcome is a call as the companion tells it.
type outcome struct {
	CallID     string            `json:"call_id"`
	Tool       string            `json:"tool"`
	Server     string            `json:"server"`
	Status     string            `json:"status"`
	IsError    bool              `json:"is_error"`
	Content    []json.RawMessage `json:"content"`
	Structured json.RawMessage   `json:"structured"`
	Reason     string            `json:"reason"`
	Key        string            `json:"key"`
	ResultID   string            `json:"result_id"`
	Output     []piece           `json:"output"`
	OutputEnd  int64             `json:"output_end"`

	raw json.RawMessage
}

// piece is a part of what a command printed.
type piece struct {
	Stream string `json:"stream"`
	Text   string `json:"text"`
}

// closeTime bounds what a call that is over may still take.
const closeTime = 10 * time.Second

func (e environment) call(ctx context.Context, tool string, o callOptions) error {
	args, err := e.arguments(ctx, o.args)
	if err != nil {
		return err
	}
	c, err := e.client(ctx)
	if err != nil {
		return err
	}
	var session struct {
		ID       string     `json:"id"`
		Tools    []toolView `json:"tools"`
		Warnings []warning  `json:"warnings"`
	}
	open := map[string]any{}
	if o.agent != "" {
		open["agent"] = o.agent
	}
	if o.allowed != nil {
		open["allowed_tools"] = append([]string{}, *o.allowed...)
	}
	if err := c.ask(ctx, "call "+oneLine(tool), "POST", "/api/sessions", open, &session); err != nil {
		var f failure
		if o.agent != "" && errors.As(err, &f) && f.hint == "" {
			f.hint = meant(o.agent, agentNames(ctx, c))
			return f
		}
		return err
	}
	defer func() {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
		defer cancel()
		// A session that cannot be closed ends with the companion.
		_ = c.Do(late, "DELETE", "/api/sessions/"+segment(session.ID), nil, nil)
	}()
	e.warn(session.Warnings)

	f := &follower{client: c, session: session.ID, tool: tool, show: !o.asJSON}
	out, err := f.run(ctx, args)
	if err != nil {
		return err
	}
	if err := f.print(out, o.asJSON); err != nil {
		return err
	}
	return c.judge(ctx, out, o, names(session.Tools))
}

// maxArguments bounds the arguments of a call, in bytes: the companion takes no
// more.
const maxArguments = 4 << 20

// arguments reads the arguments of a call, a JSON object.
func (e environment) arguments(ctx context.Context, text string) (json.RawMessage, error) {
	wrong := func(why string) error {
		return failure{err: fmt.Errorf("use --args: %s", why), hint: `give a JSON object like --args '{"path":"README.md"}'; --args - reads one from standard input`, code: exitUsage}
	}
	raw := []byte(text)
	switch text {
	case "":
		return json.RawMessage(`{}`), nil
	case "-":
		if e.person.answers {
			fmt.Fprintln(e.stderr, "Type the arguments as a JSON object and end them with Ctrl-D.")
		}
		var err error
		if raw, err = readAll(ctx, e.stdin); err != nil {
			return nil, err
		}
	}
	if len(raw) > maxArguments {
		return nil, wrong(fmt.Sprintf("they are over %d MiB", maxArguments>>20))
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, wrong("they are no JSON object: " + oneLine(err.Error()))
	}
	if fields == nil {
		return nil, wrong("they are null, not an object")
	}
	return bytes.TrimSpace(raw), nil
}

// readAll reads standard input to its end, at most one byte more than what
// arguments may have, unless ctx ends first.
func readAll(ctx context.Context, in io.Reader) ([]byte, error) {
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() { // a read cannot be interrupted: after Ctrl-C it ends with the process
		data, err := io.ReadAll(io.LimitReader(in, maxArguments+1))
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			return nil, failure{err: fmt.Errorf("read the arguments from standard input: %w", r.err)}
		}
		return r.data, nil
	case <-ctx.Done():
		return nil, interrupted("read the arguments from standard input")
	}
}

// judge turns how a call ended into the exit code, with what can be done.
func (c client) judge(ctx context.Context, out outcome, o callOptions, reached []string) error {
	doing := "call " + oneLine(out.Tool)
	reason := words(out.Reason)
	switch {
	case ctx.Err() != nil && out.Status == "cancelled":
		return interrupted(doing)
	case out.Status == "ok" && !out.IsError:
		return nil
	case out.Status == "ok":
		return failure{err: fmt.Errorf("%s: the tool reports an error", doing)}
	case out.Key == "unknown_tool":
		return c.unknown(ctx, doing, out, o, reached)
	case out.Status == "denied" && slices.Contains([]string{"server_stopped", "server_down", "tool_gone"}, out.Key):
		return failure{err: fmt.Errorf("%s: %s", doing, reason), hint: c.howToStart(ctx, out.Tool)}
	case out.Status == "denied":
		f := failure{err: fmt.Errorf("%s: %s", doing, reason), code: exitDenied}
		if !strings.HasPrefix(strings.ToLower(reason), "denied") {
			f.err = fmt.Errorf("%s: denied: %s", doing, reason)
		}
		switch out.Key {
		case "nobody_there", "nobody_answered":
			f.hint = "open the page with zeroclaw open, or call from a terminal, to be asked"
		case "tool_off", "tool_denied":
			f.hint = "Settings → Tools changes that"
		}
		return f
	case out.Key == "bad_arguments":
		return failure{err: fmt.Errorf("%s: %s", doing, reason), hint: "zeroclaw tools show " + oneLine(out.Tool) + " prints what it takes"}
	}
	if reason == "" {
		reason = oneLine(out.Status)
	}
	return failure{err: fmt.Errorf("%s: %s", doing, reason)}
}

// unknown is the failure of a tool that the session does not reach: it may be
// there for others, be named in another way, or its service may not run.
func (c client) unknown(ctx context.Context, doing string, out outcome, o callOptions, reached []string) error {
	set, err := c.toolSet(ctx, "")
	if err == nil && slices.Contains(names(set.Tools), out.Tool) {
		i := slices.IndexFunc(set.Tools, func(t toolView) bool { return t.Name == out.Tool })
		if t := set.Tools[i]; t.Origin == "service" && t.State == "offline" {
			return failure{err: fmt.Errorf("%s: its service %s does not run", doing, oneLine(t.Server)), hint: c.howToStart(ctx, out.Tool)}
		}
		who := "the agent"
		if o.agent != "" {
			who += " " + oneLine(o.agent)
		}
		f := failure{err: fmt.Errorf("%s: denied: %s does not reach this tool", doing, who), code: exitDenied}
		f.hint = "zeroclaw tools --agent " + first(o.agent, "assistant") + " lists what it reaches"
		if o.allowed != nil {
			f.hint = "--allowed-tools must name it too; " + f.hint
		}
		return f
	}
	return failure{err: fmt.Errorf("%s: there is no such tool", doing), hint: meant(out.Tool, append(reached, names(set.Tools)...))}
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return oneLine(t)
		}
	}
	return ""
}

// howToStart says how to start the server of a tool.
func (c client) howToStart(ctx context.Context, tool string) string {
	set, err := c.toolSet(ctx, "")
	if err != nil {
		return ""
	}
	for _, t := range set.Tools {
		switch {
		case t.Name != tool:
		case t.Origin == "service":
			return "zeroclaw services start " + oneLine(t.Server)
		case t.Server != "":
			return "zeroclaw servers connect " + oneLine(t.Server)
		}
	}
	return "zeroclaw services and zeroclaw servers list what can be started"
}
