package services

import (
	"fmt"
	"time"
)

// States of a breaker.
const (
	BreakerClosed = "closed" // calls pass
	BreakerOpen   = "open"   // calls fail at once until Until; the next one after it is the trial
	BreakerTrial  = "trial"  // one call is on its way, the others fail at once
)

const (
	breakerLimit = 3                // failures in a row that open it
	breakerFirst = time.Minute      // how long it stays open at first; doubled by each trial that fails
	breakerMax   = 10 * time.Minute // the longest that it stays open
)

// outcome is what a call, a request or a probe shows of the server.
type outcome uint8

const (
	// nothing: the caller went away, or it was not sent.
	nothing outcome = iota
	// answered: a call was answered, if only by an error of the server.
	answered
	// alive: a probe was answered. That says nothing about the server's tools.
	alive
	// unreachable: nothing came through, a probe failed or the connection was
	// lost while no call was under way.
	unreachable
	// mute: the server took a call and never answered, or died over it.
	mute
)

// breaker keeps calls away from a server that failed several times in a row.
// It is a plain value; the zero one is closed.
type breaker struct {
	failures int           // in a row
	mute     bool          // one of them was mute: only an answered call proves the contrary
	pause    time.Duration // how long it opened last; 0 = closed
	until    time.Time     // of an open one
	trying   bool          // the trial is under way
}

// admit says whether a call may be made now. The call that is the trial has to
// settle it.
func (b breaker) admit(now time.Time) (next breaker, trial bool, err error) {
	switch {
	case b.pause == 0:
		return b, false, nil
	case b.trying:
		return b, false, fmt.Errorf("%w after %d failures in a row: one call tries whether it works again, wait for that one", ErrPaused, b.failures)
	case now.Before(b.until):
		return b, false, fmt.Errorf("%w after %d failures in a row: it is tried again at %s, in %s, or at once with Retry",
			ErrPaused, b.failures, b.until.Format(time.TimeOnly), b.until.Sub(now).Round(time.Second))
	}
	b.trying = true
	return b, true, nil
}

// settle takes what came of a call or of a probe.
func (b breaker) settle(o outcome, trial bool, now time.Time) breaker {
	switch {
	case o == answered, o == alive && !b.mute:
		return breaker{}
	case o == nothing && trial:
		b.trying = false // the next call is the trial
		return b
	case o == nothing, o == alive:
		return b
	case b.pause > 0 && (now.Before(b.until) || b.trying && !trial):
		// A call from before it opened.
		b.mute = b.mute || o == mute
		return b
	}
	b.failures++
	b.mute = b.mute || o == mute
	switch {
	case b.pause > 0:
		b.pause = min(2*b.pause, breakerMax)
	case b.failures >= breakerLimit:
		b.pause = breakerFirst
	default:
		return b
	}
	b.until, b.trying = now.Add(b.pause), false
	return b
}

// BreakerStatus is what is shown of a breaker.
type BreakerStatus struct {
	// State is one of the constants above.
	State string `json:"state"`
	// Failures are those in a row.
	Failures int `json:"failures"`
	// Until is when an open one lets the next call through; nil otherwise.
	Until *time.Time `json:"until,omitempty"`
}

func (b breaker) status() *BreakerStatus {
	st := &BreakerStatus{State: BreakerClosed, Failures: b.failures}
	switch {
	case b.trying:
		st.State = BreakerTrial
	case b.pause > 0:
		st.State, st.Until = BreakerOpen, stamp(b.until)
	}
	return st
}
