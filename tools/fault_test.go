package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
)

// faulty panics at one stop of a call; the rest is gate and probe.
type faulty struct {
	*gate
	probe
	at string
}

func (f *faulty) fault(at string) {
	if f.at == at {
		panic("hunter2 at " + at)
	}
}

func (f *faulty) Spec() Spec { f.fault("spec"); return f.probe.Spec() }
func (f *faulty) Plan(ctx context.Context, args json.RawMessage) (Plan, error) {
	f.fault("plan")
	plan, err := f.probe.Plan(ctx, args)
	plan.Preview = func(context.Context, []permissions.Path) (string, error) { f.fault("preview"); return "", nil }
	return plan, err
}
func (f *faulty) Lookup(context.Context, string) (Tool, permissions.Verdict) {
	f.fault("look up")
	return f, permissions.Verdict{}
}
func (f *faulty) Decide(c Call, s Spec, p Plan) Judged {
	f.fault("decide")
	return f.gate.Decide(c, s, p)
}
func (f *faulty) Pass(c Call) *Pass { f.fault("pass"); return f.gate.Pass(c) }
func (f *faulty) Run(ctx context.Context, args json.RawMessage) (Result, error) {
	f.fault("run")
	return f.probe.Run(ctx, args)
}
func (f *faulty) Finish(ctx context.Context, c Call, s Spec, r Result, o *Outcome) {
	o.Content, o.ModelText = []json.RawMessage{json.RawMessage(`"unscrubbed"`)}, "unscrubbed"
	f.fault("finish")
	f.gate.Finish(ctx, c, s, r, o)
}
func (f *faulty) Ask(context.Context, approval.Question) approval.Resolution {
	f.fault("ask")
	return approval.Resolution{Outcome: approval.Answered, Answer: approval.Answer{Decision: approval.Once}}
}

// A fault at any stop ends the call that met it, is recorded and logged without
// what it was given, and nothing half done is handed out.
func TestFaultEndsOneCall(t *testing.T) {
	for _, at := range []string{"look up", "spec", "plan", "decide", "preview", "ask", "pass", "run", "finish", "none"} {
		t.Run(at, func(t *testing.T) {
			var log bytes.Buffer
			g := &gate{verdict: []permissions.Verdict{ask}}
			f := &faulty{gate: g, at: at}
			r := &Runner{Asker: f, Finisher: f, Recorder: g, Schemas: &Schemas{}, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}
			out := r.Run(t.Context(), f, Call{ID: "c1", Tool: "probe", Arguments: json.RawMessage(`{"path":"a"}`)})
			if at == "none" {
				if out.Status != OK || log.Len() != 0 {
					t.Errorf("without a fault it ended %q: %s", out.Status, log.String())
				}
				return
			}
			if out.Status != Failed || !out.IsError || out.Key != "failed" || out.Reason == "" {
				t.Errorf("ended %q (%s: %s), want failed", out.Status, out.Key, out.Reason)
			}
			if out.ModelText != "" || out.Content != nil {
				t.Errorf("hands out %q %s", out.ModelText, out.Content)
			}
			if len(g.ended) != 1 || g.ended[0].Status != Failed {
				t.Errorf("recorded as %+v, want one failed call", g.ended)
			}
			if !strings.Contains(log.String(), "fault_test.go") || strings.Contains(log.String(), "hunter2") {
				t.Errorf("the log says %q", log.String())
			}
		})
	}
}

// A fault in a goroutine that works for a call is met by the call, with the
// place where it happened, however many there are.
func TestFaultsOfGoroutines(t *testing.T) {
	var log bytes.Buffer
	g := &gate{verdict: []permissions.Verdict{ask}}
	f := &spreading{faulty: faulty{gate: g}}
	r := &Runner{Asker: f, Finisher: f, Recorder: g, Schemas: &Schemas{}, Now: time.Now, Log: slog.New(slog.NewTextHandler(&log, nil))}
	out := r.Run(t.Context(), f, Call{ID: "c1", Tool: "probe", Arguments: json.RawMessage(`{"path":"a"}`)})
	if out.Status != Failed || !f.faults.Caught() {
		t.Errorf("ended %q, want failed", out.Status)
	}
	if l := log.String(); !strings.Contains(l, "inAGoroutine") || !strings.Contains(l, "panic=string") || strings.Contains(l, "hunter2") {
		t.Errorf("the log says %q", l)
	}
	(&Faults{}).Raise() // nothing happened
}

// spreading is a tool whose work is done, badly, by goroutines.
type spreading struct {
	faulty
	faults Faults
}

func (s *spreading) Lookup(context.Context, string) (Tool, permissions.Verdict) {
	return s, permissions.Verdict{}
}
func (s *spreading) inAGoroutine() {
	defer s.faults.Catch()
	panic("hunter2")
}
func (s *spreading) Run(context.Context, json.RawMessage) (Result, error) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(s.inAGoroutine)
	}
	wg.Wait()
	s.faults.Raise()
	return Result{}, nil
}
