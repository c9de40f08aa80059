package services

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBreakerTable(t *testing.T) {
	type act struct {
		after   time.Duration // since the step before
		settle  outcome
		trial   bool
		state   string
		until   time.Duration // from now, of an open one
		refused bool          // a call now
	}
	fail := act{settle: unreachable, state: BreakerClosed}
	open := act{settle: unreachable, state: BreakerOpen, until: time.Minute, refused: true}
	for _, tt := range []struct {
		name string
		acts []act
	}{
		{"two failures leave it closed", []act{fail, fail}},
		{"the third opens it", []act{fail, fail, open}},
		{"an answer between them counts", []act{fail, fail, {settle: answered, state: BreakerClosed}, fail, fail, open}},
		{"who goes away says nothing", []act{fail, fail, {settle: nothing, state: BreakerClosed}, open}},
		{"a probe that is answered closes it", []act{fail, fail, open, {settle: alive, state: BreakerClosed}}},
		{"but not after a call that was not", []act{fail, fail, {settle: mute, state: BreakerOpen, until: time.Minute, refused: true},
			{after: 30 * time.Second, settle: alive, state: BreakerOpen, until: 30 * time.Second, refused: true}}},
		{"late failures do not lengthen it", []act{fail, fail, open, {after: 20 * time.Second, settle: mute, state: BreakerOpen, until: 40 * time.Second, refused: true}}},
		{"a trial that fails doubles, up to ten minutes", []act{fail, fail, open,
			{after: time.Minute, settle: mute, trial: true, state: BreakerOpen, until: 2 * time.Minute, refused: true},
			{after: 2 * time.Minute, settle: mute, trial: true, state: BreakerOpen, until: 4 * time.Minute, refused: true},
			{after: 4 * time.Minute, settle: mute, trial: true, state: BreakerOpen, until: 8 * time.Minute, refused: true},
			{after: 8 * time.Minute, settle: mute, trial: true, state: BreakerOpen, until: 10 * time.Minute, refused: true},
			{after: 10 * time.Minute, settle: mute, trial: true, state: BreakerOpen, until: 10 * time.Minute, refused: true},
			{after: 10 * time.Minute, settle: answered, trial: true, state: BreakerClosed},
			fail, fail, open}},
		{"a trial without an outcome is for the next", []act{fail, fail, open, {after: time.Minute, settle: nothing, trial: true, state: BreakerOpen}}},
		{"a probe that fails when it is time is a trial", []act{fail, fail, open, {after: time.Minute, settle: unreachable, state: BreakerOpen, until: 2 * time.Minute, refused: true}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b breaker
			now := time.Unix(1e9, 0)
			for i, a := range tt.acts {
				now = now.Add(a.after)
				if a.trial {
					var trial bool
					var err error
					if b, trial, err = b.admit(now); err != nil || !trial {
						t.Fatalf("step %d: no trial is let through: %v", i, err)
					}
					if _, second, err := b.admit(now); second || !errors.Is(err, ErrPaused) {
						t.Fatalf("step %d: a second call beside the trial: %v", i, err)
					}
				}
				b = b.settle(a.settle, a.trial, now)
				st := b.status()
				if st.State != a.state {
					t.Fatalf("step %d: it is %s, want %s", i, st.State, a.state)
				}
				if a.state == BreakerOpen && !st.Until.Equal(now.Add(a.until)) {
					t.Errorf("step %d: until %s from now, want %s", i, st.Until.Sub(now), a.until)
				}
				if _, _, err := b.admit(now); (err != nil) != a.refused {
					t.Errorf("step %d: a call now: %v", i, err)
				}
			}
		})
	}
}

// answeredError is the server's own error, as a Connector gives it.
type answeredError struct{ error }

func (answeredError) Answered() bool { return true }

func (r *rig) call(ctx context.Context) error {
	_, err := r.Call(ctx, ToolCall{Server: "x", Tool: "echo", Args: json.RawMessage(`{}`)})
	return err
}

func TestBreakerOfCalls(t *testing.T) {
	spec := server("x")
	spec.Probe = -1
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		sent := 0
		var outcome error
		p.reply(func(context.Context, json.RawMessage) error { sent++; return outcome })
		// What the server itself says, and what the caller does, is no failure.
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for range 4 {
			outcome = answeredError{errors.New("the server answered: no (-32602)")}
			_ = r.call(t.Context())
			outcome = context.Canceled
			_ = r.call(gone)
			outcome = ErrUnsupported
			_, _ = r.Request(t.Context(), "x", "prompts/list", nil)
			_, _ = r.Call(t.Context(), ToolCall{Server: "x", Tool: "invented"})
		}
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerClosed || st.Breaker.Failures != 0 {
			t.Fatalf("breaker = %+v", st.Breaker)
		}
		outcome = errors.New("connection refused")
		for range 3 {
			_ = r.call(t.Context())
		}
		st := r.state(t, "x", Running)
		if st.Breaker.State != BreakerOpen || st.Breaker.Failures != 3 || !st.Breaker.Until.Equal(time.Now().Add(time.Minute)) {
			t.Fatalf("breaker = %+v", st.Breaker)
		}
		sent = 0
		if err := r.call(t.Context()); !errors.Is(err, ErrPaused) || !strings.Contains(err.Error(), "in 1m0s") {
			t.Errorf("while it is open: %v", err)
		}
		if _, err := r.Request(t.Context(), "x", "resources/list", nil); !errors.Is(err, ErrPaused) {
			t.Errorf("a request while it is open: %v", err)
		}
		if sent != 0 {
			t.Errorf("%d were sent", sent)
		}
		// Exactly one trial.
		time.Sleep(time.Minute)
		release := make(chan struct{})
		p.reply(func(context.Context, json.RawMessage) error { sent++; <-release; return nil })
		trial := make(chan error, 1)
		go func() { trial <- r.call(t.Context()) }()
		synctest.Wait()
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerTrial {
			t.Errorf("breaker = %+v", st.Breaker)
		}
		for range 5 {
			if err := r.call(t.Context()); !errors.Is(err, ErrPaused) {
				t.Errorf("beside the trial: %v", err)
			}
		}
		close(release)
		if err := <-trial; err != nil || sent != 1 {
			t.Errorf("the trial: %v, %d sent", err, sent)
		}
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerClosed || st.Breaker.Failures != 0 {
			t.Errorf("breaker = %+v", st.Breaker)
		}
	})
}

// Whoever stops a server and starts it again wants it tried now.
func TestBreakerAfterAPersonsStop(t *testing.T) {
	spec := server("x")
	spec.Probe = -1
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		r.fake.last().reply(func(context.Context, json.RawMessage) error { return errors.New("connection refused") })
		for range 3 {
			_ = r.call(t.Context())
		}
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerOpen {
			t.Fatalf("breaker = %+v", st.Breaker)
		}
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
		_ = r.Start("x")
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerClosed {
			t.Errorf("breaker = %+v", st.Breaker)
		}
		if err := r.call(t.Context()); err != nil {
			t.Errorf("the first call: %v", err)
		}
	})
}

// Calls that all go under with one crash are one failure.
func TestBreakerCountsACrashOnce(t *testing.T) {
	spec := server("x")
	spec.Probe = -1
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		for n := 1; n <= 3; n++ {
			r.state(t, "x", Running)
			p := r.fake.last()
			dead := make(chan struct{})
			p.reply(func(context.Context, json.RawMessage) error { <-dead; return crash() })
			failed := make(chan error, 5)
			for range 5 {
				go func() { failed <- r.call(t.Context()) }()
			}
			time.Sleep(time.Second)
			close(dead)
			if n%2 == 0 {
				synctest.Wait()
			}
			p.hooks.Closed(crash())
			for range 5 {
				if err := <-failed; err == nil || errors.Is(err, ErrPaused) {
					t.Errorf("call: %v", err)
				}
			}
			synctest.Wait()
			st, _ := r.Status("x")
			if st.Breaker.Failures != n {
				t.Fatalf("%d failures after crash %d", st.Breaker.Failures, n)
			}
			time.Sleep(5 * time.Second)
		}
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerOpen {
			t.Errorf("breaker = %+v", st.Breaker)
		}
		// A person who wants it now gets it now.
		if err := r.Retry("x"); err != nil {
			t.Fatal(err)
		}
		if err := r.call(t.Context()); err != nil {
			t.Errorf("after Retry: %v", err)
		}
	})
}

// A transport that loses single requests and no connection counts each, whoever
// asks meanwhile what the server says of itself.
func TestBreakerCountsLostRequests(t *testing.T) {
	spec := server("x")
	spec.Probe = -1
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		r.fake.last().reply(func(context.Context, json.RawMessage) error { return crash() })
		for n := 1; n <= 3; n++ {
			_ = r.call(t.Context())
			if n < 3 { // to say who it is, the server is asked nothing
				if _, err := r.About(t.Context(), "x"); err != nil {
					t.Error(err)
				}
			}
			if st := r.state(t, "x", Running); st.Breaker.Failures != n {
				t.Errorf("%d failures after %d calls", st.Breaker.Failures, n)
			}
		}
		if err := r.call(t.Context()); !errors.Is(err, ErrPaused) {
			t.Errorf("the fourth: %v", err)
		}
	})
}

func TestBreakerOfTimeoutsAndProbes(t *testing.T) {
	spec := server("x")
	spec.CallTimeout = time.Second
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		hang := func(ctx context.Context, _ json.RawMessage) error { <-ctx.Done(); return ctx.Err() }
		p.reply(hang)
		for range 3 {
			if err := r.call(t.Context()); !errors.Is(err, ErrTimeout) {
				t.Fatal(err)
			}
		}
		time.Sleep(59 * time.Second)
		// The ping that was answered meanwhile proves nothing.
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerOpen {
			t.Errorf("breaker = %+v", st.Breaker)
		}
		time.Sleep(5 * time.Second)
		p.reply(nil)
		if err := r.call(t.Context()); err != nil {
			t.Errorf("the trial: %v", err)
		}
		p.mu.Lock()
		p.ping = errors.New("silence")
		p.mu.Unlock()
		time.Sleep(3 * time.Minute)
		if err := r.call(t.Context()); !errors.Is(err, ErrPaused) {
			t.Errorf("after three probes that failed: %v", err)
		}
		p.mu.Lock()
		p.ping = nil
		p.mu.Unlock()
		time.Sleep(time.Minute)
		if st := r.state(t, "x", Running); st.Breaker.State != BreakerClosed || st.Reason != "" {
			t.Errorf("after a good probe: %+v, %q", st.Breaker, st.Reason)
		}
	})
}
