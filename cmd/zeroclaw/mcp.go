package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"zeroclaw/localserver"
	"zeroclaw/tools/process"
)

// newMCP is zeroclaw mcp and its subcommands.
func newMCP(e environment) *cobra.Command {
	var agent, server string
	var allowed []string
	c := &cobra.Command{
		Use: "mcp", Short: "Serve the tools of the companion to another MCP client, on standard input and output",
		Long: strings.TrimSpace(`
Speaks MCP on standard input and output, for a client that starts its servers
itself, and passes everything on to the running companion; where none runs, one is
started. Each call goes through the same gate as in a chat: a question is put to
the page, and to the client when it can ask. zeroclaw mcp install enters this
command into the configuration of a client.`),
		Example: `  zeroclaw mcp --agent coder
  zeroclaw mcp install claude-desktop`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var only *[]string
			if cmd.Flags().Changed("allowed-tools") {
				only = &allowed
			}
			return e.serveMCP(cmd.Context(), endpoint(server, agent, only))
		},
	}
	f := c.Flags()
	f.StringVar(&agent, "agent", "", "agent whose tools and policy count (default: the built-in assistant)")
	f.StringSliceVar(&allowed, "allowed-tools", nil, "the only tools that the client may reach, separated by commas")
	f.StringVar(&server, "server", "", "pass this one server through, with its own names")
	e.completeFlag(c, "agent", agentNames)
	e.completeFlag(c, "server", aServer.known)
	c.AddCommand(newMCPInstall(e))
	return c
}

// endpoint is the path of the companion's MCP endpoint with its query. allowed
// may be nil: whatever the agent reaches.
func endpoint(server, agent string, allowed *[]string) string {
	path := "/mcp"
	if server != "" {
		path += "/" + url.PathEscape(server)
	}
	query := url.Values{}
	if agent != "" {
		query.Set("agent", agent)
	}
	if allowed != nil {
		query.Set("allowed_tools", strings.Join(*allowed, ","))
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return path
}

// serveMCP is the bridge between a client and the companion.
func (e environment) serveMCP(ctx context.Context, path string) error {
	state, err := e.stateDir()
	if err != nil {
		return err
	}
	// A client that reads no more is told from the failing write, so that its
	// session can be ended.
	signal.Ignore(syscall.SIGPIPE)
	if err := process.CloseInherited(); err != nil {
		fmt.Fprintf(e.stderr, "zeroclaw: a companion that is started may get files that were open here: %v\n", err)
	}
	if e.person.answers {
		fmt.Fprintln(e.stderr, "This speaks MCP on standard input. zeroclaw mcp install enters it into the configuration of a client.")
	}
	f := finder{state: state, launch: e.launcher(state)}
	err = newBridge(e.stdin, e.stdout, e.stderr, path, f.find).serve(ctx)
	var known failure
	if err == nil || errors.As(err, &known) {
		return err
	}
	return failure{err: fmt.Errorf("serve the tools of the companion: %w", err), hint: "zeroclaw status says whether it runs"}
}

// finder finds the companion of a state folder, and starts one where none runs.
type finder struct {
	state string
	// launch starts a program that becomes the companion, or ends at once where
	// another one is. What it sends is how the program ended, nil when in order.
	launch func() (ended <-chan error, err error)
}

func (f finder) find(ctx context.Context, start bool) (localserver.Instance, error) {
	i, err := localserver.Find(ctx, f.state)
	if err == nil || !start || ctx.Err() != nil {
		return i, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for wait := relaunchAfter; ; wait *= 2 {
		ended, err := f.launch()
		if err != nil {
			return i, failure{err: fmt.Errorf("start the companion: %w", err), hint: "start it with: zeroclaw"}
		}
		for running := true; running; {
			select {
			case err := <-ended:
				if err != nil {
					return i, failure{err: fmt.Errorf("start the companion: %w", err), hint: "start it with zeroclaw to see why"}
				}
				running = false
			default:
			}
			if i, err = localserver.Find(ctx, f.state); err == nil {
				return i, nil
			}
			if pause(ctx, lookAfter) != nil {
				return i, failure{err: fmt.Errorf("start the companion: it does not answer within %v", startTime), hint: "its log is in the folder logs of " + f.state}
			}
		}
		// Another one holds the state folder: it starts, or ends.
		if pause(ctx, wait) != nil {
			return i, failure{err: fmt.Errorf("start the companion: another one holds %s and does not answer", f.state), hint: "it may be ending: try again, or end its process"}
		}
	}
}
