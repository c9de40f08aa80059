package process

import (
	"context"
	"time"
)

// Steps are the times that Terminate gives a child before each harder step.
// A zero step is skipped: the zero Steps are Kill.
type Steps struct {
	StdinGrace time.Duration // after its standard input was closed
	TermGrace  time.Duration // after SIGTERM (Windows: CTRL_BREAK) to the group
}

// killLimit bounds how long Kill looks for processes that do not go away: one
// in an uninterruptible system call, or one that runs as another user.
const killLimit = 3 * time.Second

// Terminate ends the child and its whole family: it closes the standard input,
// waits, sends TERM to the group, waits, and kills what is left. It returns when the family is
// verified gone (Alive then is empty, unless a process cannot be killed by
// this user). The end of ctx goes to the last step at once.
func (p *Process) Terminate(ctx context.Context, s Steps) State {
	if p.stdin != nil {
		p.stdin.Close()
		if s.StdinGrace > 0 && p.within(ctx, p.done, s.StdinGrace) && len(p.Alive()) == 0 {
			return p.finish()
		}
	}
	if s.TermGrace > 0 && ctx.Err() == nil {
		p.term()
		if p.within(ctx, p.gone, s.TermGrace) {
			return p.finish()
		}
	}
	p.Kill()
	if len(p.Alive()) > 0 {
		return p.State() // waiting longer for these would help nobody
	}
	return p.finish()
}

// within waits for c, for d, or for the end of ctx, and reports whether c came.
func (p *Process) within(ctx context.Context, c <-chan struct{}, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c:
		return true
	case <-t.C:
	case <-ctx.Done():
	}
	return false
}

// finish waits for the bookkeeping behind an end that has been seen.
func (p *Process) finish() State {
	limit := time.NewTimer(killLimit)
	defer limit.Stop()
	for _, c := range []<-chan struct{}{p.done, p.gone} {
		select {
		case <-c:
		case <-limit.C:
			return p.State()
		}
	}
	return p.State()
}
