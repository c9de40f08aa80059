package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
)

// gate is a Decider, Finisher and Recorder whose parts a test sets.
type gate struct {
	tool    Tool
	verdict []permissions.Verdict // one for each time Decide is called; the last repeats
	paths   [][]permissions.Path
	decided int
	ended   []Outcome
	states  []Status
}

func (g *gate) Lookup(_ context.Context, name string) (Tool, permissions.Verdict) {
	if name != g.tool.Spec().Name {
		return nil, permissions.Verdict{Decision: permissions.Deny, Row: 1, Code: "unknown_tool", Reason: "no such tool"}
	}
	return g.tool, permissions.Verdict{}
}

func (g *gate) Decide(Call, Spec, Plan) Judged {
	i := min(g.decided, len(g.verdict)-1)
	j := Judged{Verdict: g.verdict[i]}
	if len(g.paths) > 0 {
		j.Paths = g.paths[min(g.decided, len(g.paths)-1)]
	}
	g.decided++
	return j
}

func (g *gate) Pass(Call) *Pass { return &Pass{} }

func (g *gate) Finish(_ context.Context, _ Call, _ Spec, r Result, o *Outcome) {
	o.ModelText = r.Content[0].Text
}
func (g *gate) Started(Call, Outcome)     {}
func (g *gate) Changed(_ Call, o Outcome) { g.states = append(g.states, o.Status) }
func (g *gate) Ended(_ Call, o Outcome, _ Judged, _ approval.Resolution) {
	g.ended = append(g.ended, o)
}

// probe is a tool that counts its runs.
type probe struct {
	ran  atomic.Int64
	args json.RawMessage
	run  func(context.Context) (Result, error)
	plan error
}

func (p *probe) Spec() Spec {
	return Spec{Name: "probe", OwnName: "probe", Origin: permissions.OriginLocal,
		InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string"},"n":{"type":"integer","minimum":1}}}`)}
}
func (p *probe) Plan(context.Context, json.RawMessage) (Plan, error) {
	return Plan{Uses: []Use{{Path: "a", Op: permissions.OpRead}}}, p.plan
}
func (p *probe) Run(ctx context.Context, args json.RawMessage) (Result, error) {
	p.ran.Add(1)
	p.args = args
	if p.run != nil {
		return p.run(ctx)
	}
	return Text("done"), nil
}

var (
	allow     = permissions.Verdict{Decision: permissions.Allow, Row: 13, Rule: "R:./**"}
	ask       = permissions.Verdict{Decision: permissions.Ask, Row: 14, Reason: "no rule covers it", Proposed: []string{"R:./a"}}
	askOnce   = permissions.Verdict{Decision: permissions.Ask, Row: 11, OnceOnly: true}
	deny      = permissions.Verdict{Decision: permissions.Deny, Row: 3, Code: "tool_denied", Reason: "set to Deny"}
	badPath   = permissions.Verdict{Decision: permissions.Error, Row: 0, Code: "bad_path", Reason: "the path is empty"}
	onePath   = []permissions.Path{{Real: "/w/a", Kind: permissions.KindFile, Dev: 1, Ino: 7}}
	swapped   = []permissions.Path{{Real: "/w/a", Kind: permissions.KindFile, Dev: 1, Ino: 8}}
	toWrite   = []permissions.Path{{Real: "/w/a", Op: permissions.OpWrite, Kind: permissions.KindFile, Dev: 1, Ino: 7, Size: 3, Modified: 1}}
	written   = []permissions.Path{{Real: "/w/a", Op: permissions.OpWrite, Kind: permissions.KindFile, Dev: 1, Ino: 7, Size: 3, Modified: 2}}
	elsewhere = []permissions.Path{{Real: "/etc/passwd", Kind: permissions.KindFile, Dev: 1, Ino: 7}}
)

func TestGate(t *testing.T) {
	tests := []struct {
		name     string
		tool     string
		args     string
		verdicts []permissions.Verdict
		paths    [][]permissions.Path
		answer   approval.Answer // Decision "" means that nobody is there
		plan     error
		run      func(context.Context) (Result, error)
		status   Status
		key      string
		ran      int64
		by       string
	}{
		{name: "allowed by a rule", verdicts: []permissions.Verdict{allow}, status: OK, ran: 1, by: "rule"},
		{name: "an invented name never runs", tool: "probe2", verdicts: []permissions.Verdict{allow}, status: Denied, key: "unknown_tool", by: "policy"},
		{name: "denied", verdicts: []permissions.Verdict{deny}, status: Denied, key: "tool_denied", by: "policy"},
		{name: "impossible path", verdicts: []permissions.Verdict{badPath}, status: Failed, key: "bad_path", by: "policy"},
		{name: "asked and allowed once", verdicts: []permissions.Verdict{ask}, answer: approval.Answer{Decision: approval.Once}, status: OK, ran: 1, by: "person"},
		{name: "asked and denied", verdicts: []permissions.Verdict{ask}, answer: approval.Answer{Decision: approval.Deny, Reason: "no"}, status: Denied, key: "denied_by_user_because", by: "person"},
		{name: "asked and stopped", verdicts: []permissions.Verdict{ask}, answer: approval.Answer{Decision: approval.Stop}, status: Denied, key: "denied_by_user", by: "person"},
		{name: "nobody there", verdicts: []permissions.Verdict{ask}, status: Denied, key: "nobody_there"},
		{name: "a denial set meanwhile wins", verdicts: []permissions.Verdict{ask, deny}, answer: approval.Answer{Decision: approval.Once}, status: Denied, key: "tool_denied", by: "policy"},
		{name: "a rule added meanwhile does no harm", verdicts: []permissions.Verdict{ask, allow}, answer: approval.Answer{Decision: approval.Once}, status: OK, ran: 1, by: "person"},
		{name: "the file was swapped meanwhile", verdicts: []permissions.Verdict{ask}, paths: [][]permissions.Path{onePath, swapped}, answer: approval.Answer{Decision: approval.Once}, status: Denied, key: "changed_meanwhile"},
		{name: "the path leads elsewhere meanwhile", verdicts: []permissions.Verdict{ask}, paths: [][]permissions.Path{onePath, elsewhere}, answer: approval.Answer{Decision: approval.Always}, status: Denied, key: "changed_meanwhile"},
		{name: "the file to write was changed meanwhile", verdicts: []permissions.Verdict{ask}, paths: [][]permissions.Path{toWrite, written}, answer: approval.Answer{Decision: approval.Once}, status: Denied, key: "changed_meanwhile"},
		{name: "the same file runs", verdicts: []permissions.Verdict{ask}, paths: [][]permissions.Path{onePath}, answer: approval.Answer{Decision: approval.Session}, status: OK, ran: 1, by: "person"},
		{name: "unknown argument", args: `{"path":"a","recursive":true}`, verdicts: []permissions.Verdict{allow}, status: Failed, key: "bad_arguments"},
		{name: "wrong type", args: `{"path":7}`, verdicts: []permissions.Verdict{allow}, status: Failed, key: "bad_arguments"},
		{name: "bool is no integer", args: `{"path":"a","n":true}`, verdicts: []permissions.Verdict{allow}, status: Failed, key: "bad_arguments"},
		{name: "missing argument", args: `{}`, verdicts: []permissions.Verdict{allow}, status: Failed, key: "bad_arguments"},
		{name: "no object", args: `["a"]`, verdicts: []permissions.Verdict{allow}, status: Failed, key: "bad_arguments"},
		{name: "not JSON", args: `{"path":`, verdicts: []permissions.Verdict{allow}, status: Failed, key: "bad_arguments"},
		{name: "claimed consent means nothing", args: `{"path":"a","approved":true}`, verdicts: []permissions.Verdict{ask}, status: Denied, key: "nobody_there"},
		{name: "a plan that fails", verdicts: []permissions.Verdict{allow}, plan: errors.New("bad plan"), status: Failed, key: "bad_arguments"},
		{name: "a tool that panics", verdicts: []permissions.Verdict{allow}, run: func(context.Context) (Result, error) { panic("boom") }, status: Failed, key: "failed", ran: 1},
		{name: "a tool that times out", verdicts: []permissions.Verdict{allow}, run: func(context.Context) (Result, error) {
			return Result{}, fmt.Errorf("no answer: %w", context.DeadlineExceeded)
		}, status: TimedOut, key: "timeout", ran: 1},
		{name: "a tool's own failure is a result", verdicts: []permissions.Verdict{allow}, run: func(context.Context) (Result, error) {
			r := Text("no")
			r.IsError = true
			return r, nil
		}, status: OK, ran: 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &probe{run: tt.run, plan: tt.plan}
				g := &gate{tool: p, verdict: tt.verdicts, paths: tt.paths}
				var broker *approval.Broker
				broker = approval.NewBroker(approval.Config{NewID: func() string { return "q" }, Asked: func(q approval.Question) {
					if tt.answer.Decision != "" {
						go func() {
							if err := broker.Resolve(q.ID, tt.answer); err != nil {
								t.Errorf("Resolve: %v", err)
							}
						}()
					}
				}})
				r := &Runner{Asker: broker, Finisher: g, Recorder: g, Schemas: &Schemas{}, Now: time.Now}
				c := Call{ID: "c1", Tool: "probe", Arguments: json.RawMessage(`{"path":"a"}`)}
				if tt.tool != "" {
					c.Tool = tt.tool
				}
				if tt.args != "" {
					c.Arguments = json.RawMessage(tt.args)
				}
				out := r.Run(t.Context(), g, c)
				if out.Status != tt.status || tt.key != "" && out.Key != tt.key || p.ran.Load() != tt.ran {
					t.Errorf("ended %q (%s: %s) after %d runs, want %q (%s) after %d", out.Status, out.Key, out.Reason, p.ran.Load(), tt.status, tt.key, tt.ran)
				}
				if tt.by != "" && out.By != tt.by {
					t.Errorf("let through by %q, want %q", out.By, tt.by)
				}
				if len(g.ended) != 1 {
					t.Errorf("recorded %d times, want once", len(g.ended))
				}
				if strings.Contains(string(p.args), "approved") {
					t.Errorf("the tool got %s", p.args)
				}
			})
		})
	}
}

func TestWaitingDoesNotCountAsDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{tool: &probe{run: func(context.Context) (Result, error) {
			time.Sleep(time.Second)
			return Text("done"), nil
		}}, verdict: []permissions.Verdict{ask}}
		broker := approval.NewBroker(approval.Config{NewID: func() string { return "q" }})
		broker.SetPresent(1)
		time.AfterFunc(time.Minute, func() { _ = broker.Resolve("q", approval.Answer{Decision: approval.Once}) })
		r := &Runner{Asker: broker, Finisher: g, Recorder: g, Schemas: &Schemas{}, Now: time.Now}
		out := r.Run(t.Context(), g, Call{ID: "c", Tool: "probe", Arguments: json.RawMessage(`{"path":"a"}`)})
		if out.DurationMS != 1000 || fmt.Sprint(g.states) != "[waiting running]" {
			t.Errorf("took %d ms through %v, want 1000 through waiting and running", out.DurationMS, g.states)
		}
	})
}

// peer bug A13: "always" is offered for commands that never come again.
func TestOnceOnlyQuestionsOfferNothingElse(t *testing.T) {
	q := questionOf(Call{}, Spec{}, Judged{Verdict: askOnce})
	if fmt.Sprint(q.Choices) != "[once deny stop]" || q.Proposed != nil {
		t.Errorf("offers %v and %v", q.Choices, q.Proposed)
	}
	q = questionOf(Call{}, Spec{}, Judged{Verdict: ask})
	if fmt.Sprint(q.Choices) != "[once session always rule deny stop]" {
		t.Errorf("offers %v", q.Choices)
	}
}

func TestCancelWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{tool: &probe{run: func(ctx context.Context) (Result, error) { <-ctx.Done(); return Result{}, ctx.Err() }}, verdict: []permissions.Verdict{allow}}
		r := &Runner{Finisher: g, Recorder: g, Schemas: &Schemas{}, Now: time.Now}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if out := r.Run(ctx, g, Call{Tool: "probe", Arguments: json.RawMessage(`{"path":"a"}`)}); out.Status != Cancelled {
			t.Errorf("ended %q, want cancelled", out.Status)
		}
	})
}

func TestSchemaNeverLeavesTheDocument(t *testing.T) {
	var s Schemas
	for _, schema := range []string{
		`{"$ref":"file:///etc/passwd"}`, `{"$ref":"http://127.0.0.1:1/x"}`, `{"type":`, `[]`, ``, `{"type":"object","pattern":"(("}`,
		`{"$ref":"#"}`,
	} {
		if err := s.Check(json.RawMessage(schema), json.RawMessage(`{"a":1}`)); err != nil && !strings.Contains(schema, `"#"`) {
			t.Errorf("Check with %s = %v, want the server to judge", schema, err)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string"}}}`, `{"a":1}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`, `{}`)
	f.Fuzz(func(_ *testing.T, schema, args string) {
		var s Schemas
		_ = s.Check(json.RawMessage(schema), json.RawMessage(args))
		_ = withoutApproved(json.RawMessage(schema), json.RawMessage(args))
	})
}
