package approval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func newBroker(c Config) *Broker {
	var n atomic.Int64
	c.NewID = func() string { return fmt.Sprintf("q%d", n.Add(1)) }
	return NewBroker(c)
}

func question(choices ...Decision) Question {
	if choices == nil {
		choices = []Decision{Once, Session, Always, Deny, Stop}
	}
	return Question{Kind: KindCall, Tool: "read_file", Choices: choices}
}

func TestFirstAnswerWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var remembered atomic.Int64
		b := newBroker(Config{Remember: func(Question, Answer) error { remembered.Add(1); return nil }})
		b.SetPresent(2)
		got := make(chan Resolution)
		go func() { got <- b.Ask(t.Context(), question()) }()
		synctest.Wait()

		var wg sync.WaitGroup
		var won, lost atomic.Int64
		for i := range 8 {
			wg.Go(func() {
				d := Always
				if i%2 == 0 {
					d = Deny
				}
				switch err := b.Resolve("q1", Answer{Decision: d}); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, ErrAnswered):
					lost.Add(1)
				default:
					t.Errorf("Resolve: %v", err)
				}
			})
		}
		r := <-got
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 7 {
			t.Errorf("%d answers won and %d lost, want 1 and 7", won.Load(), lost.Load())
		}
		want := int64(0)
		if r.Answer.Decision == Always {
			want = 1
		}
		if remembered.Load() != want {
			t.Errorf("%d answers were remembered, want %d", remembered.Load(), want)
		}
	})
}

func TestEndings(t *testing.T) {
	tests := []struct {
		name  string
		do    func(b *Broker, cancel func())
		want  Outcome
		after time.Duration
	}{
		{"nobody is there", func(*Broker, func()) {}, Nobody, Grace},
		{"a tab is there but silent", func(b *Broker, _ func()) { b.SetPresent(1) }, Expired, 2 * time.Minute},
		{"the last tab leaves", func(b *Broker, _ func()) {
			b.SetPresent(1)
			time.Sleep(30 * time.Second)
			b.SetPresent(0)
		}, Nobody, 30*time.Second + Grace},
		{"the last tab leaves and comes back", func(b *Broker, _ func()) {
			b.SetPresent(1)
			time.Sleep(30 * time.Second)
			b.SetPresent(0)
			time.Sleep(Grace - time.Second)
			b.SetPresent(1)
		}, Expired, 2 * time.Minute},
		{"a look at the list holds it open", func(b *Broker, _ func()) {
			time.Sleep(10 * time.Second)
			b.Seen()
		}, Nobody, 10*time.Second + Grace},
		{"the call is cancelled", func(_ *Broker, cancel func()) {
			time.Sleep(time.Second)
			cancel()
		}, Cancelled, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var ended atomic.Int64
				b := newBroker(Config{Ended: func(Resolution) { ended.Add(1) }})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				start := time.Now()
				got := make(chan Resolution, 1)
				go func() { got <- b.Ask(ctx, question()) }()
				tt.do(b, cancel)
				r := <-got
				if took := time.Since(start); r.Outcome != tt.want || took != tt.after {
					t.Errorf("ended %q after %v, want %q after %v", r.Outcome, took, tt.want, tt.after)
				}
				if err := b.Resolve("q1", Answer{Decision: Once}); !errors.Is(err, ErrExpired) {
					t.Errorf("late answer: %v, want ErrExpired", err)
				}
				if ended.Load() != 1 || len(b.Open()) != 0 {
					t.Errorf("told of %d endings with %d open, want 1 and 0", ended.Load(), len(b.Open()))
				}
			})
		})
	}
}

func TestResolveRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(Config{})
		b.SetPresent(1)
		q := question(Once, Rule, Deny)
		q.Proposed = []string{"R:./docs/**"}
		got := make(chan Resolution, 1)
		go func() { got <- b.Ask(t.Context(), q) }()
		synctest.Wait()
		tests := []struct {
			id   string
			a    Answer
			want error
		}{
			{"q1", Answer{Decision: Always}, ErrChoice},
			{"q1", Answer{Decision: "yes"}, ErrChoice},
			{"q1", Answer{}, ErrChoice},
			{"q1", Answer{Decision: Rule, Rule: "RW:/**"}, ErrChoice},
			{"q2", Answer{Decision: Once}, ErrUnknown},
			{"", Answer{Decision: Once}, ErrUnknown},
		}
		for _, tt := range tests {
			if err := b.Resolve(tt.id, tt.a); !errors.Is(err, tt.want) {
				t.Errorf("Resolve(%q, %+v) = %v, want %v", tt.id, tt.a, err, tt.want)
			}
		}
		if err := b.Resolve("q1", Answer{Decision: Rule, Rule: "R:./docs/**"}); err != nil {
			t.Errorf("Resolve with the proposed rule: %v", err)
		}
		if r := <-got; r.Answer.Rule != "R:./docs/**" {
			t.Errorf("the call got %+v", r.Answer)
		}
	})
}

func TestUnrememberedAnswerCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		b := newBroker(Config{Remember: func(Question, Answer) error { return full }})
		b.SetPresent(1)
		got := make(chan Resolution, 1)
		go func() { got <- b.Ask(t.Context(), question()) }()
		synctest.Wait()
		if err := b.Resolve("q1", Answer{Decision: Always}); !errors.Is(err, full) {
			t.Errorf("Resolve = %v, want %v", err, full)
		}
		if r := <-got; r.Answer.Decision != Once {
			t.Errorf("the call got %q, want once", r.Answer.Decision)
		}
	})
}

// Remember that fails in the worst way neither lets the call hang nor lets it
// do more than this once, and whoever answered is told.
func TestAnswerWhoseSavingPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		var ended atomic.Int64
		b := newBroker(Config{
			Remember: func(Question, Answer) error { panic("planted-secret") },
			Ended:    func(Resolution) { ended.Add(1) },
			Log:      slog.New(slog.NewTextHandler(&log, nil)),
		})
		b.SetPresent(1)
		got := make(chan Resolution, 1)
		go func() { got <- b.Ask(t.Context(), question()) }()
		synctest.Wait()
		if err := b.Resolve("q1", Answer{Decision: Always}); err == nil || !strings.Contains(err.Error(), "could not be remembered") {
			t.Errorf("Resolve = %v, want one that says that it was not remembered", err)
		}
		if r := <-got; r.Outcome != Answered || r.Answer.Decision != Once {
			t.Errorf("the call got %q, %q, want once", r.Outcome, r.Answer.Decision)
		}
		if ended.Load() != 1 {
			t.Errorf("told of %d endings, want 1", ended.Load())
		}
		if l := log.String(); !strings.Contains(l, "broker_test.go") || strings.Contains(l, "planted-secret") {
			t.Errorf("the log should say where and not what: %s", l)
		}
	})
}

// A listener that panics takes nothing along: the answer reaches the call, and
// no question stays open for a call that is gone.
func TestListenersThatPanic(t *testing.T) {
	caught := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(Config{Ended: func(Resolution) { panic("ended") }})
		b.SetPresent(1)
		got := make(chan Resolution, 1)
		go func() { got <- b.Ask(t.Context(), question()) }()
		synctest.Wait()
		if v := caught(func() { _ = b.Resolve("q1", Answer{Decision: Once}) }); v != "ended" {
			t.Errorf("recovered %v, want the listener's own", v)
		}
		if r := <-got; r.Answer.Decision != Once {
			t.Errorf("the call got %q, want once", r.Answer.Decision)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		b := newBroker(Config{Asked: func(Question) { panic("asked") }})
		if v := caught(func() { b.Ask(t.Context(), question()) }); v != "asked" {
			t.Errorf("recovered %v, want the listener's own", v)
		}
		if n := len(b.Open()); n != 0 {
			t.Errorf("%d questions are open without a call", n)
		}
	})
}

// While an answer is being saved, its call can still be cancelled.
func TestCancelWhileAnswerIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		b := newBroker(Config{Remember: func(Question, Answer) error { <-release; return nil }})
		b.SetPresent(1)
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan Resolution, 1)
		go func() { got <- b.Ask(ctx, question()) }()
		synctest.Wait()
		answered := make(chan error, 1)
		go func() { answered <- b.Resolve("q1", Answer{Decision: Always}) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		select {
		case r := <-got:
			if r.Outcome != Cancelled {
				t.Errorf("ended %q, want cancelled", r.Outcome)
			}
		default:
			t.Error("a cancelled call waits for the disk")
		}
		close(release)
		if err := <-answered; err != nil {
			t.Errorf("Resolve = %v", err)
		}
	})
}
