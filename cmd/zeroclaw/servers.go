package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newServers is zeroclaw servers.
func newServers(e environment) *cobra.Command {
	c := &cobra.Command{
		Use: "servers", Short: "List, connect and test the configured MCP servers", Args: cobra.NoArgs,
		Long: strings.TrimSpace(`
A configured server is an entry of [[mcp.servers]] in config.toml. Those that an
agent reaches are started with its sessions. Without a subcommand this lists them.
connect, restart and retry wait until the server is connected or has failed,
disconnect waits until nothing of it is left; --no-wait returns at once.`),
		Example: "  zeroclaw servers test github\n  zeroclaw servers discover github",
	}
	addList(e, c, aServer)
	c.AddCommand(
		newAction(e, aServer, "connect", "connect", "Connect a server", goal{running: true}),
		newAction(e, aServer, "disconnect", "disconnect", "Disconnect a server; it stays so until it is connected again", goal{}),
		newAction(e, aServer, "restart", "restart", "Connect a server anew, as it is configured now", goal{running: true}),
		newAction(e, aServer, "retry", "retry", "Connect a server that has failed at once", goal{running: true}),
		newTest(e), newDiscover(e), newDiscoveries(e), newLogs(e, aServer),
	)
	return c
}

// aWhile bounds what the companion does with a server while we wait: it has
// its own, shorter bounds.
const aWhile = 15 * time.Minute

// testReport is what a test of a connection found.
type testReport struct {
	OK    bool `json:"ok"`
	Steps []struct {
		Name   string `json:"name"`
		OK     bool   `json:"ok"`
		Detail string `json:"detail"`
		MS     int64  `json:"ms"`
	} `json:"steps"`
	Protocol      string    `json:"protocol"`
	ServerName    string    `json:"server_name"`
	ServerVersion string    `json:"server_version"`
	Tools         []string  `json:"tools"`
	Capabilities  []string  `json:"capabilities"`
	Log           []logLine `json:"log"`
}

// newTest is zeroclaw servers test.
func newTest(e environment) *cobra.Command {
	return newQuestion(e, "test NAME", "Connect a server once, as it is configured, and leave nothing running",
		func(ctx context.Context, c client, name string, raw *json.RawMessage) error {
			return c.ask(ctx, "test "+oneLine(name), "POST", aServer.at(name)+"/test", struct{}{}, raw)
		},
		func(name string, r testReport) error {
			e.printTest(r)
			return nil
		},
		func(name string, r testReport) error {
			if r.OK {
				return nil
			}
			return failure{err: fmt.Errorf("test %s: the connection does not work", oneLine(name)), hint: "the failed step says why"}
		})
}

// newQuestion is a subcommand about one server whose answer is printed, or
// given on as JSON, and then judged.
func newQuestion[T any](e environment, use, short string, ask func(context.Context, client, string, *json.RawMessage) error, print, judge func(string, T) error) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: use, Short: short, Args: cobra.ExactArgs(1), ValidArgsFunction: e.complete(aServer.known),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), aWhile)
			defer cancel()
			c, err := e.client(ctx)
			if err != nil {
				return err
			}
			if _, err := c.one(ctx, aServer, args[0]); err != nil {
				return err
			}
			var raw json.RawMessage
			if err := ask(ctx, c, args[0], &raw); err != nil {
				return err
			}
			var got T
			if err := json.Unmarshal(raw, &got); err != nil {
				return failure{err: fmt.Errorf("read the companion's answer: %w", err)}
			}
			if asJSON {
				err = e.printJSON(raw)
			} else {
				err = print(args[0], got)
			}
			if err == nil && judge != nil {
				err = judge(args[0], got)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (e environment) printTest(r testReport) {
	t := table{head: []string{"STEP", "RESULT", "MS", "DETAIL"}}
	for _, s := range r.Steps {
		result := "ok"
		if !s.OK {
			result = "failed"
		}
		// A reason that does not fit is told in full below.
		t.add(oneLine(s.Name), result, fmt.Sprint(s.MS), words(s.Detail))
	}
	t.write(e.stdout, e.screen())
	for _, s := range r.Steps {
		if !s.OK {
			fmt.Fprintf(e.stdout, "\n%s: %s\n", oneLine(s.Name), words(s.Detail))
		}
	}
	if r.OK {
		fmt.Fprintf(e.stdout, "\n%s %s, protocol %s\n", oneLine(r.ServerName), oneLine(r.ServerVersion), oneLine(r.Protocol))
		fmt.Fprintf(e.stdout, "offers %s\n", words(strings.Join(r.Capabilities, ", ")))
		fmt.Fprintf(e.stdout, "tools (%d)\n", len(r.Tools))
		for _, name := range r.Tools {
			fmt.Fprintf(e.stdout, "  %s\n", oneLine(name))
		}
		return
	}
	if len(r.Log) > 0 {
		fmt.Fprintln(e.stdout, "\nlog")
	}
	for _, l := range r.Log {
		fmt.Fprintf(e.stdout, "  %s\n", l)
	}
}

// discovery is one change of what a server offers.
type discovery struct {
	Time    time.Time `json:"time"`
	Trigger string    `json:"trigger"`
	Added   []string  `json:"added"`
	Removed []string  `json:"removed"`
	Changed []struct {
		Name   string `json:"name"`
		Fields []struct {
			Field string `json:"field"`
			Old   string `json:"old"`
			New   string `json:"new"`
		} `json:"fields"`
	} `json:"changed"`
}

// newDiscover is zeroclaw servers discover.
func newDiscover(e environment) *cobra.Command {
	return newQuestion(e, "discover NAME", "Read a server's tools again and print what changed",
		func(ctx context.Context, c client, name string, raw *json.RawMessage) error {
			return c.ask(ctx, "read the tools of "+oneLine(name), "POST", aServer.at(name)+"/discover", struct{}{}, raw)
		},
		func(_ string, d discovery) error {
			e.printDiscovery(d)
			return nil
		}, nil)
}

// newDiscoveries is zeroclaw servers discoveries.
func newDiscoveries(e environment) *cobra.Command {
	type history struct {
		Discoveries []discovery `json:"discoveries"`
	}
	return newQuestion(e, "discoveries NAME", "Print how a server's tools changed, the newest change first",
		func(ctx context.Context, c client, name string, raw *json.RawMessage) error {
			return c.ask(ctx, "read the history of "+oneLine(name), "GET", aServer.at(name)+"/discoveries", nil, raw)
		},
		func(name string, h history) error {
			if len(h.Discoveries) == 0 {
				fmt.Fprintf(e.stdout, "Nothing is known of changes of the tools of %s.\n", oneLine(name))
			}
			for i, d := range h.Discoveries {
				if i > 0 {
					fmt.Fprintln(e.stdout)
				}
				e.printDiscovery(d)
			}
			return nil
		}, nil)
}

// triggers are why the tools of a server were read.
var triggers = map[string]string{
	"start": "at its start", "list_changed": "when the server said so", "request": "when asked to",
}

func (e environment) printDiscovery(d discovery) {
	w := e.stdout
	why := triggers[d.Trigger]
	if why == "" {
		why = oneLine(d.Trigger)
	}
	fmt.Fprintf(w, "%s  %s: %d added, %d removed, %d changed\n", d.Time.Local().Format(time.DateTime), why, len(d.Added), len(d.Removed), len(d.Changed))
	for _, name := range d.Added {
		fmt.Fprintf(w, "  + %s\n", oneLine(name))
	}
	for _, name := range d.Removed {
		fmt.Fprintf(w, "  - %s\n", oneLine(name))
	}
	for _, c := range d.Changed {
		fmt.Fprintf(w, "  ~ %s\n", oneLine(c.Name))
		for _, f := range c.Fields {
			fmt.Fprintf(w, "      %s\n%s\n%s\n", oneLine(f.Field), indent(manyLines(f.Old), "        - "), indent(manyLines(f.New), "        + "))
		}
	}
}
