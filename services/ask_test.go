package services

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// asker is a person who answers after a while and remembers what was asked.
type asker struct {
	mu    sync.Mutex
	after time.Duration
	asked []Question
	ended []error // what withdrew questions
}

func (a *asker) ask(ctx context.Context, q Question) (json.RawMessage, error) {
	a.mu.Lock()
	a.asked = append(a.asked, q)
	after := a.after
	a.mu.Unlock()
	if !sleep(ctx, after) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ended = append(a.ended, context.Cause(ctx))
		return nil, context.Cause(ctx)
	}
	return json.RawMessage(`{"action":"accept"}`), nil
}

func (a *asker) owners() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := []string{}
	for _, q := range a.asked {
		out = append(out, q.Owner)
	}
	return out
}

func TestQuestionBelongsToTheOnlyCall(t *testing.T) {
	a := &asker{after: time.Second}
	bubble(t, Config{Ask: a.ask}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		inside := make(chan bool) // whether to ask with the context of the call
		p.reply(func(ctx context.Context, args json.RawMessage) error {
			if string(args) == `"wait"` {
				<-ctx.Done()
				return ctx.Err()
			}
			if <-inside {
				_, err := p.hooks.Ask(ctx, "elicitation/create", json.RawMessage(`{}`))
				return err
			}
			return nil
		})
		outside := func() {
			// As a question comes over the standard streams: from nowhere.
			if _, err := p.hooks.Ask(context.Background(), "sampling/createMessage", json.RawMessage(`{"a":1}`)); err != nil {
				t.Error(err)
			}
		}
		outside() // no call at all
		calls := make(chan error, 3)
		begin := func(ctx context.Context, owner, args string) {
			go func() {
				_, err := r.Call(ctx, ToolCall{Server: "x", Tool: "echo", Owner: owner, Args: json.RawMessage(args)})
				calls <- err
			}()
			synctest.Wait()
		}
		begin(t.Context(), "one", `{}`)
		outside() // the only call
		second, cancel := context.WithCancel(t.Context())
		begin(second, "two", `"wait"`)
		outside() // one of two: nobody's
		inside <- true
		if err := <-calls; err != nil { // the call says itself that it is its own
			t.Error(err)
		}
		outside() // the only one again
		cancel()
		<-calls
		// A request is no call.
		requested := make(chan error, 1)
		go func() { _, err := r.Request(t.Context(), "x", "prompts/get", nil); requested <- err }()
		synctest.Wait()
		outside()
		inside <- false
		if err := <-requested; err != nil {
			t.Error(err)
		}
		want := []string{"", "one", "", "one", "two", ""}
		if got := a.owners(); len(got) != len(want) {
			t.Fatalf("owners = %q, want %q", got, want)
		} else {
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("owners = %q, want %q", got, want)
					break
				}
			}
		}
		if q := a.asked[1]; q.Server != "x" || q.Method != "sampling/createMessage" || string(q.Params) != `{"a":1}` {
			t.Errorf("question = %+v", q)
		}
	})
}

func TestTimersStandStillWhileAQuestionIsOpen(t *testing.T) {
	spec := server("x")
	spec.CallTimeout, spec.MaxDuration, spec.Probe = 10*time.Second, 30*time.Second, -1
	a := &asker{after: time.Hour}
	bubble(t, Config{Ask: a.ask}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		for _, tt := range []struct {
			name   string
			during func(ctx context.Context) error
			wants  time.Duration // until the call ends
			fails  bool
		}{
			{"an hour for the answer", func(ctx context.Context) error {
				time.Sleep(9 * time.Second)
				_, err := p.hooks.Ask(ctx, "elicitation/create", nil)
				time.Sleep(9 * time.Second)
				return err
			}, time.Hour + 18*time.Second, false},
			{"asked beside the call", func(context.Context) error {
				_, err := p.hooks.Ask(context.Background(), "elicitation/create", nil)
				return err
			}, time.Hour, false},
			{"silence before it is not forgiven", func(ctx context.Context) error {
				if !sleep(ctx, 11*time.Second) {
					return ctx.Err()
				}
				return nil
			}, 10 * time.Second, true},
			{"silence after it counts from the answer", func(ctx context.Context) error {
				_, _ = p.hooks.Ask(ctx, "elicitation/create", nil)
				<-ctx.Done()
				return ctx.Err()
			}, time.Hour + 10*time.Second, true},
		} {
			p.reply(func(ctx context.Context, _ json.RawMessage) error { return tt.during(ctx) })
			for _, kind := range []string{"call", "request"} {
				began := time.Now()
				var err error
				if kind == "call" {
					err = r.call(t.Context())
				} else {
					_, err = r.Request(t.Context(), "x", "resources/read", nil)
				}
				if took := time.Since(began); took != tt.wants || errors.Is(err, ErrTimeout) != tt.fails || !tt.fails && err != nil {
					t.Errorf("%s, %s: %v after %s, want %s", tt.name, kind, err, took, tt.wants)
				}
				_ = r.Retry("x") // none of this is about the breaker
			}
		}
	})
}

// However often it asks, the whole time that a call computes is bounded.
func TestQuestionsDoNotExtendTheWholeTime(t *testing.T) {
	spec := server("x")
	spec.CallTimeout, spec.MaxDuration, spec.Probe = 10*time.Second, 30*time.Second, -1
	a := &asker{after: time.Minute}
	bubble(t, Config{Ask: a.ask}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		p.reply(func(ctx context.Context, _ json.RawMessage) error {
			for sleep(ctx, 9*time.Second) {
				if _, err := p.hooks.Ask(ctx, "elicitation/create", nil); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
		began := time.Now()
		err := r.call(t.Context())
		if took := time.Since(began); !errors.Is(err, ErrTimeout) || took != 3*time.Minute+30*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

// A server cannot keep a call alive by asking without end, whether or not it
// says for which call it asks.
func TestQuestionsHoldTheTimersForABoundedTime(t *testing.T) {
	spec := server("x")
	spec.CallTimeout, spec.MaxDuration, spec.Probe = 10*time.Second, 30*time.Second, -1
	for _, tt := range []struct {
		name  string
		after time.Duration
		owned bool
		wants time.Duration
	}{
		{"one question that nobody answers", 100 * time.Hour, true, maxHeld + 10*time.Second},
		{"one of nobody", 100 * time.Hour, false, maxHeld + 10*time.Second},
		{"one after the other", time.Minute, true, maxHeld + 10*time.Second},
		{"one after the other, of nobody", time.Minute, false, maxHeld + 10*time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &asker{after: tt.after}
			bubble(t, Config{Ask: a.ask}, []Spec{spec}, func(t *testing.T, r *rig) {
				_ = r.Start("x")
				r.state(t, "x", Running)
				p := r.fake.last()
				p.reply(func(ctx context.Context, args json.RawMessage) error {
					if string(args) == `"wait"` {
						<-ctx.Done()
						return ctx.Err()
					}
					for ctx.Err() == nil {
						from := ctx
						if !tt.owned {
							var cancel func()
							from, cancel = context.WithCancel(context.Background())
							context.AfterFunc(ctx, cancel)
						}
						_, _ = p.hooks.Ask(from, "elicitation/create", nil)
					}
					return ctx.Err()
				})
				began := time.Now()
				beside := make(chan error, 1)
				go func() {
					_, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo", Args: json.RawMessage(`"wait"`)})
					beside <- err
				}()
				err := r.call(t.Context())
				if took := time.Since(began); !errors.Is(err, ErrTimeout) || took != tt.wants {
					t.Errorf("%v after %s, want %s", err, took, tt.wants)
				}
				if err := <-beside; !errors.Is(err, ErrTimeout) || time.Since(began) != tt.wants {
					t.Errorf("beside it: %v after %s", err, time.Since(began))
				}
			})
		})
	}
}

// Only the call that asks stands still; one beside it times out as ever.
func TestTimersOfOtherCallsRunOn(t *testing.T) {
	spec := server("x")
	spec.CallTimeout, spec.Probe = 10*time.Second, -1
	a := &asker{after: time.Hour}
	bubble(t, Config{Ask: a.ask}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		p.reply(func(ctx context.Context, args json.RawMessage) error {
			if string(args) == `"ask"` {
				_, err := p.hooks.Ask(ctx, "elicitation/create", nil)
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		})
		asking := make(chan error, 1)
		go func() {
			_, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo", Owner: "same", Args: json.RawMessage(`"ask"`)})
			asking <- err
		}()
		synctest.Wait()
		began := time.Now()
		_, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo", Owner: "same"})
		if !errors.Is(err, ErrTimeout) || time.Since(began) != 10*time.Second {
			t.Errorf("the other: %v after %s", err, time.Since(began))
		}
		if err := <-asking; err != nil {
			t.Errorf("the one that asks: %v", err)
		}
	})
}

// A question does not outlive the call that it belongs to, nor its server.
func TestQuestionIsWithdrawn(t *testing.T) {
	a := &asker{after: time.Hour}
	bubble(t, Config{Ask: a.ask}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		answered := make(chan error, 2)
		outside := func() {
			go func() {
				_, err := p.hooks.Ask(context.Background(), "elicitation/create", nil)
				answered <- err
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		called := make(chan error, 1)
		go func() {
			_, err := r.Call(ctx, ToolCall{Server: "x", Tool: "echo", Args: json.RawMessage(`"wait"`)})
			called <- err
		}()
		synctest.Wait()
		outside()
		cancel()
		if err := <-answered; !errors.Is(err, context.Canceled) {
			t.Errorf("after the call: %v", err)
		}
		if err := <-called; !errors.Is(err, context.Canceled) {
			t.Errorf("the call: %v", err)
		}
		outside()
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		if err := <-answered; !errors.Is(err, ErrStopped) {
			t.Errorf("after the stop: %v", err)
		}
	})
}
