package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// logLine is one line of a program's log.
type logLine struct {
	Seq    uint64    `json:"seq"`
	Time   time.Time `json:"time"`
	Stream string    `json:"stream"`
	Text   string    `json:"text"`
}

func (l logLine) String() string {
	return fmt.Sprintf("%s %-9s %s", l.Time.Local().Format(time.TimeOnly), oneLine(l.Stream), oneLine(l.Text))
}

// logTail reads a program's log on from where it was.
type logTail struct {
	client
	path  string
	after uint64
}

// tail begins behind what the log holds now.
func (c client) tail(ctx context.Context, k kind, name string) *logTail {
	t := &logTail{client: c, path: k.at(name) + "/logs"}
	// What cannot be read now is told by the action that follows.
	_, _, _ = t.next(ctx)
	return t
}

// next returns the lines that came since the last time, also as they are.
func (t *logTail) next(ctx context.Context) ([]logLine, json.RawMessage, error) {
	var raw json.RawMessage
	if err := t.ask(ctx, "read the log", "GET", fmt.Sprintf("%s?after=%d", t.path, t.after), nil, &raw); err != nil {
		return nil, nil, err
	}
	var got struct {
		Lines []logLine `json:"lines"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return nil, nil, failure{err: fmt.Errorf("read the log: %w", err)}
	}
	if n := len(got.Lines); n > 0 {
		t.after = got.Lines[n-1].Seq
	}
	return got.Lines, raw, nil
}

// print writes what is new. It is there to watch: what cannot be read is
// missing.
func (t *logTail) print(ctx context.Context, w io.Writer) { t.printLast(ctx, w, 0) }

// printLast writes the last n lines of what is new; 0 writes all.
func (t *logTail) printLast(ctx context.Context, w io.Writer, n int) {
	lines, _, _ := t.next(ctx)
	if n > 0 && len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for _, l := range lines {
		fmt.Fprintln(w, "  "+l.String())
	}
}

// newLogs is the subcommand logs of a kind.
func newLogs(e environment, k kind) *cobra.Command {
	var follow, asJSON bool
	c := &cobra.Command{
		Use: "logs NAME", Short: "Print the log of a " + k.word + ": what it wrote and what happened to it",
		Args: cobra.ExactArgs(1), ValidArgsFunction: e.complete(k.known),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := e.client(cmd.Context())
			if err != nil {
				return err
			}
			if _, err := c.one(cmd.Context(), k, args[0]); err != nil {
				return err
			}
			return c.logs(cmd.Context(), &logTail{client: c, path: k.at(args[0]) + "/logs"}, follow, asJSON)
		},
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on printing what comes, until Ctrl-C")
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON, one line of the log a line")
	return c
}

func (c client) logs(ctx context.Context, t *logTail, follow, asJSON bool) error {
	for {
		lines, _, err := t.next(ctx)
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, l := range lines {
			text := l.String()
			if asJSON {
				raw, err := json.Marshal(l)
				if err != nil {
					return failure{err: fmt.Errorf("print the log: %w", err)}
				}
				text = plainJSON(raw)
			}
			if _, err := fmt.Fprintln(c.stdout, text); err != nil {
				return failure{err: fmt.Errorf("print the log: %w", err)}
			}
		}
		if !follow {
			return nil
		}
		select {
		case <-ctx.Done(): // how following ends
			return nil
		case <-time.After(lookEvery):
		}
	}
}
