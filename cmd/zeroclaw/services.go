package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// newServices is zeroclaw services.
func newServices(e environment) *cobra.Command {
	c := &cobra.Command{
		Use: "services", Short: "List, install, start and stop the services", Args: cobra.NoArgs,
		Long: strings.TrimSpace(`
A service is an MCP server that lives in a folder of its own below the state
folder and is started and stopped by a person. Without a subcommand this lists
them. start, restart, retry and install wait until the service runs or has failed,
stop waits until nothing of it is left; --no-wait returns at once.`),
		Example: "  zeroclaw services start dummy_mcp\n  zeroclaw services logs -f dummy_mcp\n  zeroclaw services options playwright headless=true",
	}
	addList(e, c, aService)
	c.AddCommand(
		newAction(e, aService, "install", "install", "Install what a service needs", goal{settled: true}),
		newAction(e, aService, "start", "start", "Start a service", goal{running: true}),
		newAction(e, aService, "stop", "stop", "Stop a service, or its installation", goal{}),
		newAction(e, aService, "restart", "restart", "Stop a service and start it with the options of now", goal{running: true}),
		newAction(e, aService, "retry", "retry", "Start a service that has failed at once", goal{running: true}),
		newLogs(e, aService), newOptions(e),
	)
	return c
}

// addList makes listing what a command does without a subcommand, and with the
// subcommand list.
func addList(e environment, c *cobra.Command, k kind) {
	list := func(c *cobra.Command) {
		var asJSON bool
		c.RunE = func(cmd *cobra.Command, _ []string) error {
			c, err := e.client(cmd.Context())
			if err != nil {
				return err
			}
			all, raw, err := c.all(cmd.Context(), k)
			if err != nil {
				return err
			}
			if asJSON {
				return e.printJSON(raw)
			}
			e.printStatuses(k, all)
			return nil
		}
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	list(c)
	sub := &cobra.Command{Use: "list", Short: "List the " + k.list, Args: cobra.NoArgs}
	list(sub)
	c.AddCommand(sub)
}

// newAction is a subcommand that asks for an action and waits for its end.
func newAction(e environment, k kind, word, action, short string, g goal) *cobra.Command {
	var noWait, asJSON bool
	g.doing = word
	c := &cobra.Command{
		Use: word + " NAME", Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: e.complete(k.known),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.client(cmd.Context())
			if err != nil {
				return err
			}
			st, err := c.carryOut(cmd.Context(), k, action, args[0], g, noWait)
			if err != nil {
				return err
			}
			if asJSON {
				return c.printStatus(cmd.Context(), k, st.ID)
			}
			fmt.Fprintf(e.stdout, "%s is %s%s\n", oneLine(st.ID), oneLine(st.State), offer(st))
			return nil
		},
	}
	c.Flags().BoolVar(&noWait, "no-wait", false, "return as soon as it is asked for")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// offer says what a program that runs has to offer.
func offer(s status) string {
	switch {
	case s.State != "running":
		return ""
	case s.Tools == 1:
		return " with 1 tool"
	}
	return fmt.Sprintf(" with %d tools", s.Tools)
}

func (c client) carryOut(ctx context.Context, k kind, action, name string, g goal, noWait bool) (status, error) {
	if action == "restart" {
		before, err := c.one(ctx, k, name)
		if err != nil {
			return before, err
		}
		if before.State == "running" {
			g.since = before.Started
		}
	}
	log := c.tail(ctx, k, name)
	st, err := c.act(ctx, k, action, name)
	if err != nil || noWait {
		return st, err
	}
	return c.await(ctx, k, st, g, log)
}

// printStatus prints one program as the companion lists it.
func (c client) printStatus(ctx context.Context, k kind, name string) error {
	_, raw, err := c.all(ctx, k)
	if err != nil {
		return err
	}
	var lists map[string]json.RawMessage
	var all []json.RawMessage
	if err = json.Unmarshal(raw, &lists); err == nil {
		err = json.Unmarshal(lists[k.list], &all)
	}
	for _, one := range all {
		var s status
		if err == nil && json.Unmarshal(one, &s) == nil && s.ID == name {
			return c.printJSON(one)
		}
	}
	return failure{err: fmt.Errorf("list the %s: %s is no longer among them", k.list, oneLine(name))}
}
