package process

import (
	"errors"
	"io"
	"os"
	"time"
)

// endpoints are the files that a child gets, and those of them that we close
// once it has them.
type endpoints struct {
	child []*os.File
	ours  []*os.File
}

func (e *endpoints) closeOurs() {
	for _, f := range e.ours {
		f.Close()
	}
}

// pump copies between one pipe and one reader or writer of the caller.
type pump struct {
	pipe *os.File
	copy func()
	over chan struct{}
}

func (u *pump) begin() {
	go func() {
		defer close(u.over)
		u.copy()
		u.pipe.Close()
	}()
}

// connect makes the child's three files and the pumps behind them.
func (p *Process) connect(o Options) (*endpoints, error) {
	e := &endpoints{}
	fail := func(err error) (*endpoints, error) {
		e.closeOurs()
		return nil, err
	}
	in, err := p.input(o, e)
	if err != nil {
		return fail(err)
	}
	out, err := p.output(o.Stdout, e)
	if err != nil {
		return fail(err)
	}
	errs := out
	if !same(o.Stdout, o.Stderr) {
		if errs, err = p.output(o.Stderr, e); err != nil {
			return fail(err)
		}
	}
	e.child = []*os.File{in, out, errs}
	return e, nil
}

// same reports whether both streams go to one writer, which then must see one
// writing goroutine only.
func same(a, b io.Writer) (yes bool) {
	defer func() { _ = recover() }() // writers of an uncomparable type are different ones
	return a != nil && a == b
}

func (p *Process) input(o Options, e *endpoints) (*os.File, error) {
	if f, ok := o.Stdin.(*os.File); ok && !o.StdinPipe {
		return f, nil
	}
	if o.Stdin == nil && !o.StdinPipe {
		f, err := os.Open(os.DevNull)
		if err == nil {
			e.ours = append(e.ours, f)
		}
		return f, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	e.ours = append(e.ours, r)
	if o.StdinPipe {
		p.stdin = w
		return r, nil
	}
	p.pipes = append(p.pipes, &pump{pipe: w, over: make(chan struct{}), copy: func() {
		_, _ = io.Copy(w, o.Stdin)
	}})
	return r, nil
}

func (p *Process) output(to io.Writer, e *endpoints) (*os.File, error) {
	if f, ok := to.(*os.File); ok {
		return f, nil
	}
	if to == nil {
		f, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
		if err == nil {
			e.ours = append(e.ours, f)
		}
		return f, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	e.ours = append(e.ours, w)
	p.pipes = append(p.pipes, &pump{pipe: r, over: make(chan struct{}), copy: func() {
		_, _ = io.Copy(to, r)
	}})
	return w, nil
}

// drain waits until every pipe is read to its end, at most for the delay, and
// closes what is still open.
func (p *Process) drain() {
	limit := time.NewTimer(p.delay)
	defer limit.Stop()
	for _, u := range p.pipes {
		select {
		case <-u.over:
		case <-limit.C:
			p.closePipes()
			return
		}
	}
}

func (p *Process) closePipes() {
	for _, u := range p.pipes {
		u.pipe.Close()
	}
	if p.stdin != nil {
		p.stdin.Close()
	}
}

// stdinPipe hides the file behind the two methods that a caller needs.
type stdinPipe struct{ f *os.File }

func (s stdinPipe) Write(b []byte) (int, error) { return s.f.Write(b) }

// TryWrite writes as much as the pipe has room for, which may be nothing, and
// does not wait.
func (s stdinPipe) TryWrite(b []byte) (int, error) { return tryWrite(s.f, b) }

func (s stdinPipe) Close() error {
	if err := s.f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}
