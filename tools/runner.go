package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"zeroclaw/permissions"
	"zeroclaw/permissions/approval"
)

// Judged is a verdict with the facts that it was taken on.
type Judged struct {
	Verdict        permissions.Verdict
	Paths          []permissions.Path   // facts of Plan.Uses, in order
	Command        *permissions.Command // execute_command only
	DefinitionHash string
	DefinitionDiff string // row 9: what changed
}

// Decider looks tools up and judges calls for one session.
type Decider interface {
	// Lookup finds a tool by its full name inside the session's grant. The
	// verdict of a name that is not there is the refusal. It may wait, while
	// ctx lasts, for a server that is starting.
	Lookup(ctx context.Context, name string) (Tool, permissions.Verdict)
	// Decide judges a call as things stand now. It never asks.
	Decide(c Call, s Spec, p Plan) Judged
	// Pass fills what a tool may ask the gate while it runs.
	Pass(c Call) *Pass
}

// Asker puts a question to a person and waits.
type Asker interface {
	Ask(ctx context.Context, q approval.Question) approval.Resolution
}

// Finisher turns a tool's result into what people and models get: framed,
// scrubbed, with big parts stored and media admitted. It fills Content,
// Structured, ModelText and ResultID.
type Finisher interface {
	Finish(ctx context.Context, c Call, s Spec, r Result, o *Outcome)
}

// Recorder is told how every call goes. The call waits for its methods, so that
// what was recorded is on the disk before the next step: they may write there,
// but must wait for no person and no network.
type Recorder interface {
	Started(c Call, o Outcome)
	Changed(c Call, o Outcome) // between running and waiting
	Ended(c Call, o Outcome, j Judged, answer approval.Resolution)
}

// Runner is the only way to run a Tool.
type Runner struct {
	Asker    Asker
	Finisher Finisher
	Recorder Recorder
	Schemas  *Schemas
	Now      func() time.Time
	Log      *slog.Logger // faults inside the companion; nil is slog.Default
}

// Run takes a call through look-up, decision, question, run and finish, and
// returns how it ended. It never returns an error: a call that did not run has
// an outcome that says why.
func (r *Runner) Run(ctx context.Context, d Decider, c Call) Outcome {
	run := &running{Runner: r, decider: d, call: c, started: r.Now()}
	run.out = Outcome{CallID: c.ID, Tool: c.Tool, Status: Running, Started: run.started.UTC()}
	r.Recorder.Started(c, run.out)
	run.guarded(ctx)
	run.out.DurationMS = (r.Now().Sub(run.started) - run.waited).Milliseconds()
	r.Recorder.Ended(run.call, run.out, run.judged, run.answer)
	return run.out
}

// running is one call on its way through the gate.
type running struct {
	*Runner
	decider Decider
	call    Call
	started time.Time
	waited  time.Duration
	out     Outcome
	judged  Judged
	answer  approval.Resolution
}

// guarded takes the call through the gate. A fault on the way, in a tool or
// brought about by the schema or the result of somebody's server, ends this call
// and nothing else; what was filled in by then is not to be trusted.
func (r *running) guarded(ctx context.Context) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		log := r.Log
		if log == nil {
			log = slog.Default()
		}
		f := faultOf(p)
		log.Error("a call failed inside the companion", "tool", r.call.Tool, "panic", f.kind, "stack", string(f.stack))
		r.out.Content, r.out.Structured, r.out.ModelText, r.out.ResultID, r.out.Whole = nil, nil, "", "", nil
		r.fail("failed", errors.New("the call failed inside the companion; its log says where"))
	}()
	r.gate(ctx)
}

func (r *running) gate(ctx context.Context) {
	tool, refusal := r.decider.Lookup(ctx, r.call.Tool)
	if tool == nil {
		r.refuse(refusal)
		return
	}
	spec := tool.Spec()
	r.out.Server = spec.Server
	if len(bytes.TrimSpace(r.call.Arguments)) == 0 {
		r.call.Arguments = json.RawMessage(`{}`)
	}
	r.call.Arguments = withoutApproved(spec.InputSchema, r.call.Arguments)
	if spec.Origin.Remote() {
		r.call.Arguments = withDefaults(spec.InputSchema, r.call.Arguments)
	}
	if err := r.Schemas.Check(spec.InputSchema, r.call.Arguments); err != nil {
		r.fail("bad_arguments", err)
		return
	}
	var plan Plan
	if p, ok := tool.(Planner); ok {
		var err error
		if plan, err = p.Plan(ctx, r.call.Arguments); err != nil {
			r.fail("bad_arguments", err)
			return
		}
	}
	r.judged = r.decider.Decide(r.call, spec, plan)
	asked := r.judged.Verdict.Decision == permissions.Ask
	if asked && !r.ask(ctx, spec, plan) {
		return
	}
	if v := r.judged.Verdict; v.Decision != permissions.Allow && !(asked && v.Decision == permissions.Ask) {
		r.refuse(v)
		return
	}
	r.out.Rule, r.out.Row = r.judged.Verdict.Rule, r.judged.Verdict.Row
	r.out.By = letThrough(r.judged.Verdict, asked)
	r.run(ctx, tool, spec, asked)
}

// ask puts the question, and after consent judges again: a denial that was set
// meanwhile wins, and consent counts only for what was shown. It reports
// whether the call goes on to the second verdict.
func (r *running) ask(ctx context.Context, spec Spec, plan Plan) bool {
	q := questionOf(r.call, spec, r.judged)
	if plan.Preview != nil {
		// A preview that fails shows no diff; the question still names the paths.
		if diff, err := plan.Preview(ctx, r.judged.Paths); err == nil {
			q.Diff = diff
		}
	}
	r.out.Status = Waiting
	r.Recorder.Changed(r.call, r.out)
	from := r.Now()
	r.answer = r.Asker.Ask(ctx, q)
	r.waited += r.Now().Sub(from)
	r.out.WaitedMS = r.waited.Milliseconds()
	if !r.answer.Answer.Decision.Allows() {
		r.unanswered()
		return false
	}
	r.out.Status = Running
	r.Recorder.Changed(r.call, r.out)
	shown := r.judged
	r.judged = r.decider.Decide(r.call, spec, plan)
	if d := r.judged.Verdict.Decision; d == permissions.Deny || d == permissions.Error {
		return true // refused by the caller with the new verdict
	}
	switch {
	case shown.DefinitionHash != "" && r.judged.DefinitionHash == "":
		r.out.Status, r.out.IsError = Denied, true
		r.out.Key, r.out.Args = "server_stopped", map[string]string{"server": spec.Server}
		r.out.Reason = fmt.Sprintf("the server %s was stopped while the question waited; nothing was done, start it and call again", spec.Server)
		return false
	case !sameConsent(shown, r.judged):
		r.out.Status, r.out.IsError = Denied, true
		r.out.Key = "changed_meanwhile"
		r.out.Reason = "what the call would touch changed while the question waited; nothing was done, call again to ask anew"
		return false
	}
	return true
}

// unanswered fills the outcome of a question that did not end in consent.
func (r *running) unanswered() {
	r.out.Status, r.out.IsError = Denied, true
	switch r.answer.Outcome {
	case approval.Cancelled:
		r.out.Status, r.out.Key, r.out.Reason = Cancelled, "cancelled", "the call was cancelled while its question waited"
	case approval.Expired:
		r.out.Key, r.out.Reason = "nobody_answered", "nobody answered the question in time; this is not a refusal by the user"
	case approval.Nobody:
		r.out.Key, r.out.Reason = "nobody_there", "the call needs a person's approval and no page or terminal is open to ask in"
	default:
		r.out.By, r.out.Stop = "person", r.answer.Answer.Decision == approval.Stop
		r.out.Key, r.out.Reason = "denied_by_user", "denied by the user"
		if why := r.answer.Answer.Reason; why != "" {
			r.out.Key, r.out.Reason = "denied_by_user_because", "denied by the user: "+why
			r.out.Args = map[string]string{"reason": why}
		}
	}
}

func (r *running) run(ctx context.Context, tool Tool, spec Spec, asked bool) {
	pass := r.decider.Pass(r.call)
	pass.Paths, pass.Command, pass.Definition = r.judged.Paths, r.judged.Command, r.judged.DefinitionHash
	v := r.judged.Verdict
	pass.Direct = !asked && v.Row != 12 && pass.Command != nil && pass.Command.Class == permissions.Simple
	result, err := tool.Run(WithPass(ctx, pass), r.call.Arguments)
	// What a cancelled call had brought so far is shown too.
	if err == nil || len(result.Content) > 0 {
		r.Finisher.Finish(context.WithoutCancel(ctx), r.call, spec, result, &r.out)
	}
	switch {
	case err == nil && result.TimedOut:
		r.out.Status, r.out.IsError, r.out.Key, r.out.Reason = TimedOut, true, "timeout", "the call was ended because its time was up"
	case err == nil:
		r.out.Status, r.out.IsError = OK, result.IsError
	case errors.Is(err, ErrChanged):
		r.out.Status, r.out.IsError, r.out.Key, r.out.Reason = Denied, true, "changed_meanwhile", ErrChanged.Error()
	case errors.Is(err, context.DeadlineExceeded):
		r.out.Status, r.out.IsError, r.out.Key, r.out.Reason = TimedOut, true, "timeout", err.Error()
	case ctx.Err() != nil:
		r.out.Status, r.out.IsError, r.out.Key, r.out.Reason = Cancelled, true, "cancelled", "the call was cancelled"
	default:
		r.fail("failed", err)
	}
}

func (r *running) refuse(v permissions.Verdict) {
	r.judged.Verdict = v
	r.out.Status, r.out.IsError = Denied, true
	if v.Decision == permissions.Error {
		r.out.Status = Failed
	}
	r.out.Reason, r.out.Key, r.out.Args = v.Reason, v.Code, v.Args
	if v.Key != "" {
		r.out.Key = v.Key
	}
	r.out.Rule, r.out.Row, r.out.By = v.Rule, v.Row, "policy"
}

func (r *running) fail(key string, err error) {
	r.out.Err = err
	r.out.Status, r.out.IsError, r.out.Key, r.out.Reason = Failed, true, key, err.Error()
	var bad *ArgumentError
	if errors.As(err, &bad) && bad.Field != "" {
		r.out.Args = map[string]string{"field": bad.Field}
	}
}

// letThrough names what allowed a call.
func letThrough(v permissions.Verdict, asked bool) string {
	switch {
	case asked:
		return "person"
	case v.Row == 13:
		return "rule"
	case v.Row == 8 || v.Row == 6:
		return "policy"
	default:
		return "remembered"
	}
}
