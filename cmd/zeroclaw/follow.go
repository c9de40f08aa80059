package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"
)

const (
	// callTime is longer than any call with its question may take: the
	// companion has bounds of its own.
	callTime = 30 * 24 * time.Hour
	// followEvery is how often a call is looked at. Looking at the questions is
	// also what tells the companion that somebody is here.
	followEvery = 250 * time.Millisecond
	// lookTime bounds one look.
	lookTime = 5 * time.Second
)

// follower makes one call and stays with it.
type follower struct {
	client
	session string
	tool    string
	call    string
	server  string // of the tool, as soon as it is known
	show    bool   // what a command prints is shown while it runs

	dialog  dialog          // the question that is put here, nil for none
	asked   string          // its id
	shownAt time.Time       // what was typed before is no answer
	closed  map[string]bool // questions that are not put here any more
	typed   <-chan typedLine
	away    bool // nobody types any more
	told    bool // that a question waits elsewhere

	seen    int64              // bytes of the command's output that were shown
	printed map[string][]piece // what was shown, by stream
}

// run makes the call and returns how it ended. The call hangs on one request: a
// terminal that is closed, or a kill, takes the call with it.
func (f *follower) run(ctx context.Context, args json.RawMessage) (outcome, error) {
	f.call, f.closed, f.printed = "cli-"+rand.Text(), map[string]bool{}, map[string][]piece{}
	calling, hangUp := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	var out outcome
	var failed error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		failed = f.ask(calling, "call "+oneLine(f.tool), "POST", f.path()+"/calls", map[string]any{"tool": f.tool, "arguments": args, "call_id": f.call}, &out.raw)
	}()
	defer func() {
		hangUp()
		<-ended
	}()
	progress, deafen := f.progress(ctx)
	defer deafen()

	looks := time.NewTicker(followEvery)
	defer looks.Stop()
	stop, stopping := ctx.Done(), false
	for {
		select {
		case <-ended:
			f.close("")
			if failed != nil {
				return out, failed
			}
			if err := json.Unmarshal(out.raw, &out); err != nil {
				return out, failure{err: fmt.Errorf("call %s: read the answer: %w", oneLine(f.tool), err)}
			}
			return out, nil
		case <-stop:
			stop, stopping = nil, true
			f.close("")
			fmt.Fprintln(f.stderr, "The call is being cancelled.")
			late, cancel := context.WithTimeout(calling, lookTime)
			// Hanging up, below, cancels it as well.
			_ = f.Do(late, "DELETE", f.path()+"/calls/"+f.call, nil, nil)
			cancel()
			defer time.AfterFunc(closeTime, hangUp).Stop()
		case <-looks.C:
			if !stopping {
				f.look(ctx)
			}
		case line, ok := <-f.typed:
			f.hear(ctx, line, ok)
		case p := <-progress:
			fmt.Fprintln(f.stderr, p)
		}
	}
}

func (f *follower) path() string { return "/api/sessions/" + segment(f.session) }

// look shows what is new about the call: what it printed, and its question.
func (f *follower) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var now outcome
	// What goes wrong here goes wrong for the call's own request too.
	if f.Do(ctx, "GET", f.path()+"/calls/"+f.call, nil, &now) != nil {
		return
	}
	f.server = now.Server
	if f.show && f.person.reads {
		f.live(now)
	}
	if f.person.answers && !f.away {
		f.questions(ctx)
	} else if waits := now.Status == "waiting"; waits != f.told {
		if f.told = waits; waits {
			fmt.Fprintln(f.stderr, "A question waits in the page; zeroclaw open opens it.")
		}
	}
}

// live shows what a command printed since the last look.
func (f *follower) live(now outcome) {
	at := now.OutputEnd
	for _, p := range now.Output {
		at -= int64(len(p.Text))
	}
	for _, p := range now.Output {
		begin := at
		if at += int64(len(p.Text)); begin < f.seen {
			continue
		}
		w := f.stdout
		if p.Stream == "stderr" {
			w = f.stderr
		}
		fmt.Fprint(w, manyLines(p.Text))
		f.printed[p.Stream] = append(f.printed[p.Stream], p)
		f.seen = at
	}
}

// questions puts the call's question here, or takes it away when somebody else
// answered it.
func (f *follower) questions(ctx context.Context) {
	var open struct {
		Approvals []question `json:"approvals"`
	}
	if f.Do(ctx, "GET", "/api/approvals", nil, &open) != nil {
		return
	}
	still := false
	for _, q := range open.Approvals {
		still = still || q.ID == f.asked
	}
	if f.dialog != nil && !still {
		f.close("The question is no longer open: it was answered elsewhere, or its time was up.")
	}
	for _, q := range open.Approvals {
		if f.dialog != nil {
			return
		}
		switch {
		case f.closed[q.ID]:
		case q.Session == f.session && q.CallID == f.call:
			f.put(ctx, q)
		case q.Session == "" && q.Server != "" && q.Server == f.server:
			// Whose call it belongs to is not known.
			f.closed[q.ID] = true
			fmt.Fprintf(f.stderr, "%s\n  It can be answered in the page; zeroclaw open opens it.\n", words(q.Reason))
		}
	}
}

// put shows a question and begins to listen.
func (f *follower) put(ctx context.Context, q question) {
	d, why := dialogFor(q)
	if d == nil {
		f.closed[q.ID] = true
		fmt.Fprintf(f.stderr, "%s\n  It can be answered only in the page, %s; zeroclaw open opens it.\n", words(q.Reason), why)
		return
	}
	if f.typed == nil {
		f.typed = typed(context.WithoutCancel(ctx), f.stdin)
	}
	if f.person.discard != nil {
		f.person.discard()
	}
	f.dialog, f.asked, f.shownAt = d, q.ID, time.Now()
	fmt.Fprintf(f.stderr, "\n%s%s", d.show(), prompt)
}

// hear takes a line that was typed.
func (f *follower) hear(ctx context.Context, line typedLine, ok bool) {
	switch {
	case !ok:
		f.typed, f.away = nil, true
		if f.dialog != nil {
			f.close("Nobody types any more: the question waits in the page; zeroclaw open opens it.")
			f.told = true
		}
	case f.dialog == nil, !line.at.After(f.shownAt):
		// It was typed before the question could be read.
	default:
		answer, say := f.dialog.hear(line.text)
		if answer == nil {
			fmt.Fprint(f.stderr, say, prompt)
			return
		}
		err := f.ask(ctx, "answer the question", "POST", "/api/approvals/"+segment(f.asked), answer, nil)
		f.closed[f.asked] = true
		f.dialog, f.asked = nil, ""
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(f.stderr, "zeroclaw: %v\n", err)
		}
	}
}

// close ends the question that is put here, saying why.
func (f *follower) close(why string) {
	if f.dialog == nil {
		return
	}
	f.closed[f.asked] = true
	f.dialog, f.asked = nil, ""
	fmt.Fprintln(f.stderr)
	if why != "" {
		fmt.Fprintln(f.stderr, why)
	}
}

// progress passes on what the call says of its progress. It listens only where
// a person can answer, because who listens counts as somebody who can.
func (f *follower) progress(ctx context.Context) (<-chan string, func()) {
	if !f.person.answers {
		return nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	lines := make(chan string)
	var work sync.WaitGroup
	work.Go(func() {
		var last time.Time
		_ = listen(ctx, f.Instance, func(kind string, data []byte) {
			var p struct {
				Session  string   `json:"session"`
				CallID   string   `json:"call_id"`
				Progress float64  `json:"progress"`
				Total    *float64 `json:"total"`
				Message  string   `json:"message"`
			}
			if kind != "call.progress" || json.Unmarshal(data, &p) != nil || p.Session != f.session || p.CallID != f.call {
				return
			}
			whole := p.Total != nil && *p.Total > 0 && p.Progress >= *p.Total
			if !whole && time.Since(last) < followEvery {
				return
			}
			last = time.Now()
			var b strings.Builder
			fmt.Fprintf(&b, "  %v", p.Progress)
			if p.Total != nil && *p.Total > 0 {
				fmt.Fprintf(&b, "/%v", *p.Total)
			}
			if p.Message != "" {
				b.WriteString(" " + cut(words(p.Message), plainScreen))
			}
			select {
			case lines <- b.String():
			case <-ctx.Done():
			}
		})
	})
	return lines, func() {
		cancel()
		work.Wait()
	}
}
