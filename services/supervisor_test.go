package services

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestSecondStartJoinsAndStopDuringStop(t *testing.T) {
	fake := &fakeConnector{closing: 2 * time.Second}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		_ = r.Start("x")
		r.state(t, "x", Running)
		_ = r.Start("x")
		synctest.Wait()
		if fake.count() != 1 {
			t.Errorf("%d starts", fake.count())
		}
		stopped := make(chan error, 2)
		for range 2 {
			go func() { stopped <- r.Stop(t.Context(), "x") }()
		}
		r.state(t, "x", Stopping)
		// A start during the stop begins when the old one is gone.
		_ = r.Start("x")
		r.state(t, "x", Stopping)
		for range 2 {
			if err := <-stopped; err != nil {
				t.Error(err)
			}
		}
		r.state(t, "x", Running)
		if fake.maxOpen != 1 || fake.count() != 2 {
			t.Errorf("%d at a time, %d starts", fake.maxOpen, fake.count())
		}
	})
}

func TestHammerEndsAsTheLastRequestSaid(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		for round := range 20 {
			var ops sync.WaitGroup
			for i := range 20 {
				ops.Go(func() {
					switch i % 3 {
					case 0:
						_ = r.Start("x")
					case 1:
						_ = r.Stop(t.Context(), "x")
					case 2:
						_ = r.Restart("x")
					}
				})
			}
			ops.Wait()
			if round%2 == 0 {
				_ = r.Start("x")
				r.state(t, "x", Running)
			} else {
				_ = r.Stop(t.Context(), "x")
				r.state(t, "x", Stopped)
			}
		}
		if r.fake.maxOpen != 1 {
			t.Errorf("%d connections at a time", r.fake.maxOpen)
		}
	})
}

func TestStopReportsWhatIsLeft(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		r.fake.last().fail = errors.New("process 7 could not be ended")
		if err := r.Stop(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "process 7") {
			t.Errorf("Stop = %v", err)
		}
	})
}

func TestProbe(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		first := r.state(t, "x", Running).LastOK
		time.Sleep(61 * time.Second)
		if st := r.state(t, "x", Running); !st.LastOK.After(*first) {
			t.Errorf("no contact since the start: %+v", st)
		}
		p := r.fake.last()
		p.mu.Lock()
		p.ping = errors.New("silence")
		p.mu.Unlock()
		time.Sleep(time.Minute)
		if st := r.state(t, "x", Running); !strings.Contains(st.Reason, "silence") {
			t.Errorf("reason = %q", st.Reason)
		}
	})
}

func TestToolsChangedIsCoalesced(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		p := r.fake.last()
		p.mu.Lock()
		p.tools = append(p.tools, ToolDef{Name: "new"})
		p.mu.Unlock()
		for range 1000 {
			p.hooks.ToolsChanged()
		}
		time.Sleep(time.Second)
		if st := r.state(t, "x", Running); st.Tools != 2 {
			t.Errorf("%d tools", st.Tools)
		}
		n := 0
		r.mu.Lock()
		for _, e := range r.evts {
			if e.Kind == EventTools {
				n++
			}
		}
		r.mu.Unlock()
		if n < 2 || n > 3 {
			t.Errorf("told %d times", n)
		}
	})
}

func TestLogEventsAreBoundedAndCoalesced(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		time.Sleep(time.Second)
		r.mu.Lock()
		r.evts = nil
		r.mu.Unlock()
		h := r.fake.last().hooks
		for i := range 50000 {
			h.Log("stderr", fmt.Sprintf("line %d", i))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		lines := 0
		var last LogLine
		for _, e := range r.evts {
			if len(e.Lines) > noteLines {
				t.Errorf("an event of %d lines", len(e.Lines))
			}
			for _, l := range e.Lines {
				if l.Seq <= last.Seq {
					t.Fatalf("line %d after %d", l.Seq, last.Seq)
				}
				last = l
				lines++
			}
		}
		if last.Text != "line 49999" || len(r.evts) > 50 {
			t.Errorf("%d events with %d lines, the last %q", len(r.evts), lines, last.Text)
		}
		held, err := r.Logs("x", 0)
		if err != nil || len(held) > ringLines {
			t.Errorf("%d lines are held, %v", len(held), err)
		}
	})
}

func TestSetStopsRemovedAndKeepsChanged(t *testing.T) {
	fake := &fakeConnector{closing: 3 * time.Second}
	bubble(t, Config{Connector: fake}, []Spec{server("a"), server("b")}, func(t *testing.T, r *rig) {
		_, _ = r.Start("a"), r.Start("b")
		r.state(t, "a", Running)
		changed := server("a")
		changed.Args = []string{"new"}
		r.Set([]Spec{changed})
		st := r.state(t, "a", Running)
		if !st.RestartNeeded || fake.count() != 2 {
			t.Errorf("a: %+v after %d starts", st, fake.count())
		}
		if _, err := r.Status("b"); !errors.Is(err, ErrUnknown) {
			t.Errorf("b: %v", err)
		}
		// The same name again, while the old one still ends.
		r.Set([]Spec{changed, server("b")})
		_ = r.Start("b")
		r.state(t, "b", Starting)
		time.Sleep(4 * time.Second)
		r.state(t, "b", Running)
		if fake.maxOpen != 2 {
			t.Errorf("%d connections at a time", fake.maxOpen)
		}
		_ = r.Restart("a")
		time.Sleep(4 * time.Second)
		if st := r.state(t, "a", Running); st.RestartNeeded || fake.seen[len(fake.seen)-1].Args[0] != "new" {
			t.Errorf("a: %+v", st)
		}
	})
}

func TestCallOutcomes(t *testing.T) {
	spec := server("x")
	spec.CallTimeout = 5 * time.Second
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		if _, err := r.Call(t.Context(), ToolCall{Server: "nobody", Tool: "echo"}); !errors.Is(err, ErrUnknown) {
			t.Errorf("unknown: %v", err)
		}
		_ = r.Start("x")
		if res, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo", Args: []byte(`{}`)}); err != nil || string(res.Raw) != `{}` {
			t.Errorf("echo = %s, %v", res.Raw, err)
		}
		began := time.Now()
		if _, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo", Args: []byte(`"wait"`)}); !errors.Is(err, ErrTimeout) || time.Since(began) != 5*time.Second {
			t.Errorf("wait: %v after %s", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Call(ctx, ToolCall{Server: "x", Tool: "echo", Args: []byte(`"wait"`)}); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTimeout) {
			t.Errorf("own deadline: %v", err)
		}
		for _, end := range []func(){func() { _ = r.Stop(t.Context(), "x") }, func() { _ = r.Restart("x") }, func() { r.Set(nil) }} {
			_ = r.Start("x")
			r.state(t, "x", Running)
			failed := make(chan error, 1)
			go func() {
				_, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo", Args: []byte(`"wait"`)})
				failed <- err
			}()
			synctest.Wait()
			go end()
			if err := <-failed; !errors.Is(err, ErrStopped) {
				t.Errorf("stopped meanwhile: %v", err)
			}
		}
	})
}

func TestReconcile(t *testing.T) {
	same := func(a, b Spec) bool { return a.Command == b.Command }
	current := map[string]Spec{"keep": {Command: "1"}, "edit": {Command: "1"}, "drop": {Command: "1"}}
	wanted := map[string]Spec{"keep": {Command: "1"}, "edit": {Command: "2"}, "new": {Command: "1"}}
	got := fmt.Sprint(reconcile(current, wanted, same))
	if want := "map[drop:remove edit:update new:add]"; got != want {
		t.Errorf("reconcile = %s, want %s", got, want)
	}
}

func TestNextStep(t *testing.T) {
	now := time.Unix(1e9, 0)
	for _, tt := range []struct {
		w    wish
		want step
	}{
		{wish{usable: true, installed: true}, rest},
		{wish{usable: true, installed: true, want: true}, connect},
		{wish{usable: false, installed: true, want: true}, rest},
		{wish{usable: true, installed: false, want: true}, rest},
		{wish{usable: true, installed: false, want: true, wantInstall: true}, install},
		{wish{usable: true, installed: true, want: true, notBefore: now.Add(time.Second)}, wait},
		{wish{usable: true, installed: true, want: true, notBefore: now}, connect},
	} {
		if got := nextStep(tt.w, now); got != tt.want {
			t.Errorf("nextStep(%+v) = %s, want %s", tt.w, got, tt.want)
		}
	}
}
