package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"zeroclaw/services"
	"zeroclaw/tools/process"
)

// stdioPeer is a session with a process of ours.
type stdioPeer struct {
	*session
	proc   *process.Process
	out    *outbox
	lines  *lines
	filter *messageFilter
	errors *stderrTail

	closing sync.Once
	over    chan struct{} // closed when watch has ended
	left    error         // what Close could not end
	meant   chan struct{} // closed when the end is meant
}

func (c *Connector) connectStdio(ctx context.Context, spec services.Spec, h services.Hooks) (*stdioPeer, error) {
	path := c.config.Path(ctx)
	dir := cmp.Or(spec.Cwd, spec.Dir, c.home())
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, fmt.Errorf("its working folder %s is not there", dir)
	}
	program, err := c.Resolve(ctx, spec)
	if err != nil {
		return nil, err
	}
	argv := append([]string{program}, spec.Args...)

	s := newSession(h, c.config.Identity)
	p := &stdioPeer{session: s, errors: newStderrTail(h.Log), over: make(chan struct{}), meant: make(chan struct{})}
	p.lines = newLines(func(text string) { h.Log("companion", text) })
	s.attach(p.lines)
	p.filter = &messageFilter{answer: s.keep, overlong: p.tooLong, unusable: p.unusable, unended: p.unended, limit: maxLine,
		other: func(m message, raw []byte) { p.lines.other(s.ctx, m, raw) },
		log:   func(text string) { h.Log("stdout", text) }}
	p.proc, err = process.Start(program, argv, process.Options{
		Dir: dir, Env: environment(c.config.Environ(), path, spec.Env),
		StdinPipe: true, Stdout: p.filter, Stderr: p.errors, NoWindow: true, Ledger: c.config.Ledger,
	})
	if err != nil {
		return nil, err
	}
	h.Info(services.Info{Pid: p.proc.Pid(), Command: argv})
	p.out = newOutbox(p.proc.Stdin(), outboxStall, p.cannotWrite)
	s.post = p.out.send
	p.lines.open(p.out)
	go p.watch()

	g, err := s.handshake(ctx, spec.Protocol)
	if err != nil {
		err = p.explain(ctx, err)
		return nil, errors.Join(err, p.abandon(ctx))
	}
	h.Info(services.Info{Pid: p.proc.Pid(), Command: argv, Protocol: s.version, ServerName: g.ServerInfo.Name,
		ServerVersion: g.ServerInfo.Version, Instructions: g.Instructions, Capabilities: g.Capabilities})
	s.listen()
	return p, nil
}

// cannotWrite ends the connection, unless it is the end of the process that is
// seen here first: that has more to say.
func (p *stdioPeer) cannotWrite(err error) {
	var stalled *lostError
	if !errors.As(err, &stalled) {
		select {
		case <-p.proc.Done():
			return
		case <-p.ctx.Done():
			return
		case <-time.After(time.Second):
		}
		err = &lostError{message: "the server closed its input: " + err.Error()}
	}
	p.lost(err)
}

func (c *Connector) home() string {
	if c.config.Home != "" {
		return c.config.Home
	}
	h, err := os.UserHomeDir()
	if err != nil {
		return os.TempDir()
	}
	return h
}

// watch waits for the end of the process, or of the connection, and tells why.
func (p *stdioPeer) watch() {
	defer close(p.over)
	select {
	case <-p.proc.Done():
		// Everything that it printed has been through the filter: answers
		// first, then the end.
		p.filter.flush()
		state, err := p.proc.Wait()
		if err != nil {
			p.lost(&lostError{message: err.Error()})
		} else {
			p.errors.flush()
			p.lost(p.exit(state))
		}
	case <-p.ctx.Done():
	}
	select {
	case <-p.meant:
	default:
		p.hooks.Closed(context.Cause(p.ctx))
	}
}

func (p *stdioPeer) exit(state process.State) *services.ExitError {
	e := &services.ExitError{Code: state.ExitCode, Signal: state.Signal, Stderr: p.errors.last()}
	noise, size, passed := p.filter.counts()
	switch {
	case state.OOM:
		e.Hint = "the system ran out of memory"
	case passed == 0 && noise > 0:
		e.Hint = fmt.Sprintf("it printed %d bytes that are no MCP messages", size)
	}
	return e
}

// explain adds to a failed handshake what the server printed instead.
func (p *stdioPeer) explain(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) && !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	var b strings.Builder
	b.WriteString("it did not answer the first question of the protocol in time")
	if noise, size, passed := p.filter.counts(); noise > 0 && passed == 0 {
		fmt.Fprintf(&b, "; it printed %d bytes that are no MCP messages: is this an MCP server?", size)
	}
	if last := p.errors.last(); last != "" {
		fmt.Fprintf(&b, "; it last printed: %s", last)
	}
	return errors.New(b.String())
}

// tooLong answers a call whose result is longer than a line may be.
func (p *stdioPeer) tooLong(id string, size, limit int64) {
	p.unusable(id, fmt.Sprintf("the answer of the server has %d bytes; at most %d are taken", size, limit))
}

// unended ends the connection with a server that prints a line without end.
func (p *stdioPeer) unended(size int64) {
	p.lost(&lostError{message: fmt.Sprintf("the server printed a line without end: after %d bytes of it the connection was closed", size)})
}

// unusable answers a call with why its answer cannot be used.
func (p *stdioPeer) unusable(id, text string) {
	p.hooks.Log("companion", text)
	ids := []string{id}
	if id == "" {
		// It cannot be told which call it answers: none of them may wait for
		// ever.
		ids = p.waiting()
		text += " (or it was the answer to another call)"
	}
	for _, id := range ids {
		if p.spoil(id, answerError{errors.New(text)}) {
			p.filter.count()
		}
	}
}

// Close implements services.Peer.
func (p *stdioPeer) Close(ctx context.Context) error {
	p.closing.Do(func() {
		close(p.meant)
		grace := 5 * time.Second
		if end, ok := ctx.Deadline(); ok {
			grace = max(time.Until(end), 0)
		}
		p.lost(errClosed)
		p.out.Close()
		// The steps end by themselves; ctx would only cut the last one short.
		p.proc.Terminate(context.WithoutCancel(ctx), process.Steps{StdinGrace: grace * 2 / 5, TermGrace: grace * 3 / 5})
		<-p.over
		_ = p.lines.Close()
		p.duties.Wait()
		<-p.out.done
		if pids := p.proc.Alive(); len(pids) > 0 {
			p.left = fmt.Errorf("these processes of it could not be ended: %s", strings.Trim(fmt.Sprint(pids), "[]"))
		}
	})
	return p.left
}

var errClosed = errors.New("the connection was closed")

// abandon ends a connection that never came to be.
func (p *stdioPeer) abandon(ctx context.Context) error {
	cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 1500*time.Millisecond)
	defer cancel()
	return p.Close(cctx)
}
