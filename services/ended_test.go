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

// While what is left of a server that ended is cleaned up, a call is told what
// happened and what comes next, and so is who looks.
func TestCallWhileACrashIsCleanedUp(t *testing.T) {
	for _, tt := range []struct {
		name    string
		crashes int
		cause   error
		state   State
		again   bool
		want    string
	}{
		{"first crash", 1, crash(), Starting, true, "exit code 3; it last printed: boom"},
		{"last crash", 5, crash(), Failed, false, "exit code 3; it last printed: boom"},
		{"for good", 1, errPermanent, Failed, false, "no such program"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fake := &fakeConnector{closing: 2 * time.Second}
			bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
				_ = r.Start("x")
				for range tt.crashes - 1 {
					r.state(t, "x", Running)
					// An answer keeps the breaker out of this.
					if _, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo"}); err != nil {
						t.Fatal(err)
					}
					fake.last().hooks.Closed(tt.cause)
					time.Sleep(time.Minute)
				}
				r.state(t, "x", Running)
				fake.last().hooks.Closed(tt.cause)
				time.Sleep(time.Second)
				st := r.state(t, "x", tt.state)
				_, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo"})
				if !errors.Is(err, ErrNotRunning) {
					t.Fatalf("Call = %v", err)
				}
				for _, text := range []string{st.Reason, err.Error()} {
					if !strings.Contains(text, "it has just ended") || !strings.Contains(text, tt.want) || strings.Contains(text, "started again") != tt.again || strings.Contains(text, "(running)") {
						t.Errorf("told %q", text)
					}
				}
				// What is said then is what happens.
				time.Sleep(time.Second + time.Millisecond)
				if st := r.state(t, "x", tt.state); (st.State == Starting) != strings.Contains(st.Reason, "Trying again in") {
					t.Errorf("afterwards %q", st.Reason)
				}
			})
		})
	}
}

// One that was lent, and that nobody wants back, is told of in the same way.
func TestEndOfALentServerSaysWhatHappened(t *testing.T) {
	fake := &fakeConnector{closing: 2 * time.Second}
	bubble(t, Config{Connector: fake}, []Spec{folderService("x")}, func(t *testing.T, r *rig) {
		s, err := r.find("x")
		if err != nil {
			t.Fatal(err)
		}
		back := s.borrow()
		r.state(t, "x", Running)
		fake.last().reply(func(ctx context.Context, _ json.RawMessage) error { <-ctx.Done(); return ctx.Err() })
		called := make(chan error, 1)
		go func() {
			_, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo"})
			called <- err
		}()
		synctest.Wait()
		back()
		fake.last().hooks.Closed(crash())
		if err := <-called; err == nil || !strings.Contains(err.Error(), "exit code 3") {
			t.Errorf("the call that ran = %v", err)
		}
		if st := r.state(t, "x", Stopping); !strings.Contains(st.Reason, "exit code 3") {
			t.Errorf("reason = %q", st.Reason)
		}
		if _, err := r.Call(t.Context(), ToolCall{Server: "x", Tool: "echo"}); !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "exit code 3") {
			t.Errorf("Call = %v", err)
		}
	})
}

// A server somewhere else is not started by us.
func TestGivingUpNamesWhatWasDone(t *testing.T) {
	fake := func() *fakeConnector {
		return &fakeConnector{connect: func(int, context.Context, Hooks) error { return crash() }}
	}
	for transport, verb := range map[string]string{TransportStdio: "started", TransportHTTP: "tried", TransportSSE: "tried", TransportJSONRPC: "tried"} {
		spec := Spec{Name: "x", Origin: OriginServer, Transport: transport, Command: "x"}
		if transport != TransportStdio {
			spec.Command, spec.URL = "", "http://127.0.0.1:1/"
		}
		t.Run(transport, func(t *testing.T) {
			bubble(t, Config{Connector: fake()}, []Spec{spec}, func(t *testing.T, r *rig) {
				_ = r.Start("x")
				time.Sleep(time.Minute)
				if st := r.state(t, "x", Failed); !strings.Contains(st.Reason, "It was "+verb+" 5 times within 10m0s") || st.Restarts != 4 {
					t.Errorf("%d restarts, %q", st.Restarts, st.Reason)
				}
			})
		})
	}
}

// Restarts are the starts that nobody asked for, whether they worked or not.
func TestRestartsAreCountedInOneWay(t *testing.T) {
	fails := false
	fake := &fakeConnector{connect: func(int, context.Context, Hooks) error {
		if fails {
			return crash()
		}
		return nil
	}}
	bubble(t, Config{Connector: fake}, []Spec{server("x")}, func(t *testing.T, r *rig) {
		count := func(what string, state State, want int) {
			t.Helper()
			if st := r.state(t, "x", state); st.Restarts != want {
				t.Errorf("%s: %d restarts, want %d", what, st.Restarts, want)
			}
		}
		_ = r.Start("x")
		count("first start", Running, 0)
		_ = r.Restart("x")
		count("a person's restart", Running, 0)
		fake.last().hooks.Closed(crash())
		count("a crash", Starting, 0)
		time.Sleep(1001 * time.Millisecond)
		count("back again", Running, 1)
		_ = r.Restart("x")
		count("another restart of a person", Running, 1)
		fails = true
		fake.last().hooks.Closed(crash())
		time.Sleep(2001 * time.Millisecond)
		count("one that fails", Starting, 2)
		fails = false
		_ = r.Retry("x")
		count("a person's retry", Running, 2)
		if err := r.Stop(t.Context(), "x"); err != nil {
			t.Error(err)
		}
		_ = r.Start("x")
		count("stopped and started", Running, 2)
	})
}
