package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// token is what is shown of a named token.
type token struct {
	ID       string    `json:"id"`
	Name     string    `json:"name"`
	Agent    string    `json:"agent"`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires"`
	LastUsed time.Time `json:"last_used"`
	Token    string    `json:"token"` // only when it is new
}

var tokenNames = namesAt("/api/tokens", "tokens", "name")

// newToken is zeroclaw token.
func newToken(e environment) *cobra.Command {
	c := &cobra.Command{
		Use: "token", Short: "Make, list and revoke tokens for other programs", Args: cobra.NoArgs,
		Long: strings.TrimSpace(`
A token lets another program, such as an editor, use this companion as an MCP
server at http://127.0.0.1:PORT/mcp. It acts as one agent, through the same gate
as the page, and opens nothing else. Without a subcommand this lists the tokens.`),
		Example: "  zeroclaw token new --name editor --expires 30d\n  zeroclaw token revoke editor",
	}
	listTokens(e, c)
	sub := &cobra.Command{Use: "list", Short: "List the tokens and when they were last used", Args: cobra.NoArgs}
	listTokens(e, sub)
	c.AddCommand(newTokenNew(e), sub, newTokenRevoke(e))
	return c
}

// newTokenNew is zeroclaw token new.
func newTokenNew(e environment) *cobra.Command {
	var name, agent, expires string
	var asJSON bool
	c := &cobra.Command{
		Use: "new --name NAME", Short: "Make a token; it is printed this once", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name == "" {
				return failure{err: fmt.Errorf("make a token: it has no name"), hint: "give it one, such as --name editor", code: exitUsage}
			}
			in := map[string]string{"name": name}
			if agent != "" {
				in["agent"] = agent
			}
			if cmd.Flags().Changed("expires") {
				until, err := expiry(expires, time.Now())
				if err != nil {
					return err
				}
				in["expires"] = until.Format(time.RFC3339)
			}
			c, err := e.client(cmd.Context())
			if err != nil {
				return err
			}
			var raw json.RawMessage
			if err := c.ask(cmd.Context(), "make the token "+oneLine(name), "POST", "/api/tokens", in, &raw); err != nil {
				return err
			}
			return c.printToken(raw, asJSON)
		},
	}
	c.Flags().StringVar(&name, "name", "", "what the program is called in the list of tokens")
	c.Flags().StringVar(&agent, "agent", "", "the agent that it acts as (default: assistant)")
	c.Flags().StringVar(&expires, "expires", "", "when it ends: after a time (30d, 12h), or behind a day (2027-01-31) (default: never)")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	e.completeFlag(c, "agent", agentNames)
	return c
}

// printToken writes the token, and nothing else, to standard output.
func (c client) printToken(raw json.RawMessage, asJSON bool) error {
	var t token
	if err := json.Unmarshal(raw, &t); err != nil {
		return failure{err: fmt.Errorf("read the companion's answer: %w", err), hint: "zeroclaw token list shows whether the token was made"}
	}
	var err error
	if asJSON {
		err = c.printJSON(raw)
	} else {
		_, err = fmt.Fprintln(c.stdout, t.Token)
	}
	if err != nil {
		return failure{err: fmt.Errorf("print the token: %w", err), hint: "nobody has it now; take it back with: zeroclaw token revoke " + t.ID}
	}
	until := ""
	if !t.Expires.IsZero() {
		until = ", until " + minute(t.Expires)
	}
	fmt.Fprintf(c.stderr, "Keep it now: it is not shown again. A program that sends \"Authorization: Bearer TOKEN\" to\n  http://127.0.0.1:%d/mcp\nacts as the agent %s%s. zeroclaw token revoke %s ends it.\n", c.Port, oneLine(t.Agent), until, t.ID)
	return nil
}

// maxDays bounds --expires in days; the companion knows the exact bound.
const maxDays = 3660

// expiry is the time that --expires means: so many days or another span from
// now, or the end of a day of now's time zone.
func expiry(text string, now time.Time) (time.Time, error) {
	if count, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.Atoi(count); err == nil && days > 0 && days <= maxDays {
			return now.AddDate(0, 0, days), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	if day, err := time.ParseInLocation(time.DateOnly, text, now.Location()); err == nil {
		if end := day.AddDate(0, 0, 1); end.After(now) {
			return end, nil
		}
		return now, failure{err: fmt.Errorf("use --expires %s: this day has passed", text), hint: "give one that is ahead", code: exitUsage}
	}
	return now, failure{err: fmt.Errorf("use --expires %s: it is no time", oneLine(text)), hint: "write 30d, 12h or 2027-01-31, or leave it out for a token without an end", code: exitUsage}
}

// minute is a time as people here read it.
func minute(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }

// listTokens makes a command list the tokens.
func listTokens(e environment, c *cobra.Command) {
	var asJSON bool
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := e.client(cmd.Context())
		if err != nil {
			return err
		}
		all, raw, err := c.tokens(cmd.Context())
		if err != nil {
			return err
		}
		if asJSON {
			return e.printJSON(raw)
		}
		e.printTokens(all, time.Now())
		return nil
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
}

// tokens asks for the tokens, also as they came.
func (c client) tokens(ctx context.Context) ([]token, json.RawMessage, error) {
	var raw json.RawMessage
	if err := c.ask(ctx, "list the tokens", "GET", "/api/tokens", nil, &raw); err != nil {
		return nil, nil, err
	}
	var got struct {
		Tokens []token `json:"tokens"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, nil, failure{err: fmt.Errorf("list the tokens: read the answer: %w", err)}
	}
	return got.Tokens, raw, nil
}

func (e environment) printTokens(all []token, now time.Time) {
	if len(all) == 0 {
		fmt.Fprintln(e.stdout, "There are no tokens. zeroclaw token new --name NAME makes one.")
		return
	}
	// The last column of a table is prose, which may be cut: here there is none.
	t := table{head: []string{"ID", "NAME", "AGENT", "EXPIRES", "LAST USED", ""}}
	for _, one := range all {
		expires, used := "never", "never"
		switch {
		case one.Expires.IsZero():
		case !now.Before(one.Expires):
			expires = "expired"
		default:
			expires = minute(one.Expires)
		}
		if !one.LastUsed.IsZero() {
			used = minute(one.LastUsed)
		}
		t.add(oneLine(one.ID), oneLine(one.Name), oneLine(one.Agent), expires, used, "")
	}
	t.write(e.stdout, e.screen())
}

// newTokenRevoke is zeroclaw token revoke.
func newTokenRevoke(e environment) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "revoke ID|NAME", Short: "End a token and what runs in its name", Args: cobra.ExactArgs(1), ValidArgsFunction: e.complete(tokenNames),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.client(cmd.Context())
			if err != nil {
				return err
			}
			all, _, err := c.tokens(cmd.Context())
			if err != nil {
				return err
			}
			t, err := tokenOf(all, args[0])
			if err != nil {
				return err
			}
			if err := c.ask(cmd.Context(), "revoke the token "+oneLine(t.Name), "DELETE", "/api/tokens/"+segment(t.ID), nil, nil); err != nil {
				return err
			}
			if asJSON {
				raw, err := json.Marshal(map[string]string{"id": t.ID, "name": t.Name})
				if err != nil {
					return failure{err: fmt.Errorf("print the token: %w", err)}
				}
				return c.printJSON(raw)
			}
			fmt.Fprintf(c.stdout, "%s is revoked\n", oneLine(t.Name))
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// tokenOf finds a token by its id, else by its name, else by its name in other
// letters.
func tokenOf(all []token, wanted string) (token, error) {
	for _, same := range []func(token) bool{
		func(t token) bool { return t.ID == wanted },
		func(t token) bool { return t.Name == wanted },
		func(t token) bool { return strings.EqualFold(t.Name, wanted) },
	} {
		if i := slices.IndexFunc(all, same); i >= 0 {
			return all[i], nil
		}
	}
	f := failure{err: fmt.Errorf("revoke the token %s: there is no such token", oneLine(wanted)), hint: hints["unknown_token"]}
	var names []string
	for _, t := range all {
		names = append(names, oneLine(t.Name))
	}
	if near := nearest(wanted, names); len(near) > 0 {
		f.hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return token{}, f
}
