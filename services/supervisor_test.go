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
		if len(fake.starts) != 7 {
			t.Errorf("%d starts after Retry, want 7", len(fake.starts))
		}
		r.state(t, "x", Starting)
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		r.state(t, "x", Stopped)
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(fake.starts) != 7 {
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
		if _, err := r.Call(t.Context(), "x", "echo", nil, nil); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "no such program") {
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

func TestSecondStartJoinsAndStopDuringStop(t *testing.T) {
	fake := &fakeConnector{closing: 2 * time.Second}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		_ = r.Start("x")
		_ = r.Start("x")
		r.state(t, "x", Running)
		_ = r.Start("x")
		synctest.Wait()
		if len(fake.starts) != 1 {
			t.Errorf("%d starts", len(fake.starts))
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
		if fake.maxOpen != 1 || len(fake.starts) != 2 {
			t.Errorf("%d at a time, %d starts", fake.maxOpen, len(fake.starts))
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
		if !st.RestartNeeded || len(fake.starts) != 2 {
			t.Errorf("a: %+v after %d starts", st, len(fake.starts))
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
		if _, err := r.Call(t.Context(), "nobody", "echo", nil, nil); !errors.Is(err, ErrUnknown) {
			t.Errorf("unknown: %v", err)
		}
		_ = r.Start("x")
		if res, err := r.Call(t.Context(), "x", "echo", []byte(`{}`), nil); err != nil || string(res.Raw) != `{}` {
			t.Errorf("echo = %s, %v", res.Raw, err)
		}
		began := time.Now()
		if _, err := r.Call(t.Context(), "x", "echo", []byte(`"wait"`), nil); !errors.Is(err, ErrTimeout) || time.Since(began) != 5*time.Second {
			t.Errorf("wait: %v after %s", err, time.Since(began))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Call(ctx, "x", "echo", []byte(`"wait"`), nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrTimeout) {
			t.Errorf("own deadline: %v", err)
		}
		for _, end := range []func(){func() { _ = r.Stop(t.Context(), "x") }, func() { _ = r.Restart("x") }, func() { r.Set(nil) }} {
			_ = r.Start("x")
			r.state(t, "x", Running)
			failed := make(chan error, 1)
			go func() {
				_, err := r.Call(t.Context(), "x", "echo", []byte(`"wait"`), nil)
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

type fakeInstaller struct {
	mu   sync.Mutex
	have bool
	run  func(ctx context.Context) error
}

func (f *fakeInstaller) Installed(Spec) bool { f.mu.Lock(); defer f.mu.Unlock(); return f.have }
func (f *fakeInstaller) Install(ctx context.Context, _ Spec, progress func(string)) error {
	progress("fetching")
	if err := f.run(ctx); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.have = true
	return nil
}

func TestInstall(t *testing.T) {
	spec := server("x")
	spec.Installer = &Installer{Type: "npm", Packages: map[string]string{"p": "1.0.0"}}
	in := &fakeInstaller{run: func(ctx context.Context) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Minute):
			return nil
		}
	}}
	bubble(t, Config{Installer: in}, []Spec{spec}, func(t *testing.T, r *rig) {
		r.state(t, "x", NotInstalled)
		if err := r.Start("x"); err == nil {
			t.Error("started without installing")
		}
		if err := r.Install("x"); err != nil {
			t.Fatal(err)
		}
		if st := r.state(t, "x", Installing); st.Reason != "fetching" {
			t.Errorf("reason = %q", st.Reason)
		}
		// Stopping it is possible, and it can be taken up again.
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		r.state(t, "x", NotInstalled)
		_ = r.Install("x")
		if err := r.Start("x"); err != nil {
			t.Errorf("a start while it installs waits: %v", err)
		}
		time.Sleep(61 * time.Second)
		r.state(t, "x", Running)
	})
	in = &fakeInstaller{run: func(context.Context) error { return errors.New("no network") }}
	bubble(t, Config{Installer: in}, []Spec{spec}, func(t *testing.T, r *rig) {
		_ = r.Install("x")
		if st := r.state(t, "x", Failed); st.Reason != "installing: no network" {
			t.Errorf("reason = %q", st.Reason)
		}
	})
	bubble(t, Config{}, []Spec{spec}, func(t *testing.T, r *rig) {
		r.state(t, "x", NotInstalled)
		if err := r.Install("x"); err == nil {
			t.Error("installed without an installer")
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
