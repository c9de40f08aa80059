package main

import (
	"context"
	"fmt"
	"time"
)

const (
	lookEvery = 200 * time.Millisecond
	stopTime  = 30 * time.Second // within which a program that is stopped is gone
	lastLines = 10               // of the log, shown after a failure
)

// goal is where an action leads.
type goal struct {
	doing   string
	running bool // it must run in the end; else nothing of it may be left
	settled bool // it must be whatever comes after an installation
	since   *time.Time
}

// reached says whether a program got there, or never will: done with why it
// failed, "" when it did not.
func (g goal) reached(s status) (done bool, failed string) {
	why := s.Reason
	if why == "" && s.Error != nil {
		why = s.Error.Message
	}
	or := func(other string) string {
		if why == "" {
			return other
		}
		return why
	}
	switch {
	case s.State == "installing", s.State == "stopping", s.State == "starting" && !g.settled && g.running:
		return false, ""
	case g.settled && s.State == "failed", g.settled && s.State == "not_installed":
		return true, or("it was not installed")
	case g.settled:
		return true, ""
	case !g.running:
		return s.State == "stopped" || s.State == "not_installed" || s.State == "failed", ""
	case s.State == "running":
		// A restart is over only when what runs is another one than before.
		return g.since == nil || s.Started == nil || !s.Started.Equal(*g.since), ""
	case s.State == "failed":
		return true, or("it failed")
	}
	return true, or("it was stopped meanwhile")
}

// await follows a program until it is where an action leads, and says on
// standard error what happens on the way. Ctrl-C ends the waiting, not the
// action.
func (c client) await(ctx context.Context, k kind, st status, g goal, log *logTail) (status, error) {
	begun, told := time.Now(), ""
	for {
		if now := progressOf(st); now != told {
			told = now
			fmt.Fprintf(c.stderr, "%s: %s\n", oneLine(st.ID), now)
		}
		if g.settled || st.State == "installing" {
			log.print(ctx, c.stderr)
		}
		done, failed := g.reached(st)
		switch {
		case done && failed != "":
			log.printLast(ctx, c.stderr, lastLines)
			return st, failure{err: fmt.Errorf("%s %s: %s", g.doing, oneLine(st.ID), words(failed)),
				hint: fmt.Sprintf("zeroclaw %s logs %s prints what it said", k.list, oneLine(st.ID))}
		case done:
			return st, nil
		case !g.running && !g.settled && time.Since(begun) > stopTime:
			return st, failure{err: fmt.Errorf("%s %s: it is still %s after %v", g.doing, oneLine(st.ID), oneLine(st.State), stopTime)}
		}
		select {
		case <-ctx.Done():
			fmt.Fprintln(c.stderr, "It goes on without this command.")
			return st, interrupted(g.doing + " " + oneLine(st.ID))
		case <-time.After(lookEvery):
		}
		next, err := c.one(ctx, k, st.ID)
		if err != nil {
			return st, err
		}
		if next.Rev >= st.Rev {
			st = next
		}
	}
}

func progressOf(s status) string {
	if s.Reason == "" {
		return oneLine(s.State)
	}
	return oneLine(s.State) + ": " + words(s.Reason)
}
