package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"
)

// completeTime is how long a shell waits for names.
const completeTime = 2 * time.Second

// complete offers the names that a running companion lists for the first
// argument. Without one there is nothing to offer.
func (e environment) complete(names func(context.Context, client) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		c, err := e.client(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(ctx, c), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag offers the names for the value of a flag.
func (e environment) completeFlag(c *cobra.Command, flag string, names func(context.Context, client) []string) {
	offer := e.complete(names)
	// It fails only for a flag that does not exist, which the tests would show.
	_ = c.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return offer(cmd, nil, begun)
	})
}

// namesAt lists the key of every object under a list of an answer.
func namesAt(path, list, key string) func(context.Context, client) []string {
	return func(ctx context.Context, c client) []string {
		var got map[string]any
		if c.Do(ctx, "GET", path, nil, &got) != nil {
			return nil
		}
		var out []string
		rows, _ := got[list].([]any)
		for _, r := range rows {
			fields, _ := r.(map[string]any)
			if name, ok := fields[key].(string); ok && oneLine(name) == name {
				out = append(out, name)
			}
		}
		return out
	}
}

var (
	toolNames  = namesAt("/api/tools", "tools", "name")
	agentNames = namesAt("/api/agents", "agents", "name")
)
