package services

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBackoffThenFailedThenReprobe(t *testing.T) {
	fake := &fakeConnector{connect: func(int, context.Context, Hooks) error { return crash() }}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		began := time.Now()
		if err := r.Start("x"); err != nil {
			t.Fatal(err)
		}
		st := r.state(t, "x", Starting)
		if !strings.Contains(st.Reason, "exit code 3") || !strings.Contains(st.Reason, "boom") || !strings.Contains(st.Reason, "again in 1s") || st.NextTry == nil {
			t.Errorf("status = %+v", st)
		}
		time.Sleep(time.Minute)
		r.state(t, "x", Failed)
		if fake.count() > 6 {
			t.Errorf("%d starts within a minute, want at most 6", fake.count())
		}
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		var at []string
		for _, s := range fake.starts {
			at = append(at, s.Sub(began).String())
		}
		if got, want := strings.Join(at, " "), "0s 1s 3s 7s 15s 5m15s"; got != want {
			t.Errorf("starts at %s, want %s", got, want)
		}
		st = r.state(t, "x", Failed)
		if !strings.Contains(st.Reason, "5 times within 10m0s") {
			t.Errorf("reason = %q", st.Reason)
		}
		// Retry now does not wait and begins anew.
		if err := r.Retry("x"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if fake.count() != 7 {
			t.Errorf("%d starts after Retry, want 7", fake.count())
		}
		r.state(t, "x", Starting)
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		r.state(t, "x", Stopped)
		time.Sleep(time.Hour)
		synctest.Wait()
		if fake.count() != 7 {
			t.Errorf("a stopped server was started")
		}
	})
}

func TestBackoffNext(t *testing.T) {
	b := Backoff{Limit: 20}.withDefaults()
	now := time.Unix(1e9, 0)
	var crashes []time.Time
	var waits []string
	for range 9 {
		var wait time.Duration
		var giveUp bool
		crashes, wait, giveUp = b.next(crashes, now)
		if giveUp {
			t.Fatal("gave up before the limit")
		}
		waits = append(waits, wait.String())
	}
	if got, want := strings.Join(waits, " "), "1s 2s 4s 8s 16s 32s 1m0s 1m0s 1m0s"; got != want {
		t.Errorf("waits = %s, want %s", got, want)
	}
	kept, wait, _ := b.next(crashes, now.Add(10*time.Minute))
	if len(kept) != 1 || wait != time.Second {
		t.Errorf("after the window: %d crashes, wait %s", len(kept), wait)
	}
}

func TestPermanentFailureIsShownAtOnce(t *testing.T) {
	fake := &fakeConnector{connect: func(int, context.Context, Hooks) error { return errPermanent }}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		if st := r.state(t, "x", Failed); st.Reason != "no such program" {
			t.Errorf("reason = %q", st.Reason)
		}
		if _, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo"}); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "no such program") {
			t.Errorf("Call = %v", err)
		}
	})
}

func TestHandshakeTimeout(t *testing.T) {
	fake := &fakeConnector{connect: func(_ int, ctx context.Context, _ Hooks) error { <-ctx.Done(); return ctx.Err() }}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		time.Sleep(DefaultHandshakeTimeout - time.Millisecond)
		r.state(t, "x", Starting)
		time.Sleep(2 * time.Millisecond)
		if st := r.state(t, "x", Failed); !strings.Contains(st.Reason, "not ready within 25s") {
			t.Errorf("reason = %q", st.Reason)
		}
		_ = r.Start("x")
		r.state(t, "x", Starting)
		began := time.Now()
		if err := r.Stop(t.Context(), "x"); err != nil || time.Since(began) > 0 {
			t.Errorf("Stop = %v after %s", err, time.Since(began))
		}
		r.state(t, "x", Stopped)
	})
}

func TestCrashWhileRunning(t *testing.T) {
	bubble(t, Config{}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		r.fake.last().hooks.Closed(crash())
		if st := r.state(t, "x", Starting); !strings.Contains(st.Reason, "again in 1s") {
			t.Errorf("reason = %q", st.Reason)
		}
		time.Sleep(1001 * time.Millisecond)
		if st := r.state(t, "x", Running); st.Restarts != 1 || st.Pid != 2 || st.Reason != "" {
			t.Errorf("status = %+v", st)
		}
		// A report of the old connection changes nothing.
		r.fake.peers[0].hooks.Closed(crash())
		r.fake.peers[0].hooks.Info(Info{Pid: 99})
		if st := r.state(t, "x", Running); st.Pid != 2 {
			t.Errorf("pid = %d", st.Pid)
		}
	})
}

func TestRememberedRevisionThatFailsIsNotTriedAgain(t *testing.T) {
	spec := server("x")
	spec.Protocol = "2026-07-28"
	fake := &fakeConnector{connect: func(n int, _ context.Context, _ Hooks) error {
		if n == 1 {
			return errPermanent
		}
		return nil
	}}
	bubble(t, Config{Connector: fake}, []Spec{spec}, func(t *testing.T, r *rig) {
		for range 3 {
			_ = r.Start("x")
			synctest.Wait()
			_ = r.Restart("x")
			synctest.Wait()
		}
		var got []string
		for _, s := range fake.seen[:3] {
			got = append(got, s.Protocol)
		}
		if want := "2026-07-28,,2025-11-25"; strings.Join(got, ",") != want {
			t.Errorf("tried %q, want %s", got, want)
		}
	})
}

// A stop that comes while a server that died is being cleaned up counts.
func TestStopWhileACrashIsCleanedUp(t *testing.T) {
	fake := &fakeConnector{closing: time.Second}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		r.state(t, "x", Running)
		fake.last().hooks.Closed(crash())
		time.Sleep(500 * time.Millisecond)
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		if st := r.state(t, "x", Stopped); st.Reason != "" || st.NextTry != nil {
			t.Errorf("status = %+v", st)
		}
	})
}
