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
	background   bool // started by another of our programs: nobody reads what is printed
}

// check refuses what no flag can mean; given reports whether one was given.
// It leaves the flags as localserver.Config takes them.
func (o *options) check(given func(flag string) bool) error {
	if o.port < 0 || o.port > 65535 {
		return failure{err: fmt.Errorf("use --port %d: it is no port", o.port), hint: "choose one from 1 to 65535, or 0 for any free one", code: exitUsage}
	}
	if given("port") && o.port == 0 {
		o.port = localserver.AnyPort
	}
	if given("exit-when-idle") && o.exitWhenIdle <= 0 {
		return failure{err: fmt.Errorf("use --exit-when-idle %s: it is no time to wait", o.exitWhenIdle), hint: "give a time like 10m, or leave the flag out to stay", code: exitUsage}
	}
	return nil
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
	case errors.Is(err, atomicfile.ErrLocked) && o.background:
		return nil // whoever started this one takes the one that there is
	case errors.Is(err, atomicfile.ErrLocked):
		return handOver(ctx, e, o, state, root)
	case err != nil:
		return unstarted(err, state)
	}
	defer release()
	log, closeLog, err := e.logger(o, state)
	if err != nil {
		return err
	}
	defer closeLog()
	boundMemory(e.getenv)
	if err := process.CloseInherited(); err != nil {
		log.Warn("children may get files that were open when the companion started", "err", err)
	}
	if err := process.Subreaper(); err != nil {
		log.Warn("children that detach may outlive their call", "err", err)
	}
	s, err := localserver.New(localserver.Config{
		State: state, Home: e.home, Root: root, Port: o.port, UIOrigin: o.ui, Self: e.self,
		ExitWhenIdle: o.exitWhenIdle, Terminal: e.terminal, Log: log, Getenv: e.getenv,
	})
	if err != nil {
		return unstarted(err, state)
	}
	return unstarted(s.Serve(ctx, func() {
		if !o.background {
			e.announce(s, o)
		}
	}), state)
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
			if e.home == "" {
				return "", failure{err: errors.New("choose a folder to work in: there is no home folder"), hint: "give one with --root"}
			}
			root = filepath.Join(e.home, "ZeroClaw")
			if err := os.MkdirAll(root, 0o755); err != nil {
				return "", failure{err: fmt.Errorf("create the folder to work in: %w", err), hint: "give one with --root"}
			}
		}
	}
	if root == "" {
		return "", failure{err: errors.New("use the folder to work in: --root is empty"), hint: "give an existing folder with --root"}
	}
	abs, err := filepath.Abs(root)
	if err == nil {
		err = localserver.CheckRoot(state, abs)
	}
	if err != nil {
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
	if other := s.OtherPage(); other != "" {
		fmt.Fprintf(e.stderr, "Its page is at %s; zeroclaw open --own opens the companion's own.\n", other)
	}
	_ = e.show(func(printed bool) (string, error) { return s.LaunchURL(localserver.Launch{Printed: printed}), nil }, o.noBrowser)
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
	return openPage(ctx, e, i, pageRequest{Root: root}, o.noBrowser)
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

// pageRequest is what a companion is asked for an address with.
type pageRequest struct {
	localserver.Launch
	Root string `json:"root"` // folder of its next chat; "" leaves it
}

// openPage asks a companion for an address and opens it.
func openPage(ctx context.Context, e environment, i localserver.Instance, want pageRequest, print bool) error {
	return e.show(func(printed bool) (string, error) {
		var got struct {
			URL string `json:"url"`
		}
		want.Printed = printed
		if err := i.Do(ctx, "POST", "/api/launch", want, &got); err != nil {
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
			return nil, nil, unstarted(err, state)
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
