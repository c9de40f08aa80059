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

func folderService(name string) Spec { return Spec{Name: name, Origin: OriginService, Command: "x"} }

func TestWant(t *testing.T) {
	off, broken := server("off"), server("broken")
	off.Disabled = true
	off.Autostart = true
	broken.Invalid = &ManifestError{File: "config.toml", Message: "no command"}
	specs := []Spec{server("a"), server("b"), server("halted"), off, broken, folderService("folder")}
	bubble(t, Config{}, specs, func(t *testing.T, r *rig) {
		r.state(t, "a", Stopped)
		if err := r.Stop(t.Context(), "halted"); err != nil {
			t.Fatal(err)
		}
		r.Want("a", "halted", "off", "broken", "folder", "nobody")
		r.state(t, "a", Running)
		if st := r.state(t, "b", Stopped); !st.OnDemand {
			t.Errorf("b is not started by a call: %+v", st)
		}
		for name, state := range map[string]State{"a": Running, "halted": Stopped, "broken": Failed, "folder": Stopped, "off": Stopped} {
			if st := r.state(t, name, state); st.OnDemand {
				t.Errorf("%s is started by a call: %+v", name, st)
			}
		}
		if st := r.state(t, "off", Stopped); !strings.Contains(st.Reason, "switched off") {
			t.Errorf("off: %q", st.Reason)
		}
		if err := r.Start("off"); !errors.Is(err, ErrDisabled) {
			t.Errorf("starting what is switched off: %v", err)
		}
		if r.fake.count() != 1 {
			t.Errorf("%d starts, want 1", r.fake.count())
		}
		// A person's start takes the person's stop back.
		_ = r.Start("halted")
		r.state(t, "halted", Running)
		_ = r.Stop(t.Context(), "halted")
		r.Want("halted")
		r.state(t, "halted", Stopped)
	})
}

func TestWantLeavesAFailedOneToItsRetry(t *testing.T) {
	fake := &fakeConnector{connect: func(int, context.Context, Hooks) error { return errPermanent }}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		for range 20 {
			r.Want("x")
			r.state(t, "x", Failed)
			if err := r.call(t.Context()); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "no such program") {
				t.Errorf("call: %v", err)
			}
		}
		if fake.count() != 1 {
			t.Errorf("%d starts, want 1", fake.count())
		}
	})
}

func TestCallStarts(t *testing.T) {
	fake := &fakeConnector{connect: func(int, context.Context, Hooks) error { time.Sleep(8 * time.Second); return nil }}
	bubble(t, Config{Connector: fake}, []Spec{server("x"), folderService("folder")}, func(t *testing.T, r *rig) {
		done := make(chan error, 3)
		for range 2 {
			go func() { done <- r.call(t.Context()) }()
		}
		go func() { _, err := r.Request(t.Context(), "x", "resources/list", nil); done <- err }()
		began := time.Now()
		for range 3 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took != 8*time.Second || fake.count() != 1 {
			t.Errorf("%s and %d starts, want 8s and 1", took, fake.count())
		}
		if _, err := r.Call(t.Context(), ToolCall{Server: "folder", Tool: "echo"}); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "start it first") {
			t.Errorf("a service: %v", err)
		}
		_ = r.Stop(t.Context(), "x")
		if err := r.call(t.Context()); !errors.Is(err, ErrNotRunning) {
			t.Errorf("what a person stopped: %v", err)
		}
	})
}

func TestCallEndsWithTheHandshakeTime(t *testing.T) {
	fake := &fakeConnector{connect: func(_ int, ctx context.Context, _ Hooks) error { <-ctx.Done(); return ctx.Err() }}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		began := time.Now()
		if err := r.call(t.Context()); !errors.Is(err, ErrNotRunning) || time.Since(began) != DefaultHandshakeTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}

func TestIdleStop(t *testing.T) {
	x, folder := server("x"), folderService("folder")
	x.IdleStop, folder.IdleStop = time.Minute, time.Minute
	fake := &fakeConnector{closing: 2 * time.Second}
	bubble(t, Config{Connector: fake}, []Spec{x, folder}, func(t *testing.T, r *rig) {
		r.Want("x")
		_ = r.Start("folder")
		r.state(t, "folder", Running)
		time.Sleep(50 * time.Second)
		if err := r.call(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(15 * time.Second)
		r.state(t, "x", Running)
		if st := r.state(t, "folder", Stopped); st.Reason != idleReason {
			t.Errorf("folder: %q", st.Reason)
		}
		// A call under way and an open question keep it.
		p := r.fake.peers[0]
		p.reply(func(context.Context, json.RawMessage) error { time.Sleep(2 * time.Minute); return nil })
		if err := r.call(t.Context()); err != nil {
			t.Error(err)
		}
		time.Sleep(59 * time.Second)
		r.state(t, "x", Running)
		// A call during the stop waits for its end.
		time.Sleep(2 * time.Second)
		r.state(t, "x", Stopping)
		began := time.Now()
		if err := r.call(t.Context()); err != nil || time.Since(began) != time.Second {
			t.Errorf("during the stop: %v after %s", err, time.Since(began))
		}
		if st := r.state(t, "x", Running); st.Restarts != 0 {
			t.Errorf("%d restarts, want none", st.Restarts)
		}
		if fake.maxOpen != 2 {
			t.Errorf("%d connections at a time", fake.maxOpen)
		}
		// An idle service starts again too, and by Want.
		if _, err := r.Call(t.Context(), ToolCall{Server: "folder", Tool: "echo"}); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		r.state(t, "folder", Stopped)
		r.Want("folder")
		r.state(t, "folder", Running)
		// A person's stop is another thing.
		time.Sleep(2 * time.Minute)
		r.state(t, "folder", Stopped)
		if err := r.Stop(t.Context(), "folder"); err != nil {
			t.Error(err)
		}
		if st := r.state(t, "folder", Stopped); st.Reason != "" {
			t.Errorf("reason = %q", st.Reason)
		}
		r.Want("folder")
		r.state(t, "folder", Stopped)
	})
}

// The time without use follows the definition while the server runs.
func TestIdleStopIsTakenWhileRunning(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		r.Want("x")
		time.Sleep(time.Hour)
		r.state(t, "x", Running)
		x := server("x")
		x.IdleStop = time.Minute
		r.Set([]Spec{x})
		if st := r.state(t, "x", Stopped); st.RestartNeeded || st.Reason != idleReason {
			t.Errorf("status = %+v", st)
		}
	})
}

func TestSwitchedOffWhileRunning(t *testing.T) {
	fake := &fakeConnector{closing: time.Second}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		r.Want("x")
		r.state(t, "x", Running)
		off := server("x")
		off.Disabled = true
		r.Set([]Spec{off})
		r.state(t, "x", Stopping)
		time.Sleep(2 * time.Second)
		if st := r.state(t, "x", Stopped); st.Reason != ErrDisabled.Error() {
			t.Errorf("reason = %q", st.Reason)
		}
		r.Want("x")
		if err := r.call(t.Context()); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "switched off") {
			t.Errorf("call: %v", err)
		}
		r.Set([]Spec{server("x")})
		if st := r.state(t, "x", Stopped); st.Reason != "" {
			t.Errorf("switched on again: %q", st.Reason)
		}
		if err := r.call(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What only ran for a Discover ends after the calls that came meanwhile.
func TestALoanIsGivenBackAfterItsUses(t *testing.T) {
	bubble(t, Config{}, []Spec{folderService("f")}, func(t *testing.T, r *rig) {
		r.state(t, "f", Stopped)
		s, _ := r.find("f")
		back := s.borrow()
		r.state(t, "f", Running)
		r.fake.last().reply(func(ctx context.Context, _ json.RawMessage) error {
			if !sleep(ctx, 5*time.Second) {
				return context.Cause(ctx)
			}
			return nil
		})
		called := make(chan error, 1)
		go func() {
			_, err := r.Call(t.Context(), ToolCall{Server: "f", Tool: "echo"})
			called <- err
		}()
		synctest.Wait()
		back()
		r.state(t, "f", Running)
		if err := <-called; err != nil {
			t.Errorf("the call: %v", err)
		}
		r.state(t, "f", Stopped)
		if _, err := r.Call(t.Context(), ToolCall{Server: "f", Tool: "echo"}); !errors.Is(err, ErrNotRunning) {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// A call that meets a server whose definition goes away ends.
func TestRemovedWhileACallWaits(t *testing.T) {
	fake := &fakeConnector{connect: func(_ int, ctx context.Context, _ Hooks) error { <-ctx.Done(); return ctx.Err() }}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		failed := make(chan error, 1)
		go func() { failed <- r.call(t.Context()) }()
		synctest.Wait()
		r.Set(nil)
		if err := <-failed; !errors.Is(err, ErrNotRunning) {
			t.Errorf("call: %v", err)
		}
	})
}

func TestFoldersMakeWayForConfiguredServers(t *testing.T) {
	found := []Spec{{Name: "Memory", Origin: OriginService, Dir: "/s/mem"}, {Name: "other", Origin: OriginService, Dir: "/s/other"}}
	got := makeWay([]Spec{server("memory")}, found)
	if got[0].Name != "Memory (mem)" || got[0].Invalid == nil || !strings.Contains(got[0].Invalid.Message, "configured server") {
		t.Errorf("the folder: %+v", got[0])
	}
	if got[1].Name != "other" || got[1].Invalid != nil || found[0].Invalid != nil {
		t.Errorf("others were changed: %+v, %+v", got[1], found[0])
	}
	bubble(t, Config{Scan: func() []Spec { return found }}, []Spec{server("memory")}, func(t *testing.T, r *rig) {
		r.Want("memory", "Memory (mem)")
		r.state(t, "memory", Running)
		r.state(t, "Memory (mem)", Failed)
	})
}
