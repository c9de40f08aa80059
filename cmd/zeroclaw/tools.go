package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// toolView is one tool as the companion lists it.
type toolView struct {
	Name        string          `json:"name"`
	Origin      string          `json:"origin"`
	Server      string          `json:"server"`
	OwnName     string          `json:"own_name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
	Mode        string          `json:"mode"`
	Enabled     bool            `json:"enabled"`
	State       string          `json:"state"`
	Definition  string          `json:"definition"`
	Diff        string          `json:"diff"`
}

// toolSet is a list of tools: all that are known, or those of one agent.
type toolSet struct {
	Tools    []toolView `json:"tools"`
	Warnings []warning  `json:"warnings"`

	raw json.RawMessage
}

// newTools is zeroclaw tools.
func newTools(e environment) *cobra.Command {
	var agent string
	var asJSON bool
	c := &cobra.Command{
		Use: "tools", Short: "List the tools, with their state, mode and switch", Args: cobra.NoArgs,
		Long: strings.TrimSpace(`
Lists every tool that the running companion knows, or with --agent those that a
new session of the agent would reach. MODE is what happens when a tool is called:
ask (rules and remembered answers may allow it), allow or deny. A tool that is off
does not exist for a model. zeroclaw tools show NAME prints what one takes.`),
		Example: "  zeroclaw tools --agent assistant\n  zeroclaw tools show read_file",
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, err := e.toolSet(cmd.Context(), agent)
			if err != nil {
				return err
			}
			e.warn(set.Warnings)
			if asJSON {
				return e.printJSON(set.raw)
			}
			e.printTools(set.Tools)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.PersistentFlags().StringVar(&agent, "agent", "", "list what this agent reaches")
	e.completeFlag(c, "agent", agentNames)
	c.AddCommand(newToolsShow(e, &agent))
	return c
}

func newToolsShow(e environment, agent *string) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "show NAME", Short: "Print what a tool does and takes, and how its definition changed",
		Args: cobra.ExactArgs(1), ValidArgsFunction: e.complete(toolNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			set, err := e.toolSet(cmd.Context(), *agent)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(set.Tools, func(t toolView) bool { return t.Name == args[0] })
			if i < 0 {
				return failure{err: fmt.Errorf("show %s: there is no such tool now", oneLine(args[0])), hint: meant(args[0], names(set.Tools))}
			}
			if !asJSON {
				e.printTool(set.Tools[i])
				return nil
			}
			var all struct{ Tools []json.RawMessage }
			if err := json.Unmarshal(set.raw, &all); err != nil {
				return failure{err: fmt.Errorf("read the list of tools: %w", err)}
			}
			return e.printJSON(all.Tools[i])
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// toolSet asks for all tools, or with an agent for those that it reaches.
func (e environment) toolSet(ctx context.Context, agent string) (toolSet, error) {
	c, err := e.client(ctx)
	if err != nil {
		return toolSet{}, err
	}
	return c.toolSet(ctx, agent)
}

func (c client) toolSet(ctx context.Context, agent string) (toolSet, error) {
	var set toolSet
	path, doing := "/api/tools", "list the tools"
	if agent != "" {
		path, doing = "/api/agents/"+segment(agent), "list the tools of "+oneLine(agent)
	}
	if err := c.ask(ctx, doing, "GET", path, nil, &set.raw); err != nil {
		var f failure
		if agent != "" && errors.As(err, &f) && f.hint == "" {
			f.hint = meant(agent, agentNames(ctx, c))
			return set, f
		}
		return set, err
	}
	if err := json.Unmarshal(set.raw, &set); err != nil {
		return set, failure{err: fmt.Errorf("%s: read the answer: %w", doing, err)}
	}
	return set, nil
}

func names(all []toolView) []string {
	var out []string
	for _, t := range all {
		out = append(out, t.Name)
	}
	return out
}

// meant is the hint for a name that is not among the known ones.
func meant(name string, known []string) string {
	if near := nearest(name, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(known) == 0 || len(known) > 8 {
		return "zeroclaw tools lists what there is"
	}
	return "there is: " + strings.Join(known, ", ")
}

func (e environment) printTools(all []toolView) {
	t := table{head: []string{"NAME", "STATE", "MODE", "ON", "SERVER", "DESCRIPTION"}}
	for _, one := range all {
		server := one.Server
		if server == "" {
			server = "-"
		}
		about := one.Description
		if one.Definition == "changed" {
			about = "[definition changed] " + about
		}
		t.add(oneLine(one.Name), oneLine(one.State), oneLine(one.Mode), onOff(one.Enabled), oneLine(server), words(about))
	}
	t.write(e.stdout, e.screen())
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (e environment) printTool(t toolView) {
	w := e.stdout
	fmt.Fprintf(w, "%s\n", oneLine(t.Name))
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "  %-11s %s\n", name, value)
		}
	}
	row("title", words(t.Title))
	if t.Server != "" {
		row("server", fmt.Sprintf("%s, where it is called %s", oneLine(t.Server), oneLine(t.OwnName)))
	}
	row("state", oneLine(t.State))
	row("mode", fmt.Sprintf("%s, %s", oneLine(t.Mode), onOff(t.Enabled)))
	row("definition", map[string]string{
		"accepted": "accepted", "new": "new: not called or accepted yet",
		"changed": "changed since it was accepted; accept it in Settings → Tools",
	}[t.Definition])
	if t.Description != "" {
		fmt.Fprintf(w, "\n%s\n", indent(manyLines(t.Description), "  "))
	}
	if len(t.InputSchema) > 0 {
		fmt.Fprintf(w, "\n  arguments\n%s\n", indent(pretty(t.InputSchema), "    "))
	}
	if t.Diff != "" {
		fmt.Fprintf(w, "\n  what changed in the definition\n%s\n", indent(manyLines(t.Diff), "    "))
	}
}

// printJSON prints a value of the companion on one line.
func (e environment) printJSON(raw json.RawMessage) error {
	text, err := compact(raw)
	if err != nil {
		return failure{err: fmt.Errorf("read the companion's answer: %w", err)}
	}
	if _, err := fmt.Fprintln(e.stdout, text); err != nil {
		return failure{err: fmt.Errorf("print the answer: %w", err)}
	}
	return nil
}
