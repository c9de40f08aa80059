package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"zeroclaw/localserver"
	"zeroclaw/services/builtin"
)

// newOpen is zeroclaw open: another page for the running companion.
func newOpen(e environment) *cobra.Command {
	var print bool
	var want pageRequest
	c := &cobra.Command{
		Use: "open", Short: "Open the page of the running companion", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := e.running(cmd)
			if err != nil {
				return err
			}
			return openPage(cmd.Context(), e, i, want, print)
		},
	}
	c.Flags().BoolVar(&print, "no-browser", false, "print the address instead of opening it")
	c.Flags().BoolVar(&want.Own, "own", false, "open the page that the companion itself serves, also where one on another origin was let in")
	return c
}

// running finds the companion or says how to start it.
func (e environment) running(cmd *cobra.Command) (localserver.Instance, error) {
	state, err := e.stateDir()
	if err != nil {
		return localserver.Instance{}, err
	}
	i, err := localserver.Find(cmd.Context(), state)
	if err != nil {
		return i, failure{err: err, hint: "start it with: zeroclaw"}
	}
	return i, nil
}

// newStatus is zeroclaw status.
func newStatus(e environment) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "status", Short: "Say whether the companion runs, and where", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			i, err := e.running(cmd)
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := i.Do(cmd.Context(), "GET", "/api/status", nil, &raw); err != nil {
				return failure{err: fmt.Errorf("ask the companion: %w", err)}
			}
			if asJSON {
				fmt.Fprintln(e.stdout, string(raw))
				return nil
			}
			var st struct {
				Version string         `json:"version"`
				Root    string         `json:"root"`
				PID     int            `json:"pid"`
				Counts  map[string]int `json:"counts"`
			}
			if err := json.Unmarshal(raw, &st); err != nil {
				return failure{err: fmt.Errorf("read the companion's answer: %w", err)}
			}
			fmt.Fprintf(e.stdout, "running  http://127.0.0.1:%d/  version %s  pid %d\nroot     %s\ntabs %d, sessions %d, calls %d, questions waiting %d\n",
				i.Port, st.Version, st.PID, st.Root, st.Counts["tabs"], st.Counts["sessions"], st.Counts["calls"], st.Counts["questions"])
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// newVersion is zeroclaw version.
func newVersion(e environment) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				fmt.Fprintf(e.stdout, "{\"version\":%q,\"api\":%q}\n", localserver.Version, localserver.APIVersion)
			} else {
				fmt.Fprintln(e.stdout, "zeroclaw", localserver.Version)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// newDummyMCP is the server behind the bundled service dummy_mcp.
func newDummyMCP(e environment) *cobra.Command {
	return &cobra.Command{
		Use: "dummy-mcp", Short: "Serve the dummy MCP server on standard input and output", Args: cobra.NoArgs, Hidden: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Its reads cannot be interrupted, so a signal ends it as it would
			// any simple program.
			signal.Reset(os.Interrupt, syscall.SIGTERM)
			return wrap(builtin.ServeDummy(cmd.Context(), e.stdin, e.stdout))
		},
	}
}
