package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"zeroclaw/localserver"
)

// Exit codes.
const (
	exitFailure = 1
	exitUsage   = 2
	exitDenied  = 3

	exitInterrupted = 130 // as shells have it for Ctrl-C
)

// environment is everything that commands take from outside.
type environment struct {
	args     []string
	stdin    io.Reader
	stdout   io.Writer
	stderr   io.Writer
	getenv   func(string) string
	home     string
	cwd      string
	self     string // path of this program
	terminal bool   // started from a terminal or a script, whose current folder means something
	goos     string
	open     func(url string) error // opens a browser
	person   person
}

// system is the environment of a real process.
func system() environment {
	e := environment{
		args: os.Args[1:], stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv,
		goos: runtime.GOOS, open: openBrowser,
	}
	e.home, _ = os.UserHomeDir()
	e.cwd, _ = os.Getwd()
	e.self, _ = os.Executable()
	e.person = systemPerson()
	e.terminal = term.IsTerminal(int(os.Stderr.Fd())) || term.IsTerminal(int(os.Stdin.Fd())) || !e.doubleClicked()
	return e
}

// doubleClicked reports whether the current folder is one that desktops start
// programs in, and so says nothing about where a person wants to work.
func (e environment) doubleClicked() bool {
	cwd := filepath.Clean(e.cwd)
	return e.cwd == "" || cwd == filepath.Clean(e.home) || cwd == filepath.Dir(e.self) || cwd == filepath.Dir(cwd)
}

// stateDir is the folder that holds all local state.
func (e environment) stateDir() (string, error) {
	if e.home != "" && !filepath.IsAbs(e.home) {
		return "", failure{err: fmt.Errorf("find the home folder: %q is not an absolute path", e.home), hint: "set HOME to the full path of a folder"}
	}
	if dir := e.getenv("ZEROCLAW_CONFIG_DIR"); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", failure{err: fmt.Errorf("use ZEROCLAW_CONFIG_DIR: %q is not an absolute path", dir), hint: "set it to the full path of a folder"}
		}
		return filepath.Clean(dir), nil
	}
	if e.home == "" {
		return "", failure{err: errors.New("find the home folder: it is not set"), hint: "set HOME, or ZEROCLAW_CONFIG_DIR to the full path of a folder"}
	}
	return filepath.Join(e.home, ".zeroclaw"), nil
}

// failure is an error with a hint and an exit code.
type failure struct {
	err  error
	hint string
	code int // 0 is exitFailure
}

func (f failure) Error() string { return f.err.Error() }
func (f failure) Unwrap() error { return f.err }

// execute runs the command line and returns the exit code.
func execute(ctx context.Context, e environment) int {
	root := newRoot(e)
	root.SetArgs(e.args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var f failure
	if !errors.As(err, &f) {
		f = failure{err: err, code: exitUsage, hint: "zeroclaw --help lists what there is"}
	}
	fmt.Fprintf(e.stderr, "zeroclaw: %v\n", f.err)
	if f.hint != "" {
		fmt.Fprintf(e.stderr, "  %s\n", f.hint)
	}
	if f.code == 0 {
		f.code = exitFailure
	}
	return f.code
}

func newRoot(e environment) *cobra.Command {
	var o options
	root := &cobra.Command{
		Use:     "zeroclaw",
		Version: localserver.Version,
		Short:   "A chat page whose model gets hands on this machine, each call through one gate",
		Long: strings.TrimSpace(`
Starts the companion and opens its page in the browser. A model in the page, or
the built-in Mirror that needs no key, can then read, list, search and edit files
and run commands in one folder; what no rule covers becomes a question.`),
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.rootGiven = cmd.Flags().Changed("root")
			e := e
			if o.background {
				e.terminal = false
			}
			err := o.check(cmd.Flags().Changed)
			if err == nil {
				err = run(cmd.Context(), e, o)
			}
			var f failure
			if errors.As(err, &f) && !e.terminal && !o.background && !e.headless() {
				e.showFailure(cmd.Context(), f)
			}
			return err
		},
	}
	f := root.Flags()
	f.StringVar(&o.root, "root", "", "folder that relative paths hang from (default: the current folder)")
	f.IntVar(&o.port, "port", 0, "port on 127.0.0.1; 0 takes any free one (default: server.port of the configuration, else 6388)")
	f.StringVar(&o.ui, "ui", "", "one other origin that the page may be served from, like https://ui.example")
	f.BoolVar(&o.noBrowser, "no-browser", false, "print the address instead of opening it")
	f.DurationVar(&o.exitWhenIdle, "exit-when-idle", 0, "end after this long without page, call or process, like 10m (default: server.exit_when_idle of the configuration, else never from a terminal, 10m without one)")
	f.StringVar(&o.logLevel, "log-level", "", "debug, info, warn or error (default: warn on a terminal, info in the log file)")
	f.BoolVar(&o.background, "background", false, "print and open nothing, and leave a companion that runs already as it is")
	// It hides a flag that exists, so it cannot fail.
	_ = f.MarkHidden("background")
	root.SetVersionTemplate("zeroclaw {{.Version}}\n")
	root.AddCommand(newOpen(e), newStatus(e), newExplain(e), newCall(e), newTools(e), newServices(e), newServers(e), newMCP(e), newToken(e), newVersion(e), newDummyMCP(e))
	return root
}
