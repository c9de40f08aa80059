package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"zeroclaw/tools/process"
)

const (
	maxLine   = 500 // bytes of a line of output that are kept
	keptLines = 40  // lines that an error may look at
)

// job is one run of a program that is waited for.
type job struct {
	program string
	args    []string
	dir     string
	env     []string
	limit   time.Duration
	line    func(text string) // each line of the output, from one goroutine at a time; may be nil
}

// exitError says that a program ended by itself and was not content.
type exitError struct {
	code   int
	signal string
	lines  []string // the last ones that it printed
}

func (e *exitError) Error() string {
	how := fmt.Sprintf("exit code %d", e.code)
	if e.signal != "" {
		how = e.signal
	}
	if said := strings.TrimSpace(strings.Join(e.lines[max(0, len(e.lines)-6):], "; ")); said != "" {
		return how + ": " + said
	}
	return how
}

// run starts a program in a group of its own and waits for it. When it returns
// nothing of the group is left. An error is an *exitError, the reason why ctx
// ended, or says that the program could not be started or took too long.
func (i *Installer) run(ctx context.Context, j job) error {
	out := &lines{each: j.line}
	p, err := process.Start(j.program, append([]string{j.program}, j.args...), process.Options{
		Dir: j.dir, Env: j.env, Stdout: out, Stderr: out, NoWindow: true, Ledger: i.config.Ledger,
	})
	if err != nil {
		return err
	}
	limit := time.NewTimer(j.limit)
	defer limit.Stop()
	select {
	case <-p.Done():
	case <-limit.C:
		err = fmt.Errorf("it did not end within %s", j.limit)
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		p.Terminate(context.WithoutCancel(ctx), process.Steps{TermGrace: time.Second})
		return err
	}
	p.Kill() // what it may have left behind
	state, err := p.Wait()
	last := out.end()
	switch {
	case err != nil:
		return err
	case state.ExitCode != 0:
		return &exitError{code: state.ExitCode, signal: state.Signal, lines: last}
	}
	return nil
}

// said is the output of a program that answers with little.
func (i *Installer) said(ctx context.Context, j job) (string, error) {
	var text []string
	j.line = func(s string) {
		if len(text) < keptLines {
			text = append(text, s)
		}
	}
	err := i.run(ctx, j)
	return strings.Join(text, "\n"), err
}

// lines cuts what is written to it into lines.
type lines struct {
	each func(string)

	mu   sync.Mutex
	part []byte
	last []string
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := b; len(rest) > 0; {
		n := bytes.IndexAny(rest, "\r\n")
		if n < 0 {
			l.grow(rest)
			break
		}
		l.grow(rest[:n])
		l.flush()
		rest = rest[n+1:]
	}
	return len(b), nil
}

func (l *lines) grow(b []byte) { l.part = append(l.part, b[:min(len(b), maxLine-len(l.part))]...) }

func (l *lines) flush() {
	text := strings.TrimSpace(strings.ToValidUTF8(string(l.part), ""))
	l.part = l.part[:0]
	if text == "" {
		return
	}
	l.last = append(l.last, text)
	if len(l.last) > keptLines {
		l.last = l.last[1:]
	}
	if l.each != nil {
		l.each(text)
	}
}

// end takes what came after the last line break and returns the last lines.
func (l *lines) end() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	return l.last
}

// throttle passes on a text at most every so often, so that a page and a log
// are not filled by a fast program.
func throttle(pass func(string)) func(string) {
	const pause = 300 * time.Millisecond
	var last time.Time
	return func(text string) {
		if now := time.Now(); now.Sub(last) >= pause {
			last = now
			pass(text)
		}
	}
}

// network are the words by which npm and pip tell that they reached nobody.
var network = []string{
	"ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH", "EHOSTUNREACH", "ERR_SOCKET_TIMEOUT", "ENOTCACHED", "EIDLETIMEOUT",
	"NewConnectionError", "ConnectTimeoutError", "ReadTimeoutError", "ProxyError", "Failed to establish a new connection", "Name or service not known",
}

// unreachable returns the line by which a failed program tells that it reached
// nobody, "" when that is not why it failed.
func unreachable(err error) string { return lineWith(err, network) }

// mentions reports whether a failed program printed one of the words.
func mentions(err error, words ...string) bool { return lineWith(err, words) != "" }

// lineWith returns the first line of a failed program with one of the words, ""
// for none.
func lineWith(err error, words []string) string {
	var e *exitError
	if !errors.As(err, &e) {
		return ""
	}
	for _, text := range e.lines {
		for _, word := range words {
			if strings.Contains(text, word) {
				return text
			}
		}
	}
	return ""
}
