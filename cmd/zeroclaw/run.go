package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"zeroclaw/localserver"
	"zeroclaw/tools/atomicfile"
	"zeroclaw/tools/process"
)

// options are the flags of the root command.
type options struct {
	root         string
	rootGiven    bool
	port         int
	ui           string
	noBrowser    bool
	exitWhenIdle time.Duration
	logLevel     string
}

// run is the root command: it becomes the companion of the state folder, or
// hands over to the one that runs already.
func run(ctx context.Context, e environment, o options) error {
	state, err := e.stateDir()
	if err != nil {
		return err
	}
	root, err := e.rootFor(o, state)
	if err != nil {
		return err
	}
	release, err := localserver.Acquire(state)
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return handOver(ctx, e, o, state, root)
	case err != nil:
		return failure{err: err, hint: "make " + state + " writable, or set ZEROCLAW_CONFIG_DIR to a folder that is"}
	}
	defer release()
	log, closeLog, err := e.logger(o, state)
	if err != nil {
		return err
	}
	defer closeLog()
	if err := process.Subreaper(); err != nil {
		log.Warn("children that detach may outlive their call", "err", err)
	}
	s, err := localserver.New(localserver.Config{
		State: state, Home: e.home, Root: root, Port: o.port, UIOrigin: o.ui, Self: e.self,
		ExitWhenIdle: o.exitWhenIdle, Terminal: e.terminal, Log: log, Getenv: e.getenv,
	})
	if err != nil {
		return failure{err: err}
	}
	return wrap(s.Serve(ctx, func() { e.announce(s, o) }))
}

func wrap(err error) error {
	if err == nil {
		return nil
	}
	return failure{err: err}
}

// rootFor is the folder that relative paths hang from: the flag, else the
// terminal's current folder, else what was chosen last, else ~/ZeroClaw.
func (e environment) rootFor(o options, state string) (string, error) {
	root := o.root
	switch {
	case o.rootGiven:
	case e.terminal:
		root = e.cwd
	default:
		if root = localserver.LastRoot(state); root == "" {
			root = filepath.Join(e.home, "ZeroClaw")
			if err := os.MkdirAll(root, 0o755); err != nil {
				return "", failure{err: fmt.Errorf("create the folder to work in: %w", err), hint: "give one with --root"}
			}
		}
	}
	abs, err := filepath.Abs(root)
	if err == nil {
		var info os.FileInfo
		if info, err = os.Stat(abs); err == nil && !info.IsDir() {
			err = fmt.Errorf("%s is not a folder", abs)
		}
	}
	if err != nil || root == "" {
		return "", failure{err: fmt.Errorf("use %q as the folder to work in: %w", root, err), hint: "give an existing folder with --root"}
	}
	return abs, nil
}

// announce opens the page, or says where it is.
func (e environment) announce(s *localserver.Server, o options) {
	fmt.Fprintf(e.stderr, "ZeroClaw runs on %s and works in %s\n", s.Address(), s.Root())
	for _, p := range s.Problems() {
		fmt.Fprintf(e.stderr, "  %s\n", p.Message)
	}
	_ = e.show(func(printed bool) (string, error) { return s.LaunchURL(printed), nil }, o.noBrowser)
	if e.terminal {
		fmt.Fprintln(e.stderr, "Ctrl-C ends it.")
	}
}

// show opens an address in the browser, or prints one that lives longer. Its
// error is one of address.
func (e environment) show(address func(printed bool) (string, error), print bool) error {
	if !print && !e.headless() {
		url, err := address(false)
		if err != nil {
			return err
		}
		if err = e.open(url); err == nil {
			return nil
		}
		fmt.Fprintf(e.stderr, "The browser could not be opened: %v\n", err)
	}
	url, err := address(true)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "Open this address within 10 minutes; it works once:\n  %s\n", url)
	return nil
}

// handOver opens the page of the companion that runs already, with our folder
// for its next chat.
func handOver(ctx context.Context, e environment, o options, state, root string) error {
	i, err := waitFor(ctx, state)
	if err != nil {
		return failure{err: fmt.Errorf("reach the companion that holds %s: %w", state, err), hint: "it may be starting or ending: try again, or end its process"}
	}
	fmt.Fprintf(e.stderr, "ZeroClaw runs already on http://127.0.0.1:%d/; its next chat works in %s\n", i.Port, root)
	return openPage(ctx, e, i, root, o.noBrowser)
}

// waitFor finds the running companion, which may still be starting.
func waitFor(ctx context.Context, state string) (localserver.Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		i, err := localserver.Find(ctx, state)
		if err == nil {
			return i, nil
		}
		select {
		case <-ctx.Done():
			return i, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// openPage asks a companion for an address and opens it.
func openPage(ctx context.Context, e environment, i localserver.Instance, root string, print bool) error {
	return e.show(func(printed bool) (string, error) {
		var got struct {
			URL string `json:"url"`
		}
		if err := i.Do(ctx, "POST", "/api/launch", map[string]any{"root": root, "printed": printed}, &got); err != nil {
			return "", failure{err: fmt.Errorf("ask for the page's address: %w", err)}
		}
		return got.URL, nil
	}, print)
}

// logger writes to stderr on a terminal, else to logs/zeroclaw.log.
func (e environment) logger(o options, state string) (*slog.Logger, func(), error) {
	level := slog.LevelInfo
	if e.terminal {
		level = slog.LevelWarn
	}
	if o.logLevel != "" {
		if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
			return nil, nil, failure{err: fmt.Errorf("use --log-level %q: it is no level", o.logLevel), hint: "choose debug, info, warn or error", code: exitUsage}
		}
	}
	var out io.Writer = e.stderr
	closeLog := func() {}
	if !e.terminal {
		file, err := openLog(filepath.Join(state, "logs"))
		if err != nil {
			return nil, nil, failure{err: err}
		}
		out, closeLog = file, func() { file.Close() }
	}
	return slog.New(slog.NewTextHandler(out, &slog.HandlerOptions{Level: level})), closeLog, nil
}

// maxLog is the size above which the log of earlier starts is set aside.
const maxLog = 4 << 20

func openLog(dir string) (*os.File, error) {
	path := filepath.Join(dir, "zeroclaw.log")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the log folder: %w", err)
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxLog {
		if err := os.Rename(path, path+".1"); err != nil {
			return nil, fmt.Errorf("rotate the log: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the log: %w", err)
	}
	return f, nil
}
