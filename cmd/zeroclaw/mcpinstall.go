package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"zeroclaw/localserver"
	"zeroclaw/tools/atomicfile"
)

// newMCPInstall is zeroclaw mcp install.
func newMCPInstall(e environment) *cobra.Command {
	var agent string
	var yes, asJSON bool
	c := &cobra.Command{
		Use: "install [CLIENT]", Short: "Enter the companion into the configuration of an MCP client",
		Long: strings.TrimSpace(`
Without CLIENT this lists the clients it knows, with their files. With one it shows
how the file would change, asks, and changes it; everything else in the file stays
as it is, comments included. Without a terminal nothing is changed unless --yes is
given; then it exits with 2.`),
		Example: "  zeroclaw mcp install cursor --agent coder",
		Args:    cobra.MaximumNArgs(1), ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return appIDs(e.apps("")), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return e.listApps(asJSON)
			}
			return e.installApp(cmd.Context(), args[0], agent, yes)
		},
	}
	c.Flags().StringVar(&agent, "agent", "", "agent whose tools and policy count (default: the built-in assistant)")
	c.Flags().BoolVar(&yes, "yes", false, "change the file without asking")
	c.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	e.completeFlag(c, "agent", agentNames)
	return c
}

// apps are the clients as they are found here.
func (e environment) apps(agent string) []localserver.App {
	return localserver.Apps(localserver.AppHost{OS: e.goos, Home: e.home, Getenv: e.getenv, Command: e.self, Agent: agent})
}

func appIDs(apps []localserver.App) []string {
	var ids []string
	for _, a := range apps {
		ids = append(ids, a.ID)
	}
	return ids
}

func (e environment) listApps(asJSON bool) error {
	apps := e.apps("")
	if asJSON {
		raw, err := json.Marshal(map[string]any{"apps": apps})
		if err != nil {
			return failure{err: fmt.Errorf("print the clients: %w", err)}
		}
		return e.printJSON(raw)
	}
	for _, a := range apps { // a path that is cut is of no use
		fmt.Fprintf(e.stdout, "%-15s %-15s %s\n", a.ID, a.Name, oneLine(a.Path))
	}
	return nil
}

// maxClientFile bounds the configuration of a client, in bytes.
const maxClientFile = 64 << 20

// installApp enters the companion into the configuration of one client.
func (e environment) installApp(ctx context.Context, id, agent string, yes bool) error {
	apps := e.apps(agent)
	at := slices.IndexFunc(apps, func(a localserver.App) bool { return a.ID == id })
	if at < 0 {
		return failure{err: fmt.Errorf("install into %s: it is not a client that this program knows", oneLine(id)), hint: "there is: " + strings.Join(appIDs(apps), ", "), code: exitUsage}
	}
	app := apps[at]
	doing := "install into " + app.Name
	switch {
	case localserver.Throwaway(e.self):
		return failure{err: fmt.Errorf("%s: this program was built by go run, which deletes it again", doing), hint: "build it first, with go install ./cmd/zeroclaw or go build, and run that one"}
	case !filepath.IsAbs(e.self):
		return failure{err: fmt.Errorf("%s: the system does not say where this program is", doing), hint: "run it by its full path"}
	case app.Path == "":
		return failure{err: fmt.Errorf("%s: there is no home folder to look for its file in", doing), hint: "set HOME to the full path of a folder"}
	}
	if known := e.knownAgents(ctx); agent != "" && len(known) > 0 && !slices.Contains(known, agent) {
		return failure{err: fmt.Errorf("%s: there is no agent %q", doing, oneLine(agent)), hint: meant(agent, known)}
	}
	change, err := planned(app)
	if err != nil {
		return failure{err: fmt.Errorf("%s: %w", doing, err), hint: "mend the file, or enter the server by hand: Settings → MCP shows what to paste"}
	}
	if bytes.Equal(change.old, change.next) {
		fmt.Fprintf(e.stdout, "%s starts this program already; %s stays as it is.\n", app.Name, oneLine(app.Path))
		return nil
	}
	e.showChange(app, change)
	if !yes {
		if !e.person.answers {
			return failure{err: fmt.Errorf("%s: nothing was written, because there is no terminal to ask at", doing), hint: "--yes writes it", code: exitUsage}
		}
		ok, err := e.confirm(ctx, "Write this? Type yes to do so: ")
		if err != nil {
			return err
		}
		if !ok {
			fmt.Fprintln(e.stderr, "Nothing was written.")
			return nil
		}
	}
	if err := change.write(app); err != nil {
		f := failure{err: fmt.Errorf("%s: %w", doing, err)}
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, readOnlyDisk) {
			f.hint = "make " + oneLine(app.Path) + " writable, or enter the server by hand: Settings → MCP shows what to paste"
		}
		return f
	}
	fmt.Fprintf(e.stdout, "Written to %s. Start %s anew, or let it read its configuration again.\n", oneLine(app.Path), app.Name)
	return nil
}

// knownAgents are the agents of the companion, none where it does not run.
func (e environment) knownAgents(ctx context.Context) []string {
	c, err := e.client(ctx)
	if err != nil {
		return nil
	}
	return agentNames(ctx, c)
}

// clientChange is how the file of a client changes.
type clientChange struct {
	old, next []byte
	found     bool // there is a file
}

// planned is how the file of a client would change. Nothing is written.
func planned(app localserver.App) (clientChange, error) {
	old, err := atomicfile.Read(app.Path, maxClientFile)
	found := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return clientChange{}, fmt.Errorf("read %s: %w", oneLine(app.Path), err)
	}
	if found {
		// Replacing it would not be stopped by this.
		if info, err := os.Stat(app.Path); err == nil && info.Mode().Perm()&0o222 == 0 {
			return clientChange{}, fmt.Errorf("%s may only be read: %w", oneLine(app.Path), fs.ErrPermission)
		}
	}
	next, err := enterServer(old, app.Section, localserver.AppEntry, app.Entry)
	if err != nil {
		return clientChange{}, fmt.Errorf("read %s: %w", oneLine(app.Path), err)
	}
	return clientChange{old, next, found}, nil
}

// write changes the file. What the client wrote into it meanwhile stays.
func (c clientChange) write(app localserver.App) error {
	if err := os.MkdirAll(filepath.Dir(app.Path), 0o755); err != nil {
		return fmt.Errorf("create the folder of the file: %w", err)
	}
	now, err := planned(app)
	if err != nil {
		return err
	}
	before, err := os.Stat(app.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.Write(app.Path, now.next, atomicfile.Options{Mode: 0o600, Check: func(old os.FileInfo) error {
		same := old == nil && before == nil
		if old != nil && before != nil {
			same = old.Size() == before.Size() && old.ModTime().Equal(before.ModTime())
		}
		if !same || old != nil && old.Size() != int64(len(now.old)) {
			return errors.New("it was changed meanwhile: try again")
		}
		return nil
	}})
}

// showChange prints what would be written.
func (e environment) showChange(app localserver.App, c clientChange) {
	what := "changes"
	if !c.found {
		what = "is new"
	}
	fmt.Fprintf(e.stdout, "%s %s:\n%s", oneLine(app.Path), what, lineDiff(string(c.old), string(c.next)))
}

// confirm asks at the terminal.
func (e environment) confirm(ctx context.Context, question string) (bool, error) {
	if e.person.discard != nil {
		e.person.discard()
	}
	fmt.Fprint(e.stderr, question)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	select {
	case l, ok := <-typed(ctx, e.stdin):
		return ok && strings.EqualFold(strings.TrimSpace(l.text), "yes"), nil
	case <-ctx.Done():
		return false, interrupted("install")
	}
}

// around is how many lines of a file are shown around a change.
const around = 3

// lineDiff shows how a text changes in one place, with line numbers left out.
func lineDiff(old, next string) string {
	a, b := diffLines(old), diffLines(next)
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	put := func(sign string, lines []string) {
		for _, l := range lines {
			out.WriteString(strings.TrimRight(sign+" "+manyLines(l), " ") + "\n")
		}
	}
	put(" ", a[max(0, head-around):head])
	put("-", a[head:len(a)-tail])
	put("+", b[head:len(b)-tail])
	put(" ", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out.String()
}

// diffLines are the lines of a text without their ends, and without the mark
// that a file may begin with.
func diffLines(s string) []string {
	s = strings.TrimPrefix(s, string(utf8BOM))
	if s = strings.ReplaceAll(s, "\r\n", "\n"); s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
